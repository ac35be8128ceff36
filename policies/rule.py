"""A rule as a policy of the SDK: one judge, an explicit level and severity, a closed configuration."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)

from policies.configuration import Schema, defaults, problems
from policies.declared import Resource
from policies.plain import plain
from policies.scene import Scene, scene
from policies.verdict import Config, Verdict, redacted

Judge: TypeAlias = Callable[[Scene, Config], Verdict]
"""Judges a scene; must never raise, whatever the resources look like."""


class ResourceRule(ResourceValidationPolicy):
    """A rule that needs one resource at a time."""

    judge: Judge
    schema: Schema

    def validate(self, args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
        """Judge the resource of `args`."""
        secrets: set[str] = set()
        seen = scene([_resource(args, secrets)], whole=False)
        _report(self, args, seen, secrets, report_violation)


class StackRule(StackValidationPolicy):
    """A rule that needs the stack; alone with one it reports what no other could make right."""

    judge: Judge
    schema: Schema

    def validate(self, args: StackValidationArgs, report_violation: ReportViolation) -> None:
        """Judge all resources of `args`."""
        secrets: set[str] = set()
        seen = scene([_resource(item, secrets) for item in args.resources], whole=True)
        _report(self, args, seen, secrets, report_violation)


Rule: TypeAlias = ResourceRule | StackRule


def resource_rule(
    name: str, description: str, severity: Severity, judge: Judge, schema: Schema | None = None
) -> ResourceRule:
    """A mandatory rule over single resources."""
    rule = ResourceRule(name, description, **_fixed(severity, schema or {}))
    rule.judge, rule.schema = judge, schema or {}
    return rule


def stack_rule(
    name: str, description: str, severity: Severity, judge: Judge, schema: Schema | None = None
) -> StackRule:
    """A mandatory rule over the whole stack."""
    rule = StackRule(name, description, **_fixed(severity, schema or {}))
    rule.judge, rule.schema = judge, schema or {}
    return rule


def configured(rule: Rule, given: Mapping[str, object]) -> Config:
    """The rule's defaults overlaid with the accepted part of what was given."""
    wrong = {problem.name for problem in problems(rule.schema, given)}
    kept = {name: plain(value) for name, value in given.items() if name not in wrong}
    return {**defaults(rule.schema), **kept}


def _fixed(severity: Severity, schema: Schema) -> dict[str, Any]:
    shape = {name: known.json_schema() for name, known in schema.items()}
    return {
        "enforcement_level": EnforcementLevel.MANDATORY,
        "severity": severity,
        "config_schema": PolicyConfigSchema(properties=shape),
    }


def _report(
    rule: Rule,
    args: ResourceValidationArgs | StackValidationArgs,
    seen: Scene,
    secrets: set[str],
    report: ReportViolation,
) -> None:
    given = args.get_config()
    for problem in problems(rule.schema, given):
        report(f"configuration: {problem.message}", None)
    verdict = rule.judge(seen, configured(rule, given))
    if verdict is None:
        args.not_applicable("the stack has nothing this policy speaks of")
        return
    for item in verdict:
        report(redacted(item.message, secrets), item.urn or None)


def _resource(item: ResourceValidationArgs | PolicyResource, secrets: set[str]) -> Resource:
    options: Any = item.opts
    provider: Any = item.provider
    sources: dict[str, Any] = getattr(item, "property_dependencies", None) or {}
    return Resource(
        urn=item.urn,
        type=item.resource_type,
        name=item.name,
        props=plain(item.props, secrets),
        protect=bool(getattr(options, "protect", False)),
        ignore_changes=tuple(getattr(options, "ignore_changes", None) or ()),
        provider=plain(getattr(provider, "props", None), secrets),
        sources={key: frozenset(source.urn for source in found) for key, found in sources.items()},
    )
