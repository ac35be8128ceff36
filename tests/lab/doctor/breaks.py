"""Ways to turn autoscaling off on a lab; each is mended at its end."""

import contextlib
from collections.abc import Callable, Generator, Mapping
from typing import Any

from lightkube import Client
from lightkube.types import PatchType

from lab.control.plane import Plane
from lab.doctor.kinds import BUDGET, DEPLOYMENT, HPA, NODE_POOL, POD_MONITOR, RULE, SCALED_OBJECT, Kind
from lab.doctor.seen import dig
from lab.scenario.outages import outage

NAMESPACE = "llm-serving"
MODEL, ASLEEP = "llama3-8b", "mistral-7b"
"""One engine runs; none does."""
Break = Callable[[Plane, Client], contextlib.AbstractContextManager[Any]]


def _patch(client: Client, kind: Kind, name: str, body: Mapping[str, Any]) -> None:
    where: dict[str, Any] = {"namespace": NAMESPACE} if kind.namespaced else {}
    client.patch(kind.resource, name, dict(body), patch_type=PatchType.MERGE, **where)


def _get(client: Client, kind: Kind, name: str) -> Any:
    where: dict[str, Any] = {"namespace": NAMESPACE} if kind.namespaced else {}
    return client.get(kind.resource, name, **where)


@contextlib.contextmanager
def paused(plane: Plane, client: Client) -> Generator[None]:
    """Somebody paused the ScaledObject; KEDA takes its HPA away."""
    key = "autoscaling.keda.sh/paused"
    _patch(client, SCALED_OBJECT, MODEL, {"metadata": {"annotations": {key: "true"}}})
    yield
    _patch(client, SCALED_OBJECT, MODEL, {"metadata": {"annotations": {key: None}}})


def another(plane: Plane, client: Client) -> contextlib.AbstractContextManager[None]:
    """A second HPA acts on the same Deployment."""
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": ASLEEP},
        "maxReplicas": 3,
        "metrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
            }
        ],
    }
    return _added(client, HPA, {"metadata": {"name": "by-hand", "namespace": NAMESPACE}, "spec": spec})


def second_budget(plane: Plane, client: Client) -> contextlib.AbstractContextManager[None]:
    """A second budget selects the engines: the eviction API refuses them."""
    own = _get(client, BUDGET, f"{MODEL}-engine")
    metadata = {"name": "by-hand", "namespace": NAMESPACE}
    return _added(client, BUDGET, {"metadata": metadata, "spec": {"selector": own["spec"]["selector"]}})


@contextlib.contextmanager
def _added(client: Client, kind: Kind, body: dict[str, Any]) -> Generator[None]:
    client.create(kind.resource(body))
    yield
    client.delete(kind.resource, body["metadata"]["name"], namespace=NAMESPACE)


def no_monitor(plane: Plane, client: Client) -> contextlib.AbstractContextManager[None]:
    """Nobody scrapes the router of the model that sleeps."""
    return _gone(client, POD_MONITOR, f"{ASLEEP}-router")


def no_rules(plane: Plane, client: Client) -> contextlib.AbstractContextManager[None]:
    """Nothing is recorded and nobody is woken."""
    return _gone(client, RULE, MODEL)


@contextlib.contextmanager
def _gone(client: Client, kind: Kind, name: str) -> Generator[None]:
    body = _get(client, kind, name)
    client.delete(kind.resource, name, namespace=NAMESPACE)
    yield
    for key in ("resourceVersion", "uid", "managedFields", "creationTimestamp"):
        body["metadata"].pop(key, None)
    client.create(kind.resource(body))


def short_grace(plane: Plane, client: Client) -> contextlib.AbstractContextManager[None]:
    """Engines are cut off before their requests end."""
    return _changed(client, DEPLOYMENT, ASLEEP, "template", "spec", "terminationGracePeriodSeconds", to=30)


def no_toleration(plane: Plane, client: Client) -> contextlib.AbstractContextManager[None]:
    """No engine may run on the pool's nodes."""
    return _changed(client, DEPLOYMENT, ASLEEP, "template", "spec", "tolerations", to=[])


def low_limit(plane: Plane, client: Client) -> contextlib.AbstractContextManager[None]:
    """The pool has not the room for every replica."""
    return _changed(client, NODE_POOL, "inference", "limits", to={"nvidia.com/gpu": "2"})


def old_threshold(plane: Plane, client: Client) -> contextlib.AbstractContextManager[None]:
    """A trigger is not the stack's."""
    changed = [dict(one) for one in _get(client, SCALED_OBJECT, MODEL)["spec"]["triggers"]]
    changed[0] = {**changed[0], "metadata": {**changed[0]["metadata"], "threshold": "9"}}
    return _changed(client, SCALED_OBJECT, MODEL, "triggers", to=changed)


@contextlib.contextmanager
def _changed(client: Client, kind: Kind, name: str, *path: str, to: Any) -> Generator[None]:
    before = dig(_get(client, kind, name), "spec", *path)
    _patch(client, kind, name, _nested(("spec", *path), to))
    yield
    _patch(client, kind, name, _nested(("spec", *path), before))


def _nested(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    return {path[0]: value if len(path) == 1 else _nested(path[1:], value)}


def owned(plane: Plane, client: Client) -> contextlib.AbstractContextManager[None]:
    """Another tool applies the replicas too, as a GitOps controller would."""
    return _owned(client)


@contextlib.contextmanager
def _owned(client: Client) -> Generator[None]:
    def apply(spec: dict[str, Any]) -> None:
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec}
        body["metadata"] = {"name": ASLEEP, "namespace": NAMESPACE}
        client.patch(
            DEPLOYMENT.resource,
            ASLEEP,
            body,
            namespace=NAMESPACE,
            patch_type=PatchType.APPLY,
            field_manager="gitops",
            force=True,
        )

    apply({"replicas": 0})
    yield
    apply({})


def no_prometheus(plane: Plane, client: Client) -> contextlib.AbstractContextManager[None]:
    """Prometheus is down."""
    return outage(plane, "prometheus")


def no_keda(plane: Plane, client: Client) -> contextlib.AbstractContextManager[None]:
    """KEDA's operator is down: the adapter has nobody to ask."""
    return outage(plane, "keda-operator")


def no_hpa_controller(plane: Plane, client: Client) -> contextlib.AbstractContextManager[None]:
    """Nobody looks at the HPAs, which keep saying that all is well."""
    return outage(plane, "controller-manager")
