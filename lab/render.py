"""Every resource the program declares, without an engine or a cloud."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pulumi
from google.protobuf import json_format
from pulumi.runtime import rpc, set_all_config
from pulumi.runtime.mocks import MockMonitor, Mocks, set_mocks
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.stack import run_pulumi_func

from lab.cloud.program import Program
from specs.names import PROJECT
from specs.sealed import HIDDEN

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - the marker, not a secret
_THREADS = 32


@dataclass(frozen=True)
class Declared:
    """One declared resource: Pulumi type token, logical name and inputs as the provider takes them.

    Values that are known only after an earlier resource exists are None; secrets read "[secret]".
    """

    type: str
    name: str
    inputs: Mapping[str, object]

    def as_json(self) -> dict[str, object]:
        """The three keys of the `headroom render --json` contract."""
        return {"type": self.type, "name": self.name, "inputs": self.inputs}


def render(main: Path, stack: str, config: Mapping[str, object]) -> list[Declared]:
    """Run the program at `main` with `config` and list what it declares, by type and name.

    Raises pulumi.RunError with the program's own message when it refuses the configuration.
    """
    # A context of its own: the SDK keeps stack, configuration and root resource in context variables.
    declared = contextvars.copy_context().run(_declare, main, stack, config)
    return sorted(declared, key=lambda entry: (entry.type, entry.name))


def _declare(main: Path, stack: str, config: Mapping[str, object]) -> list[Declared]:
    recorder = _Recorder()
    loop = asyncio.new_event_loop()
    loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="render"))
    asyncio.set_event_loop(loop)
    try:
        set_mocks(
            recorder.mocks, project=PROJECT, stack=stack, preview=True, monitor=recorder, logger=_quiet()
        )
        set_all_config(
            {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()},
            [key for key, value in config.items() if _sealed(value)],
        )
        program = Program(main)
        with program.at_home():
            loop.run_until_complete(run_pulumi_func(program.declare))
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        asyncio.set_event_loop(None)
    return recorder.declared


def _sealed(value: object) -> bool:
    """Whether a value of a stack file is a secret or holds one, as `pulumi config set --secret` writes them."""
    if isinstance(value, Mapping):
        inside = cast(Mapping[str, object], value)
        return set(inside) == {"secure"} or any(map(_sealed, inside.values()))
    return isinstance(value, list) and any(map(_sealed, cast(list[object], value)))


def _quiet() -> logging.Logger:
    """The program logs its warnings; `check` tells them, a rendering is the resources alone."""
    logger = logging.getLogger("headroom.render")
    logger.setLevel(logging.CRITICAL)
    return logger


class _Recorder(MockMonitor):
    """Answers each registration as a first preview would: inputs are known, the rest is not."""

    def __init__(self) -> None:
        super().__init__(cast(Mocks, self))
        self.declared: list[Declared] = []

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the protocol's name
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type != "pulumi:pulumi:Stack":
            plain = cast(dict[str, object], _plain(json_format.MessageToDict(request.object)))
            self.declared.append(Declared(request.type, request.name, plain))
        return resource_pb2.RegisterResourceResponse(urn=urn, object=request.object)

    def ReadResource(self, request: Any) -> Any:  # noqa: N802
        raise pulumi.RunError(
            f"{request.type} {request.name}: the program reads a resource; only its own are allowed"
        )

    def Invoke(self, request: Any) -> Any:  # noqa: N802
        raise pulumi.RunError(
            f"{request.tok}: the program asks a provider while building; ask in preflight instead"
        )


def _plain(value: object) -> object:
    if value == rpc.UNKNOWN:
        return None
    if isinstance(value, dict):
        entries = cast(dict[str, object], value)
        if entries.get(_SIGNATURE) == _SECRET:
            return HIDDEN
        return {key: _plain(entries[key]) for key in sorted(entries) if key != _SIGNATURE}
    if isinstance(value, list):
        return [_plain(item) for item in cast(list[object], value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
