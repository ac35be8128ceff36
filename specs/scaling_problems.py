"""What is wrong with a model's scaling section, as data: bad queries, thresholds and schedules."""

from __future__ import annotations

from collections.abc import Iterator
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import promql_parser as promql

from specs import cron
from specs.metrics_names import ADDED_IN, GONE_SINCE, vllm_version
from specs.offered import target_rate
from specs.problems import Problem, shown
from specs.promql_meaning import is_mean, is_total
from specs.promql_shape import metric_names, parse, shape, walk
from specs.settings.model import Model, ScheduleEntry, Trigger
from specs.vllm import CURRENT

LEAST_THRESHOLD = 0.001
"""The HPA counts in thousandths: a smaller target rounds to 0 and is refused (keda issue 5857)."""
_OWN_NAMES = ("offered", "in-flight", "headroom", "forecast", "queue", "kv-cache", "wake")
_REDUCE = {
    "many": "wrap it in an aggregation without labels, e.g. sum(...)",
    "scalar": "KEDA decodes vectors only: write vector(...) around a number",
    "range": "apply a function such as rate(...) and then sum(...)",
    "range of one": "apply a function such as max_over_time(...)",
}


def scaling_problems(model: Model, path: str = "") -> list[Problem]:
    """Every reason to refuse `model.scaling`; `path` is the model's own path (default models[NAME])."""
    root = path or f"models[{model.name}]"
    found = list(_capacity(model, root))
    scaling = f"{root}.scaling"
    for key, value in (
        ("queueThreshold", model.scaling.queue_threshold),
        ("kvCacheThreshold", model.scaling.kv_cache_threshold),
    ):
        if value < LEAST_THRESHOLD:
            found.append(_too_small(f"{scaling}.{key}", value))
    seen: set[str] = set()
    for position, trigger in enumerate(model.scaling.triggers):
        where = f"{scaling}.triggers[{position}]"
        found.extend(_trigger(model, trigger, where))
        if trigger.name in seen or trigger.name in _OWN_NAMES or trigger.name.startswith("schedule-"):
            found.append(
                Problem(
                    f"{where}.name",
                    shown(trigger.name),
                    "a name that no other trigger of the model has",
                    f"choose another than {', '.join(_OWN_NAMES)}, schedule-N and the other triggers' names",
                )
            )
        seen.add(trigger.name)
    for position, entry in enumerate(model.scaling.schedule):
        found.extend(_schedule(model, entry, f"{scaling}.schedule[{position}]"))
    return found


def scaling_warnings(model: Model, path: str = "") -> list[Problem]:
    """Settings that are accepted and do nothing: polling and cooldown act only between 0 and 1 replicas."""
    root = path or f"models[{model.name}]"
    if model.replicas.min == 0:
        return []
    return [
        Problem(
            f"{root}.scaling.{key}",
            shown(value),
            "acts only with replicas.min 0; from 1 upwards the HPA's sync decides",
            "leave it out, or set replicas.min to 0",
        )
        for field, key, value in (
            ("cooldown_seconds", "cooldownSeconds", model.scaling.cooldown_seconds),
            ("polling_seconds", "pollingSeconds", model.scaling.polling_seconds),
        )
        if field in model.scaling.model_fields_set
    ]


def _capacity(model: Model, root: str) -> Iterator[Problem]:
    if model.scaling.strategy != "rate":
        return
    if model.capacity is None:
        yield Problem(
            f"{root}.capacity",
            "null",
            "the measured capacity of one replica, which strategy rate divides the load by",
            "measure it with `headroom calibrate`, or set scaling.strategy to concurrency",
        )
    elif target_rate(model) < LEAST_THRESHOLD:
        yield _too_small(f"{root}.capacity.requestsPerSecond", model.capacity.requests_per_second)


