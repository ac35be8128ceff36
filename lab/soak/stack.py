"""How a soak runs a stack: what it changes in it, and the load that never ends."""

from collections.abc import Mapping
from typing import Any, Final

from lab.load import Asking, Closed, Load, Open, Routers, asking_of
from lab.stage.stage import Stage
from specs.settings.model import Model
from specs.settings.stack import Settings

FACTOR: Final = 0.05
"""Nodes, images, weights and engines start in a twentieth of their planned seconds."""
PATIENCE_SECONDS: Final = 150.0
"""Longest wait of a caller for a first token; a start in a soak takes some 10 s, a burst's queue a minute."""
LOAD_SHARE: Final = 0.5
"""Share of what the fewest replicas can serve that is asked for all the while."""
UNMEASURED_RATE: Final = 1.0
"""Requests a second of a replica whose capacity was not measured."""
KEPT_LOSSES: Final = 10_000


def overrides(settings: Settings, versions: Mapping[str, int]) -> dict[str, Any]:
    """Two replicas and routers at least, and a quick way down; another version is another argument of the engines.

    Two, because a death takes one and its callers must find another.
    """
    pools = {model.pool for model in settings.active_models}
    return {
        "headroom:platform": {"router": {"replicas": max(2, settings.platform.router.replicas)}},
        "headroom:gpuPools": [
            {"name": name, "consolidation": {"policy": "WhenEmpty", "afterSeconds": 15}}
            for name in sorted(pools)
        ],
        "headroom:models": [_model(model, versions.get(model.name, 0)) for model in settings.active_models],
    }


def _model(model: Model, version: int) -> dict[str, Any]:
    most = model.replicas.max
    least = min(most, max(2, model.replicas.min)) if model.replicas.min else 0
    version_words = ["--seed", str(version)] if version else []
    return {
        "name": model.name,
        "replicas": {"min": least, "max": most},
        "drain": {"preStopSeconds": 5, "shutdownSeconds": 60},
        "scaling": {"scaleDown": {"pods": most, "periodSeconds": 15, "stabilizationSeconds": 30}},
        "extraArgs": [*model.extra_args, *version_words],
    }


def serving(settings: Settings) -> tuple[list[str], list[str]]:
    """Names of the models that always have a replica, and of those that may have none."""
    always = [model.name for model in settings.active_models if model.replicas.min > 0]
    return always, [model.name for model in settings.active_models if model.replicas.min == 0]


def background(stage: Stage, model: Model, seed: int, seconds: float) -> Load:
    """Even requests to a model that always serves."""
    served = model.capacity.requests_per_second if model.capacity else UNMEASURED_RATE
    rate = LOAD_SHARE * model.replicas.min * served
    times = [number / rate for number in range(int(rate * seconds))]
    return _load(stage, model, Open(name="even", times=times, seconds=seconds), seed)


def burst(stage: Stage, model: Model, seed: int, *, clients: int, seconds: float) -> Load:
    """Clients who each wait for their answer, for so long."""
    return _load(stage, model, Closed(clients=clients, seconds=seconds), seed)


def _load(stage: Stage, model: Model, profile: Closed | Open, seed: int) -> Load:
    whole = asking_of(stage.settings, model)
    asking = Asking(
        prompt_tokens=whole.prompt_tokens,
        output_tokens=whole.output_tokens,
        stream_share=whole.stream_share,
        longest_context=whole.longest_context,
        first_byte_seconds=PATIENCE_SECONDS,
        total_seconds=2 * PATIENCE_SECONDS,
    )
    routers = Routers(stage.plane.kubeconfig, model.namespace, model.name, PATIENCE_SECONDS)
    return Load(routers, model.api_name, profile, seed, asking=asking, kept_failures=KEPT_LOSSES)
