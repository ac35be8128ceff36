"""One model's objects: names, options, and the order in which they come and go."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from components.inference_service import InferenceService, InferenceServiceArgs
from specs.patience import rollout_seconds
from specs.settings import Settings
from specs.stages import tiers
from tests.unit.components.recording import (
    Recording,
    Registered,
    namespaces,
    provider,
    record,
    release,
    texts,
)
from tests.unit.specs.stack import dig, only, settings

SPARE = {"scaling": {"warmSpares": 1}}
ZERO: dict[str, Any] = {"replicas": {"min": 0, "max": 2}, "ingress": {"enabled": False}}
CUSTOM = ("ScaledObject", "PodMonitor", "PrometheusRule", "CapacityBuffer")


def declared(found: Settings, volume: dict[str, str] | None = None) -> Recording:
    def program() -> None:
        using = provider()
        pool = k8s.apiextensions.CustomResource(
            "pool",
            api_version="karpenter.sh/v1",
            kind="NodePool",
            metadata={"name": "inference"},
            spec={},
            opts=pulumi.ResourceOptions(provider=using, depends_on=[release("karpenter", using)]),
        )
        InferenceService(
            "llama3-8b",
            InferenceServiceArgs(
                settings=found,
                model=only(found),
                provider=using,
                namespace=namespaces("llm-serving", using=using)["llm-serving"],
                bucket_name=pool.id,  # any value that is not known before the first update
                prometheus_address="http://prometheus",
                pool=pool,
                metrics_ready=[release("prometheus", using)],
                autoscaler_ready=[release("keda", using)],
                ingress_ready=[release("balancers", using)],
                weights_ready=[release("weights", using)],
                weights_volume=volume,
            ),
        )

    return record(program)


@cache
def usual() -> Recording:
    return declared(settings(SPARE))


def own(recording: Recording) -> list[Registered]:
    return [entry for entry in recording.entries if "InferenceService$" in entry.urn]


def test_every_child_is_named_after_the_model_and_belongs_to_the_component() -> None:
    component = usual().one("InferenceService")
    children = own(usual())
    assert {entry.parent for entry in children} == {component.urn}
    assert all(re.fullmatch(r"llama3-8b-[a-z]+", entry.name) for entry in children)
    assert len({entry.urn for entry in children}) == len(children)


def test_logical_names_do_not_follow_the_configuration() -> None:
    other = declared(settings(SPARE | {"servedName": "x", "image": "own/vllm:v0.32.0", "maxModelLen": 1024}))
    assert {entry.urn for entry in own(other)} == {entry.urn for entry in own(usual())}


def test_the_scaled_object_waits_for_its_target_and_the_ready_operator() -> None:
    """KD20."""
    direct = usual().one("ScaledObject").after
    for needed in (
        usual().one("Deployment", "llama3-8b-engine"),
        usual().one("Release", "keda"),
        usual().one("Release", "prometheus"),
    ):
        assert needed.urn in direct


def test_the_scaled_object_goes_before_the_operator_on_destroy() -> None:
    """KD18: what depends on a resource is destroyed before it."""
    assert "Release keda" in usual().waits_for(usual().one("ScaledObject"))


@pytest.mark.parametrize(
    ("kind", "owner"),
    [
        ("ScaledObject", "Release keda"),
        ("PodMonitor", "Release prometheus"),
        ("PrometheusRule", "Release prometheus"),
        ("CapacityBuffer", "Release karpenter"),
        ("Ingress", "Release balancers"),
    ],
)
def test_each_custom_resource_waits_for_what_installs_its_kind(kind: str, owner: str) -> None:
    """PU7, LB5."""
    found = usual().all(kind)
    assert found
    assert all(owner in usual().waits_for(entry) for entry in found)


def test_no_custom_resource_is_without_an_owner() -> None:
    """PU7: the kinds above are all there are."""
    kinds = {entry.type.rpartition(":")[2] for entry in own(usual()) if not _built_in(entry.type)}
    assert kinds == set(CUSTOM)


def _built_in(kind: str) -> bool:
    group = kind.split(":")[1].rpartition("/")[0]
    return "." not in group or (group.endswith(".k8s.io") and group != "autoscaling.x-k8s.io")


@pytest.mark.parametrize(
    ("kind", "name"),
    [("Deployment", "llama3-8b-engine"), ("DaemonSet", "llama3-8b-image"), ("CapacityBuffer", "")],
)
def test_gpu_pods_go_before_their_pool_on_destroy(kind: str, name: str) -> None:
    """PU1: Karpenter drains an empty pool, and it must still be there to do so."""
    after = usual().waits_for(usual().one(kind, name))
    assert {"NodePool pool", "Release karpenter"} <= after


def test_engines_wait_for_the_right_to_read_their_weights() -> None:
    after = usual().waits_for(usual().one("Deployment", "llama3-8b-engine"))
    assert {"Release weights", "ServiceAccount llama3-8b-engine"} <= after


def test_everything_waits_for_the_namespace() -> None:
    assert all("Namespace llm-serving" in usual().waits_for(entry) for entry in own(usual()))


def test_the_number_of_replicas_is_left_to_the_autoscaler() -> None:
    """PU4."""
    engine = usual().one("Deployment", "llama3-8b-engine")
    assert "replicas" not in engine.inputs["spec"]
    assert engine.ignored == ("spec.replicas",)
    assert usual().one("Deployment", "llama3-8b-router").inputs["spec"]["replicas"] == 2


def test_a_new_image_changes_nothing_but_the_image() -> None:
    """PU4: no replicas in the patch."""
    old, new = (
        declared(settings({"image": f"vllm/vllm-openai:{tag}"})).one("Deployment", "llama3-8b-engine").inputs
        for tag in ("v0.32.0", "v0.33.0")
    )
    old["spec"]["template"]["spec"]["containers"][0]["image"] = "vllm/vllm-openai:v0.33.0"
    assert old == new


def test_the_engine_has_time_to_start() -> None:
    """PU6: Pulumi's own limit is ten minutes."""
    found = settings(SPARE)
    timeouts = usual().one("Deployment", "llama3-8b-engine").timeouts
    assert timeouts["create"] == timeouts["update"] == f"{rollout_seconds(found, only(found))}s"
    assert int(timeouts["create"][:-1]) > tiers(found, only(found))[0].total


