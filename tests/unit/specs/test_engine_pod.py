"""The engine's pod (VL2, VL5, VL6, VL10 to VL12, DR8)."""

from __future__ import annotations

from typing import Any

import pytest

from specs.catalogue import catalogue
from specs.engine_pod import engine_pod, pre_stop_seconds, shared_memory_mib
from specs.quantity import GIBI, MEBI, parse_bytes
from specs.settings import Settings
from tests.unit.specs.stack import LARGE, POOLS, container, dig, only, option, settings

OLD = {"image": "vllm/vllm-openai:v0.17.0"}


def pod(found: Settings) -> dict[str, Any]:
    return engine_pod(found, only(found), "bucket")


def spec(found: Settings) -> dict[str, Any]:
    return dig(pod(found), "spec")


@pytest.mark.parametrize("size", [{}, LARGE])
def test_gpu_requests_limits_and_tensor_parallel_are_one_number(size: dict[str, Any]) -> None:
    """VL10."""
    found = settings(size)
    engine = container(pod(found))
    gpus = str(only(found).gpus_per_replica)
    assert dig(engine, "resources", "requests", "nvidia.com/gpu") == gpus
    assert dig(engine, "resources", "limits", "nvidia.com/gpu") == gpus
    assert option(engine["args"], "--tensor-parallel-size") == gpus


def test_memory_request_equals_its_limit_and_cpu_has_none() -> None:
    resources = container(pod(settings()))["resources"]
    assert resources["requests"]["memory"] == resources["limits"]["memory"] == "24Gi"
    assert "cpu" not in resources["limits"]


def test_only_types_that_fit_are_asked_for() -> None:
    (term,) = dig(
        spec(settings()),
        "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms",
    )  # fmt: skip
    (types,) = term["matchExpressions"]
    assert types["key"] == "node.kubernetes.io/instance-type"
    assert types["operator"] == "In"
    one_gpu = {entry.type for entry in catalogue().types if entry.gpus == 1}
    assert set(types["values"]) <= one_gpu
    # 24Gi does not fit the 14162Mi that g5.xlarge offers.
    assert "g5.2xlarge" in types["values"]
    assert "g5.xlarge" not in types["values"]


def test_the_pod_stays_in_its_pool() -> None:
    assert spec(settings(LARGE))["nodeSelector"] == {"karpenter.sh/nodepool": "large"}


