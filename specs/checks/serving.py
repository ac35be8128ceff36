"""A model and the machines it is meant for: does one replica fit at all?"""

from __future__ import annotations

from collections.abc import Iterator

from specs.catalogue import catalogue
from specs.checks.places import active, placed
from specs.fit import Fit, asks_bfloat16, capability, fits, judge, longest_context
from specs.metrics_names import vllm_version
from specs.problems import Problem, shown
from specs.quantity import GIBI, parse_bytes
from specs.scaling_problems import scaling_problems, scaling_warnings
from specs.settings.model import Model
from specs.settings.stack import GpuPool, Settings
from specs.vllm import CURRENT

STREAMER_SINCE = (0, 11)


def problems(settings: Settings) -> Iterator[Problem]:
    """Fit, scaling and ranges of each enabled model."""
    for path, model in active(settings):
        yield from scaling_problems(model, path)
        if model.replicas.min > model.replicas.max:
            yield Problem(
                f"{path}.replicas.min",
                shown(model.replicas.min),
                f"at most replicas.max, {model.replicas.max}",
                "raise max or lower min",
            )
        if model.parameters and model.parameters.heads % model.gpus_per_replica:
            yield Problem(
                f"{path}.gpusPerReplica",
                shown(model.gpus_per_replica),
                f"a divisor of the {model.parameters.heads} attention heads",
                "use 1, 2, 4 or 8 as the heads allow",
            )
        if settings.weights.backend == "hub" and model.secret_name is None and "/" not in model.model:
            yield Problem(
                f"{path}.model",
                shown(model.model),
                "owner/name when weights come from the hub",
                "write the full id",
            )
        version = vllm_version(model.image)
        if settings.weights.backend == "s3" and version is not None and version < STREAMER_SINCE:
            yield Problem(
                f"{path}.image",
                shown(model.image),
                "vLLM 0.11.1 or newer with weights.backend s3: older images lack the S3 streamer (vllm PR 26464)",
                "use a newer image, or backend hub",
            )
    for path, model, pool in placed(settings):
        yield from _fit(path, model, pool)


def _fit(path: str, model: Model, pool: GpuPool) -> Iterator[Problem]:
    verdicts = fits(model, pool)
    if not verdicts or any(fit.ok for fit in verdicts):
        return
    same_count = [fit for fit in verdicts if fit.type.gpus == model.gpus_per_replica]
    if not same_count:
        counts = sorted({fit.type.gpus for fit in verdicts})
        yield Problem(
            f"{path}.gpusPerReplica",
            shown(model.gpus_per_replica),
            f"a GPU count that pool {pool.name} offers: {', '.join(map(str, counts))}",
            "use one of these counts, or a pool with other types",
        )
        return
    closest = max(same_count, key=lambda fit: (_depth(fit), fit.type.gpu_memory_mi_b, fit.type.vcpu))
    if _too_old(closest):
        yield _old(path, model, pool, closest)
        return
    key = ("weightsGiB", "maxModelLen", "resources.cpu", "resources.memory")[_depth(closest)]
    yield Problem(
        f"{path}.{key}",
        f"{_given(model, key)}, which fits no type of pool {pool.name}; closest is {closest.type.type}: {closest.reason}",
        _allowed(model, key, same_count),
        _way_out(model, key, same_count),
    )


def _too_old(fit: Fit) -> bool:
    return "compute capability" in fit.reason


def _old(path: str, model: Model, pool: GpuPool, closest: Fit) -> Problem:
    """No GPU of the pool runs the engine as asked."""
    newer = [entry for entry in catalogue().types if judge(model, entry).ok]
    cheapest = min(newer, key=lambda entry: entry.usd_per_hour, default=None)
    offer = f"offer {cheapest.type} in pool {pool.name}" if cheapest else "name a newer GPU"
    return Problem(
        f"{path}.extraArgs" if asks_bfloat16(model) else f"{path}.pool",
        f"{'--dtype bfloat16' if asks_bfloat16(model) else shown(model.pool)}, which no GPU of pool {pool.name} runs;"
        f" closest is {closest.type.type}: {closest.reason}",
        f"GPUs of compute capability {capability(model)} or more",
        f"{'use --dtype half, or ' if asks_bfloat16(model) else ''}{offer}",
    )


def _depth(fit: Fit) -> int:
    """How far a type got before it was refused: GPU, weights, context, CPU, memory."""
    if _too_old(fit):
        return -1
    if "of weights" in fit.reason:
        return 0
    if "maxModelLen" in fit.reason:
        return 1
    return 2 if "CPU" in fit.reason else 3


def _given(model: Model, key: str) -> str:
    value = {
        "weightsGiB": model.weights_gi_b,
        "maxModelLen": model.max_model_len,
        "resources.cpu": model.resources.cpu,
        "resources.memory": model.resources.memory,
    }[key]
    return shown(value)


def _allowed(model: Model, key: str, candidates: list[Fit]) -> str:
    if key == "maxModelLen":
        return f"at most {max(longest_context(model, fit.type) for fit in candidates)} tokens on this pool"
    if key == "weightsGiB":
        return "weights smaller than the GPUs' usable memory (gpuMemoryUtilization of each, less 1 GiB)"
    return "requests that leave room for the DaemonSets of a GPU node"


def _way_out(model: Model, key: str, candidates: list[Fit]) -> str:
    if key in {"weightsGiB", "maxModelLen"}:
        tried = {fit.type.type for fit in candidates}
        bigger = [entry for entry in catalogue().types if entry.type not in tried and judge(model, entry).ok]
        cheapest = min(bigger, key=lambda entry: entry.usd_per_hour, default=None)
        hint = f", or offer {cheapest.type}" if cheapest else ""
        return ("lower maxModelLen" if key == "maxModelLen" else "quantise the model, use more GPUs") + hint
    return "lower the request or allow larger types"


def warnings(settings: Settings) -> Iterator[Problem]:
    """Scaling settings without effect; a spill of host memory; a gated model without a token."""
    for path, model in active(settings):
        yield from scaling_warnings(model, path)
        memory = parse_bytes(model.resources.memory) / GIBI
        if settings.weights.backend == "hub" and model.secret_name is None:
            yield Problem(
                f"{path}.secretName",
                "null",
                "a secret with HF_TOKEN for a gated model",
                "name it if the model is gated",
            )
        if vllm_version(model.image) is None:
            yield Problem(
                f"{path}.image",
                shown(model.image),
                f"a tag that tells vLLM's version; flags and metric names of {CURRENT[0]}.{CURRENT[1]} are assumed",
                "write it as vllm/vllm-openai:v0.33.0@sha256:...",
            )
        if memory < 4:
            yield Problem(
                f"{path}.resources.memory", shown(model.resources.memory),
                "at least 4Gi: engine and API server alone take that (4.0 GB peak RSS measured on vLLM 0.32)",
                "raise it",
            )  # fmt: skip
    for path, model, pool in placed(settings):
        others = [fit for fit in fits(model, pool) if not fit.ok]
        if others and len(others) * 2 > len(fits(model, pool)) and len(others) == len(fits(model, pool)) - 1:
            yield Problem(
                f"{path}.pool",
                f"pool {pool.name} offers one fitting type only",
                "several types, so that a capacity shortage has a way round",
                "add families, or lower the requests",
            )
