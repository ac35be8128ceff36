"""Passes Kubernetes objects on to the real provider and its API server, and keeps Helm releases recorded.

Every call goes through as bytes, except: the provider's settings, in which the cluster of the program is replaced by the
API server at hand; Helm releases; and Cancel, which comes at the end of each operation and would stop the real provider
for good.
"""

import contextlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import IO, Any, cast

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2

from lab.cloud.journal import Call, Verb
from lab.cloud.kubernetes.forced import RELEASE
from lab.cloud.kubernetes.provider import KubernetesProvider
from lab.cloud.servers import LIMITS

_SERVICE = "/pulumirpc.ResourceProvider/"
_SETTINGS = {
    "CheckConfig": provider_pb2.CheckRequest,
    "DiffConfig": provider_pb2.DiffRequest,
    "Configure": provider_pb2.ConfigureRequest,
}
_OF_RELEASES = {
    "Check": provider_pb2.CheckRequest,
    "Diff": provider_pb2.DiffRequest,
    "Create": provider_pb2.CreateRequest,
    "Read": provider_pb2.ReadRequest,
    "Update": provider_pb2.UpdateRequest,
    "Delete": provider_pb2.DeleteRequest,
}
_VERBS: dict[str, Verb] = {"Create": "create", "Update": "update", "Delete": "delete"}
_PARSE: dict[str, Callable[[bytes], Any]] = {
    **{name: message.FromString for name, message in _OF_RELEASES.items()},
    "DiffConfig": provider_pb2.DiffRequest.FromString,
    "Cancel": empty_pb2.Empty.FromString,
}
_START_SECONDS = 30.0

Handler = Callable[[bytes, Any], bytes]


class KubernetesStartError(RuntimeError):
    """The real provider did not start; the message says what was given."""


@contextlib.contextmanager
def running(binary: Path) -> Generator[str]:
    """The real provider in a process of its own, started without an engine; yields its loopback address."""
    if not os.access(binary, os.X_OK):
        raise KubernetesStartError(
            f"kubernetes provider: given {binary}; allowed the executable pulumi-resource-kubernetes; build the tools"
        )
    # It writes the kubeconfig, token included, to a temporary file that it never removes.
    with tempfile.TemporaryDirectory(prefix="headroom-provider-") as scratch:
        environment = {**os.environ, "TMPDIR": scratch}
        process = subprocess.Popen(
            [binary], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        try:
            assert process.stdout is not None  # noqa: S101 - Popen was told to make a pipe
            yield f"127.0.0.1:{_port(process.stdout, binary)}"
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _port(output: IO[str], binary: Path) -> int:
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.append(output.readline()), daemon=True)
    reader.start()
    reader.join(_START_SECONDS)
    if not lines or not lines[0].strip().isdigit():
        said = lines[0].strip() if lines else "nothing"
        raise KubernetesStartError(
            f"kubernetes provider: given {binary}, which printed {said!r}; allowed its port"
        )
    return int(lines[0])


class Forwarder(grpc.GenericRpcHandler):
    """Serves the provider's interface in front of the real one at `address`."""

    def __init__(self, address: str, kubeconfig: Path, releases: KubernetesProvider) -> None:
        self._channel: Any = grpc.insecure_channel(address, options=LIMITS)
        self._kubeconfig = kubeconfig.read_text(encoding="utf-8")
        self._releases = releases

    def close(self) -> None:
        self._channel.close()

    def service(self, handler_call_details: Any) -> Any:
        """gRPC's question for the handler of one method, by its full name."""
        method = str(handler_call_details.method)
        if not method.startswith(_SERVICE):
            return None
        # grpcio has no types: without the cast its handler is of a partly unknown type.
        return cast(Any, grpc).unary_unary_rpc_method_handler(self._handler(method.removeprefix(_SERVICE)))

    def _handler(self, method: str) -> Handler:
        if method in ("Cancel", "DiffConfig"):
            return self._local(method)
        if method in _SETTINGS:
            return lambda data, context: self._forward(method, self._at_hand(method, data), context)
        if method in _OF_RELEASES:
            local = self._local(method)
            parse = _OF_RELEASES[method].FromString
            return lambda data, context: (
                local(data, context) if parse(data).type == RELEASE else self._object(method, data, context)
            )
        return lambda data, context: self._forward(method, data, context)

    def _local(self, method: str) -> Handler:
        parse = _PARSE[method]
        answer: Callable[[Any, Any], Any] = getattr(self._releases, method)
        return lambda data, context: answer(parse(data), context).SerializeToString()

    def _object(self, method: str, data: bytes, context: Any) -> bytes:
        """One call about an object; what changes the API server is written into the journal."""
        answer = self._forward(method, data, context)
        request: Any = _OF_RELEASES[method].FromString(data)
        if method in _VERBS and not getattr(request, "preview", False):
            made = provider_pb2.CreateResponse.FromString(answer).id if method == "Create" else request.id
            self._releases.journal.record(
                Call(verb=_VERBS[method], urn=request.urn, type=request.type, name=request.name, id=made)
            )
        return answer

    def _forward(self, method: str, data: bytes, context: Any) -> bytes:
        try:
            return self._channel.unary_unary(_SERVICE + method)(data)
        except grpc.RpcError as error:
            details: Any = error
            context.set_trailing_metadata(details.trailing_metadata() or ())
            return context.abort(details.code(), details.details())

    def _at_hand(self, method: str, data: bytes) -> bytes:
        """The provider's settings with the API server at hand instead of the program's cluster."""
        request: Any = _SETTINGS[method].FromString(data)
        if method == "Configure":
            for key in ("context", "cluster"):
                request.variables.pop(f"kubernetes:config:{key}", None)
            request.variables["kubernetes:config:kubeconfig"] = self._kubeconfig
            _replace(request.args.fields, self._kubeconfig)
        return request.SerializeToString()


def _replace(settings: Mapping[str, Any], kubeconfig: str) -> None:
    fields: Any = settings
    for key in ("context", "cluster"):
        if key in fields:
            del fields[key]
    fields["kubeconfig"].string_value = kubeconfig