def test_exactly_the_pools_taints_are_tolerated() -> None:
    taints = [
        {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"},
        {"key": "team", "value": "", "effect": "NoExecute"},
    ]
    found = settings({}, gpuPools=[POOLS[0] | {"taints": taints}, POOLS[1]])
    assert spec(found)["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "true", "effect": "NoSchedule"},
        {"key": "team", "operator": "Equal", "value": "", "effect": "NoExecute"},
    ]


@pytest.mark.parametrize("change", [{}, OLD, LARGE, {"drain": {"preStopSeconds": 0, "shutdownSeconds": 30}}])
def test_the_grace_is_longer_than_wait_and_drain_by_more_than_ten_seconds(change: dict[str, Any]) -> None:
    """VL5: vLLM needs up to 10 s after its last request."""
    found = settings(change)
    engine = container(pod(found))
    drain = 0
    if "--shutdown-timeout" in engine["args"]:
        drain = int(option(engine["args"], "--shutdown-timeout"))
    assert spec(found)["terminationGracePeriodSeconds"] > pre_stop_seconds(only(found)) + drain + 10


def test_on_spot_the_whole_exit_fits_the_notice() -> None:
    """DR8: with the longest drain the checks accept there."""
    found = settings({"drain": {"preStopSeconds": 20, "shutdownSeconds": 79}})
    assert spec(found)["terminationGracePeriodSeconds"] <= 110


def test_without_the_drain_flag_the_wait_alone_covers_the_longest_request() -> None:
    """VL5: SIGTERM aborts what is in flight there."""
    found = settings(OLD | {"drain": {"preStopSeconds": 20, "shutdownSeconds": 60}})
    assert dig(container(pod(found)), "lifecycle", "preStop", "sleep", "seconds") == 80


def test_a_wait_of_zero_is_left_out() -> None:
    """Kubernetes refuses a sleep of 0 before 1.32."""
    found = settings({"drain": {"preStopSeconds": 0, "shutdownSeconds": 60}})
    assert "lifecycle" not in container(pod(found))


def test_no_probe_starts_after_a_fixed_delay() -> None:
    """VL2."""
    engine = container(pod(settings()))
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert "initialDelaySeconds" not in engine[probe]
        assert dig(engine, probe, "httpGet", "path") == "/health"


def test_liveness_waits_for_the_startup_probe_that_allows_ten_minutes_and_the_load() -> None:
    probe = container(pod(settings()))["startupProbe"]
    assert probe["periodSeconds"] == 2
    assert probe["failureThreshold"] >= 300


@pytest.mark.parametrize("change", [{}, {"resources": {"cpu": "6", "memory": "12Gi"}}, LARGE])
def test_shared_memory_is_sized_within_the_memory_limit(change: dict[str, Any]) -> None:
    """VL12."""
    found = settings(change)
    (volume,) = [each for each in spec(found)["volumes"] if each["name"] == "shared-memory"]
    assert volume["emptyDir"]["medium"] == "Memory"
    limit = parse_bytes(container(pod(found))["resources"]["limits"]["memory"])
    assert 0 < parse_bytes(volume["emptyDir"]["sizeLimit"]) <= limit
    (mount,) = [each for each in container(pod(found))["volumeMounts"] if each["name"] == "shared-memory"]
    assert mount["mountPath"] == "/dev/shm"


def test_several_gpus_and_roomy_single_ones_get_eight_gib_of_shared_memory() -> None:
    for change in ({}, LARGE):
        assert shared_memory_mib(only(settings(change))) * MEBI == 8 * GIBI


@pytest.mark.parametrize("name", ["llama3-8b", "vllm", "vllm-router"])
def test_no_service_of_the_namespace_injects_variables(name: str) -> None:
    """VL11."""
    assert spec(settings({"name": name}))["enableServiceLinks"] is False


def test_the_engine_is_unprivileged() -> None:
    found = settings()
    assert spec(found)["securityContext"]["runAsNonRoot"] is True
    assert spec(found)["securityContext"]["runAsUser"] == 2000
    assert spec(found)["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container(pod(found))["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert spec(found)["automountServiceAccountToken"] is False


def test_what_the_engine_writes_lies_on_volumes() -> None:
    found = settings()
    mounts = {mount["mountPath"] for mount in container(pod(found))["volumeMounts"]}
    values = {entry["name"]: entry.get("value") for entry in container(pod(found))["env"]}
    assert {values["HOME"], "/tmp"} <= mounts
    assert values["VLLM_CACHE_ROOT"].startswith(values["HOME"] + "/")


def test_downloads_from_the_hub_have_room_in_the_cache() -> None:
    found = settings({}, weights={"backend": "hub"})
    (cache,) = [each for each in spec(found)["volumes"] if each["name"] == "cache"]
    assert parse_bytes(cache["emptyDir"]["sizeLimit"]) >= (15 + 20) * GIBI


def test_mounted_weights_are_read_only() -> None:
    found = settings({}, weights={"backend": "efs"})
    (mount,) = [each for each in container(pod(found))["volumeMounts"] if each["name"] == "weights"]
    (volume,) = [each for each in spec(found)["volumes"] if each["name"] == "weights"]
    assert mount == {"name": "weights", "mountPath": "/weights", "readOnly": True}
    assert volume["persistentVolumeClaim"] == {"claimName": "llama3-8b-weights", "readOnly": True}


def test_a_fresh_replica_is_left_alone_where_no_spot_notice_can_come() -> None:
    assert dig(pod(settings(LARGE)), "metadata", "annotations") == {"karpenter.sh/do-not-disrupt": "15m"}
    assert "annotations" not in pod(settings())["metadata"]


def test_replicas_prefer_different_zones() -> None:
    (spread,) = spec(settings())["topologySpreadConstraints"]
    assert spread["topologyKey"] == "topology.kubernetes.io/zone"
    assert spread["whenUnsatisfiable"] == "ScheduleAnyway"
    labels = pod(settings())["metadata"]["labels"]
    assert spread["labelSelector"]["matchLabels"].items() <= labels.items()
