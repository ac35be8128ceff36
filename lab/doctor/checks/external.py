"""The HPA can read every trigger through external.metrics.k8s.io."""

from collections.abc import Iterator

from lab.control.parts.keda import EXTERNAL_METRICS
from lab.doctor.differences import few
from lab.doctor.finding import Check, Finding
from lab.doctor.kinds import SCALED_OBJECT
from lab.doctor.seen import Seen, Unread, dig
from specs.promql import number
from specs.settings.model import Model
from specs.settings.stack import Settings


def of_model(seen: Seen, settings: Settings, model: Model) -> Iterator[Finding]:
    """All metrics that KEDA names in the ScaledObject's status, read as the HPA reads them."""
    del settings
    check = Check("hpa-reads", model.name)
    live = seen.one(SCALED_OBJECT, model.name, model.namespace)
    if live is None or isinstance(live, Unread):
        yield check.unknown("without its ScaledObject the metrics have no names")
        return
    metrics = [str(one) for one in dig(live, "status", "externalMetricNames", default=())]
    triggers = dig(live, "spec", "triggers", default=())
    bad, good = list[str](), list[str]()
    for metric in metrics:
        found = seen.external.get((model.namespace, model.name, metric), Unread("not asked"))
        name = _trigger(metric, triggers)
        if isinstance(found, Unread):
            bad.append(f"{name}: {found.reason}")
        else:
            good.append(f"{name} {number(round(found, 3))}")
    if not metrics:
        bad = ["KEDA names no metric of it"]
    yield check.holds(
        few(bad, 2),
        ", ".join(good),
        f"see fallback and external-metrics; kubectl get --raw '/apis/{EXTERNAL_METRICS}/namespaces/"
        f"{model.namespace}/METRIC?labelSelector=scaledobject.keda.sh/name={model.name}'",
    )


def _trigger(metric: str, triggers: object) -> str:
    """The trigger's name: KEDA calls its metric s<position>-<type>."""
    position = metric.partition("-")[0].removeprefix("s")
    if isinstance(triggers, list) and position.isdigit() and int(position) < len(triggers):  # pyright: ignore[reportUnknownArgumentType]
        return str(dig(triggers[int(position)], "name", default=metric))  # pyright: ignore[reportUnknownArgumentType]
    return metric
