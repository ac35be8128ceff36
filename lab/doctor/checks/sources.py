"""The series behind the triggers exist under the labels that are asked for.

A trigger with a default of 0 reads 0 for ever when its series has another name or label: only this check sees it.
"""

from collections.abc import Iterator, Mapping

from lab.doctor import selectors
from lab.doctor.checks.fleet import ready
from lab.doctor.checks.origin import MISSED, from_the_first, oldest, origin
from lab.doctor.differences import few
from lab.doctor.finding import Check, Finding
from lab.doctor.seen import Body, Seen, Selector, Signal, Unread
from lab.watch.words import counted
from specs.demand import groups
from specs.metrics_names import kv_usage_names
from specs.settings.model import Model
from specs.settings.stack import Settings


def of_model(seen: Seen, settings: Settings, model: Model) -> Iterator[Finding]:
    """The series of engines, routers and rules, and the one that wakes the model."""
    check, zero = Check("series", model.name), Check("signal-at-zero", model.name)
    found = seen.signals.get(model.name, Unread("not asked"))
    if isinstance(found, Unread):
        yield check.unknown(f"Prometheus could not be asked: {found.reason}")
    else:
        yield _series(check, seen, settings, model, found)
    if model.replicas.min:
        yield zero.not_applicable(f"replicas.min is {model.replicas.min}: it never sleeps")
    elif isinstance(found, Unread):
        yield zero.unknown(f"Prometheus could not be asked: {found.reason}")
    else:
        yield _wakes(zero, settings, model, found[selectors.alive(model)])


def _series(
    check: Check, seen: Seen, settings: Settings, model: Model, found: Mapping[Selector, Signal]
) -> Finding:
    wait = MISSED * settings.platform.prometheus.scrape_seconds
    engines, routers = ready(seen, model, "engine", wait), ready(seen, model, "router", wait)
    there = {one.name for one, signal in found.items() if signal.age is not None}
    absent: list[str] = []
    for one, signal in found.items():
        if signal.age is not None or _covered(model, one, there):
            continue
        kind = origin(settings, model, one)
        due = {
            "engine": bool(engines) and not isinstance(engines, Unread),
            "router": bool(routers) and not isinstance(routers, Unread) and from_the_first(one),
            "rule": _evaluated(seen, settings, model),
            "elsewhere": False,
        }
        if due[kind]:
            instead = f", only with {' and '.join(signal.others)}" if signal.others else ""
            absent.append(f"{one.text} ({kind}) is not there{instead}")
    if isinstance(engines, Unread) or isinstance(routers, Unread):
        return check.unknown("the pods could not be read: which series are due is not known")
    count = sum(signal.age is not None for signal in found.values())
    up = f"{counted(len(engines), 'engine')} and {counted(len(routers), 'router')} up"
    return check.holds(
        few(absent),
        f"{count} of {len(found)} found{', the rest not due' if count < len(found) else ''}; {up}",
        f"see targets: and rules of {model.name}; a renamed series or label needs its new name in specs",
    )


def _covered(model: Model, one: Selector, there: set[str]) -> bool:
    """Another name of the same gauge is there: an image exports one of the two."""
    known = kv_usage_names(model.image)
    return one.name in known and bool(there & set(known))


def _evaluated(seen: Seen, settings: Settings, model: Model) -> bool:
    """The group that records has been evaluated, or is not loaded at all."""
    if isinstance(seen.groups, Unread):
        return True
    wanted = {str(group["name"]) for group in groups(settings, model)}
    loaded: list[Body] = [one for one in seen.groups if one.get("name") in wanted]
    # Go's zero time before the first evaluation.
    return not loaded or not any(str(one.get("lastEvaluation", "")).startswith("0001") for one in loaded)


def _wakes(check: Check, settings: Settings, model: Model, signal: Signal) -> Finding:
    limit, one = oldest(settings, "router") or 0.0, selectors.alive(model)
    if signal.age is None or signal.age > limit:
        state = "is not there" if signal.age is None else f"is {signal.age:.0f} s old, at most {limit:.0f}"
        return check.fails(
            f"{one.text} {state}: nothing would wake it",
            f"see router and targets:router of {model.name}",
        )
    return check.passes(f"{one.name} of its router is {signal.age:.0f} s old")
