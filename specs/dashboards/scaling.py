"""The scaling loop: what callers ask, what that demands, what the autoscaler wants, and what is there."""

from __future__ import annotations

from specs import metrics_names as names
from specs import series
from specs.dashboards.dashboard import MODEL, RATE, Dashboard, Row, firing
from specs.dashboards.panel import Panel, Query, stat
from specs.forecast import GATE_MARGIN, GATE_SECONDS
from specs.promql import duration, number
from specs.series import where

LABEL = names.MODEL_LABEL
LEGEND = f"{{{{{LABEL}}}}}"
HPA = {"horizontalpodautoscaler": "$model"}
KEDA = {"scaledObject": "$model"}


def _recorded(name: str) -> str:
    return f"max by ({LABEL}) ({where(name, like=MODEL)})"


def _hpa(name: str, exact: dict[str, str] | None = None) -> str:
    return f"max by (horizontalpodautoscaler) ({where(name, exact, HPA)})"


def _deployment(name: str) -> str:
    return f"max by (deployment) ({where(name, like={'deployment': '$model'})})"


def _load() -> Row:
    held = where(names.ROUTER_ERRORS, {"error_type": names.NO_WORKERS}, MODEL)
    return Row(
        "Load",
        (
            Panel(
                "Offered load and what is held ready for it",
                "Offered: what callers ask now. Reserved: with headroom for growth within a lead time. "
                "Forecast: one lead time ahead, by the predictors whose backtest wins.",
                "reqps",
                (
                    Query(_recorded(names.OFFERED_NOW), f"{LEGEND} offered"),
                    Query(_recorded(names.RESERVED), f"{LEGEND} reserved"),
                    Query(_recorded(names.FORECAST), f"{LEGEND} forecast"),
                ),
            ),
            Panel(
                "Requests that wait",
                "Held: in the router for want of an engine (each is tried about once a second). Waiting: in the engines' "
                "queues; 0 in a healthy steady state.",
                "short",
                (
                    Query(f"sum by ({LABEL}) (rate({held}[{RATE}]))", f"{LEGEND} held in the router"),
                    Query(
                        f"sum by ({LABEL}) ({where(names.WAITING, like=MODEL)})",
                        f"{LEGEND} waiting in engines",
                    ),
                ),
            ),
        ),
    )


def _replicas() -> Row:
    return Row(
        "Replicas",
        (
            Panel(
                "Demand, desired, ready",
                "Demand is not rounded; desired is the HPA's; ready lags desired by one start. The dashed line is "
                "replicas.max.",
                "short",
                (
                    Query(_recorded(names.DEMAND), f"{LEGEND} demand"),
                    Query(_hpa(series.HPA_DESIRED), "{{horizontalpodautoscaler}} desired"),
                    Query(_deployment(series.DEPLOYMENT_REPLICAS), "{{deployment}} current"),
                    Query(_deployment(series.DEPLOYMENT_READY), "{{deployment}} ready"),
                    Query(_hpa(series.HPA_MAX), "{{horizontalpodautoscaler}} max", limit=True),
                ),
            ),
            Panel(
                "Router: requests in flight and engines",
                "In flight as the routers count it, and the engines in their list (each router's own).",
                "short",
                (
                    Query(
                        f"sum by ({LABEL}) ({where(names.ROUTER_RUNNING, like=MODEL)})", f"{LEGEND} in flight"
                    ),
                    Query(_recorded(names.ROUTER_WORKERS), f"{LEGEND} engines in the list"),
                ),
            ),
        ),
    )


