"""Names: unique, known, and short enough for every object made from them."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from specs.checks.places import active, pools
from specs.problems import Problem, shown
from specs.settings.stack import Settings

# The longest name made from a model's name is the HPA's, `keda-hpa-<name>`, which must stay a DNS label.
LONGEST_MODEL_NAME = 63 - len("keda-hpa-")
RESERVED_NAMESPACES = (
    "default",
    "kube-system",
    "kube-public",
    "kube-node-lease",
    "keda",
    "monitoring",
    "gpu-system",
)


def problems(settings: Settings) -> Iterator[Problem]:
    """Duplicates, unknown pools, reserved namespaces, names too long."""
    known = [pool.name for pool in settings.gpu_pools]
    yield from _twice("gpuPools", known)
    yield from _twice("models", [model.name for model in settings.models])
    for path, model in active(settings):
        if model.pool not in known:
            near = get_close_matches(model.pool, known, n=1)
            fix = f"did you mean {near[0]}?" if near else "add the pool to gpuPools, or name one of these"
            yield Problem(
                f"{path}.pool", shown(model.pool), f"a pool of gpuPools: {', '.join(known) or 'none'}", fix
            )
        if not model.name[:1].isalpha():
            yield Problem(
                f"{path}.name",
                shown(model.name),
                "a name that starts with a letter: its Services are DNS labels of RFC 1035",
                f"use m-{model.name}",
            )
        if len(model.name) > LONGEST_MODEL_NAME:
            yield Problem(
                f"{path}.name",
                f"{shown(model.name)} ({len(model.name)} characters)",
                f"at most {LONGEST_MODEL_NAME} characters, so that keda-hpa-<name> is a valid name",
                "shorten it",
            )
        if model.namespace in RESERVED_NAMESPACES:
            yield Problem(
                f"{path}.namespace",
                shown(model.namespace),
                f"a namespace of the models' own, not one of {', '.join(RESERVED_NAMESPACES)}",
                "use llm-serving",
            )
    served: dict[tuple[str, str], str] = {}
    for path, model in active(settings):
        first = served.setdefault((model.namespace, model.api_name), path)
        if first != path:
            yield Problem(
                f"{path}.servedName",
                shown(model.api_name),
                f"a name no other model of namespace {model.namespace} serves; {first} does: their series would mix",
                "give one of them another servedName",
            )


def _twice(path: str, names: list[str]) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Problem(
                f"{path}[{index}].name",
                f"{shown(name)}, also the name of {path}[{names.index(name)}]",
                "a name of its own",
                "rename one of them",
            )


def warnings(settings: Settings) -> Iterator[Problem]:
    """Nothing served; a pool nobody uses."""
    used = {model.pool for _, model in active(settings)}
    if not used:
        yield Problem("models", "no enabled model", "at least one to serve anything", "enable or add a model")
    for path, pool in pools(settings):
        if used and pool.name not in used:
            yield Problem(
                f"{path}.name", shown(pool.name), "a pool some enabled model names", "remove the pool"
            )
