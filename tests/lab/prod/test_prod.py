"""The prod stack on a lab: the real engine, API server, Karpenter over the program's own names, KEDA and HPA.

Overridden, and nothing else: the address of Prometheus, which is the lab's, the seconds before mistral-7b sleeps, and
the hours of llama3-8b's schedule, which here holds at any time of any day.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Mapping
from typing import Any

import boto3
import pytest

from specs.fit import fitting_types
from specs.names import Names
from specs.settings.model import Model
from tests.lab.always import HALVES
from tests.lab.prod.cluster import Body, condition, labels
from tests.lab.prod.rehearsal import NODE_CLASS, NODE_POOL, Rehearsal, eventually, ready, rehearsed

NAMES = Names("prod")
SERVING = "llm-serving"
SCHEDULED = 3
ALWAYS = [
    {"timezone": "America/New_York", "start": start, "end": end, "replicas": SCHEDULED}
    for start, end in HALVES
]
OVERRIDES = {
    "headroom:models": [
        {"name": "mistral-7b", "scaling": {"cooldownSeconds": 5}},
        {"name": "llama3-8b", "scaling": {"schedule": ALWAYS}},
    ]
}
QUIET_SECONDS = 5.0


@pytest.fixture(scope="module")
def prod(tmp_path_factory: pytest.TempPathFactory) -> Generator[Rehearsal]:
    """The stack, up."""
    with rehearsed(tmp_path_factory.mktemp("prod") / "lab", "prod", OVERRIDES) as made:
        yield made


def _aws(prod: Rehearsal, service: str) -> Any:
    session: Any = boto3.Session("lab", "lab", region_name=prod.stage.settings.region)
    return session.client(service, endpoint_url=prod.stage.plane.url("aws"))


def test_every_object_is_in_the_cluster_once_it_is_up(prod: Rehearsal) -> None:
    made = [
        call for call in prod.first.calls if call.type.startswith("kubernetes:") and call.verb == "create"
    ]
    objects = [call for call in made if "helm.sh" not in call.type]
    missing = [f"{call.type} {call.id}" for call in objects if not prod.cluster.has(call.type, call.id)]
    assert objects
    assert missing == []


def test_each_node_class_resolves_the_programs_own_subnets_group_image_and_role(prod: Rehearsal) -> None:
    role = _aws(prod, "iam")
    for pool in prod.stage.settings.gpu_pools:
        found = eventually(
            lambda name=pool.name: (
                (body := prod.cluster.get(*NODE_CLASS, name)) and condition(body, "Ready") == "True" and body
            )
        )
        status = found["status"]
        assert sorted(one["zone"] for one in status["subnets"]) == sorted(prod.stage.settings.zones)
        assert len(status["securityGroups"]) == 1
        assert status["amis"]
        profile = role.get_instance_profile(InstanceProfileName=status["instanceProfile"])["InstanceProfile"]
        assert [one["RoleName"] for one in profile["Roles"]] == [NAMES.node_role]
        assert condition(prod.cluster.get(*NODE_POOL, pool.name), "Ready") == "True"


def _held(model: Model) -> int:
    """Replicas without any load: the floor, or what the schedule holds."""
    return max([model.replicas.min, *(one.replicas for one in model.scaling.schedule)])


def _nodes(prod: Rehearsal, model: Model) -> list[Mapping[str, str]]:
    """The labels of the nodes below a model's engines, once all that are held without load are ready."""
    wanted = {"headroom_model": model.name, "app.kubernetes.io/component": "engine"}

    def floor() -> list[Body]:
        found = [pod for pod in prod.pods(SERVING, **wanted) if ready(pod)]
        return found if len(found) == _held(model) else []

    return [labels(prod.cluster.get("v1", "Node", pod["spec"]["nodeName"])) for pod in eventually(floor)]


def test_each_awake_model_runs_on_nodes_that_the_plan_fits(prod: Rehearsal) -> None:
    settings = prod.stage.settings
    for model in (one for one in settings.active_models if one.replicas.min):
        pool = settings.pool(model.pool)
        types = {one.type for one in fitting_types(model, pool)}
        for node in _nodes(prod, model):
            assert node["karpenter.sh/nodepool"] == pool.name
            assert node["node.kubernetes.io/instance-type"] in types
            assert node["karpenter.sh/capacity-type"] in pool.capacity_types


def test_on_demand_nodes_are_of_the_cheapest_type_that_fits(prod: Rehearsal) -> None:
    settings = prod.stage.settings
    for model in (one for one in settings.active_models if one.replicas.min):
        cheapest = min(fitting_types(model, settings.pool(model.pool)), key=lambda one: one.usd_per_hour)
        found = {node["node.kubernetes.io/instance-type"] for node in _nodes(prod, model)}
        assert found == {cheapest.type}


