"""Reads the engine's event stream.

The Automation API parses these events too, but drops what its classes do not know (the severity of a policy,
newer kinds of operation), so the JSON is read here (fields: sdk/go/common/apitype/events.go).
"""
# ruff: noqa: N802, ARG002 - method names and signatures are those of the protocol

import contextlib
import json
import re
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import events_pb2_grpc

from lab.cloud.outcome import Diagnostic, Event, OnEvent, PropertyChange, Step, StepStarted, Violation
from lab.cloud.servers import LIMITS
from lab.cloud.wire import UNKNOWN

_COLOUR = re.compile(r"<\{%[^%]*%\}>")
_LAST_WORDS = {f"{what} failed" for what in ("preview", "update", "refresh", "destroy")}
"""The engine's own end of every failure: the reasons came before it."""

_STACK = "pulumi:pulumi:Stack"


class EventStream(events_pb2_grpc.EventsServicer):
    """Collects one operation's events; `on_event` is called in the engine's order, from one thread at a
    time."""

    def __init__(self, on_event: OnEvent | None) -> None:
        self._on_event = on_event
        self._steps: dict[tuple[str, str], Step] = {}
        self.violations: list[Violation] = []
        self.diagnostics: list[Diagnostic] = []
        self.changes: dict[str, int] = {}
        self.outputs: dict[str, Any] = {}

    @property
    def steps(self) -> tuple[Step, ...]:
        """In the order in which they began to end: a component ends once more when its outputs are
        registered."""
        return tuple(self._steps.values())

    def StreamEvents(self, request_iterator: Any, context: Any) -> Any:
        for request in request_iterator:
            self._take(cast(dict[str, Any], json.loads(request.event)))
        return empty_pb2.Empty()

    def _take(self, raw: Mapping[str, Any]) -> None:
        for event in self._events(raw):
            match event:
                case Step():
                    self._steps[event.urn, event.op] = event
                case Violation():
                    self.violations.append(event)
                case Diagnostic():
                    self.diagnostics.append(event)
                case StepStarted():
                    pass
            if self._on_event is not None:
                self._on_event(event)

    def _events(self, raw: Mapping[str, Any]) -> Iterator[Event]:
        if "resourcePreEvent" in raw:
            yield _started(raw["resourcePreEvent"]["metadata"])
        elif "resOutputsEvent" in raw:
            yield self._finished(raw["resOutputsEvent"]["metadata"])
        elif "resOpFailedEvent" in raw:
            yield _step(raw["resOpFailedEvent"]["metadata"], failed=True)
        elif "policyEvent" in raw:
            yield _violation(raw["policyEvent"])
        elif "diagnosticEvent" in raw:
            yield from _diagnostic(raw["diagnosticEvent"])
        elif "summaryEvent" in raw:
            self.changes = dict(raw["summaryEvent"].get("resourceChanges") or {})

    def _finished(self, metadata: Mapping[str, Any]) -> Step:
        new: dict[str, Any] = metadata.get("new") or {}
        if metadata["type"] == _STACK and metadata["op"] != "delete":
            self.outputs = _known(new.get("outputs") or {})
        return _step(metadata, failed=False)


@contextlib.contextmanager
def listening(events: EventStream) -> Generator[str]:
    """Serves the stream and yields its loopback address."""
    with ThreadPoolExecutor(2, thread_name_prefix="events") as pool:
        server: Any = grpc.server(pool, options=LIMITS)
        events_pb2_grpc.add_EventsServicer_to_server(events, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            server.stop(grace=None).wait()


def name_of(urn: str) -> str:
    """The logical name at the end of a URN."""
    return urn.rpartition("::")[2]


def _started(metadata: Mapping[str, Any]) -> StepStarted:
    return StepStarted(
        op=metadata["op"], urn=metadata["urn"], type=metadata["type"], name=name_of(metadata["urn"])
    )


def _step(metadata: Mapping[str, Any], *, failed: bool) -> Step:
    detailed = cast(dict[str, dict[str, Any]], metadata.get("detailedDiff") or {})
    diff = [PropertyChange(path=path, kind=change["diffKind"]) for path, change in sorted(detailed.items())]
    if not diff:
        plain_diff: list[str] = metadata.get("diffs") or []
        diff = [PropertyChange(path=path, kind="update") for path in plain_diff]
    state: dict[str, Any] = metadata.get("new") or metadata.get("old") or {}
    return Step(
        op=metadata["op"],
        urn=metadata["urn"],
        type=metadata["type"],
        name=name_of(metadata["urn"]),
        failed=failed,
        diff=tuple(diff),
        inputs=_known(state.get("inputs") or {}),
        parent=state.get("parent") or "",
    )


def _known(value: Any) -> Any:
    """The value with None for every part that is not known yet."""
    if isinstance(value, dict):
        return {key: _known(item) for key, item in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [_known(item) for item in cast(list[Any], value)]
    return None if isinstance(value, str) and UNKNOWN in value else value


def _violation(raw: Mapping[str, Any]) -> Violation:
    # The first line of a message is the policy's description, which is the same for each of its findings.
    level: str = raw.get("enforcementLevel", "")
    return Violation(
        policy=raw.get("policyName", ""),
        pack=raw.get("policyPackName", ""),
        level="advisory" if level == "warning" else level,
        severity=raw.get("severity", ""),
        message=plain(raw.get("message", "")).partition("\n")[2].strip() or plain(raw.get("message", "")),
        urn=raw.get("resourceUrn", ""),
    )


def _diagnostic(raw: Mapping[str, Any]) -> Iterator[Diagnostic]:
    if raw.get("ephemeral") or raw.get("severity") == "debug":
        return
    message = plain(raw.get("message", ""))
    if message and message not in _LAST_WORDS:
        severity = raw.get("severity", "info").removesuffix("#err")
        yield Diagnostic(severity=severity, message=message, urn=raw.get("urn", ""))


def plain(text: str) -> str:
    """Without the engine's colour marks and the blank space around it."""
    return _COLOUR.sub("", text).strip()
