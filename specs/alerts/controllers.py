"""Autoscaling that is silently off: KEDA can't read, the HPA can't decide, or nobody is looking at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from specs import series
from specs.alerts.alert import Alert, both
from specs.scaling import FALLBACK_FAILURES
from specs.series import any_of, where
from specs.settings.stack import Settings

UNSEEN_SECONDS: Final = 600
HPA_LABELS: Final = "namespace, horizontalpodautoscaler"
GROUPS: Final = "headroom-"
"""How the names of the program's rule groups begin."""


def alerts(settings: Settings) -> Sequence[Alert]:
    """Those that the installed parts can have."""
    models = settings.active_models
    namespaces, named = any_of(model.namespace for model in models), any_of(model.name for model in models)
    found = [
        _errors({"namespace": namespaces, "scaledObject": named}),
        _paused({"namespace": namespaces, "scaledObject": named}),
        *_autoscalers({"namespace": namespaces, "horizontalpodautoscaler": named}),
    ]
    platform = settings.platform
    if platform.keda.install:
        found.append(
            _unseen("KEDA", series.KEDA_UP, "No replica follows its load beyond what the HPA last knew.")
        )
    if platform.karpenter.install and platform.prometheus.install:
        found.append(_unseen("Karpenter", series.KARPENTER_UP, "No node is launched, removed or drained."))
    if platform.prometheus.install:
        found.append(_rules())
    return found


def _errors(models: dict[str, str]) -> Alert:
    """From as many failures as make the fallback act; one alone is a restart of Prometheus."""
    failures = where(series.KEDA_ERRORS, like=models, window=300)
    return Alert(
        "HeadroomScalerErrors",
        f"sum by (namespace, scaledObject, scaler) (increase({failures})) >= {FALLBACK_FAILURES}",
        120,
        "critical",
        "scaler-errors",
        "{{ $labels.scaledObject }}: KEDA can't read trigger {{ $labels.scaler }}",
        "{{ $value | humanize }} readings failed in five minutes. Scale-down is blocked, and scale-up rests on the "
        "other triggers or the fallback.",
    )


def _paused(models: dict[str, str]) -> Alert:
    return Alert(
        "HeadroomScalingPaused",
        f"max by (namespace, scaledObject) ({where(series.KEDA_PAUSED, like=models)}) == 1",
        UNSEEN_SECONDS,
        "warning",
        "scaling-paused",
        "{{ $labels.scaledObject }}: autoscaling is paused",
        "The ScaledObject has an annotation autoscaling.keda.sh/paused: replicas stay as they are until it goes.",
    )


def _autoscalers(models: dict[str, str]) -> Sequence[Alert]:
    def gauge(name: str, exact: dict[str, str] | None = None) -> str:
        return f"max by ({HPA_LABELS}) ({where(name, exact, models)})"

    # At zero replicas the HPA is off by design: reason ScalingDisabled (kubernetes 1.35 horizontal.go).
    blind = gauge(series.HPA_CONDITION, {"condition": "ScalingActive", "status": "false"})
    limited = gauge(series.HPA_CONDITION, {"condition": "ScalingLimited", "status": "true"})
    most = gauge(series.HPA_MAX)
    return (
        Alert(
            "HeadroomHpaWithoutMetrics",
            both(f"{blind} == 1", f"{gauge(series.HPA_CURRENT)} > 0"),
            300,
            "critical",
            "hpa-without-metrics",
            "{{ $labels.horizontalpodautoscaler }}: the HPA can't read a single metric",
            "Replicas neither grow nor shrink. The external metrics API or every trigger fails.",
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
            "{{ $labels.horizontalpodautoscaler }}: the load asks for more than replicas.max",
            "It has been held at {{ $value }} replicas for half an hour; latency is the next thing to give.",
        ),
    )


def _unseen(part: str, up: str, effect: str) -> Alert:
    return Alert(
        f"Headroom{part.capitalize()}Unseen",
        f"absent({up})",
        UNSEEN_SECONDS,
        "critical",
        f"{part.lower()}-unseen",
        f"{part} shows no metrics",
        f"It is down, or not scraped and every alert about it is blind. If it is down: {effect[0].lower()}{effect[1:]}",
    )


def _rules() -> Alert:
    failures = where(series.RULE_FAILURES, like={"rule_group": f".*;{GROUPS}.*"}, window=900)
    return Alert(
        "HeadroomRulesFailing",
        f"sum by (rule_group) (increase({failures})) > 0",
        300,
        "warning",
        "rules-failing",
        "Prometheus can't evaluate {{ $labels.rule_group }}",
        "Demand, forecast or alerts of this group are not computed.",
    )
