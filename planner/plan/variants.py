"""The same stack with one value changed."""

from __future__ import annotations

from specs.settings.model import Model
from specs.settings.stack import GpuPool, Settings


def with_model(settings: Settings, model: Model) -> Settings:
    """The stack with the entry of that name replaced."""
    models = tuple(model if entry.name == model.name else entry for entry in settings.models)
    return settings.model_copy(update={"models": models})


def with_spares(settings: Settings, model: Model, spares: int) -> Settings:
    """The stack with other warm spares for one model, pool and budget raised where they would be in the way."""
    scaling = model.scaling.model_copy(update={"warm_spares": spares})
    changed = with_model(settings, model.model_copy(update={"scaling": scaling}))
    more = max(0, spares - model.scaling.warm_spares) * model.gpus_per_replica
    pool = settings.pool(model.pool)
    changed = with_pool(changed, pool.model_copy(update={"gpu_limit": pool.gpu_limit + more}))
    budget = settings.gpu_budget.model_copy(update={"max_gpus": settings.gpu_budget.max_gpus + more})
    return changed.model_copy(update={"gpu_budget": budget})


def with_pool(settings: Settings, pool: GpuPool) -> Settings:
    """The stack with the pool of that name replaced."""
    pools = tuple(pool if entry.name == pool.name else entry for entry in settings.gpu_pools)
    return settings.model_copy(update={"gpu_pools": pools})


def model_path(settings: Settings, model: Model) -> str:
    """The model's path in the stack file."""
    return f"models[{[entry.name for entry in settings.models].index(model.name)}]"


def pool_path(settings: Settings, pool: GpuPool) -> str:
    """The pool's path in the stack file."""
    return f"gpuPools[{[entry.name for entry in settings.gpu_pools].index(pool.name)}]"


def fingerprint(settings: Settings, model: Model) -> str:
    """Equal for models that a replay can't tell apart: what they are called and where callers find them is no part."""
    own = model.model_dump_json(
        exclude={"name", "namespace", "model", "served_name", "secret_name", "ingress"}
    )
    around = (settings.pool(model.pool), settings.platform.prometheus, settings.gpu_budget, settings.weights)
    return "\n".join(
        [own, str(settings.cluster.hpa_sync_seconds), *(part.model_dump_json() for part in around)]
    )