def test_karpenter_counts_on_the_disk_that_holds_the_images(prod: Rehearsal) -> None:
    for pool in prod.stage.settings.gpu_pools:
        for claim in prod.claims(pool.name).values():
            assert claim["status"]["capacity"]["ephemeral-storage"] == f"{pool.disk.size_gi_b}Gi"


def test_every_autoscaler_is_ready_and_reads_every_metric(prod: Rehearsal) -> None:
    settings = prod.stage.settings
    for model in settings.active_models:
        name = model.name
        eventually(
            lambda name=name: (
                (found := prod.cluster.get("keda.sh/v1alpha1", "ScaledObject", name, SERVING))
                and condition(found, "Ready") == "True"
                and condition(found, "Fallback") == "False"
            )
        )
    for model in (one for one in settings.active_models if one.replicas.min):
        found = eventually(
            lambda name=model.name: (
                (body := prod.cluster.get("autoscaling/v2", "HorizontalPodAutoscaler", name, SERVING))
                and condition(body, "ScalingActive") == "True"
                and len(body["status"]["currentMetrics"]) == len(body["spec"]["metrics"])
                and body
            )
        )
        assert found["spec"]["minReplicas"] == model.replicas.min
        assert found["status"]["desiredReplicas"] == _held(model)


def test_a_model_with_a_floor_of_zero_goes_to_sleep_and_another_up_changes_nothing(prod: Rehearsal) -> None:
    def asleep() -> bool:
        return prod.cluster.get("apps/v1", "Deployment", "mistral-7b", SERVING)["spec"]["replicas"] == 0

    eventually(asleep)
    again = prod.stage.up()
    assert again.ok, again.problems
    assert again.changed == 0, [
        f"{step.op} {step.type} {step.name}" for step in again.steps if step.op != "same"
    ]
    assert asleep()


def test_a_spot_notice_on_the_programs_queue_moves_the_replica_to_another_node(prod: Rehearsal) -> None:
    name = prod.rival("mistral-7b", 1)
    (before,) = eventually(lambda: [pod for pod in prod.pods(SERVING, rival=name) if ready(pod)])
    node = before["spec"]["nodeName"]
    (claim,) = (one for one in prod.claims("burst").values() if one["status"].get("nodeName") == node)
    assert labels(claim)["karpenter.sh/capacity-type"] == "spot"
    notice = {
        "version": "0",
        "source": "aws.ec2",
        "detail-type": "EC2 Spot Instance Interruption Warning",
        "detail": {
            "instance-id": claim["status"]["providerID"].rpartition("/")[2],
            "instance-action": "terminate",
        },
    }
    queue = _aws(prod, "sqs")
    url = queue.get_queue_url(QueueName=NAMES.queue)["QueueUrl"]
    queue.send_message(QueueUrl=url, MessageBody=json.dumps(notice))
    (after,) = eventually(
        lambda: [p for p in prod.pods(SERVING, rival=name) if ready(p) and p["spec"]["nodeName"] != node]
    )
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert claim["metadata"]["name"] not in prod.claims("burst")
    prod.retire(name)


def test_pods_beyond_the_pools_limit_wait_with_karpenters_reason_and_nothing_thrashes(
    prod: Rehearsal,
) -> None:
    pool = prod.stage.settings.pool("large")
    nodes = pool.gpu_limit // 4
    name = prod.rival("llama3-70b-awq", nodes)

    def refused() -> list[str]:
        events = prod.cluster.items("v1", "Event", SERVING)
        return [
            one["message"]
            for one in events
            if one["involvedObject"]["name"].startswith(name) and "exceed limits" in one["message"]
        ]

    (reason, *_) = eventually(refused)
    assert "(NodePool=large)" in reason
    eventually(lambda: len([pod for pod in prod.pods(SERVING, rival=name) if ready(pod)]) == nodes - 1)
    claims = set(prod.claims("large"))
    assert len(claims) == nodes
    time.sleep(QUIET_SECONDS)
    assert set(prod.claims("large")) == claims
    waiting = [pod for pod in prod.pods(SERVING, rival=name) if not ready(pod)]
    assert [pod["status"]["phase"] for pod in waiting] == ["Pending"]
    held = prod.cluster.get(*NODE_POOL, "large")["status"]["resources"]["nvidia.com/gpu"]
    assert int(held) == pool.gpu_limit
    prod.retire(name)
