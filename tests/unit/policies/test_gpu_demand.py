"""gpu-demand: the largest demand fits the cap and the pools (KP1)."""

from typing import Any

import pytest

from tests.unit.policies.programs import (
    UNKNOWN,
    Program,
    Props,
    deployment,
    good,
    judged,
    messages,
    pod,
    pool,
    scaled_object,
)


def demand(program: Program, cap: int) -> list[str]:
    return messages("gpu-demand", program, {"maxGpus": cap})


def total(program: Program) -> int:
    """The demand that the rule sees, taken from its own message at a cap of 0."""
    message = demand(program, 0)[0]
    return int(message.split("demand may reach ")[1].split(" GPUs")[0])


def test_autoscaled_replicas_and_surge_are_counted() -> None:
    program: Program = {"model": deployment(2), "scaler": scaled_object()}
    assert total(program) == (10 + 1) * 2


def test_the_demand_passes_at_the_cap_and_is_refused_one_below() -> None:
    program: Program = {"model": deployment(), "scaler": scaled_object()}
    assert demand(program, 11) == []
    assert "11 GPUs" in demand(program, 10)[0]


def test_a_scaled_object_without_a_maximum_may_reach_kedas_hundred() -> None:
    kind, props = scaled_object()
    del props["spec"]["maxReplicaCount"]
    assert total({"model": deployment(), "scaler": (kind, props)}) == 101


def test_an_hpa_bounds_the_replicas_too() -> None:
    hpa: tuple[str, Props] = (
        "kubernetes:autoscaling/v2:HorizontalPodAutoscaler",
        {
            "metadata": {"name": "h", "namespace": "serving"},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "llama"},
                "maxReplicas": 7,
            },
        },
    )
    assert total({"model": deployment(), "hpa": hpa}) == 8


@pytest.mark.parametrize(
    "target",
    [
        {"name": "other"},
        {"name": "llama", "kind": "StatefulSet"},
        {"name": "llama", "kind": "Deployment", "apiVersion": "argoproj.io/v1alpha1"},
    ],
)
def test_an_autoscaler_of_something_else_does_not_count(target: Props) -> None:
    assert total({"model": deployment(), "scaler": scaled_object(scaleTargetRef=target)}) == 2


def test_an_autoscaler_in_another_namespace_does_not_count() -> None:
    kind, props = scaled_object()
    props["metadata"]["namespace"] = "elsewhere"
    assert total({"model": deployment(), "scaler": (kind, props)}) == 2


def test_an_autoscaler_whose_target_is_unknown_is_reported() -> None:
    program: Program = {"model": deployment(), "scaler": scaled_object(scaleTargetRef={"name": UNKNOWN})}
    assert "may act on it" in demand(program, 100)[0]


def test_paused_replicas_stand_outside_the_maximum() -> None:
    kind, props = scaled_object()
    props["metadata"]["annotations"] = {"autoscaling.keda.sh/paused-replicas": "40"}
    assert total({"model": deployment(), "scaler": (kind, props)}) == 41


@pytest.mark.parametrize(
    ("strategy", "surge"),
    [
        ({"type": "Recreate"}, 0),
        ({"rollingUpdate": {"maxSurge": 2}}, 2),
        ({"rollingUpdate": {"maxSurge": "25%"}}, 3),
        ({"rollingUpdate": {"maxSurge": "0%"}}, 0),
        ({}, 3),
        (None, 3),
    ],
)
def test_the_surge_rounds_up_as_kubernetes_does(strategy: Props | None, surge: int) -> None:
    assert total({"model": deployment(strategy=strategy), "scaler": scaled_object()}) == 10 + surge


def test_a_deployment_that_never_runs_has_no_surge() -> None:
    assert demand({"model": deployment(replicas=0)}, 0) == []


def workload(kind: str, spec: Props) -> Program:
    return {"job": (f"kubernetes:{kind}", {"metadata": {"name": "j"}, "spec": spec})}


@pytest.mark.parametrize(
    ("program", "gpus"),
    [
        (workload("apps/v1:StatefulSet", {"replicas": 3, "template": pod(2)}), 6),
        (workload("apps/v1:ReplicaSet", {"template": pod(2)}), 2),
        (workload("batch/v1:Job", {"parallelism": 4, "template": pod(1)}), 4),
        (workload("batch/v1:Job", {"template": pod(1)}), 1),
        (workload("core/v1:Pod", pod(8)["spec"]), 8),
        (
            workload(
                "jobset.x-k8s.io/v1alpha2:JobSet",
                {
                    "replicatedJobs": [
                        {"replicas": 2, "template": {"spec": {"parallelism": 3, "template": pod(4)}}},
                        {"template": {"spec": {"template": pod(1)}}},
                    ]
                },
            ),
            25,
        ),
        (
            workload(
                "leaderworkerset.x-k8s.io/v1:LeaderWorkerSet",
                {"replicas": 2, "leaderWorkerTemplate": {"size": 4, "workerTemplate": pod(8)}},
            ),
            64,
        ),
        (
            workload(
                "leaderworkerset.x-k8s.io/v1:LeaderWorkerSet",
                {
                    "replicas": 2,
                    "rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": 1}},
                    "leaderWorkerTemplate": {"size": 3, "leaderTemplate": pod(0), "workerTemplate": pod(8)},
                },
            ),
            48,
        ),
        (
            workload(
                "keda.sh/v1alpha1:ScaledJob", {"maxReplicaCount": 5, "jobTargetRef": {"template": pod(2)}}
            ),
            10,
        ),
        (
            workload(
                "batch/v1:CronJob",
                {
                    "concurrencyPolicy": "Forbid",
                    "jobTemplate": {"spec": {"parallelism": 2, "template": pod(1)}},
                },
            ),
            2,
        ),
    ],
    ids=[
        "statefulset",
        "replicaset",
        "job",
        "one job",
        "pod",
        "jobset",
        "lws",
        "lws leader",
        "scaledjob",
        "cronjob",
    ],
)
def test_every_kind_of_workload_is_counted(program: Program, gpus: int) -> None:
    assert total(program) == gpus


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("apps/v1:DaemonSet", {"template": pod(1)}),
        ("batch/v1:CronJob", {"jobTemplate": {"spec": {"template": pod(1)}}}),
        ("ray.io/v1:RayCluster", {"workerGroupSpecs": [{"template": pod(1)}]}),
    ],
)
def test_a_workload_that_nothing_bounds_is_refused(kind: str, spec: Props) -> None:
    assert "no field bounds" in demand(workload(kind, spec), 1000)[0]


