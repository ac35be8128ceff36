"""The pack's server: the SDK's, with a configuration that is refused when wrong and rules that run in time.

Three things the SDK's servicer (pulumi-policy 1.21.0) leaves open, closed here:

- `Configure` stores whatever it is given; here a file with an unknown policy or property is refused.
- A stack policy runs after the resources exist when `pulumi up` skips the preview. Here each stack rule also
  judges every resource alone before it is created.
- A stack policy sees outputs, in which the server's defaults look like the program's wishes. Here it sees the
  inputs that were analyzed before, and the outputs only of resources that had none.

Properties are decoded once a request instead of once a policy: most of the time at 2,000 resources.
"""

import threading
from collections.abc import Iterable, Mapping
from typing import Any

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel, Policy, Severity, policy

from policies.configuration import refusals
from policies.declared import Resource
from policies.plain import Plain, plain
from policies.rule import ResourceRule, Rule, configured
from policies.scene import Scene, scene
from policies.verdict import Config, redacted

_LEVELS = {
    EnforcementLevel.ADVISORY: proto.ADVISORY,
    EnforcementLevel.MANDATORY: proto.MANDATORY,
    EnforcementLevel.REMEDIATE: proto.MANDATORY,
    EnforcementLevel.DISABLED: proto.DISABLED,
}
_SEVERITIES = {
    Severity.LOW: proto.POLICY_SEVERITY_LOW,
    Severity.MEDIUM: proto.POLICY_SEVERITY_MEDIUM,
    Severity.HIGH: proto.POLICY_SEVERITY_HIGH,
    Severity.CRITICAL: proto.POLICY_SEVERITY_CRITICAL,
}


# The SDK offers no public way to answer Configure or to see inputs; requirements.txt pins its version.
# ruff: noqa: N802 - the methods are named by the protocol.
class Analyzer(policy._PolicyAnalyzerServicer):  # pyright: ignore[reportPrivateUsage]
    """Serves the rules of one pack to one engine operation."""

    def __init__(self, name: str, version: str, policies: list[Rule], *args: Any, **kwargs: Any) -> None:
        super().__init__(name, version, list[Policy](policies), *args, **kwargs)
        self._pack = name
        self._version = version
        self._rules = policies
        self._config: dict[str, dict[str, Plain]] = {}
        self._levels: dict[str, Any] = {}
        self._seen: dict[str, Resource] = {}
        self._reported: dict[str, set[tuple[str, str]]] = {}
        self._secrets: set[str] = set()
        self._lock = threading.Lock()

    def Configure(self, request: proto.ConfigureAnalyzerRequest, context: grpc.ServicerContext) -> Any:
        """Take the configuration, or refuse all of it with every reason."""
        given = {name: _struct(found.properties) for name, found in request.policyConfig.items()}
        levels = {name: found.enforcementLevel for name, found in request.policyConfig.items()}
        lowered = [name for name, level in levels.items() if level in (proto.ADVISORY, proto.DISABLED)]
        reasons = refusals({rule.name: rule.schema for rule in self._rules}, given, lowered)
        if reasons:
            listed = "\n".join(f"  - {reason}" for reason in reasons)
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"the policy configuration is refused:\n{listed}")
        self._config, self._levels = given, levels
        return empty_pb2.Empty()

    def Analyze(self, request: proto.AnalyzeRequest, _context: grpc.ServicerContext) -> proto.AnalyzeResponse:
        """Judge one resource by every rule, before it is created."""
        secrets: set[str] = set()
        resource = _resource(request, secrets)
        with self._lock:
            self._seen[resource.urn] = resource
            self._secrets |= secrets
            self._reported[resource.urn] = set()
        response = proto.AnalyzeResponse()
        seen = scene([resource], whole=False)
        for rule in self._active():
            found = self._judge(rule, seen, secrets, response)
            with self._lock:
                self._reported[resource.urn] |= {(rule.name, message) for _, message in found}
            for _, message in found:
                response.diagnostics.append(self._diagnostic(rule, "", message))
        return response

    def AnalyzeStack(
        self, request: proto.AnalyzeStackRequest, _context: grpc.ServicerContext
    ) -> proto.AnalyzeResponse:
        """Judge the stack by the rules that need it; what `Analyze` said already is not said again."""
        with self._lock:
            secrets, seen, reported = set(self._secrets), dict(self._seen), dict(self._reported)
        resources = [_with_inputs(_resource(item, secrets), seen) for item in request.resources]
        response = proto.AnalyzeResponse()
        whole = scene(resources, whole=True)
        for rule in self._active():
            if isinstance(rule, ResourceRule):
                continue
            for urn, message in self._judge(rule, whole, secrets, response):
                if (rule.name, message) not in reported.get(urn, ()):
                    response.diagnostics.append(self._diagnostic(rule, urn, message))
        return response

    def Remediate(self, request: proto.AnalyzeRequest, _context: grpc.ServicerContext) -> Any:  # noqa: ARG002
        """Nothing: the pack reports and never rewrites, so a request is not even decoded."""
        return proto.RemediateResponse()

    def _active(self) -> Iterable[Rule]:
        return [rule for rule in self._rules if self._level(rule) != proto.DISABLED]

    def _level(self, rule: Rule) -> Any:
        return self._levels.get(rule.name, _LEVELS[rule.enforcement_level or EnforcementLevel.MANDATORY])

    def _judge(
        self, rule: Rule, judged: Scene, secrets: set[str], response: proto.AnalyzeResponse
    ) -> list[tuple[str, str]]:
        config: Config = configured(rule, self._config.get(rule.name, {}))
        verdict = rule.judge(judged, config)
        if verdict is None:
            response.not_applicable.append(proto.PolicyNotApplicable(policy_name=rule.name, reason=""))
            return []
        return [(item.urn, redacted(item.message, secrets)) for item in verdict]

    def _diagnostic(self, rule: Rule, urn: str, message: str) -> proto.AnalyzeDiagnostic:
        level = self._level(rule)
        return proto.AnalyzeDiagnostic(
            policyName=rule.name,
            policyPackName=self._pack,
            policyPackVersion=self._version,
            description=rule.description,
            message=f"{rule.description}\n{message}",
            urn=urn,
            enforcementLevel=proto.MANDATORY if level == proto.REMEDIATE else level,
            severity=_SEVERITIES[rule.severity or Severity.HIGH],
        )


