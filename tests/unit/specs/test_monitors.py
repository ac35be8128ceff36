"""What is scraped, how often, and under which labels."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from specs import router
from specs.metrics_names import MODEL_LABEL, router_labels
from specs.monitors import keda_pod_monitor, pod_monitor
from specs.serving import deployment
from tests.unit.specs.stack import container, dig, only, settings

Part = Literal["engine", "router"]
PARTS: tuple[Part, Part] = ("engine", "router")


def endpoint(part: Part, seconds: int = 5) -> Any:
    found = settings({}, platform={"prometheus": {"scrapeSeconds": seconds}})
    (only_one,) = dig(pod_monitor(found, only(found), part), "spec", "podMetricsEndpoints")
    return only_one


@pytest.mark.parametrize("part", PARTS)
def test_the_monitor_selects_its_pods_and_names_their_port(part: Part) -> None:
    found = settings()
    body = deployment(found, only(found)) if part == "engine" else router.deployment(found, only(found))
    template = dig(body, "spec", "template")
    selected = dig(pod_monitor(found, only(found), part), "spec", "selector", "matchLabels")
    assert selected.items() <= template["metadata"]["labels"].items()
    assert endpoint(part)["port"] in {port["name"] for port in container(template)["ports"]}


@pytest.mark.parametrize(("seconds", "timeout"), [(1, "1s"), (5, "5s"), (30, "10s")])
def test_the_timeout_is_never_longer_than_the_interval(seconds: int, timeout: str) -> None:
    found = endpoint("engine", seconds)
    assert found["interval"] == f"{seconds}s"
    assert found["scrapeTimeout"] == timeout


@pytest.mark.parametrize("part", PARTS)
def test_series_bear_the_models_name_as_the_queries_ask_for_it(part: Part) -> None:
    (relabeling,) = endpoint(part)["relabelings"]
    wanted = dict(router_labels(only(settings())))
    assert relabeling["targetLabel"] == MODEL_LABEL
    assert relabeling["replacement"] == wanted[MODEL_LABEL]


def test_kedas_own_label_namespace_is_kept() -> None:
    """Every query about a ScaledObject selects by it."""
    body = keda_pod_monitor("monitoring")
    (only_one,) = dig(body, "spec", "podMetricsEndpoints")
    assert only_one["honorLabels"] is True
    assert dig(body, "spec", "namespaceSelector") == {"matchNames": ["keda"]}
