"""One look at a stack: what its models and node pools do. A figure that could not be had is None, never 0."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

NodeState = Literal["asked", "launching", "joined", "ready", "leaving"]
"""asked: not yet launched, nor paid for; launching: not yet in the cluster; joined: not yet initialized; leaving: being
drained or ended.
"""
Source = Literal["prometheus", "kubernetes"]


class Figures(BaseModel):
    """Values that are written as JSON under camelCase keys."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, validate_by_name=True)


class ModelSample(Figures):
    """One model. Rates in requests a second, demand and forecast in replicas at the model's utilization."""

    name: str
    rate: float | None = None
    """Tries that the routers send to engines."""
    held: float | None = None
    """Requests that the routers hold for want of an engine."""
    waiting: float | None = None
    """Requests in the engines' queues."""
    running: float | None = None
    demand: float | None = None
    """What the offered load asks for, as the autoscaler reads it now."""
    forecast: float | None = None
    """What the recorded forecast asks for one lead time ahead."""
    ttft_p95: float | None = None
    """Seconds, by the engines' own histogram."""
    desired: int | None = None
    ready: int | None = None
    pending: int | None = None
    """Pods without a node, or whose containers have not started."""
    leaving: int | None = None
    """Pods being drained."""
    trouble: str | None = None
    """Why the autoscaler does not act, in its own word."""


class NodeSample(Figures):
    """One NodeClaim of Karpenter. ``usd_per_hour`` is None for a type without a price, and until it is launched."""

    name: str
    state: NodeState
    created: float | None = None
    """When Karpenter decided on it, in whole seconds of the epoch by the API server's clock."""
    instance_type: str = ""
    capacity_type: str = ""
    zone: str = ""
    gpus: int = 0
    usd_per_hour: float | None = None


class PoolSample(Figures):
    """One node pool; ``nodes`` is None while nobody can say."""

    name: str
    gpu_limit: int
    nodes: tuple[NodeSample, ...] | None = None


class Sample(Figures):
    """A stack at one moment, in seconds of the epoch. ``problems`` tells why a source gave nothing."""

    at: float
    models: tuple[ModelSample, ...] = ()
    pools: tuple[PoolSample, ...] = ()
    problems: Annotated[dict[Source, str], Field(default_factory=dict)]

    @property
    def nodes(self) -> tuple[NodeSample, ...] | None:
        """The nodes of all pools; None while nobody can say."""
        known = [pool.nodes for pool in self.pools if pool.nodes is not None]
        return tuple(node for nodes in known for node in nodes) if known or not self.pools else None

    @property
    def usd_per_hour(self) -> float | None:
        """What the GPU nodes cost from launch to end, at the catalogue's prices."""
        nodes = self.nodes
        return None if nodes is None else sum(node.usd_per_hour or 0.0 for node in nodes)

    @property
    def gpus(self) -> int | None:
        """GPUs that are paid for."""
        nodes = self.nodes
        return None if nodes is None else sum(node.gpus for node in nodes)

    def model_named(self, name: str) -> ModelSample | None:
        """The model of that name."""
        return next((model for model in self.models if model.name == name), None)
