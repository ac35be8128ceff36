"""Where a series comes from, and how old its newest sample may be."""

from typing import Literal

from lab.doctor.seen import Selector
from specs.forecast import RULE_SECONDS, rules
from specs.metrics_names import ROUTER_WORKERS, engine_labels, router_labels
from specs.monitors import LONGEST_SCRAPE_SECONDS
from specs.settings.model import Model
from specs.settings.stack import Settings

Origin = Literal["engine", "router", "rule", "elsewhere"]
MISSED = 3
"""Intervals without a sample that are no accident; a slow engine's answer may take longer still."""


def origin(settings: Settings, model: Model, selector: Selector) -> Origin:
    """Who publishes a series that a trigger reads; elsewhere for those of a trigger of the stack's own. What rules
    record bears the router's labels.
    """
    labels = set(selector.labels)
    if set(engine_labels(model)) <= labels:
        return "engine"
    if not set(router_labels(model)) <= labels:
        return "elsewhere"
    return "rule" if selector.name in {rule.record for rule in rules(settings, model)} else "router"


def oldest(settings: Settings, kind: Origin) -> float | None:
    """Seconds after which a sample is stale; None where the interval is not known."""
    if kind == "elsewhere":
        return None
    each = RULE_SECONDS if kind == "rule" else settings.platform.prometheus.scrape_seconds
    return MISSED * each + LONGEST_SCRAPE_SECONDS


def from_the_first(selector: Selector) -> bool:
    """The router's one series that needs no request to exist."""
    return selector.name == ROUTER_WORKERS
