"""What the comment says of one stack: figures in the open, tables behind a click."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.cloud.outcome import Step
from lab.review.review import Review
from planner.markdown import code, table
from planner.plan import Plan
from planner.plan.difference import Change
from planner.plan.markdown import consequences, settings
from specs.problems import shown

_LONG = 400
_NAMES, _PROPERTIES = 8, 4
WORDS = {"passed": "passed", "blocked": "**blocked**", "refused": "**refused**", "failed": "**failed**"}
_PAST = {"create": "created", "update": "updated", "replace": "**replaced**", "delete": "**deleted**"}


def counts(review: Review) -> str:
    """How many resources change, by what happens to them."""
    return ", ".join(f"{count} {_PAST.get(op, op)}" for op, count in review.counts.items()) or "no change"


def stack(review: Review, rows: int) -> Iterator[str]:
    """Lines of one stack's part; no table has more than `rows` rows."""
    yield f"### {code(review.stack)}: {WORDS[review.status]}"
    for note in review.notes:
        yield ""
        yield f"Note: {code(note, _LONG)}"
    yield from _problems(review, rows)
    if review.touched is not None:
        yield from _details(f"Resources: {counts(review)}", _resources(review.changes, rows))
        yield from _details(
            f"Policies: {_judged(review)}", _policies(review, rows), shown=review.status == "blocked"
        )
    if review.after is not None:
        yield ""
        yield from _money(review.before, review.after)
        yield from _details(_ready(review.after), _seconds(review.before, review.after, rows))
    if review.difference is not None and review.difference.changes:
        keys = [change for change in review.difference.changes if change.unit == "key"]
        figures = [change for change in review.difference.changes if change.unit != "key"]
        yield from _details(f"Settings changed: {len(keys)}", _changed(keys, figures, rows))


def _problems(review: Review, rows: int) -> Iterator[str]:
    told = [
        f"{problem.path}: {problem.given}; {problem.allowed}; {problem.fix}" for problem in review.problems
    ]
    if review.touched is not None and review.status in ("refused", "failed"):
        told += review.touched.outcome.problems
    if told:
        yield ""
        yield from (f"- {code(text, _LONG)}" for text in told[:rows])
        yield from _left(len(told) - rows, "problems")


def _details(summary: str, lines: Sequence[str], *, shown: bool = False) -> Iterator[str]:
    """A part that opens on a click. The summary is HTML, where our own words alone may stand."""
    if not lines:
        return
    yield ""
    yield f"<details{' open' if shown else ''}><summary>{summary.replace('**', '')}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"


def _resources(changes: Sequence[Step], rows: int) -> list[str]:
    """One row a resource that changes in place or goes; new ones are one row a type."""
    if not changes:
        return []
    new: dict[str, list[str]] = {}
    for step in changes:
        if step.op == "create":
            new.setdefault(step.type, []).append(step.name)
    old = [step for step in changes if step.op != "create"]
    cells = [
        (_PAST.get(step.op, step.op), code(step.type), code(step.name), _properties(step))
        for step in old[:rows]
    ]
    cells += [
        ("created", code(kind), _some(names, _NAMES), "")
        for kind, names in list(new.items())[: max(rows - len(old), 0)]
    ]
    left = len(old) + len(new) - len(cells)
    return [*table(("what", "type", "name", "properties"), cells), *_left(left, "rows")]


def _some(texts: Sequence[str], most: int) -> str:
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(code(text, 63) for text in texts[:most]) + more


def _properties(step: Step) -> str:
    """What differs; what forces a replacement comes first."""
    if step.op not in ("update", "replace"):
        return ""
    forcing = [change.path for change in step.diff if change.kind.endswith("-replace")]
    return _some(list(dict.fromkeys([*forcing, *(change.path for change in step.diff)])), _PROPERTIES)


