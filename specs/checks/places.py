"""Where in the stack file a thing stands: the paths that problems begin with."""

from __future__ import annotations

from collections.abc import Iterator

from specs.settings.model import Model
from specs.settings.stack import GpuPool, Settings


def active(settings: Settings) -> Iterator[tuple[str, Model]]:
    """Each enabled model with its path."""
    for index, model in enumerate(settings.models):
        if model.enabled:
            yield f"models[{index}]", model


def placed(settings: Settings) -> Iterator[tuple[str, Model, GpuPool]]:
    """Each enabled model whose pool exists, with its path and its pool."""
    pools = {pool.name: pool for pool in settings.gpu_pools}
    for path, model in active(settings):
        if model.pool in pools:
            yield path, model, pools[model.pool]


def pools(settings: Settings) -> Iterator[tuple[str, GpuPool]]:
    """Each pool with its path."""
    for index, pool in enumerate(settings.gpu_pools):
        yield f"gpuPools[{index}]", pool