def _triggers() -> Row:
    errors = where(series.KEDA_ERRORS, like=KEDA)
    blind = {"condition": "ScalingActive", "status": "false"}
    limited = {"condition": "ScalingLimited", "status": "true"}
    return Row(
        "Triggers",
        (
            Panel(
                "What KEDA read last",
                "Each trigger's value in its own unit. A line that no longer moves means that the HPA stopped asking.",
                "short",
                (
                    Query(
                        f"max by (scaledObject, scaler) ({where(series.KEDA_VALUE, like=KEDA)})",
                        "{{scaledObject}} {{scaler}}",
                    ),
                ),
            ),
            Panel(
                "Failed readings",
                "From three in a row on the fallback acts; any failure blocks scale-down.",
                "short",
                (
                    Query(
                        f"sum by (scaledObject, scaler) (increase({errors}[{RATE}]))",
                        "{{scaledObject}} {{scaler}}",
                    ),
                ),
            ),
            Panel(
                "Time to read a trigger",
                "Prometheus' answer as KEDA sees it.",
                "s",
                (
                    Query(
                        f"max by (scaledObject, scaler) ({where(series.KEDA_LATENCY, like=KEDA)})",
                        "{{scaledObject}} {{scaler}}",
                    ),
                ),
            ),
            Panel(
                "Conditions",
                "1 while it holds. No metrics: normal at zero replicas. At a limit: the HPA wants more than max or less "
                "than min.",
                "bool_yes_no",
                (
                    Query(_hpa(series.HPA_CONDITION, blind), "{{horizontalpodautoscaler}} no metrics"),
                    Query(_hpa(series.HPA_CONDITION, limited), "{{horizontalpodautoscaler}} at a limit"),
                    Query(
                        f"max by (scaledObject) ({where(series.KEDA_PAUSED, like=KEDA)})",
                        "{{scaledObject}} paused",
                    ),
                ),
                most=1,
            ),
        ),
    )


def _forecast() -> Row:
    def mean(loss: str) -> str:
        return f"max by ({LABEL}) (avg_over_time({where(loss, like=MODEL, window=GATE_SECONDS)}))"

    candidates = (
        ("trend", names.LOSS_TREND),
        ("day", names.LOSS_SEASON_DAY),
        ("week", names.LOSS_SEASON_WEEK),
        ("forecast", names.LOSS_FORECAST),
    )
    return Row(
        "Forecast",
        (
            Panel(
                "Backtest: cost of acting on a predictor",
                f"Mean loss of {duration(GATE_SECONDS)} over that of not acting. A predictor is used below "
                f"{number(GATE_MARGIN)}; at a lead of minutes and ample slack mostly none is.",
                "percentunit",
                (
                    *(
                        Query(f"{mean(loss)} / {mean(names.LOSS_LAST)}", f"{LEGEND} {title}")
                        for title, loss in candidates
                    ),
                    Query(f"vector({number(GATE_MARGIN)})", "used below", limit=True),
                ),
            ),
            Panel(
                "Growth within one lead time",
                "Demand now over demand one lead time ago; its usual height sets the reserve.",
                "percentunit",
                (Query(_recorded(names.GROWTH), LEGEND),),
            ),
        ),
    )


def _now() -> Row:
    held = where(names.ROUTER_ERRORS, {"error_type": names.NO_WORKERS}, MODEL)
    ready = f"sum({_deployment(series.DEPLOYMENT_READY)})"
    return Row(
        "Now",
        (
            stat(
                "Offered", "Requests a second.", "reqps", f"sum({_recorded(names.OFFERED_NOW)})", decimals=2
            ),
            stat("Demand", "Replicas, not rounded.", "short", f"sum({_recorded(names.DEMAND)})", decimals=1),
            stat("Desired", "By the HPA.", "none", f"sum({_hpa(series.HPA_DESIRED)})"),
            stat("Ready", "Engines that serve.", "none", ready),
            stat(
                "Held",
                "Requests in the router without an engine.",
                "short",
                f"sum(rate({held}[{RATE}])) or vector(0)",
                ((0.5, "orange"), (10.0, "red")),
                decimals=0,
            ),
            stat(
                "Alerts",
                "Of Headroom, that fire.",
                "none",
                f"count({firing()}) or vector(0)",
                ((1.0, "red"),),
            ),
        ),
    )


def dashboard() -> Dashboard:
    """The first place to look."""
    return Dashboard(
        "scaling",
        "Headroom / Scaling loop",
        "From the callers' load to ready replicas, with the triggers between them.",
        (_now(), _load(), _replicas(), _triggers(), _forecast()),
    )
