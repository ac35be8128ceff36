"""How many GPUs the configuration can ask for, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass

from specs.settings.model import Model
from specs.settings.stack import Settings


@dataclass(frozen=True)
class Demand:
    """GPUs one model can hold at once: (max replicas + warm spares + surge) x GPUs of a replica."""

    model: Model
    surge_replicas: int

    @property
    def steady(self) -> int:
        """GPUs without a rollout under way."""
        return (self.model.replicas.max + self.model.scaling.warm_spares) * self.model.gpus_per_replica

    @property
    def gpus(self) -> int:
        """GPUs with a rollout under way."""
        return self.steady + self.surge_replicas * self.model.gpus_per_replica


def demands(settings: Settings) -> list[Demand]:
    """Each active model's demand. A rollout gets a surge replica where pool and budget have room for it,
    in the order of the configuration; the others roll in place (maxSurge 0, maxUnavailable 1).
    """
    plain = [Demand(model, 0) for model in settings.active_models]
    room = {pool.name: pool.gpu_limit for pool in settings.gpu_pools}
    budget = settings.gpu_budget.max_gpus - sum(demand.steady for demand in plain)
    for demand in plain:
        room[demand.model.pool] = room.get(demand.model.pool, 0) - demand.steady
    granted: list[Demand] = []
    for demand in plain:
        need = demand.model.gpus_per_replica
        surge = int(need <= min(budget, room[demand.model.pool]))
        budget -= surge * need
        room[demand.model.pool] -= surge * need
        granted.append(Demand(demand.model, surge))
    return granted


def surge_of(settings: Settings, model: Model) -> int:
    """Surge replicas of a model's rollout, 0 or 1."""
    return next((demand.surge_replicas for demand in demands(settings) if demand.model.name == model.name), 0)
