"""When the alerts about one model fire, and the near twins that must not."""

from __future__ import annotations

from collections.abc import Mapping

from specs import metrics_names as names
from specs import series
from tests.unit.specs.alerts.promtool import Case
from tests.unit.specs.stack import settings

STACK = settings({"scaling": {"schedule": []}})
AT_ZERO = settings({"replicas": {"min": 0, "max": 10}})
FIRM = 'namespace="llm-serving",headroom_model="llama3-8b"'
ENGINE = 'namespace="llm-serving",model_name="llama3-8b"'
HPA = 'namespace="llm-serving",horizontalpodautoscaler="llama3-8b"'
SCALER = 'namespace="llm-serving",scaledObject="llama3-8b"'
MINUTE, HOUR = 60, 3600
STEADY = "1x400"


def first_tokens(total: str, in_time: str) -> dict[str, str]:
    """slo.ttftSeconds is 2: between the bounds 1 and 2.5, which here count the same requests."""
    return {
        f"{names.TTFT}_count{{{ENGINE}}}": total,
        f'{names.TTFT}_bucket{{{ENGINE},le="1.0"}}': in_time,
        f'{names.TTFT}_bucket{{{ENGINE},le="2.5"}}': in_time,
    }


def answers(answered: str, given_up: str, **more: str) -> dict[str, str]:
    found = {
        f'{names.ROUTER_ANSWERED}{{{FIRM},route="/v1/completions"}}': answered,
        f'{names.ROUTER_GIVEN_UP}{{{FIRM},route="/v1/completions"}}': given_up,
    }
    return found | more


def recorded(**values: str) -> dict[str, str]:
    return {f"{getattr(names, name)}{{{FIRM}}}": text for name, text in values.items()}


def engines(running: Mapping[str, str]) -> dict[str, str]:
    return {f'{names.RUNNING}{{{ENGINE},pod="{pod}"}}': values for pod, values in running.items()}


HELD = f'{names.ROUTER_ERRORS}{{{FIRM},error_type="{names.NO_WORKERS}"}}'
WORKERS = {f"{names.ROUTER_WORKERS}{{{FIRM}}}": STEADY}
GAUGES = {f"{names.WAITING}{{{ENGINE}}}": "0x200", f"{names.KV_USAGE}{{{ENGINE}}}": "0.2x200"}
BROKEN_OFF = f'{names.FINISHED}{{{ENGINE},finished_reason="abort"}}'
CALLERS_OWN = f'{names.ROUTER_ERRORS}{{{FIRM},error_type="non_retryable_error"}}'

SLO = (
    Case(
        "HeadroomTtftBurnFast",
        "when nobody gets a first token in time",
        STACK,
        first_tokens("0+10x60", "0x60"),
        900,
    ),
    Case(
        "HeadroomTtftBurnFast",
        "when a quarter is late",
        STACK,
        first_tokens("0+20x180", "0+15x180"),
        3 * HOUR,
        0,
        interval=60,
        tick=300,
    ),
    Case(
        "HeadroomTtftBurnFast",
        "on nine late requests and no other",
        STACK,
        first_tokens("0+1x9 9x60", "0x60"),
        1200,
        0,
    ),
    Case(
        "HeadroomTtftBurnFast",
        "once first tokens have been in time again for longer than the short windows",
        STACK,
        first_tokens("0+10x40 410+10x120", "0x40 10+10x120"),
        80 * MINUTE,
        0,
    ),
    Case(
        "HeadroomTtftBurnSlow",
        "when a quarter is late",
        STACK,
        first_tokens("0+20x180", "0+15x180"),
        3 * HOUR,
        interval=60,
        tick=300,
    ),
    Case(
        "HeadroomTtftBurnSlow",
        "when four of a hundred are late, as promised",
        STACK,
        first_tokens("0+25x180", "0+24x180"),
        3 * HOUR,
        0,
        interval=60,
        tick=300,
    ),
    Case(
        "HeadroomErrorBurnFast",
        "when two of a hundred are given up",
        STACK,
        answers("0+98x60", "0+2x60"),
        900,
    ),
    Case(
        "HeadroomErrorBurnFast",
        "when the engines break off two of a hundred",
        STACK,
        answers("0+100x60", "0x60", **{BROKEN_OFF: "0+2x60"}),
        900,
    ),
    Case(
        "HeadroomErrorBurnFast",
        "on requests that are the callers' own fault",
        STACK,
        answers("0+98x60", "0x60", **{CALLERS_OWN: "0+20x60"}),
        900,
        0,
    ),
    Case(
        "HeadroomErrorBurnFast",
        "on one failure of twenty in an hour",
        STACK,
        answers("0+1x20 20x60", "0x5 1x80"),
        1800,
        0,
    ),
    Case(
        "HeadroomErrorBurnSlow",
        "when four of a thousand fail",
        STACK,
        answers("0+996x180", "0+4x180"),
        3 * HOUR,
        interval=60,
        tick=300,
    ),
    Case(
        "HeadroomErrorBurnSlow",
        "when one of two thousand fails",
        STACK,
        answers("0+1999x180", "0+1x180"),
        3 * HOUR,
        0,
        interval=60,
        tick=300,
    ),
)

