"""Seconds from a burst to a replica that serves, stage by stage, for each tier of start.

The stage seconds are starting points measured on an 8B model in bf16 with one GPU: node launch 45 s; an image
of about 11 GB 112 s by default, 60 s with parallel pull on AL2023, 45 s on Bottlerocket, 5 s from a snapshot
or a pre-pulled node; 15 GB of weights streamed in 5 s at 25 Gbit/s, slower in proportion on smaller network
baselines; engine start 60 s with a cold compile, 35 s with the compile cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from specs.fit import fitting_types
from specs.settings.model import Model
from specs.settings.stack import Settings

Tier = Literal["cold", "snapshot", "warm", "forecast"]

NODE_SECONDS = 45.0
IMAGE_SECONDS_BOTTLEROCKET = 45.0
IMAGE_SECONDS_AL2023 = 60.0
IMAGE_SECONDS_CACHED = 5.0
ENGINE_SECONDS_COLD = 60.0
ENGINE_SECONDS_CACHED = 35.0
STREAM_GBPS_MOST = 25.0
"""The streamer gains nothing beyond this rate."""
MOUNT_GIB_PER_SECOND = 0.31
"""safetensors through a mounted file system: 15 GB in 48 s."""
GBPS_TO_GIB = 1e9 / 8 / 2**30
BATCH_SECONDS = 1.0
"""Karpenter's idle batch window; a burst in one sync closes it after one second."""
CONTROL_SECONDS = 0.5
"""API round trips between the HPA's decision and the node claim."""


@dataclass(frozen=True)
class Stages:
    """Seconds of one start; `total` is their sum. Detection is the mean: half a scrape and half a sync,
    plus Karpenter's batch.
    """

    detect: float
    node: float
    image: float
    weights: float
    engine: float

    @property
    def start(self) -> float:
        """Seconds after the replica was asked for."""
        return self.node + self.image + self.weights + self.engine

    @property
    def total(self) -> float:
        """Seconds after the load rose."""
        return self.detect + self.start


def detect_seconds(settings: Settings) -> float:
    """Mean seconds from the rise of a gauge to the node claim: S/2 + P/2 + batch and API trips."""
    scrape, sync = settings.platform.prometheus.scrape_seconds, settings.cluster.hpa_sync_seconds
    return scrape / 2 + sync / 2 + BATCH_SECONDS + CONTROL_SECONDS


def weights_seconds(settings: Settings, model: Model) -> float:
    """Seconds to load the weights on the slowest instance type that fits, since a start may land on it."""
    backend = settings.weights.backend
    if backend == "image":
        return model.weights_gi_b / MOUNT_GIB_PER_SECOND
    networks = [entry.network_gbps for entry in fitting_types(model, settings.pool(model.pool))]
    gbps = min([*networks, STREAM_GBPS_MOST])
    stream = model.weights_gi_b / (gbps * GBPS_TO_GIB)
    if backend == "s3":
        return stream
    return max(stream, model.weights_gi_b / MOUNT_GIB_PER_SECOND)


def stages(settings: Settings, model: Model, tier: Tier) -> Stages:
    """The stages of one tier: cold (new node, image pulled), snapshot (new node, image on its disk), warm (a
    node that runs, image cached, compile cache there) and forecast (asked for one lead time early: only the
    readiness of a replica that is already there is left).
    """
    detect = detect_seconds(settings)
    weights = weights_seconds(settings, model)
    bottlerocket = settings.pool(model.pool).ami.startswith("bottlerocket")
    image = IMAGE_SECONDS_BOTTLEROCKET if bottlerocket else IMAGE_SECONDS_AL2023
    match tier:
        case "cold":
            return Stages(detect, NODE_SECONDS, image, weights, ENGINE_SECONDS_COLD)
        case "snapshot":
            return Stages(detect, NODE_SECONDS, IMAGE_SECONDS_CACHED, weights, ENGINE_SECONDS_COLD)
        case "warm":
            return Stages(detect, 0.0, IMAGE_SECONDS_CACHED, weights, ENGINE_SECONDS_CACHED)
        case "forecast":
            return Stages(0.0, 0.0, 0.0, 0.0, 0.0)


def lead_seconds(settings: Settings, model: Model) -> int:
    """The forecast's horizon: the configured one, or the cold tier's total rounded up to half a minute."""
    stated = model.scaling.forecast.horizon_seconds
    if stated != "auto":
        return stated
    total = stages(settings, model, "cold").total
    return int(-(-total // 30) * 30)
