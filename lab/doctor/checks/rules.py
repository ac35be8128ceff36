"""The rule groups are declared as the specs have them, loaded, and evaluated without errors."""

from collections.abc import Iterator, Mapping
from typing import Any

from lab.doctor.checks.fleet import moment
from lab.doctor.checks.origin import MISSED
from lab.doctor.checks.there import named, spec_of, unlike
from lab.doctor.differences import few
from lab.doctor.finding import STACK, Check, Finding
from lab.doctor.kinds import RULE
from lab.doctor.seen import Body, Seen, Unread
from specs.alerts.rules import platform_rule
from specs.demand import prometheus_rule
from specs.settings.model import Model
from specs.settings.stack import Settings


def of_stack(seen: Seen, settings: Settings) -> Iterator[Finding]:
    """The platform's alerts and costs."""
    yield _judge(Check("rules", STACK), seen, platform_rule(settings))


def of_model(seen: Seen, settings: Settings, model: Model) -> Iterator[Finding]:
    """Demand, forecast and alerts of one model."""
    yield _judge(Check("rules", model.name), seen, prometheus_rule(settings, model))


def _judge(check: Check, seen: Seen, wanted: object) -> Finding:
    if wrong := unlike(check, seen, RULE, wanted):
        return wrong
    if isinstance(seen.groups, Unread):
        return check.unknown(f"Prometheus' rules could not be read: {seen.groups.reason}")
    loaded = {str(one.get("name")): one for one in seen.groups}
    groups: list[Mapping[str, Any]] = spec_of(wanted)["groups"]
    found = [text for group in groups for text in _wrong(seen, group, loaded.get(group["name"]))]
    count = sum(len(group["rules"]) for group in groups)
    name, namespace = named(wanted)
    return check.holds(
        few(found),
        f"{count} rules of {len(groups)} groups loaded, none with an error",
        f"see Status, Rule health in Prometheus; kubectl -n {namespace} get prometheusrule {name} -o yaml",
    )


def _wrong(seen: Seen, wanted: Mapping[str, Any], live: Body | None) -> list[str]:
    name = wanted["name"]
    if live is None:
        return [f"group {name} is not loaded"]
    have = {str(one.get("name")) for one in live.get("rules", ())}
    found = [
        f"{rule} is not loaded"
        for rule in (str(one.get("record") or one["alert"]) for one in wanted["rules"])
        if rule not in have
    ]
    found += [
        f"{one.get('name')}: {one.get('lastError')}"
        for one in live.get("rules", ())
        if one.get("health") == "err"
    ]
    last, every = moment(live.get("lastEvaluation")), float(live.get("interval", 0))
    if not isinstance(seen.now, Unread) and last > 0 and seen.now - last > MISSED * every:
        found.append(f"group {name} was last evaluated {seen.now - last:.0f} s ago, wanted every {every:.0f}")
    return found
