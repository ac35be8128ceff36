"""GPU capacity: the order in which pools come and go, interruptions, and what is left to the cluster's owner."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from components.gpu_capacity import GpuCapacity, GpuCapacityArgs
from specs import events
from specs.drain import grace_seconds
from specs.names import Names
from specs.settings import Settings
from tests.unit.components import aws
from tests.unit.components.recording import Recording, namespaces, provider, record
from tests.unit.specs.stack import POOLS, only, settings

NAMES = Names("unit")
AL2023 = [dict(POOLS[0], ami="al2023@v20261101"), POOLS[1]]
ON_DEMAND = [dict(POOLS[0], capacityTypes=["on-demand"]), POOLS[1]]


@cache
def plain() -> Recording:
    """Of a stack with nothing out of the ordinary."""
    return declared()


def declared(found: Settings | None = None, **sections: Any) -> Recording:
    chosen = found or settings({}, **sections)

    def program() -> None:
        using = provider()
        made = GpuCapacity(
            "gpu-capacity",
            GpuCapacityArgs(
                settings=chosen,
                names=NAMES,
                provider=using,
                namespaces=namespaces("gpu-system", using=using),
                ready=[aws.agent()] if chosen.cluster.mode == "eks" else [],
            ),
        )
        assert list(made.pools) == [pool.name for pool in chosen.gpu_pools]

    return record(program)


def existing(**sections: Any) -> Recording:
    return declared(settings({}, cluster={"mode": "existing"}, weights={"backend": "hub"}, **sections))


def test_a_pool_comes_after_all_it_needs_and_goes_before_it() -> None:
    """PU1, PU7, KP14: on destroy Karpenter drains the pools while its rights, queue and nodes are there."""
    found = plain()
    assert {
        "EC2NodeClass inference-node-class",
        "Release karpenter",
        "Release karpenter-crd",
        "PodIdentityAssociation karpenter",
        "RolePolicyAttachment karpenter-node-lifecycle",
        "QueuePolicy interruption",
        "EventTarget interruption-spot",
        "Addon agent",
    } <= found.waits_for(found.one("NodePool", "inference-pool"))


def test_a_node_class_comes_after_the_controller_whose_finalizer_it_bears() -> None:
    found = plain()
    waits = found.waits_for(found.one("EC2NodeClass", "inference-node-class"))
    assert {"Release karpenter", "Release karpenter-crd"} <= waits


def test_crds_come_before_the_controller() -> None:
    """KP22."""
    found = plain()
    assert "Release karpenter-crd" in found.waits_for(found.one("Release", "karpenter"))
    assert found.one("Release", "karpenter").inputs["skipCrds"] is True


@pytest.mark.parametrize("kind", ["NodePool", "EC2NodeClass"])
def test_a_pool_may_take_as_long_to_leave_as_its_nodes_may_take_to_drain(kind: str) -> None:
    """PU1: Pulumi stops waiting after ten minutes unless told."""
    found = settings({"pool": "inference"}, gpuPools=[dict(POOLS[0], terminationGraceSeconds=3600), POOLS[1]])
    entry = next(e for e in declared(found).all(kind) if e.name.startswith("inference"))
    patience = int(entry.timeouts["delete"].removesuffix("s"))
    assert patience > 3600 > grace_seconds(only(found), found.gpu_pools[0])


def test_all_five_warnings_reach_the_queue_that_karpenter_reads() -> None:
    """KP26."""
    found = plain()
    assert {entry.name for entry in found.all("EventRule")} == {
        f"interruption-{name}" for name in events.INTERRUPTIONS
    }
    kinds = {json.loads(entry.inputs["eventPattern"])["detail-type"][0] for entry in found.all("EventRule")}
    assert kinds == {
        "AWS Health Event",
        "EC2 Spot Instance Interruption Warning",
        "EC2 Instance Rebalance Recommendation",
        "EC2 Instance State-change Notification",
        "EC2 Capacity Reservation Instance Interruption Warning",
    }
    assert len(found.all("EventTarget")) == len(found.all("EventRule"))
    queue = found.one("Queue").inputs
    assert (
        found.one("Release", "karpenter").inputs["values"]["settings"]["interruptionQueue"] == queue["name"]
    )
    assert (queue["messageRetentionSeconds"], queue["sqsManagedSseEnabled"]) == (300, True)


def test_pools_without_spot_hear_of_health_and_reservations_too() -> None:
    assert declared(gpuPools=ON_DEMAND).all("Queue")


def test_the_controller_is_the_only_one_to_get_its_rights() -> None:
    association = plain().one("PodIdentityAssociation").inputs
    assert (association["namespace"], association["serviceAccount"]) == ("kube-system", "karpenter")


def test_the_device_plugin_is_there_before_a_pool_that_needs_it() -> None:
    """KP7: without it a node never becomes ready and is paid for."""
    found = declared(gpuPools=AL2023)
    waits = found.waits_for(found.one("NodePool", "inference-pool"))
    assert {"Release gpu-plugin", "Namespace gpu-system"} <= waits


def test_bottlerocket_pools_get_no_second_device_plugin() -> None:
    """KP23."""
    assert "gpu-plugin" not in [entry.name for entry in plain().all("Release")]


def test_pools_are_declared_where_karpenter_is_there_already() -> None:
    found = declared(platform={"karpenter": {"install": False}})
    assert found.all("Release") == []
    assert [entry.name for entry in found.all("NodePool")] == ["inference-pool", "large-pool"]


def test_an_existing_cluster_gets_pools_and_nothing_of_aws() -> None:
    found = existing(platform={"karpenter": {"install": False}})
    assert [entry.type for entry in found.entries if entry.type.startswith("aws:")] == []
    assert len(found.all("NodePool")) == len(found.all("EC2NodeClass")) == 2


def test_the_light_alternative_declares_its_own_class() -> None:
    light = [dict(pool, nodeClass="kwok") for pool in POOLS]
    found = existing(platform={"karpenter": {"install": False}}, gpuPools=light)
    assert len(found.all("KWOKNodeClass")) == 2
    assert found.all("EC2NodeClass") == []


def test_a_pools_object_names_are_the_pools_own() -> None:
    """Models and people name pools; a generated suffix would hide them."""
    assert {entry.inputs["metadata"]["name"] for entry in plain().all("NodePool")} == {
        "inference",
        "large",
    }
