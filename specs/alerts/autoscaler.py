"""Alerts of one model's autoscaler: it exists, reads its triggers, may act, and gets the nodes that it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from specs import series
from specs.alerts.alert import Alert, both
from specs.metrics_names import recorded_labels
from specs.scaling import FALLBACK_FAILURES
from specs.series import where
from specs.settings.model import Model
from specs.settings.stack import Settings

PAUSED_SECONDS: Final = 600
NODE_SECONDS: Final = 600
"""Karpenter has tried every type and zone by then (specs.patience.SCARCITY_SECONDS)."""


def alerts(settings: Settings, model: Model) -> Sequence[Alert]:
    """The model's alerts, in a stable order."""
    found = [_errors(model), _paused(model), *_hpa(model), _waiting(model)]
    if settings.platform.prometheus.install:
        # Only there kube-state-metrics is known to be scraped: absence then means absence.
        found.append(_missing(model))
    return found


def _labels(model: Model) -> dict[str, str]:
    return dict(recorded_labels(model))


def _scaled(model: Model) -> dict[str, str]:
    return {"namespace": model.namespace, "scaledObject": model.name}


def _scaler(model: Model) -> dict[str, str]:
    return {"namespace": model.namespace, "horizontalpodautoscaler": model.name}


def _errors(model: Model) -> Alert:
    """From as many failures as make the fallback act; one alone is a restart of Prometheus."""
    failures = where(series.KEDA_ERRORS, _scaled(model), window=300)
    return Alert(
        "HeadroomScalerErrors",
        f"sum by (scaler) (increase({failures})) >= {FALLBACK_FAILURES}",
        120,
        "critical",
        "scaler-errors",
        f"{model.name}: KEDA can't read trigger {{{{ $labels.scaler }}}}",
        "{{ $value | humanize }} readings failed in five minutes. Scale-down is blocked, and scale-up rests on the "
        "other triggers or the fallback.",
        _labels(model),
    )


def _paused(model: Model) -> Alert:
    return Alert(
        "HeadroomScalingPaused",
        _is_paused(model),
        PAUSED_SECONDS,
        "warning",
        "scaling-paused",
        f"{model.name}: autoscaling is paused",
        "The ScaledObject has an annotation autoscaling.keda.sh/paused: replicas stay as they are until it goes.",
        _labels(model),
    )


def _is_paused(model: Model) -> str:
    return f"max({where(series.KEDA_PAUSED, _scaled(model))}) == 1"


def _hpa(model: Model) -> Sequence[Alert]:
    def gauge(name: str, **more: str) -> str:
        return f"max({where(name, {**_scaler(model), **more})})"

    # At zero replicas the HPA is off by design: reason ScalingDisabled (kubernetes 1.35 horizontal.go).
    blind = gauge(series.HPA_CONDITION, condition="ScalingActive", status="false")
    limited = gauge(series.HPA_CONDITION, condition="ScalingLimited", status="true")
    most = gauge(series.HPA_MAX)
    return (
        Alert(
            "HeadroomHpaWithoutMetrics",
            both(f"{blind} == 1", f"{gauge(series.HPA_CURRENT)} > 0"),
            300,
            "critical",
            "hpa-without-metrics",
            f"{model.name}: the HPA can't read a single metric",
            "Replicas neither grow nor shrink. The external metrics API or every trigger fails.",
            _labels(model),
        ),
        Alert(
            "HeadroomReplicasAtMax",
            both(
                f"{gauge(series.HPA_DESIRED)} >= {most}",
                f"{limited} == 1",
                f"{most} > {gauge(series.HPA_MIN)}",
            ),
            1800,
            "warning",
            "replicas-at-max",
            f"{model.name}: the load asks for more than replicas.max",
            "It has been held at {{ $value }} replicas for half an hour; latency is the next thing to give.",
            _labels(model),
        ),
    )


def _waiting(model: Model) -> Alert:
    """Pods of the model's two Deployments: name, hash of the ReplicaSet, five letters."""
    pods = {"pod": f"{model.name}(-router)?-[a-z0-9]+-[a-z0-9]+"}
    return Alert(
        "HeadroomPodsWaitForNodes",
        f"sum({where(series.POD_UNSCHEDULABLE, {'namespace': model.namespace}, pods)}) > 0",
        NODE_SECONDS,
        "critical",
        "capacity-unavailable",
        f"{model.name}: {{{{ $value }}}} pods have no node",
        "A node takes a minute or two; after ten, capacity, quota, the pool's limit or a taint is in the way.",
        _labels(model),
    )


def _missing(model: Model) -> Alert:
    # With kube-state-metrics gone every model's would be absent.
    absent = f"absent({where(series.HPA_MAX, _scaler(model))}) and on() (count({series.KUBE_NODE}) > 0)"
    return Alert(
        "HeadroomAutoscalerMissing",
        # KEDA takes the HPA of a paused ScaledObject away; HeadroomScalingPaused tells of that.
        f"{absent} unless on() ({_is_paused(model)})",
        900,
        "critical",
        "autoscaler-missing",
        f"{model.name}: there is no autoscaler",
        "The model has no HorizontalPodAutoscaler: its ScaledObject is not ready, or gone.",
        _labels(model),
    )
