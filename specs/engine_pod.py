"""The pod of one vLLM replica: where it may run, what it may use, how it starts and how it leaves."""

from __future__ import annotations

from typing import Final

from specs import weights
from specs.drain import drain_seconds, grace_seconds, on_spot
from specs.engine_args import CACHE, PORT, engine_args, environment
from specs.fit import fitting_types
from specs.labels import labels, selector
from specs.patience import PROBE_SECONDS, startup_probes
from specs.quantity import GIBI, MEBI, parse_bytes
from specs.settings.model import Model
from specs.settings.stack import GpuPool, Settings
from specs.vllm import understands

GPU: Final = "nvidia.com/gpu"
USER: Final = 2000
"""The image's own unprivileged user (vllm pull request 40275)."""
SHARED_MEMORY_GIB: Final = 8
CACHE_GIB: Final = 20
SCRATCH_GIB: Final = 8
FRESH: Final = "15m"
"""Karpenter leaves a replica alone this long after its start: it has just cost a cold start."""
DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"


def service_account(model: Model) -> str:
    """ServiceAccount of the engines; Pod Identity gives it the right to read its own weights."""
    return model.name


def claim_name(model: Model) -> str:
    """PersistentVolumeClaim of mounted weights."""
    return f"{model.name}-weights"


def pre_stop_seconds(model: Model) -> int:
    """Wait before SIGTERM. An image without --shutdown-timeout aborts what is in flight on SIGTERM, so there
    the wait alone covers the longest request.
    """
    if understands(model.image, "--shutdown-timeout"):
        return model.drain.pre_stop_seconds
    return drain_seconds(model)


def shared_memory_mib(model: Model) -> int:
    """Size of /dev/shm, which counts against the memory limit; with several GPUs NCCL needs all of it."""
    if model.gpus_per_replica > 1:
        return SHARED_MEMORY_GIB * GIBI // MEBI
    return min(SHARED_MEMORY_GIB * GIBI, parse_bytes(model.resources.memory) // 2) // MEBI


def tolerations(pool: GpuPool) -> list[dict[str, object]]:
    """The pool's taints, and nothing else."""
    return [
        {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
        for taint in pool.taints
    ]


def placement(settings: Settings, model: Model) -> dict[str, object]:
    """Only nodes of the model's pool, of types that one replica really fits."""
    pool = settings.pool(model.pool)
    types = sorted(entry.type for entry in fitting_types(model, pool))
    term = {"matchExpressions": [_one_of("node.kubernetes.io/instance-type", types)]}
    required = {"nodeSelectorTerms": [term]}
    return {
        "nodeSelector": {"karpenter.sh/nodepool": pool.name},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}},
        "tolerations": tolerations(pool),
    }


def _one_of(key: str, values: list[str]) -> dict[str, object]:
    return {"key": key, "operator": "In", "values": values}


def engine_pod(settings: Settings, model: Model, bucket: object = None) -> dict[str, object]:
    """The pod template (metadata and spec) of the engine Deployment."""
    pool = settings.pool(model.pool)
    spec: dict[str, object] = {
        "serviceAccountName": service_account(model),
        "automountServiceAccountToken": False,
        # A Service named vllm* would inject VLLM_PORT=tcp://..., which the engine reads (vllm issue 34199).
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": grace_seconds(model, pool),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        **placement(settings, model),
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": selector(model, "engine")},
            }
        ],
        "containers": [_container(settings, model, bucket)],
        "volumes": _volumes(settings, model),
    }
    metadata: dict[str, object] = {"labels": labels(model, "engine")}
    if not on_spot(pool):
        # On spot it would also hold back the eviction that a notice asks for (Karpenter pod IsEvictable).
        metadata["annotations"] = {DO_NOT_DISRUPT: FRESH}
    return {"metadata": metadata, "spec": spec}


def _container(settings: Settings, model: Model, bucket: object) -> dict[str, object]:
    gpus = str(model.gpus_per_replica)
    health: dict[str, object] = {"httpGet": {"path": "/health", "port": "http"}}
    body: dict[str, object] = {
        "name": "engine",
        "image": model.image,
        # Images before 0.11 start another entry point, which takes the model as an option.
        "command": ["vllm", "serve"],
        "args": engine_args(settings, model),
        "env": environment(settings, model, bucket),
        "ports": [{"name": "http", "containerPort": PORT, "protocol": "TCP"}],
        "resources": {
            "requests": {"cpu": model.resources.cpu, "memory": model.resources.memory, GPU: gpus},
            "limits": {"memory": model.resources.memory, GPU: gpus},
        },
        # The port is closed until the engine serves; the other probes start only after the first success.
        "startupProbe": {
            **health,
            "periodSeconds": PROBE_SECONDS,
            "timeoutSeconds": 2,
            "failureThreshold": startup_probes(settings, model),
        },
        "readinessProbe": {**health, "periodSeconds": 5, "timeoutSeconds": 5, "failureThreshold": 3},
        "livenessProbe": {**health, "periodSeconds": 10, "timeoutSeconds": 10, "failureThreshold": 6},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": _mounts(settings),
    }
    if pre_stop_seconds(model):
        body["lifecycle"] = {"preStop": {"sleep": {"seconds": pre_stop_seconds(model)}}}
    return body


def _mounts(settings: Settings) -> list[dict[str, object]]:
    mounts: list[dict[str, object]] = [
        {"name": "shared-memory", "mountPath": "/dev/shm"},  # noqa: S108 - NCCL's own place
        {"name": "cache", "mountPath": CACHE},
        {"name": "scratch", "mountPath": "/tmp"},  # noqa: S108 - sockets and temporary files
    ]
    if settings.weights.backend in {"efs", "fsx"}:
        mounts.append({"name": "weights", "mountPath": weights.MOUNT, "readOnly": True})
    return mounts


def _volumes(settings: Settings, model: Model) -> list[dict[str, object]]:
    downloads = round(model.weights_gi_b) + 1 if settings.weights.backend == "hub" else 0
    volumes: list[dict[str, object]] = [
        {
            "name": "shared-memory",
            "emptyDir": {"medium": "Memory", "sizeLimit": f"{shared_memory_mib(model)}Mi"},
        },
        {"name": "cache", "emptyDir": {"sizeLimit": f"{CACHE_GIB + downloads}Gi"}},
        {"name": "scratch", "emptyDir": {"sizeLimit": f"{SCRATCH_GIB}Gi"}},
    ]
    if settings.weights.backend in {"efs", "fsx"}:
        claim = {"claimName": claim_name(model), "readOnly": True}
        volumes.append({"name": "weights", "persistentVolumeClaim": claim})
    return volumes
