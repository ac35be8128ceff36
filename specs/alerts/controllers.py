"""Autoscaling that is silently off for all: nobody looks any more, or Prometheus can't compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from specs import series
from specs.alerts.alert import Alert
from specs.series import where
from specs.settings.stack import Settings

UNSEEN_SECONDS: Final = 600
GROUPS: Final = "headroom-"
"""How the names of the program's rule groups begin."""


def alerts(settings: Settings) -> Sequence[Alert]:
    """Those that the installed parts can have."""
    platform = settings.platform
    found: list[Alert] = []
    if platform.keda.install:
        found.append(_unseen("KEDA", series.KEDA_UP, "no replica follows its load."))
    if platform.karpenter.install and platform.prometheus.install:
        found.append(_unseen("Karpenter", series.KARPENTER_UP, "no node is launched, removed or drained."))
    if platform.prometheus.install:
        found.append(_rules())
    return found


def _unseen(part: str, up: str, effect: str) -> Alert:
    return Alert(
        f"Headroom{part.capitalize()}Unseen",
        f"absent({up})",
        UNSEEN_SECONDS,
        "critical",
        f"{part.lower()}-unseen",
        f"{part} shows no metrics",
        f"It is down, or not scraped and every alert about it is blind. If it is down, {effect}",
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
