"""EC2NodeClass and NodePool bodies: fields in the right place, the right disk, no stranded GPU."""

from __future__ import annotations

from typing import Any, cast

import pytest

from specs import charts, nodes
from specs.names import Names
from specs.settings.read import read
from specs.settings.stack import GpuPool, Settings

NAMES = Names("prod")


def settings(**pool: Any) -> Settings:
    return read(
        {
            "headroom:gpuPools": [{"name": "inference", "families": ["g6", "g5"], "gpuLimit": 16} | pool],
            "headroom:gpuBudget": {"maxGpus": 16},
            "headroom:models": [
                {
                    "name": "m",
                    "pool": "inference",
                    "model": "a/b",
                    "weightsGiB": 15,
                    "replicas": {"min": 1, "max": 2},
                }
            ],
        }
    )


def pool_of(**fields: Any) -> GpuPool:
    return settings(**fields).gpu_pools[0]


def spec(body: nodes.Body) -> dict[str, Any]:
    return cast(dict[str, Any], body["spec"])


def pool_spec(**fields: Any) -> dict[str, Any]:
    made = settings(**fields)
    return spec(nodes.node_pool(made, made.gpu_pools[0]))


@pytest.mark.parametrize(
    ("ami", "device"), [("al2023@v20261101", "/dev/xvda"), ("bottlerocket@v1.60.0", "/dev/xvdb")]
)
def test_the_size_goes_to_the_device_that_holds_images(ami: str, device: str) -> None:
    """KP20: the other family's device name would leave 20 GiB for a 29 GiB image."""
    mappings = spec(nodes.node_class(NAMES, pool_of(ami=ami, disk={"sizeGiB": 170})))["blockDeviceMappings"]
    assert {m["deviceName"]: m["ebs"]["volumeSize"] for m in mappings}[device] == "170Gi"
    assert all(m["ebs"]["encrypted"] for m in mappings)
    # Karpenter takes the marked device for the room that pods may ask of the node.
    assert [m["deviceName"] for m in mappings if m.get("rootVolume")] == [device]


def test_the_expiry_stands_in_the_template_and_not_in_disruption() -> None:
    made = pool_spec()
    assert made["template"]["spec"]["expireAfter"] == "168h"
    assert made["template"]["spec"]["terminationGracePeriod"] == "1800s"
    assert "expireAfter" not in made["disruption"]


def test_no_expiry_is_written_as_never() -> None:
    assert pool_spec(expireAfterHours=None)["template"]["spec"]["expireAfter"] == "Never"


def test_the_class_is_named_with_group_and_kind() -> None:
    reference = pool_spec()["template"]["spec"]["nodeClassRef"]
    assert reference == {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "inference"}


def test_a_taint_without_a_value_has_no_value_key() -> None:
    """Karpenter's schema refuses an empty one."""
    taints = pool_spec(taints=[{"key": "team", "value": "", "effect": "NoExecute"}])["template"]["spec"][
        "taints"
    ]
    assert taints == [{"key": "team", "effect": "NoExecute"}]


def test_a_pool_may_leave_as_slowly_as_its_nodes_may_drain() -> None:
    """Pulumi's own patience is ten minutes."""
    assert nodes.removal_seconds(pool_of(terminationGraceSeconds=3600)) > 3600
    assert nodes.removal_seconds(pool_of(expireAfterHours=None, terminationGraceSeconds=None)) > 600


def test_the_gpu_limit_is_a_string_quantity() -> None:
    assert pool_spec()["limits"] == {"nvidia.com/gpu": "16"}


def test_a_node_has_exactly_the_gpus_a_replica_asks() -> None:
    """KP4, and fractional g6f types, whose GPU count is 0."""
    requirements = pool_spec()["template"]["spec"]["requirements"]
    assert {"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "In", "values": ["1"]} in requirements


def test_pods_cannot_reach_the_nodes_credentials() -> None:
    options = spec(nodes.node_class(NAMES, pool_of()))["metadataOptions"]
    assert (options["httpTokens"], options["httpPutResponseHopLimit"]) == ("required", 1)


def test_reservations_are_selected_only_where_the_pool_uses_them() -> None:
    assert "capacityReservationSelectorTerms" not in spec(nodes.node_class(NAMES, pool_of()))
    reserved = spec(nodes.node_class(NAMES, pool_of(capacityTypes=["reserved", "on-demand"])))
    assert reserved["capacityReservationSelectorTerms"] == [{"tags": {"headroom:pool": "inference"}}]


def test_local_disks_are_used_when_asked() -> None:
    assert (
        spec(nodes.node_class(NAMES, pool_of(disk={"instanceStore": True})))["instanceStorePolicy"] == "RAID0"
    )


def test_images_are_pulled_in_parallel_on_both_systems() -> None:
    assert "FastImagePull: true" in spec(nodes.node_class(NAMES, pool_of(ami="al2023@v20261101")))["userData"]
    assert "parallel-pull-unpack" in spec(nodes.node_class(NAMES, pool_of()))["userData"]


def test_the_light_alternative_uses_its_own_class() -> None:
    made = pool_spec(nodeClass="kwok")
    assert made["template"]["spec"]["nodeClassRef"]["kind"] == "KWOKNodeClass"
    keys = {requirement["key"] for requirement in made["template"]["spec"]["requirements"]}
    assert not any(key.startswith("karpenter.k8s.aws") for key in keys)


@pytest.mark.parametrize(("ami", "wanted"), [("al2023@v20261101", True), ("bottlerocket@v1.60.0", False)])
def test_the_device_plugin_comes_with_al2023_only(ami: str, wanted: bool) -> None:
    """KP23: Bottlerocket has its own; two would fight."""
    assert charts.needs_gpu_plugin(settings(ami=ami)) is wanted


def test_the_device_plugin_tolerates_every_taint_of_every_pool() -> None:
    taints = [{"key": "nvidia.com/gpu"}, {"key": "team", "value": "ml", "effect": "NoExecute"}]
    made = settings(ami="al2023@v20261101", taints=taints)
    tolerations = cast(Any, charts.gpu_plugin(made).values["tolerations"])
    assert {(t["key"], t["value"], t["effect"]) for t in tolerations} == {
        ("nvidia.com/gpu", "true", "NoSchedule"),
        ("team", "ml", "NoExecute"),
    }


def test_karpenter_gets_the_queues_name_and_not_its_arn() -> None:
    """KP26: an ARN there makes spot notices do nothing."""
    values = cast(Any, charts.karpenter(settings(), NAMES).values)
    assert values["settings"]["interruptionQueue"] == NAMES.queue
    assert not NAMES.queue.startswith("arn:")


def test_crds_are_a_release_of_the_same_version_and_the_main_chart_skips_them() -> None:
    """KP22: Helm never upgrades the CRDs inside a chart."""
    crds, main = charts.karpenter_crds(settings()), charts.karpenter(settings(), NAMES)
    assert (crds.version, main.skip_crds) == (main.version, True)


def test_a_mirror_serves_every_chart_from_one_address() -> None:
    base = settings()
    mirrored = base.model_copy(
        update={
            "platform": base.platform.model_copy(update={"chart_source": "oci://registry.example.com/charts"})
        }
    )
    assert charts.karpenter(mirrored, NAMES).chart == "oci://registry.example.com/charts/karpenter"
    assert charts.gpu_plugin(mirrored).repository is None


def test_user_values_are_laid_over_the_generated_ones() -> None:
    merged = charts.merged({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"c": 3}, "d": [2]})
    assert merged == {"a": {"b": 1, "c": 3}, "d": [2]}
