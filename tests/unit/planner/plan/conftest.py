"""A small stack, changed by each test in one place."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import cast

import pytest

from specs.settings import Settings, read

Make = Callable[..., Settings]

CONFIG: dict[str, object] = {
    "aws:region": "us-east-1",
    "headroom:network": {"natGateways": "single", "endpoints": False},
    "headroom:weights": {"backend": "s3"},
    "headroom:gpuPools": [
        {"name": "gpu", "instanceTypes": ["g5.2xlarge"], "capacityTypes": ["on-demand"], "gpuLimit": 10}
    ],
    "headroom:gpuBudget": {"maxGpus": 10},
    "headroom:models": [
        {
            "name": "chat",
            "pool": "gpu",
            "model": "owner/chat",
            "weightsGiB": 15,
            "replicas": {"min": 1, "max": 10},
            "capacity": {"requestsPerSecond": 1.65, "promptTokens": 1155, "outputTokens": 211},
        }
    ],
}


@pytest.fixture
def make() -> Make:
    """Settings of the small stack; `model`, `pool` and `budget` update the one entry, other words a section."""

    def made(
        model: Mapping[str, object] | None = None,
        pool: Mapping[str, object] | None = None,
        budget: Mapping[str, object] | None = None,
        **sections: object,
    ) -> Settings:
        config = copy.deepcopy(CONFIG)
        models = cast(list[dict[str, object]], config["headroom:models"])
        pools = cast(list[dict[str, object]], config["headroom:gpuPools"])
        models[0].update(model or {})
        pools[0].update(pool or {})
        if budget:
            config["headroom:gpuBudget"] = {"maxGpus": 10, **budget}
        config |= {f"headroom:{key}": value for key, value in sections.items()}
        return read(config)

    return made
