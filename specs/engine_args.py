"""Arguments and environment of a vLLM engine."""

from __future__ import annotations

import json
from typing import Final

from specs import weights
from specs.extra_args import PARALLEL, arguments
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.vllm import understands

PORT: Final = 8000
CACHE: Final = "/var/cache/engine"
"""Home of the process: compiled kernels, tuning results, tokenizers, and the hub's downloads."""
STREAM_CONCURRENCY: Final = 16
"""Readers of the Run:ai streamer, as in vLLM's own documentation; more did not help below 25 Gbit/s."""
ROUTER_IDLE_SECONDS: Final = 90
"""How long the router's HTTP client keeps an idle connection (reqwest's pool_idle_timeout default)."""
KEEP_ALIVE_MARGIN: Final = 60


def engine_args(settings: Settings, model: Model) -> list[str]:
    """What follows `vllm serve`; no secret and nothing unknown among it."""
    found = [
        _source(settings, model),
        *("--served-model-name", model.api_name),
        *("--port", str(PORT)),
        *("--max-model-len", str(model.max_model_len)),
        *("--max-num-seqs", str(model.max_num_seqs)),
        *("--max-num-batched-tokens", str(model.max_batched_tokens)),
        *("--gpu-memory-utilization", f"{model.gpu_memory_utilization:g}"),
    ]
    if not PARALLEL.keys() & arguments(model).keys():
        found += ["--tensor-parallel-size", str(model.gpus_per_replica)]
    if understands(model.image, "--shutdown-timeout"):
        found += ["--shutdown-timeout", str(model.drain.shutdown_seconds)]
    return [*found, *loader(settings, model), *model.extra_args]


def _source(settings: Settings, model: Model) -> str:
    match settings.weights.backend:
        case "s3":
            return weights.in_bucket(model)
        case "hub":
            return model.model
        case _:
            return weights.in_container(model)


def loader(settings: Settings, model: Model) -> list[str]:
    """How the weights are read: streamed from S3, read ahead from network storage, mapped from a local disk.

    Mapped reads of safetensors over a network are page-wise and slow (safetensors issue 562).
    """
    if settings.weights.backend == "s3":
        extra: dict[str, object] = {"concurrency": STREAM_CONCURRENCY}
        if model.gpus_per_replica > 1 and understands(model.image, "distributed streaming"):
            extra["distributed"] = True
        return ["--load-format", "runai_streamer", "--model-loader-extra-config", json.dumps(extra)]
    if settings.weights.backend in {"efs", "fsx"}:
        if understands(model.image, "--safetensors-load-strategy"):
            return ["--safetensors-load-strategy", "eager"]
        return ["--load-format", "runai_streamer"]
    return []


def environment(settings: Settings, model: Model, bucket: object = None) -> list[dict[str, object]]:
    """Environment variables in a stable order. `bucket` is the weights bucket's name with backend s3.

    The secret is named, never read; each of its keys may be absent.
    """
    plain: dict[str, object] = {
        # Image users without an entry in /etc/passwd have neither (PyTorch asks for both at import).
        "HOME": CACHE,
        "USER": "vllm",
        "VLLM_CACHE_ROOT": f"{CACHE}/vllm",
        # The engine closes idle connections after 5 s by default, just as the router reuses one: sporadic 502.
        "VLLM_HTTP_TIMEOUT_KEEP_ALIVE": str(
            max(ROUTER_IDLE_SECONDS, model.ingress.idle_timeout_seconds) + KEEP_ALIVE_MARGIN
        ),
        "VLLM_NO_USAGE_STATS": "1",
    }
    if settings.weights.backend != "hub":
        plain["HF_HUB_OFFLINE"] = "1"
    if settings.weights.backend == "s3":
        plain |= {
            "AWS_REGION": settings.region,
            # boto3, which lists the bucket, reads this one; the streamer reads the other.
            "AWS_DEFAULT_REGION": settings.region,
            # Instance metadata is out of a pod's reach (hop limit 1); credentials come from Pod Identity.
            "AWS_EC2_METADATA_DISABLED": "true",
            weights.BUCKET_VARIABLE: bucket,
        }
    found: list[dict[str, object]] = [{"name": name, "value": value} for name, value in plain.items()]
    if model.secret_name is not None:
        found += [_from_secret(model.secret_name, key) for key in ("HF_TOKEN", "VLLM_API_KEY")]
    return found


def _from_secret(secret: str, key: str) -> dict[str, object]:
    return {"name": key, "valueFrom": {"secretKeyRef": {"name": secret, "key": key, "optional": True}}}
