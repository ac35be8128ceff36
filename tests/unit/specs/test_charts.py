"""Releases as arguments: where a chart comes from, which version, which values, and where its pods may land."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest

from specs import charts, nodes, versions
from specs.charts import ReleaseSpec
from specs.names import KEDA_NAMESPACE, METRICS_NAMESPACE, Names
from specs.platform_values import keda_values, prometheus_values
from specs.settings import Settings
from tests.unit.specs.stack import POOLS, dig, settings

NAMES = Names("prod")
MIRROR = "oci://registry.example.com/charts"
AL2023 = {"gpuPools": [dict(POOLS[0], ami="al2023@v20261101"), POOLS[1]]}


def platform(**parts: Any) -> Settings:
    return settings({}, platform=parts)


def existing() -> Settings:
    return settings({}, cluster={"mode": "existing"}, weights={"backend": "hub"})


NODE_EXPORTER = "prometheus-node-exporter"


def controllers(found: Settings) -> dict[str, Mapping[str, object]]:
    """Values of what runs on the system nodes."""
    platform = found.platform
    keda = charts.release(found, versions.KEDA, platform.keda, KEDA_NAMESPACE, keda_values(found))
    metrics = charts.release(
        found, versions.PROMETHEUS, platform.prometheus, METRICS_NAMESPACE, prometheus_values(found)
    )
    return {
        "karpenter": charts.karpenter(found, NAMES).values,
        "load-balancer-controller": charts.load_balancer_controller(found, NAMES, "vpc-1").values,
        "keda": keda.values,
        "prometheus": metrics.values,
    }


def tolerations(value: object) -> Iterator[dict[str, Any]]:
    """Every toleration anywhere in chart values."""
    if isinstance(value, Mapping):
        for key, inner in cast(Mapping[str, object], value).items():
            if key == "tolerations":
                yield from cast(list[dict[str, Any]], inner)
            else:
                yield from tolerations(inner)


def test_a_part_may_be_pinned_to_another_version() -> None:
    """KP22: the CRDs follow the controller's version."""
    found = platform(karpenter={"version": "1.14.1"})
    assert charts.karpenter(found, NAMES).version == "1.14.1"
    assert charts.karpenter_crds(found).version == "1.14.1"


@pytest.mark.parametrize(
    "prometheus", [{}, {"install": False, "address": "http://prometheus.monitoring.svc:9090"}]
)
def test_karpenter_is_scraped_by_an_existing_prometheus_as_by_our_own(prometheus: dict[str, Any]) -> None:
    """Its alerts are there either way, and would be silent without its series."""
    assert dig(charts.karpenter(platform(prometheus=prometheus), NAMES).values, "serviceMonitor", "enabled")


def test_the_users_values_do_not_reach_the_crds_chart() -> None:
    found = platform(karpenter={"values": {"logLevel": "debug"}})
    assert charts.karpenter(found, NAMES).values["logLevel"] == "debug"
    assert charts.karpenter_crds(found).values == {}


def test_a_parts_own_mirror_wins_over_the_platforms() -> None:
    found = platform(chartSource=MIRROR, karpenter={"chartSource": "https://charts.example.com"})
    own = charts.karpenter(found, NAMES)
    assert (own.chart, own.repository) == ("karpenter", "https://charts.example.com")
    other = charts.load_balancer_controller(found, NAMES, "vpc-1")
    assert (other.chart, other.repository) == (f"{MIRROR}/aws-load-balancer-controller", None)


@pytest.mark.parametrize(
    ("made", "chart", "repository"),
    [
        (charts.karpenter_crds, "oci://public.ecr.aws/karpenter/karpenter-crd", None),
        (charts.gpu_plugin, "nvidia-device-plugin", "https://nvidia.github.io/k8s-device-plugin"),
    ],
)
def test_an_oci_chart_is_named_by_its_address_and_an_indexed_one_by_its_repository(
    made: Any, chart: str, repository: str | None
) -> None:
    spec: ReleaseSpec = made(settings())
    assert (spec.chart, spec.repository) == (chart, repository)


def test_a_null_of_the_users_removes_a_generated_value_as_in_helm() -> None:
    assert charts.merged({"a": {"b": 1}}, {"a": {"b": None}}) == {"a": {"b": None}}


def test_neither_side_of_a_merge_is_changed() -> None:
    base, over = {"a": {"b": 1}}, {"a": {"c": 2}}
    charts.merged(base, over)
    assert (base, over) == ({"a": {"b": 1}}, {"a": {"c": 2}})


def test_an_existing_cluster_gets_no_queue_that_nobody_made() -> None:
    """KP26: a dangling queue name stops the controller."""
    assert dig(charts.karpenter(existing(), NAMES).values, "settings", "interruptionQueue") == ""
    assert dig(charts.karpenter(settings(), NAMES).values, "settings", "interruptionQueue") == NAMES.queue


def test_karpenter_is_told_its_region_since_a_pod_cannot_ask_the_node() -> None:
    env = dig(charts.karpenter(settings(), NAMES).values, "controller", "env")
    assert env == [{"name": "AWS_REGION", "value": "us-east-1"}]


@pytest.mark.parametrize(("spares", "on"), [(0, False), (1, True)])
def test_the_gate_of_warm_spares_opens_only_for_a_model_that_has_some(spares: int, on: bool) -> None:
    found = settings({"scaling": {"warmSpares": spares}})
    gates = dig(charts.karpenter(found, NAMES).values, "settings", "featureGates")
    assert gates["capacityBuffer"] is on


def test_the_load_balancer_controller_is_told_region_and_vpc() -> None:
    values = charts.load_balancer_controller(settings(), NAMES, "vpc-1").values
    assert (values["region"], values["vpcId"]) == ("us-east-1", "vpc-1")
    assert values["clusterName"] == NAMES.cluster


@pytest.mark.parametrize("name", sorted(controllers(settings())))
def test_a_controller_never_lands_on_a_gpu_node(name: str) -> None:
    """KP25: it would keep the node alive. The node exporter is no controller: it measures every node."""
    values = {key: value for key, value in controllers(settings())[name].items() if key != NODE_EXPORTER}
    assert '"headroom.dev/role": "system"' in str(values).replace("'", '"')
    reach = [each for each in tolerations(values) if each.get("key") in {None, "", "nvidia.com/gpu"}]
    assert reach == []


def test_an_existing_clusters_node_labels_are_not_guessed() -> None:
    for name, values in controllers(existing()).items():
        assert "headroom.dev/role" not in str(values), name


def test_the_device_plugin_lands_on_every_node_of_an_al2023_pool_and_on_no_other() -> None:
    """KP7, KP23: the chart's own affinity wants labels that Karpenter's nodes lack."""
    found = settings({}, **AL2023)
    values = charts.gpu_plugin(found).values
    [term] = dig(
        values,
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    )
    landed: dict[str, bool] = {}
    for pool in found.gpu_pools:
        labels = dig(nodes.node_pool(found, pool), "spec", "template", "metadata", "labels")
        landed[pool.name] = all(labels.get(e["key"]) in e["values"] for e in term["matchExpressions"])
    assert landed == {"inference": True, "large": False}


def test_the_lab_needs_no_device_plugin() -> None:
    pool = dict(POOLS[0], ami="al2023@v20261101", nodeClass="kwok")
    sections: dict[str, Any] = {"cluster": {"mode": "existing"}, "weights": {"backend": "hub"}}
    assert not charts.needs_gpu_plugin(settings({}, gpuPools=[pool, POOLS[1]], **sections))
