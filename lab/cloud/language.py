"""Serves one program to the engine as its language runtime, without a language host.

The Automation API has such a server for its inline programs. This one differs where a run fails: it reports
one line instead of a traceback, it never outlives the engine's end, and it says nothing about failures that
the engine has already reported itself.
"""
# ruff: noqa: N802, ARG002 - method names and signatures are those of the protocol

import asyncio
import contextlib
import contextvars
import gc
import logging
import sys
import threading
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pulumi
from google.protobuf import empty_pb2
from pulumi.errors import RunError
from pulumi.runtime import Settings, configure, run_in_stack, set_all_config
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, language_pb2, language_pb2_grpc, plugin_pb2

from lab.cloud.program import Program
from lab.cloud.servers import LIMITS

_THREADS = 64
"""Each resource registration blocks a thread of the program until the engine has its answer."""

_PATIENCE_SECONDS = 30.0
COLLECTED_OBJECTS = 50_000


class InlineLanguage(language_pb2_grpc.LanguageRuntimeServicer):
    """Runs the program once per request of the engine."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._idle = threading.Event()
        self._idle.set()

    def Handshake(self, request: Any, context: Any) -> Any:
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo()

    def GetRequiredPlugins(self, request: Any, context: Any) -> Any:
        return language_pb2.GetRequiredPluginsResponse()

    def GetRequiredPackages(self, request: Any, context: Any) -> Any:
        return language_pb2.GetRequiredPackagesResponse()

    def Cancel(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def About(self, request: Any, context: Any) -> Any:
        return language_pb2.AboutResponse(executable=sys.executable, version=sys.version.split()[0])

    def Run(self, request: Any, context: Any) -> Any:
        self._idle.clear()
        try:
            return contextvars.copy_context().run(self._run, request)
        finally:
            self._idle.set()

    def finish(self) -> None:
        """Waits for a program whose engine has gone; it ends by itself, for every one of its calls now
        fails."""
        self._idle.wait(_PATIENCE_SECONDS)

    def _run(self, request: Any) -> Any:
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        configure(
            Settings(
                project=request.project,
                monitor=request.monitor_address,
                engine=_Engine(request.args[0]),
                stack=request.stack,
                parallel=request.parallel,
                dry_run=request.dryRun,
                organization=request.organization or "organization",
                root_directory=request.info.root_directory,
            )
        )
        set_all_config(dict(request.config), list(request.configSecretKeys))
        with self._program.at_home(), _fewer_collections():
            error = self._message(_complete(self._program.begun))
        if error is None:
            return language_pb2.RunResponse()
        if error:
            with contextlib.suppress(Exception):  # the engine may have gone: then there is nobody to tell
                pulumi.log.error(error)
        return language_pb2.RunResponse(bail=True)

    def _message(self, error: BaseException | None) -> str | None:
        """The line to report; empty when the engine knows already, None when there is no error."""
        match error:
            case None:
                return None
            case grpc.RpcError() | asyncio.CancelledError():
                return ""
            case RunError() if "Resource monitor has terminated" in str(error):
                return ""
            case RunError():
                return str(error)
            case _:
                return self._program.describe(error)


class _Engine:
    """The engine as the program sees it, without the SDK's debug messages: four per resource, each a call that the
    program waits for, and nobody reads them here."""

    def __init__(self, address: str) -> None:
        self._stub: Any = engine_pb2_grpc.EngineStub(grpc.insecure_channel(address, options=LIMITS))

    def Log(self, request: Any) -> Any:
        return None if request.severity == engine_pb2.DEBUG else self._stub.Log(request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stub, name)


@contextlib.contextmanager
def _fewer_collections() -> Generator[None]:
    """A stack's resources live until its program ends: looking through them for garbage at each 700 new objects took a
    quarter of the CPU of 64 models."""
    threshold = gc.get_threshold()
    gc.set_threshold(COLLECTED_OBJECTS, *threshold[1:])
    try:
        yield
    finally:
        gc.set_threshold(*threshold)


def _complete(program: Callable[[], Awaitable[None]]) -> BaseException | None:
    """Runs the program in a loop of its own until all it declared is done, and leaves nothing behind."""
    loop = asyncio.new_event_loop()
    loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="program"))
    main = loop.create_task(run_in_stack(program))

    def unattended(loop: asyncio.AbstractEventLoop, failure: dict[str, Any]) -> None:
        del loop
        if isinstance(failure.get("exception"), grpc.RpcError):
            main.cancel()

    loop.set_exception_handler(unattended)
    try:
        loop.run_until_complete(main)
    except BaseException as error:  # noqa: BLE001 - SystemExit included: the engine must get an answer
        return error
    finally:
        loop.run_until_complete(_wind_down(loop))
        loop.close()
    return None


async def _wind_down(loop: asyncio.AbstractEventLoop) -> None:
    rest = [task for task in asyncio.all_tasks(loop) if task is not asyncio.current_task()]
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


@contextlib.contextmanager
def speaking(language: InlineLanguage) -> Generator[str]:
    """Serves the program and yields its loopback address."""
    with ThreadPoolExecutor(4, thread_name_prefix="language") as pool:
        server: Any = grpc.server(pool, options=LIMITS)
        language_pb2_grpc.add_LanguageRuntimeServicer_to_server(language, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            language.finish()
            server.stop(grace=None).wait()
