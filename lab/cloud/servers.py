"""The providers of one operation, listening on free loopback ports."""

import contextlib
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

LIMITS = [("grpc.max_receive_message_length", 400 << 20), ("grpc.max_send_message_length", 400 << 20)]
"""The engine's own limit is 400 MiB; gRPC's default of 4 MiB is less than one Helm release's values may
be."""

_WORKERS = 16


class _OneLine(grpc.ServerInterceptor):
    """Answers the engine in one line when a provider breaks, where grpc would log a traceback."""

    def __init__(self, package: str) -> None:
        self._package = package

    def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        """Wraps the handler of one method; the names are the protocol's."""
        handler: Any = continuation(handler_call_details)
        if handler is None or not handler.unary_unary:
            return handler
        return handler._replace(unary_unary=partial(self._answer, handler))

    def _answer(self, handler: Any, request: Any, context: Any) -> Any:
        try:
            return handler.unary_unary(request, context)
        except Exception as error:
            if context.code() is not None:  # context.abort raises too, once it has answered
                raise
            reason = f"the recorded {self._package} provider broke: {type(error).__name__}: {error}"
            context.abort(grpc.StatusCode.INTERNAL, reason)


@contextlib.contextmanager
def serving(providers: Mapping[str, Any]) -> Generator[str]:
    """Serves each package's provider and yields the value for PULUMI_DEBUG_PROVIDERS."""
    with contextlib.ExitStack() as stack:
        attached: list[str] = []
        for package, servicer in providers.items():
            pool = stack.enter_context(ThreadPoolExecutor(_WORKERS, thread_name_prefix=f"recorded-{package}"))
            server: Any = grpc.server(pool, options=LIMITS, interceptors=[_OneLine(package)])
            if isinstance(servicer, grpc.GenericRpcHandler):
                server.add_generic_rpc_handlers((servicer,))
            else:
                provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
            port = server.add_insecure_port("127.0.0.1:0")
            server.start()
            stack.callback(_stop, server)
            attached.append(f"{package}:{port}")
        yield ",".join(attached)


def _stop(server: Any) -> None:
    server.stop(grace=None).wait()
