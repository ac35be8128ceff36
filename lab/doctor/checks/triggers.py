"""Each trigger's query, asked as KEDA asks it: exactly one finite element, from fresh series."""

import math
from collections.abc import Iterator, Sequence

from lab.doctor import selectors
from lab.doctor.checks.fleet import ready
from lab.doctor.checks.origin import oldest, origin
from lab.doctor.finding import Check, Finding
from lab.doctor.seen import Element, Seen, Selector, Signal, Unread
from specs.promql import number
from specs.settings.model import Model
from specs.settings.stack import Settings


def of_model(seen: Seen, settings: Settings, model: Model) -> Iterator[Finding]:
    """One check a trigger that asks Prometheus."""
    queries = selectors.queries(settings, model)
    for trigger in selectors.triggers(settings, model):
        name = str(trigger["name"])
        if name in queries:
            check = Check(f"trigger:{name}", model.name)
            answer = seen.answers.get((model.name, name), Unread("not asked"))
            yield _judge(
                check, seen, settings, model, queries[name], trigger["metadata"]["threshold"], answer
            )


def _judge(
    check: Check,
    seen: Seen,
    settings: Settings,
    model: Model,
    query: str,
    threshold: str,
    answer: Sequence[Element] | Unread,
) -> Finding:
    if isinstance(answer, Unread):
        if answer.why == "refused":
            return check.fails(f"Prometheus: {answer.reason}", "mend the query in scaling.triggers")
        return check.unknown(f"Prometheus could not be asked: {answer.reason}")
    found = seen.signals.get(model.name, Unread("not asked"))
    read: dict[Selector, Signal] = {}
    if not isinstance(found, Unread):
        read = {one: found[one] for one in selectors.read_by(query) if one in found}
    if not answer:
        return _empty(check, seen, settings, model, read)
    if len(answer) > 1:
        return check.fails(
            f"{len(answer)} elements, KEDA takes one: {dict(answer[0].labels)} …",
            "wrap the query in sum(...)",
        )
    value = answer[0].value
    if not math.isfinite(value):
        return check.fails(f"its value is {value}, which KEDA takes for a failure", _mend(model))
    return _fresh(
        check, settings, model, read, f"{number(round(value, 4))} of threshold {float(threshold):g}"
    )


def _empty(
    check: Check, seen: Seen, settings: Settings, model: Model, read: dict[Selector, Signal]
) -> Finding:
    engines = ready(seen, model, "engine")
    only_engines = read and all(origin(settings, model, one) == "engine" for one in read)
    if only_engines and not isinstance(engines, Unread) and not engines:
        return check.unknown("no series: no engine is ready yet", "see pending; ask again when one serves")
    absent = [one for one, signal in read.items() if signal.age is None]
    other = [
        f"{one.name} is there with {' and '.join(signal.others)}"
        for one, signal in read.items()
        if signal.others
    ]
    missing = f"nothing matches {absent[0].text}" if absent else "the query gives nothing"
    return check.fails("; ".join(["no element", missing, *other]), _mend(model))


def _fresh(
    check: Check, settings: Settings, model: Model, read: dict[Selector, Signal], told: str
) -> Finding:
    ages = {one: signal.age for one, signal in read.items() if signal.age is not None}
    stale = [
        f"{one.name}: newest sample {age:.0f} s old, at most {limit:.0f}"
        for one, age in ages.items()
        if (limit := oldest(settings, origin(settings, model, one))) is not None and age > limit
    ]
    newest = f", newest samples up to {max(ages.values()):.0f} s old" if ages else ", no series behind it"
    return check.holds([f"{told}; {text}" for text in stale], told + newest, _mend(model))


def _mend(model: Model) -> str:
    return f"see the targets: and rules checks of {model.name}; docs/runbook.md#trigger-series-absent"