def test_limits_only_and_init_containers_are_counted_as_the_scheduler_does() -> None:
    _, props = deployment()
    spec = props["spec"]["template"]["spec"]
    spec["containers"] = [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]
    spec["initContainers"] = [
        {"name": "proxy", "restartPolicy": "Always", "resources": {"limits": {"nvidia.com/gpu": 1}}},
        {"name": "warm", "resources": {"limits": {"nvidia.com/gpu": 3}}},
    ]
    props["spec"]["replicas"] = 1
    props["spec"]["strategy"] = {"type": "Recreate"}
    assert total({"model": ("kubernetes:apps/v1:Deployment", props)}) == 4


def buffer(**spec: object) -> tuple[str, Props]:
    return (
        "kubernetes:autoscaling.x-k8s.io/v1beta1:CapacityBuffer",
        {"metadata": {"name": "warm", "namespace": "serving"}, "spec": spec},
    )


TARGET = {"kind": "Deployment", "apiGroup": "apps", "name": "llama"}


@pytest.mark.parametrize(
    ("spec", "warm"),
    [
        ({"replicas": 2}, 2),
        ({"percentage": 25}, 3),
        ({"percentage": 1}, 1),
        ({"replicas": 4, "percentage": 20}, 4),
        ({"replicas": 4, "limits": {"nvidia.com/gpu": "3"}}, 3),
        ({"limits": {"nvidia.com/gpu": "5"}}, 5),
        ({"replicas": 0}, 0),
    ],
)
def test_capacity_buffers_are_counted_as_karpenter_sizes_them(spec: Props, warm: int) -> None:
    program: Program = {
        "model": deployment(),
        "scaler": scaled_object(),
        "warm": buffer(scalableRef=TARGET, **spec),
    }
    assert total(program) == 11 + warm


def test_a_buffer_of_a_pod_template_is_counted() -> None:
    template = (
        "kubernetes:core/v1:PodTemplate",
        {"metadata": {"name": "t", "namespace": "serving"}, "template": pod(2)},
    )
    assert total({"t": template, "warm": buffer(podTemplateRef={"name": "t"}, replicas=3)}) == 6


def test_a_buffer_of_something_not_in_the_stack_is_reported() -> None:
    assert "not in this stack" in demand({"warm": buffer(podTemplateRef={"name": "t"}, replicas=3)}, 100)[0]


def test_demand_above_the_pools_is_refused_with_the_sum() -> None:
    program = good() | {"pool": pool(limits={"nvidia.com/gpu": 10})}
    (message,) = demand(program, 100)
    assert "11 GPUs" in message
    assert "10 (limits of the pools" in message


def test_demand_that_fits_all_pools_but_not_its_own_is_refused() -> None:
    other, props = pool(limits={"nvidia.com/gpu": 100})
    props["metadata"]["name"] = "training"
    small = pool(limits={"nvidia.com/gpu": 10})
    program: Program = {"a": small, "b": (other, props), "model": deployment(), "scaler": scaled_object()}
    assert demand(program, 1000) == []
    pinned = {"karpenter.sh/nodepool": "inference"}
    program["model"] = deployment(template=pod(1, nodeSelector=pinned))
    assert "the only pool" in demand(program, 1000)[0]


def test_two_models_are_summed() -> None:
    second_kind, second = deployment(4, replicas=2)
    second["metadata"]["name"] = "mistral"
    program: Program = {"a": deployment(), "scaler": scaled_object(), "b": (second_kind, second)}
    assert total(program) == 11 + 3 * 4


@pytest.mark.parametrize(
    "edit",
    [
        {"template": UNKNOWN},
        {"replicas": UNKNOWN},
        {"strategy": {"rollingUpdate": {"maxSurge": UNKNOWN}}},
        {"template": {"spec": {"containers": UNKNOWN}}},
    ],
)
def test_an_unknown_that_the_sum_needs_is_reported(edit: Props) -> None:
    assert "not known yet" in demand({"model": deployment(**edit)}, 1000)[0]


def test_a_workload_without_gpus_is_no_demand_even_when_unknown_elsewhere() -> None:
    plain: dict[str, Any] = {"spec": {"containers": [{"name": "web", "image": UNKNOWN}]}}
    assert judged("gpu-demand", {"web": deployment(template=plain)}, {"maxGpus": 0}) == [
        ("", "not applicable")
    ]