def _too_small(path: str, value: float) -> Problem:
    return Problem(
        path,
        shown(value),
        f"a target of at least {LEAST_THRESHOLD} (the HPA counts in thousandths)",
        "scale the query and its threshold up together",
    )


def _trigger(model: Model, trigger: Trigger, where: str) -> Iterator[Problem]:
    query = f"trigger {trigger.name}: {trigger.query}"
    if trigger.threshold < LEAST_THRESHOLD:
        yield _too_small(f"{where}.threshold", trigger.threshold)
    expr = parse(trigger.query)
    if isinstance(expr, str):
        yield Problem(f"{where}.query", shown(query), f"PromQL ({expr})", "correct the query")
        return
    form = shape(expr)
    if form != "one":
        yield Problem(
            f"{where}.query",
            shown(query),
            "a query that gives exactly one series; KEDA fails as soon as there are two",
            _REDUCE[form],
        )
    if trigger.metric_type == "AverageValue" and is_mean(expr):
        yield Problem(
            f"{where}.metricType",
            shown(query),
            "a total under AverageValue; this is already a figure for one pod, and would be divided again",
            "use sum(...), or metricType Value with the same threshold",
        )
    if trigger.metric_type == "Value" and is_total(expr):
        yield Problem(
            f"{where}.metricType",
            shown(query),
            "a level under Value; this is a total, and would be multiplied by the replicas: it never settles",
            "use metricType AverageValue with the threshold of one replica, or avg(...) or max(...) under Value",
        )
    yield from _metrics(model, expr, f"{where}.query", query)


def _metrics(model: Model, expr: promql.Expr, where: str, query: str) -> Iterator[Problem]:
    told = vllm_version(model.image)
    version = told or CURRENT
    image = model.image if told else f"{model.image} (taken for vLLM {version[0]}.{version[1]}: no tag tells)"
    for name in metric_names(expr):
        gone, added = GONE_SINCE.get(name), ADDED_IN.get(name)
        if gone and version >= gone[0] and not (told is None and gone[1] in metric_names(expr)):
            yield Problem(
                where,
                shown(query),
                f"a metric that {image} exports; {name} is gone since vLLM {gone[0][0]}.{gone[0][1]}",
                f"use {gone[1]}{'' if told else ', or write the tag beside the digest'}",
            )
        if added and version < added[0]:
            yield Problem(
                where,
                shown(query),
                f"a metric that {image} exports; {name} came with vLLM {added[0][0]}.{added[0][1]}",
                f"use {added[1]}, or a newer image",
            )
    for part in walk(expr):
        if isinstance(part, promql.VectorSelector) and (part.name or "").startswith("vllm:"):
            labels = {matcher.name for matcher in part.matchers.matchers}
            if "model" in labels:
                yield Problem(
                    where, shown(query), "vLLM's label model_name", "write model_name instead of model"
                )


def _schedule(model: Model, entry: ScheduleEntry, where: str) -> Iterator[Problem]:
    try:
        ZoneInfo(entry.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        yield Problem(
            f"{where}.timezone", shown(entry.timezone), "an IANA time zone", "e.g. America/New_York or UTC"
        )
    for key, text in (("start", entry.start), ("end", entry.end)):
        try:
            schedule = cron.parse(text)
        except cron.CronError as error:
            yield Problem(
                f"{where}.{key}",
                shown(text),
                f"a cron schedule of five fields ({error})",
                'e.g. "45 8 * * 1-5"',
            )
            continue
        if not schedule.ever():
            yield Problem(f"{where}.{key}", shown(text), "a day that exists", "correct day and month")
    if entry.start.split() == entry.end.split():
        yield Problem(
            f"{where}.end", shown(entry.end), "an end that differs from the start", "move one of the two"
        )
    if entry.replicas > model.replicas.max:
        yield Problem(
            f"{where}.replicas",
            shown(entry.replicas),
            f"at most replicas.max, {model.replicas.max}",
            "lower it, or raise replicas.max",
        )
