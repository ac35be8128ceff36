"""Every check as a pure function of what was seen and what the specs would deploy."""

from collections.abc import Iterator

from lab.doctor.checks import (
    controllers,
    disruption,
    drain,
    external,
    hpa,
    image,
    pending,
    placement,
    pools,
    quotas,
    replicas,
    rules,
    scaled_object,
    sources,
    targets,
    triggers,
)
from lab.doctor.finding import Finding
from lab.doctor.seen import Seen
from specs.settings.stack import Settings

OF_STACK = (controllers, quotas, rules)
OF_POOL = (pools,)
OF_MODEL = (
    scaled_object,
    hpa,
    triggers,
    sources,
    external,
    targets,
    rules,
    replicas,
    pending,
    placement,
    disruption,
    drain,
    image,
)


def examine(seen: Seen, settings: Settings) -> Iterator[Finding]:
    """What the models share, then pool by pool, then model by model."""
    for topic in OF_STACK:
        yield from topic.of_stack(seen, settings)
    used = {model.pool for model in settings.active_models}
    for pool in settings.gpu_pools:
        if pool.name in used:
            for topic in OF_POOL:
                yield from topic.of_pool(seen, settings, pool)
    for model in settings.active_models:
        for topic in OF_MODEL:
            yield from topic.of_model(seen, settings, model)
