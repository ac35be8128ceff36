"""A stack's own chart values against what the program sets in the same places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, cast

from specs import charts
from specs.charts import Values
from specs.guarantees import Guarantee, Path, guarantees
from specs.names import Names
from specs.platform_values import gpu_metrics_values, keda_values, prometheus_values
from specs.problems import Problem, shown
from specs.settings.stack import Chart, Platform, Settings

_TUNED: Final = frozenset(
    (
        "resources",
        "replicas",
        "replicaCount",
        "retention",
        "retentionSize",
        "scrapeInterval",
        "evaluationInterval",
        "interval",
        "scrapeTimeout",
        "walCompression",
        "pullPolicy",
        "podDisruptionBudget",
        "topologySpreadConstraints",
        "persistentVolumeClaimRetentionPolicy",
        "defaultRules",
    )
)
"""What the program sets as a size that suits most: another is a stack's own business."""
_OWNERS: Final = (("settings",), ("serviceAccount",))
"""Karpenter's values that an existing cluster's owner has to state."""
_UNSTATED: Final = object()


def problems(settings: Settings) -> Iterator[Problem]:
    """Values that would undo what other objects of the program rest on."""
    for guarantee in guarantees(settings):
        found = _overridden(settings, guarantee)
        if found is not None:
            path, value = found
            yield Problem(
                _path(guarantee.part, path),
                shown(value),
                f"{guarantee.allowed}: {guarantee.why}",
                f"leave {'.'.join(path)} out of the values",
            )


def warnings(settings: Settings) -> Iterator[Problem]:
    """Other values that the program sets too: the stack's win."""
    guaranteed = [(guarantee.part, guarantee.path) for guarantee in guarantees(settings)]
    if settings.cluster.mode != "eks":
        guaranteed += [("karpenter", path) for path in _OWNERS]
    for part, own in _own_values(settings).items():
        for path, value, ours in _differing((), _chart(settings, part).values, own):
            known = any(part == held and _related(path, place) for held, place in guaranteed)
            if not known and not _TUNED.intersection(path):
                yield Problem(
                    _path(part, path),
                    shown(value),
                    f"the program's own value here: {shown(ours)}",
                    f"leave {'.'.join(path)} out of the values unless you mean to replace it",
                )


def _overridden(settings: Settings, guarantee: Guarantee) -> tuple[Path, object] | None:
    """Where the stack's values put something that the guarantee does not accept, and what."""
    chart = _chart(settings, guarantee.part)
    if not chart.install:
        return None
    value: object = chart.values
    for depth, key in enumerate(guarantee.path):
        if not isinstance(value, Mapping):
            # Helm: null takes the whole branch away, and anything else stands in its place.
            return (guarantee.path[:depth], value) if not guarantee.accepts(None) else None
        value = cast(Values, value).get(key, _UNSTATED)
        if value is _UNSTATED:
            return None
    return None if guarantee.accepts(value) else (guarantee.path, value)


def _differing(path: Path, stated: Values, own: Values) -> Iterator[tuple[Path, object, object]]:
    for key, value in stated.items():
        if key not in own:
            continue
        ours, here = own[key], (*path, key)
        if isinstance(value, Mapping) and isinstance(ours, Mapping):
            yield from _differing(here, cast(Values, value), cast(Values, ours))
        elif value != ours:
            yield here, value, ours


def _own_values(settings: Settings) -> dict[str, Values]:
    """The program's values by part, without the stack's, of what it installs."""
    bare = settings.model_copy(update={"platform": _bare(settings.platform)})
    names = Names("")
    own: dict[str, Values] = {
        "karpenter": charts.karpenter(bare, names).values,
        "keda": keda_values(bare),
        "prometheus": prometheus_values(bare),
        "load_balancer_controller": charts.load_balancer_controller(bare, names, "").values,
        "gpu_plugin": charts.gpu_plugin(bare).values,
        "gpu_metrics": gpu_metrics_values(bare),
    }
    if settings.cluster.mode != "eks":
        del own["load_balancer_controller"]
    return {part: values for part, values in own.items() if _chart(settings, part).install}


def _bare(platform: Platform) -> Platform:
    parts = {
        name: chart.model_copy(update={"values": {}}) for name, chart in platform if isinstance(chart, Chart)
    }
    return platform.model_copy(update=parts)


def _chart(settings: Settings, part: str) -> Chart:
    return cast(Chart, getattr(settings.platform, part))


def _path(part: str, path: Path) -> str:
    alias = Platform.model_fields[part].alias
    return ".".join(("platform", str(alias), "values", *path))


def _related(path: Path, other: Path) -> bool:
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]
