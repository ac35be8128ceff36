"""A lab with two quick engines and the real router in front of them, as the local stack declares it; up once."""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from lightkube import Client

from lab.control import kubernetes
from lab.control.parts.registry import CLUSTER
from lab.control.plane import Plane, down, up
from lab.fleet.component import control_url, tell
from lab.fleet.settings import FleetSettings, ModelTiming
from planner.engine import EngineModel
from specs import router, router_access
from specs.labels import labels, selector
from specs.settings.model import Model
from specs.settings.read import read
from specs.settings.source import load
from specs.settings.stack import Settings

PROJECT = Path(__file__).parents[3]
DEPLOYMENT = kubernetes.resource("apps", "v1", "Deployment", "deployments")
QUICK = ModelTiming(
    engine=EngineModel(
        step=0.01,
        per_sequence=0.0001,
        per_prompt_token=0.00001,
        max_sequences=64,
        kv_tokens=400_000,
        batched_tokens=8192,
    ),
    image=0.0,
    weights=0.0,
    start=0.0,
)
"""A token each ten milliseconds."""


@dataclass(frozen=True)
class Stand:
    """What a test has: the lab, a client of it, the stack's settings and the served model."""

    plane: Plane
    client: Client
    settings: Settings
    model: Model

    def engines(self) -> list[dict[str, Any]]:
        """The engines as the fleet sees them."""
        url = f"{control_url(self.plane.pods)}/pods"
        pods: list[dict[str, Any]] = httpx2.get(url, timeout=10, trust_env=False).json()
        return [pod for pod in pods if pod["role"] == "engine"]

    def crash(self, pod: str) -> None:
        """SIGKILL for one engine."""
        url = f"{control_url(self.plane.pods)}/pods/{self.model.namespace}/{pod}/crash"
        httpx2.post(url, timeout=10, trust_env=False).raise_for_status()

    def routers(self, replicas: int) -> None:
        """Scales the model's router."""
        body = {"spec": {"replicas": replicas}}
        name = router.name(self.model)
        self.client.patch(DEPLOYMENT, name, body, namespace=self.model.namespace)

    def eventually(self, holds: Callable[[], Any], seconds: float = 90.0) -> Any:
        """Waits until something is true and returns it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = holds()
            if found:
                return found
            time.sleep(0.1)
        return pytest.fail(f"not so within {seconds:.0f} s: {holds.__qualname__}")


@pytest.fixture(scope="package")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stand]:
    """Two engines ready behind one router."""
    root = tmp_path_factory.mktemp("load") / "lab"
    settings = read(load(PROJECT / "Pulumi.local.yaml").config)
    model = settings.active_models[0]
    timings = {f"{model.namespace}/{model.api_name}": QUICK}
    fleet = FleetSettings(factor=0.01, hang_share=0.0, models=timings)
    try:
        plane = up(root, CLUSTER)
        with plane.client() as client:
            made = Stand(plane, client, settings, model)
            for body in _objects(settings, model):
                client.create(body)
            tell(plane, fleet)
            made.eventually(lambda: sum(pod["ready"] for pod in made.engines()) == 2)
            yield made
    finally:
        down(root)


def _objects(settings: Settings, model: Model) -> Generator[Any]:
    core = {"Node": False, "Namespace": False, "ServiceAccount": True}
    kinds = {
        kind: kubernetes.resource("", "v1", kind, f"{kind.lower()}s", namespaced=inside)
        for kind, inside in core.items()
    }
    room = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    fake = {"name": "node", "annotations": {"kwok.x-k8s.io/node": "fake"}}
    yield kinds["Node"]({"metadata": fake, "status": {"allocatable": room, "capacity": room}})
    yield kinds["Namespace"]({"metadata": {"name": model.namespace}})
    yield kinds["ServiceAccount"](router_access.account(model))
    yield DEPLOYMENT(_engines(model))
    yield DEPLOYMENT(router.deployment(settings, model))


def _engines(model: Model) -> dict[str, Any]:
    health = {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 1}
    container = {
        "name": "engine",
        "image": "vllm/vllm-openai:v0.33.0",
        "command": ["vllm", "serve", model.model, "--served-model-name", model.api_name],
        "args": ["--shutdown-timeout", "30"],
        "readinessProbe": health,
    }
    return {
        "metadata": {"name": model.name, "namespace": model.namespace},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": selector(model, "engine")},
            "template": {
                "metadata": {"labels": labels(model, "engine")},
                "spec": {"containers": [container]},
            },
        },
    }
