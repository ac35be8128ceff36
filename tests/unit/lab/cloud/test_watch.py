"""The engine's events as records."""

import json
from types import SimpleNamespace
from typing import Any

from lab.cloud.outcome import Diagnostic, Event, PropertyChange, Step, Violation
from lab.cloud.watch import EventStream
from lab.cloud.wire import UNKNOWN

_URN = "urn:pulumi:dev::headroom::aws:s3/bucket:Bucket::weights"


def _stream(*events: dict[str, Any]) -> tuple[EventStream, list[Event]]:
    heard: list[Event] = []
    stream = EventStream(heard.append)
    stream.StreamEvents([SimpleNamespace(event=json.dumps(event)) for event in events], None)
    return stream, heard


def _outputs(op: str, **more: Any) -> dict[str, Any]:
    return {"resOutputsEvent": {"metadata": {"op": op, "urn": _URN, "type": "aws:s3/bucket:Bucket", **more}}}


def test_a_step_carries_its_property_changes() -> None:
    event = _outputs(
        "update", detailedDiff={"tags.a": {"diffKind": "add"}}, new={"inputs": {"bucket": UNKNOWN}}
    )
    stream, heard = _stream(event)
    assert heard == [
        Step(
            op="update",
            urn=_URN,
            type="aws:s3/bucket:Bucket",
            name="weights",
            diff=(PropertyChange(path="tags.a", kind="add"),),
            inputs={"bucket": None},
        )
    ]
    assert stream.steps == tuple(heard)


def test_a_failed_step_says_so() -> None:
    event = {"resOpFailedEvent": {"metadata": {"op": "create", "urn": _URN, "type": "t"}}}
    stream, _ = _stream(event)
    assert [step.failed for step in stream.steps] == [True]


def test_a_component_that_ends_twice_is_one_step() -> None:
    stream, _ = _stream(_outputs("create"), _outputs("create"))
    assert len(stream.steps) == 1


def test_a_violation_keeps_its_severity() -> None:
    event = {
        "policyEvent": {
            "policyName": "gpu-limit",
            "policyPackName": "headroom",
            "enforcementLevel": "mandatory",
            "severity": "high",
            "message": "<{%fg 1%}>[mandatory]  no limit<{%reset%}>",
            "resourceUrn": _URN,
        }
    }
    _, heard = _stream(event)
    assert heard == [
        Violation(
            policy="gpu-limit",
            pack="headroom",
            level="mandatory",
            severity="high",
            message="[mandatory]  no limit",
            urn=_URN,
        )
    ]


def test_passing_messages_and_debug_output_are_dropped() -> None:
    stream, _ = _stream(
        {"diagnosticEvent": {"message": "waiting", "severity": "info", "ephemeral": True}},
        {"diagnosticEvent": {"message": "details", "severity": "debug"}},
        {"diagnosticEvent": {"message": "look", "severity": "info#err"}},
    )
    assert stream.diagnostics == [Diagnostic(severity="info", message="look", urn="")]


def test_an_event_of_an_unknown_kind_is_no_problem() -> None:
    stream, heard = _stream({"somethingNewEvent": {}}, {"summaryEvent": {"resourceChanges": {"same": 3}}})
    assert heard == []
    assert stream.changes == {"same": 3}
