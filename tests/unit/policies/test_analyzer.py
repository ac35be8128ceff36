"""The pack's server: inputs before outputs, nothing said twice, every level and secret as the protocol means it."""

from typing import Any

import grpc
import pytest
from google.protobuf import struct_pb2
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel

from policies.analyzer import Analyzer
from policies.pack import POLICIES
from policies.plain import SECRET_SIGNATURE, SIGNATURE
from tests.unit.policies.programs import CONFIG, RULES, Program, Props, container, edited, good, spoilt, urn


class RefusedError(Exception):
    """What the server aborted with."""


class Context:
    """The one call a servicer makes on its context."""

    def abort(self, code: grpc.StatusCode, details: str) -> None:
        raise RefusedError(f"{code.name}: {details}")


def server(config: dict[str, Any] | None = None, **levels: Any) -> Analyzer:
    policies: list[Any] = list(POLICIES)
    made = Analyzer("headroom", "0.0.1", policies, EnforcementLevel.MANDATORY)
    request = proto.ConfigureAnalyzerRequest()
    for name in RULES:
        request.policyConfig[name].enforcementLevel = levels.get(name.replace("-", "_"), proto.MANDATORY)
        request.policyConfig[name].properties.update((CONFIG if config is None else config).get(name, {}))
    made.Configure(request, _context())
    return made


def _context() -> Any:
    return Context()


def filled(message: Any, name: str, kind: str, props: Props) -> Any:
    struct = struct_pb2.Struct()
    struct.update(props)
    message.properties.CopyFrom(struct)
    message.urn, message.type, message.name = urn(name, kind), kind, name
    message.options.protect = True
    return message


def analyzed(made: Analyzer, program: Program) -> list[Any]:
    found: list[Any] = []
    for name, (kind, props) in program.items():
        found += made.Analyze(filled(proto.AnalyzeRequest(), name, kind, props), _context()).diagnostics
    return found


def stacked(made: Analyzer, program: Program) -> list[Any]:
    resources = [
        filled(proto.AnalyzerResource(), name, kind, props) for name, (kind, props) in program.items()
    ]
    return list(made.AnalyzeStack(proto.AnalyzeStackRequest(resources=resources), _context()).diagnostics)


def test_the_good_program_has_no_diagnostic() -> None:
    made = server()
    assert analyzed(made, good()) == []
    assert stacked(made, good()) == []


@pytest.mark.parametrize("name", RULES)
def test_each_violation_is_said_once(name: str) -> None:
    made = server()
    program = spoilt()[name]
    texts = [
        item.message
        for item in (*analyzed(made, program), *stacked(made, program))
        if item.policyName == name
    ]
    assert texts != []
    assert len(texts) == len(set(texts))


def test_a_stack_judged_without_single_resources_before_is_judged_in_full() -> None:
    assert {item.policyName for item in stacked(server(), spoilt()["gpu-limit"])} >= {"gpu-limit"}


def test_outputs_do_not_speak_for_the_program() -> None:
    made = server()
    analyzed(made, good())
    served = edited(good(), "model", lambda props: props["spec"].update(replicas=7))
    assert stacked(made, served) == []


def test_outputs_alone_are_not_taken_for_the_programs_replicas() -> None:
    served = edited(good(), "model", lambda props: props["spec"].update(replicas=7))
    assert [item for item in stacked(server(), served) if item.policyName == "scaling-works"] == []


def test_levels_and_severities_reach_the_engine() -> None:
    made = server(gpu_limit=proto.ADVISORY, gpu_request=proto.REMEDIATE)
    (advisory,) = [d for d in analyzed(made, spoilt()["gpu-limit"]) if d.policyName == "gpu-limit"]
    assert advisory.enforcementLevel == proto.ADVISORY
    assert advisory.severity == proto.POLICY_SEVERITY_CRITICAL
    (mandatory,) = [d for d in analyzed(made, spoilt()["gpu-request"]) if d.policyName == "gpu-request"]
    assert mandatory.enforcementLevel == proto.MANDATORY


def test_a_disabled_policy_says_nothing() -> None:
    made = server(gpu_limit=proto.DISABLED)
    program = spoilt()["gpu-limit"]
    found = analyzed(made, program) + stacked(made, program)
    assert [item for item in found if item.policyName == "gpu-limit"] == []


def test_not_applicable_is_a_verdict_of_its_own() -> None:
    response = server().Analyze(
        filled(proto.AnalyzeRequest(), "n", "kubernetes:core/v1:Namespace", {}), _context()
    )
    assert {item.policy_name for item in response.not_applicable} == set(RULES)


def test_a_wrong_configuration_is_refused_with_every_reason() -> None:
    request = proto.ConfigureAnalyzerRequest()
    request.policyConfig["gpu-limt"].enforcementLevel = proto.MANDATORY
    request.policyConfig["gpu-limit"].properties.update({"maxGPUs": 8})
    made = server()
    with pytest.raises(RefusedError, match=r"(?s)INVALID_ARGUMENT: .*maxGPUs.*gpu-limt|gpu-limt.*maxGPUs"):
        made.Configure(request, _context())


def test_a_secret_on_the_wire_is_judged_and_left_out() -> None:
    secret = {SIGNATURE: SECRET_SIGNATURE, "value": "corp.example/hidden:latest"}
    program = edited(good(), "model", lambda props: container(props).update(image=secret))
    made = server()
    found = [*analyzed(made, program), *stacked(made, program)]
    assert {item.policyName for item in found} == {"pinned-images"}
    assert all("hidden" not in item.message for item in found)


def test_nothing_is_rewritten() -> None:
    request = filled(proto.AnalyzeRequest(), "n", "kubernetes:core/v1:Namespace", {})
    assert list(server().Remediate(request, _context()).remediations) == []