def _with_inputs(stacked: Resource, seen: Mapping[str, Resource]) -> Resource:
    """The analyzed inputs of a resource with what only the stack knows: outputs and origins."""
    inputs = seen.get(stacked.urn)
    return Resource(
        urn=stacked.urn,
        type=stacked.type,
        name=stacked.name,
        props=stacked.props if inputs is None else inputs.props,
        declared=inputs is not None,
        protect=stacked.protect,
        ignore_changes=stacked.ignore_changes if inputs is None else inputs.ignore_changes,
        provider=stacked.provider,
        outputs=stacked.props,
        sources=stacked.sources,
    )


def _resource(request: Any, secrets: set[str]) -> Resource:
    sources: Mapping[str, Any] = getattr(request, "propertyDependencies", {})
    provider = _struct(request.provider.properties) if request.HasField("provider") else None
    return Resource(
        urn=request.urn,
        type=request.type,
        name=request.name,
        props=plain(_struct(request.properties), secrets),
        protect=request.options.protect,
        ignore_changes=tuple(request.options.ignoreChanges),
        provider=plain(provider, secrets),
        sources={name: frozenset(found.urns) for name, found in sources.items()},
    )


def _struct(found: struct_pb2.Struct) -> dict[str, Any]:
    return {name: _value(value) for name, value in found.fields.items()}


def _value(value: struct_pb2.Value) -> Any:
    match value.WhichOneof("kind"):
        case "struct_value":
            return _struct(value.struct_value)
        case "list_value":
            return [_value(item) for item in value.list_value.values]
        case "string_value":
            return value.string_value
        case "number_value":
            return value.number_value
        case "bool_value":
            return value.bool_value
        case _:
            return None