@pytest.mark.parametrize(("change", "skips"), [(ZERO, True), ({}, False)])
def test_pulumi_waits_for_engines_unless_there_may_be_none(change: dict[str, Any], skips: bool) -> None:
    """PU5."""
    found = declared(settings(change))
    for entry in (found.one("Deployment", "llama3-8b-engine"), found.one("Service", "llama3-8b-engines")):
        notes = dig(entry.inputs, "metadata").get("annotations", {})
        assert ("pulumi.com/skipAwait" in notes) is skips
    router = found.one("Service", "llama3-8b-router")
    assert "annotations" not in router.inputs["metadata"]


def test_the_engines_service_is_not_awaited_before_there_are_engines() -> None:
    after = usual().one("Service", "llama3-8b-engines").after
    assert usual().one("Deployment", "llama3-8b-engine").urn in after


def test_the_pods_are_known_before_the_bucket_exists() -> None:
    """PO1: a policy can judge a first preview."""
    engine = usual().one("Deployment", "llama3-8b-engine").inputs
    container = dig(engine, "spec", "template", "spec", "containers", 0)
    unknown = [entry["name"] for entry in container["env"] if entry.get("value", "") is None]
    assert unknown == ["WEIGHTS_BUCKET"]
    assert None not in container["args"]


def test_no_body_holds_the_text_of_an_unresolved_output() -> None:
    """PU11."""
    assert not [text for entry in usual().entries for text in texts(entry.inputs) if "Calling __" in text]


def test_each_part_has_its_budget() -> None:
    assert {entry.name for entry in usual().all("PodDisruptionBudget")} == {
        "llama3-8b-engine",
        "llama3-8b-router",
    }


def test_a_single_router_has_no_budget() -> None:
    found = declared(settings({}, platform={"router": {"replicas": 1}}))
    assert [entry.name for entry in found.all("PodDisruptionBudget")] == ["llama3-8b-engine"]


def test_without_spares_nothing_is_kept_warm() -> None:
    found = declared(settings())
    assert not found.all("CapacityBuffer")
    assert not found.all("DaemonSet")


def test_without_an_ingress_there_is_no_balancer() -> None:
    assert usual().all("Ingress")
    assert not declared(settings({"ingress": {"enabled": False}})).all("Ingress")


def test_a_models_records_and_alerts_are_one_resource() -> None:
    (rule,) = usual().all("PrometheusRule")
    assert [group["name"] for group in dig(rule.inputs, "spec", "groups")] == [
        "headroom-llm-serving-llama3-8b",
        "headroom-llm-serving-llama3-8b-alerts",
    ]


def test_a_file_system_of_the_stack_is_mounted_by_volume_and_claim() -> None:
    found = declared(settings({}, weights={"backend": "efs"}), {"volumeHandle": "fs-1"})
    after = found.waits_for(found.one("Deployment", "llama3-8b-engine"))
    assert {"PersistentVolume llama3-8b-weights", "PersistentVolumeClaim llama3-8b-weights"} <= after


def test_a_claim_that_is_there_already_is_not_declared_again() -> None:
    found = declared(settings({}, weights={"backend": "efs"}))
    assert not found.all("PersistentVolumeClaim")
    volumes = dig(found.one("Deployment", "llama3-8b-engine").inputs, "spec", "template", "spec", "volumes")
    assert {"claimName": "llama3-8b-weights", "readOnly": True} in [
        volume.get("persistentVolumeClaim") for volume in volumes
    ]


def test_callers_are_told_where_the_model_is() -> None:
    found: dict[str, str] = {}

    def program() -> None:
        using = provider()
        stack = settings()
        service = InferenceService(
            "llama3-8b",
            InferenceServiceArgs(
                settings=stack,
                model=only(stack),
                provider=using,
                namespace=namespaces("llm-serving", using=using)["llm-serving"],
                bucket_name="bucket",
                prometheus_address="http://prometheus",
                pool=release("pool", using),
                metrics_ready=[],
                autoscaler_ready=[],
                ingress_ready=[],
                weights_ready=[],
            ),
        )
        found.update(url=service.url, deployment=service.deployment_name)

    record(program)
    assert found == {"url": "http://llama3-8b-router.llm-serving.svc:80", "deployment": "llama3-8b"}


def test_what_only_holds_an_image_gets_a_policy_that_closes_it() -> None:
    assert usual().one("NetworkPolicy", "llama3-8b-image").inputs["spec"]["policyTypes"] == [
        "Ingress",
        "Egress",
    ]
    assert "llama3-8b-image" not in [entry.name for entry in declared(settings()).all("NetworkPolicy")]
