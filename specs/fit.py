"""Which instance types can run one replica of a model, and why the others can't."""

from __future__ import annotations

from dataclasses import dataclass

from specs.catalogue import InstanceType, catalogue
from specs.quantity import GIBI, MEBI, parse_bytes, parse_cpu
from specs.settings.model import Model
from specs.settings.stack import GpuPool

# Requests of what runs on every GPU node: aws-node, kube-proxy, eks-pod-identity-agent, node-exporter,
# DCGM exporter, device plugin (sums of the requests stated in the chart values the program sets).
DAEMONSET_CPU_MILLI = 400
DAEMONSET_MEMORY_MIB = 768
# CUDA context, activations and graphs beside weights and KV cache: an 8B model in bf16 at 0.90 on a 24 GB
# card leaves about 4 GiB for the cache (vllm issue 2418).
ENGINE_OVERHEAD_GIB = 1.0
KV_BLOCK_TOKENS = 16
# CUDA 13 images dropped Volta (NVIDIA CUDA 13.0 release notes); bfloat16 needs Ampere (vLLM config/model.py).
LEAST_CAPABILITY = 7.5
BFLOAT16_CAPABILITY = 8.0


@dataclass(frozen=True)
class Fit:
    """One instance type's verdict for a model; `reason` is empty when it fits."""

    type: InstanceType
    reason: str = ""

    @property
    def ok(self) -> bool:
        """The type can run a replica."""
        return not self.reason


def kv_bytes_per_token(model: Model) -> float:
    """Bytes of KV cache of one token over all GPUs: 2 (K and V) x layers x kvHeads x headDim x dtypeBytes.

    Raises ValueError without `parameters`.
    """
    shape = model.parameters
    if shape is None:
        raise ValueError(f"{model.name} states no parameters")
    return 2 * shape.layers * shape.kv_heads * shape.head_dim * shape.dtype_bytes


def kv_cache_gib(model: Model, instance: InstanceType) -> float:
    """GiB left for the KV cache over all GPUs of a replica; negative when the weights alone don't fit."""
    usable = instance.gpu_memory_mi_b * MEBI / GIBI * model.gpu_memory_utilization - ENGINE_OVERHEAD_GIB
    return usable * model.gpus_per_replica - model.weights_gi_b


def longest_context(model: Model, instance: InstanceType) -> int:
    """The largest maxModelLen in tokens whose KV cache fits, in whole blocks of 16 tokens."""
    tokens = kv_cache_gib(model, instance) * GIBI / kv_bytes_per_token(model)
    return max(0, int(tokens) // KV_BLOCK_TOKENS * KV_BLOCK_TOKENS)


def asks_bfloat16(model: Model) -> bool:
    """The arguments say so; without them vLLM falls back to float16 where the GPU lacks bfloat16."""
    words = " ".join(model.extra_args).replace("=", " ").split()
    return "--dtype" in words[:-1] and words[words.index("--dtype") + 1] == "bfloat16"


def capability(model: Model) -> float:
    """The least compute capability that the engine runs on."""
    return BFLOAT16_CAPABILITY if asks_bfloat16(model) else LEAST_CAPABILITY


def judge(model: Model, instance: InstanceType) -> Fit:
    """Whether `instance` can run one replica of `model`."""
    if instance.gpus != model.gpus_per_replica:
        # A node is filled by exactly one replica: Karpenter never over-provisions GPUs, and a 1-GPU pod on
        # a 4-GPU node would strand three (karpenter-provider-aws issue 7038).
        return Fit(instance, f"has {instance.gpus} GPUs, the replica asks {model.gpus_per_replica}")
    needed = capability(model)
    if float(instance.compute_capability) < needed:
        return Fit(instance, f"compute capability {instance.compute_capability}, the engine needs {needed}")
    left = kv_cache_gib(model, instance)
    if left <= 0:
        usable = left + model.weights_gi_b
        return Fit(instance, f"{model.weights_gi_b:g} GiB of weights, {usable:.1f} GiB of usable GPU memory")
    if model.parameters and longest_context(model, instance) < model.max_model_len:
        return Fit(
            instance,
            f"maxModelLen {model.max_model_len} needs {model.max_model_len * kv_bytes_per_token(model) / GIBI:.1f}"
            f" GiB of KV cache, {left:.1f} GiB are left: at most {longest_context(model, instance)} tokens fit",
        )
    cpu, free_cpu = parse_cpu(model.resources.cpu), instance.allocatable_cpu_milli - DAEMONSET_CPU_MILLI
    if cpu > free_cpu:
        return Fit(instance, f"{cpu}m CPU asked, {free_cpu}m left beside the DaemonSets")
    memory = -(-parse_bytes(model.resources.memory) // MEBI)
    free_memory = instance.allocatable_memory_mi_b - DAEMONSET_MEMORY_MIB
    if memory > free_memory:
        return Fit(instance, f"{memory}Mi memory asked, {free_memory}Mi left beside the DaemonSets")
    return Fit(instance)


def fits(model: Model, pool: GpuPool) -> list[Fit]:
    """Every type of the pool with its verdict, in catalogue order."""
    return [judge(model, instance) for instance in catalogue().of_pool(pool)]


def fitting_types(model: Model, pool: GpuPool) -> list[InstanceType]:
    """The types that can run a replica."""
    return [fit.type for fit in fits(model, pool) if fit.ok]