def _judged(review: Review) -> str:
    words = {True: "passed", False: "with findings", None: "not judged"}
    told = [(word, sum(verdict.passed is key for verdict in review.verdicts)) for key, word in words.items()]
    changed = len(review.numbers_changed)
    numbers = f"; {changed} of their numbers changed" if changed and review.numbers_before is not None else ""
    return ", ".join(f"{count} {word}" for word, count in told if count) + numbers


def _policies(review: Review, rows: int) -> list[str]:
    words = {True: "passed", False: "**found**", None: "not judged"}
    verdicts: list[tuple[str, ...]] = []
    for verdict in review.verdicts:
        findings = [code(item.message, _LONG) for item in verdict.findings[:rows]]
        more = len(verdict.findings) - rows
        told = "<br>".join([*findings, *([f"and {more} more"] if more > 0 else [])])
        verdicts.append((code(verdict.policy), code(verdict.level), words[verdict.passed], told))
    lines = table(("policy", "level", "verdict", "finding"), verdicts)
    if review.numbers_before is not None and review.numbers_changed:
        moved = [
            (code(item), code(shown(old)), code(shown(new))) for item, old, new in review.numbers_changed
        ]
        lines += ["", *table(("number of a policy", "before", "after"), moved[:rows])]
        lines += _left(len(moved) - rows, "numbers")
    return lines


def _money(before: Plan | None, after: Plan) -> list[str]:
    def line(name: str, was: float | None, now: float, unit: str) -> tuple[str, ...]:
        delta = 0.0 if was is None else round(now, 2) - round(was, 2)
        moved = f"{delta:+,.{2 if unit else 0}f}" if round(delta, 2) else ""
        old = "" if was is None else f"{was:,.{2 if unit else 0}f}"
        return (name, old, f"{now:,.{2 if unit else 0}f}", moved)

    costs, caps = (before.cost if before else None), (before.caps if before else None)
    return table(
        ("", ">before", ">after", ">change"),
        [
            line("USD a month, floor", costs and costs.floor, after.cost.floor, "$"),
            line("USD a month, typical", costs and costs.typical, after.cost.typical, "$"),
            line("USD a month, ceiling", costs and costs.ceiling, after.cost.ceiling, "$"),
            line("GPUs, replicas and surge (hard cap)", caps and caps.replicas, after.caps.replicas, ""),
            line("GPUs, limits of the pools", caps and caps.pool_gpus, after.caps.pool_gpus, ""),
            line("GPUs, budget", caps and caps.budget, after.caps.budget, ""),
        ],
    )


def _ready(after: Plan) -> str:
    met = sum(model.timing.meets_slo for model in after.models)
    return f"Seconds to a new replica: {met} of {len(after.models)} models meet their goal in the tier they are in"


def _seconds(before: Plan | None, after: Plan, rows: int) -> list[str]:
    was = {model.model.name: model.timing for model in before.models} if before else {}
    cells: list[tuple[str, ...]] = []
    for model in after.models:
        times, old = model.timing, was.get(model.model.name)
        for tier in times.tiers:
            earlier = f"{old.tier(tier.name).total:.1f}" if old else ""
            verdict = "meets" if tier.total <= times.ready_slo else "misses"
            here = " (this stack)" if tier.name == times.current else ""
            cells.append(
                (
                    code(model.model.name),
                    tier.name + here,
                    earlier,
                    f"{tier.total:.1f}",
                    f"{times.ready_slo:g}",
                    verdict,
                )
            )
    head = ("model", "tier", ">before", ">after", ">goal", "verdict")
    return [*table(head, cells[:rows]), *_left(len(cells) - rows, "rows")] if cells else []


def _changed(keys: list[Change], figures: list[Change], rows: int) -> list[str]:
    lines = settings(keys[:rows]) if keys else []
    lines += _left(len(keys) - rows, "settings")
    return [*lines, "", *consequences(figures[:rows]), *_left(len(figures) - rows, "figures")]


def _left(more: int, what: str) -> list[str]:
    return ["", f"{more} more {what} are left out."] if more > 0 else []
