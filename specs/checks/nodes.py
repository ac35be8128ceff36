"""GPU pools: machine types, disk, lifetime."""

from __future__ import annotations

from collections.abc import Iterator

from specs.catalogue import catalogue
from specs.checks.places import placed, pools
from specs.problems import Problem, shown
from specs.settings.stack import GpuPool, Settings
from specs.stages import IMAGE_UNPACKED_GIB, lead_seconds

# Karpenter issue reports put the working need at the compressed image x 2.5 (30 GiB for vLLM 0.33) and a
# cache for compiled kernels; weights kept on disk come on top.
CACHE_GIB = 20
# gp3: at most 0.25 MiB/s of throughput for each provisioned operation a second.
THROUGHPUT_PER_IOPS = 0.25


def problems(settings: Settings) -> Iterator[Problem]:
    """Each pool by itself."""
    for path, pool in pools(settings):
        yield from _types(path, pool)
        yield from _disk(settings, path, pool)
        yield from _lifetime(path, pool)
        if pool.node_class == "kwok" and settings.cluster.mode == "eks":
            yield Problem(
                f"{path}.nodeClass",
                '"kwok" with cluster.mode eks',
                "ec2: EKS has no KWOK controller",
                "use ec2",
            )
        plugin = settings.platform.gpu_plugin.install or settings.cluster.mode != "eks"
        if pool.ami.startswith("al2023") and not plugin:
            yield Problem(
                f"{path}.ami",
                f"{shown(pool.ami)} with platform.gpuPlugin.install false",
                "a device plugin: the AL2023 image has the driver only, and its nodes would never be ready",
                "set platform.gpuPlugin.install to true, or use bottlerocket",
            )
        if len(set(pool.capacity_types)) < len(pool.capacity_types):
            yield Problem(
                f"{path}.capacityTypes",
                shown(pool.capacity_types),
                "each capacity type once",
                "remove the repeated one",
            )
        if pool.gpu_limit > settings.gpu_budget.max_gpus:
            yield Problem(
                f"{path}.gpuLimit",
                shown(pool.gpu_limit),
                f"at most gpuBudget.maxGpus, {settings.gpu_budget.max_gpus}",
                "lower the limit or raise the budget",
            )
        if not any(taint.effect in {"NoSchedule", "NoExecute"} for taint in pool.taints):
            yield Problem(
                f"{path}.taints",
                "no NoSchedule or NoExecute taint",
                "at least one, or CPU pods keep GPU nodes alive",
                "keep nvidia.com/gpu=true:NoSchedule",
            )


def _types(path: str, pool: GpuPool) -> Iterator[Problem]:
    if (pool.families is None) == (pool.instance_types is None):
        given = "neither" if pool.families is None else "both"
        yield Problem(
            path, f"{given} of families and instanceTypes", "exactly one of them", "give families: [g6, g5]"
        )
    for name in catalogue().unknown(pool):
        key = "instanceTypes" if "." in name else "families"
        yield Problem(
            f"{path}.{key}",
            shown(name),
            f"GPU families of the instance catalogue: {', '.join(catalogue().families())}",
            "use one of them, or refresh the catalogue with `headroom catalogue refresh`",
        )


def _disk(settings: Settings, path: str, pool: GpuPool) -> Iterator[Problem]:
    disk = pool.disk
    weights = [
        model.weights_gi_b
        for _, model, its_pool in placed(settings)
        if its_pool is pool and settings.weights.backend in {"hub", "image"}
    ]
    need = round(IMAGE_UNPACKED_GIB + CACHE_GIB + max(weights, default=0))
    if not disk.instance_store and disk.size_gi_b < need:
        yield Problem(
            f"{path}.disk.sizeGiB",
            shown(disk.size_gi_b),
            f"at least {need}: the unpacked vLLM image ({IMAGE_UNPACKED_GIB} GiB), caches and weights on disk",
            f"use {max(150, need)}, or set instanceStore to true",
        )
    if disk.throughput > disk.iops * THROUGHPUT_PER_IOPS:
        yield Problem(
            f"{path}.disk.throughput",
            shown(disk.throughput),
            f"at most {disk.iops * THROUGHPUT_PER_IOPS:g} MiB/s with {disk.iops} iops",
            f"raise iops to {-(-disk.throughput * 4 // 1)} or lower throughput",
        )
    if disk.instance_store:
        bare = [entry.type for entry in catalogue().of_pool(pool) if entry.nvme_g_b == 0]
        if bare:
            yield Problem(
                f"{path}.disk.instanceStore",
                f"true with {', '.join(bare)}",
                "types with local NVMe",
                "set it to false or drop those types",
            )


def _lifetime(path: str, pool: GpuPool) -> Iterator[Problem]:
    if pool.expire_after_hours is not None and pool.termination_grace_seconds is None:
        yield Problem(
            f"{path}.terminationGraceSeconds",
            f"null with expireAfterHours {pool.expire_after_hours}",
            "a deadline: without one a disruption budget keeps an expired node draining for days",
            "set it to 1800, or expireAfterHours to null",
        )


def warnings(settings: Settings) -> Iterator[Problem]:
    """Consolidation that undoes the scaling."""
    for path, pool in pools(settings):
        if pool.consolidation.policy == "WhenEmptyOrUnderutilized":
            yield Problem(
                f"{path}.consolidation.policy",
                shown(pool.consolidation.policy),
                "WhenEmpty: this one evicts serving replicas to save money",
                "use WhenEmpty",
            )
        after = pool.consolidation.after_seconds
        models = [model for _, model, its_pool in placed(settings) if its_pool is pool]
        window = max((model.scaling.scale_down.stabilization_seconds for model in models), default=0)
        if after < window:
            yield Problem(
                f"{path}.consolidation.afterSeconds",
                shown(after),
                f"at least {window}, the longest scaleDown.stabilizationSeconds: else nodes go and come with each peak",
                f"set it to {window}",
            )
        cold = round(max((lead_seconds(settings, model) for model in models), default=0))
        if after < cold:
            yield Problem(
                f"{path}.consolidation.afterSeconds",
                shown(after),
                f"at least {cold}, the seconds a cold node needs to serve",
                f"set it to {cold}",
            )