DEMAND = (
    Case(
        "HeadroomRequestsHeld", "after a minute without an engine", STACK, {HELD: "0+5x60"}, 150, interval=5
    ),
    Case(
        "HeadroomRequestsHeld",
        "when engines were missing for half a minute",
        STACK,
        {HELD: "0+5x6 30x60"},
        150,
        0,
        interval=5,
    ),
    Case("HeadroomRequestsHeld", "on other errors", STACK, {CALLERS_OWN: "0+5x60"}, 150, 0, interval=5),
    Case(
        "HeadroomRequestsHeld", "within a cold start from zero", AT_ZERO, {HELD: "0+5x40"}, 200, 0, interval=5
    ),
    Case("HeadroomRequestsHeld", "beyond a cold start from zero", AT_ZERO, {HELD: "0+5x80"}, 330, interval=5),
    Case(
        "HeadroomTriggerSeriesAbsent",
        "for each trigger once nothing is scraped",
        STACK,
        {"up": STEADY},
        900,
        3,
    ),
    Case(
        "HeadroomTriggerSeriesAbsent",
        "for the offered load when the routers are not scraped",
        STACK,
        GAUGES,
        900,
        labels={"trigger": "offered"},
    ),
    Case("HeadroomTriggerSeriesAbsent", "while everything is scraped", STACK, WORKERS | GAUGES, 900, 0),
    Case(
        "HeadroomTriggerSeriesAbsent",
        "at zero replicas, where the engines' series are rightly gone",
        AT_ZERO,
        WORKERS,
        900,
        0,
    ),
    Case(
        "HeadroomAutoscalerMissing",
        "without an HPA",
        STACK,
        {f'{series.KUBE_NODE}{{node="a"}}': STEADY},
        1200,
    ),
    Case(
        "HeadroomAutoscalerMissing",
        "with one",
        STACK,
        {f'{series.KUBE_NODE}{{node="a"}}': STEADY, f"{series.HPA_MAX}{{{HPA}}}": "10x100"},
        1200,
        0,
    ),
    Case("HeadroomAutoscalerMissing", "while kube-state-metrics is down", STACK, {"up": STEADY}, 1200, 0),
    Case(
        "HeadroomAutoscalerMissing",
        "while the ScaledObject is paused, for which KEDA takes the HPA away",
        STACK,
        {f'{series.KUBE_NODE}{{node="a"}}': STEADY, f"{series.KEDA_PAUSED}{{{SCALER}}}": STEADY},
        1200,
        0,
    ),
    Case(
        "HeadroomReplicasIdle",
        "when three engines have nothing to do and one is to be kept",
        STACK,
        engines({"a": "0x200", "b": "0x200", "c": "0x200"}),
        2400,
    ),
    Case(
        "HeadroomReplicasIdle",
        "on the engine that is kept",
        STACK,
        engines({"a": "0x200", "b": STEADY}),
        2400,
        0,
    ),
    Case(
        "HeadroomReplicasIdle",
        "on engines that had a request within the hour",
        STACK,
        engines({"a": "0x20 3x2 0x100", "b": "0x40 1x1 0x100"}),
        2400,
        0,
    ),
)

FORECAST = (
    Case("HeadroomForecastMissing", "without the series", STACK, recorded(OFFERED_NOW="4x100"), 1200),
    Case(
        "HeadroomForecastMissing", "with it", STACK, recorded(OFFERED_NOW="4x100", FORECAST="4x100"), 1200, 0
    ),
    Case("HeadroomForecastMissing", "while no load is recorded either", STACK, {"up": STEADY}, 1200, 0),
    Case(
        "HeadroomForecastHarmful",
        "when three times the load is held ready",
        STACK,
        recorded(OFFERED_NOW="4x200", FORECAST="12x200", LOSS_LAST="0.1x200"),
        HOUR,
    ),
    Case(
        "HeadroomForecastHarmful",
        "when the forecast is a quarter of a replica too high",
        STACK,
        recorded(OFFERED_NOW="4x200", FORECAST="4.4x200", LOSS_LAST="0.1x200"),
        HOUR,
        0,
    ),
    Case(
        "HeadroomForecastHarmful",
        "when not acting would have cost as much",
        STACK,
        recorded(OFFERED_NOW="4x200", FORECAST="12x200", LOSS_LAST="8x200"),
        HOUR,
        0,
    ),
)

CASES = (*SLO, *DEMAND, *FORECAST)
