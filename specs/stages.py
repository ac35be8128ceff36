"""Seconds from a burst to a new replica that serves, stage by stage and tier by tier.

Starting figures for an 8B model in bf16 on one GPU; `headroom calibrate` replaces the engine's. A claim such
as "sub-minute" is only ever made from these sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from specs.fit import fitting_types
from specs.quantity import GIBI, MEBI
from specs.settings.model import Model
from specs.settings.stack import GpuPool, Settings

TierName = Literal["cold", "snapshot", "warm", "forecast"]

# KEDA adapter, HPA write, scheduler and Karpenter's batch idle time (1 s) beside scrape and sync.
CONTROLLER_SECONDS = 1.5
NODE_SECONDS = 45.0
# Pull of ~11 GB compressed: SOCI parallel pull on each family (amazon-eks-ami FastImagePull; Bottlerocket 1.44+).
IMAGE_SECONDS = {"al2023": 60.0, "bottlerocket": 45.0}
IMAGE_SNAPSHOT_SECONDS = 5.0
IMAGE_COMPRESSED_GIB = 12.0
IMAGE_UNPACKED_GIB = 28.6
ENGINE_COLD_SECONDS = 60.0
ENGINE_CACHED_SECONDS = 35.0
# Ceiling in Gbit/s of the source, where it is not the node's network: EFS elastic throughput 1.5 GB/s per
# client, FSx per-client 12.5 GB/s on ENA, Hugging Face hub about 300 MB/s.
SOURCE_GBPS = {"s3": 1e9, "efs": 12.0, "fsx": 100.0, "hub": 2.4}


@dataclass(frozen=True)
class Tier:
    """One way a replica can start; all values in seconds."""

    name: TierName
    detect: float
    node: float
    image: float
    weights: float
    engine: float
    hidden: float = 0.0
    """Seconds the forecast acts ahead, which the caller does not wait."""

    @property
    def start(self) -> float:
        """Node to ready, without detection: the lead time of a new replica."""
        return self.node + self.image + self.weights + self.engine

    @property
    def total(self) -> float:
        """What a burst waits."""
        return max(0.0, self.detect + self.start - self.hidden)


def detect_seconds(settings: Settings) -> float:
    """Mean delay from a change of load to the HPA's decision: S/2 + P/2 + 1.5 s, with S the scrape interval
    and P the HPA sync period."""
    return (
        settings.platform.prometheus.scrape_seconds / 2
        + settings.cluster.hpa_sync_seconds / 2
        + CONTROLLER_SECONDS
    )


def weights_seconds(settings: Settings, model: Model, pool: GpuPool) -> float:
    """Time to read the weights on the slowest type that fits: GiB over the narrowest of source and node."""
    bits = model.weights_gi_b * GIBI * 8
    types = fitting_types(model, pool)
    if settings.weights.backend == "image":
        return bits / (pool.disk.throughput * MEBI * 8)
    network = min((entry.network_gbps for entry in types), default=5.0)
    return bits / (min(network, SOURCE_GBPS[settings.weights.backend]) * 1e9)


def _cold_and_warm(settings: Settings, model: Model) -> tuple[Tier, Tier]:
    """A start on a new node, and one on a node that is kept with the image on it."""
    pool = settings.pool(model.pool)
    detect, weights = detect_seconds(settings), weights_seconds(settings, model, pool)
    image = IMAGE_SECONDS[pool.ami.partition("@")[0]]
    if settings.weights.backend == "image":
        image *= (IMAGE_COMPRESSED_GIB + model.weights_gi_b) / IMAGE_COMPRESSED_GIB
    return (
        Tier("cold", detect, NODE_SECONDS, image, weights, ENGINE_COLD_SECONDS),
        Tier("warm", detect, 0.0, 0.0, weights, ENGINE_COLD_SECONDS),
    )


def _current(settings: Settings, model: Model) -> Tier:
    """The tier the stack is in: warm while spares are kept, else cold."""
    cold, warm = _cold_and_warm(settings, model)
    return warm if model.scaling.warm_spares else cold


def tiers(settings: Settings, model: Model) -> list[Tier]:
    """Cold, snapshot, warm and forecast, in this order. The pool must exist."""
    cold, warm = _cold_and_warm(settings, model)
    horizon = horizon_seconds(settings, model) if model.scaling.forecast.enabled else 0.0
    return [
        cold,
        replace(cold, name="snapshot", image=IMAGE_SNAPSHOT_SECONDS, engine=ENGINE_CACHED_SECONDS),
        warm,
        replace(_current(settings, model), name="forecast", hidden=horizon),
    ]


def lead_seconds(settings: Settings, model: Model) -> float:
    """Lead time of a new replica in the tier the stack is in."""
    return _current(settings, model).start


def horizon_seconds(settings: Settings, model: Model) -> float:
    """How far the forecast looks ahead: as stated, or detection plus the lead time, in whole seconds."""
    stated = model.scaling.forecast.horizon_seconds
    if stated != "auto":
        return float(stated)
    return float(round(detect_seconds(settings) + lead_seconds(settings, model)))
