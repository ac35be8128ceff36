"""Engines of a real Deployment on a real API server, from start to end."""

import threading
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from lightkube import Client

from lab.control import kubernetes
from lab.control.plane import Plane
from lab.fleet.component import control_url

Eventually = Callable[..., Any]
POD = kubernetes.resource("", "v1", "Pod", "pods")
DEPLOYMENT = kubernetes.resource("apps", "v1", "Deployment", "deployments")
HEALTH = {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 1}


def _deployment(name: str, replicas: int, *args: str) -> Any:
    container = {
        "name": "engine",
        "image": "vllm/vllm-openai:v0.33.0",
        "command": ["vllm", "serve"],
        "args": ["org/model", "--served-model-name", "tiny", *args],
        "ports": [{"name": "http", "containerPort": 8000}],
        "startupProbe": {**HEALTH, "failureThreshold": 60},
        "readinessProbe": HEALTH,
        "livenessProbe": {**HEALTH, "failureThreshold": 2},
        "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
    }
    labels = {"app": name}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 60}
    return DEPLOYMENT(
        {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }
    )


def _pods(client: Client, name: str) -> list[Any]:
    return list(client.list(POD, namespace="default", labels={"app": name}))


def _ready(client: Client, name: str) -> list[Any]:
    return [pod for pod in _pods(client, name) if _is_ready(pod)]


def _is_ready(pod: Any) -> bool:
    conditions: list[Any] = pod["status"].get("conditions") or []
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


@pytest.mark.usefixtures("plane")
def test_replicas_start_serve_drain_and_go(client: Client, eventually: Eventually) -> None:
    client.create(_deployment("drained", 2, "--shutdown-timeout", "30"))
    pods = eventually(lambda: (found := _ready(client, "drained")) and len(found) == 2 and found)
    url = f"http://{pods[0]['status']['podIP']}:8000"
    body = {"model": "tiny", "prompt": "x", "max_tokens": 60}
    answers: list[httpx2.Response] = []

    def ask() -> None:
        answers.append(httpx2.post(f"{url}/v1/completions", json=body, timeout=60, trust_env=False))

    asking = threading.Thread(target=ask)
    asking.start()
    eventually(
        lambda: "vllm:num_requests_running{engine" in (text := _metrics(url)) and "} 1.0" in _line(text)
    )
    client.delete(DEPLOYMENT, "drained", namespace="default")
    asking.join()
    assert answers[0].status_code == 200
    assert answers[0].json()["choices"][0]["finish_reason"] == "length"
    eventually(lambda: not _pods(client, "drained"))


def _metrics(url: str) -> str:
    return httpx2.get(f"{url}/metrics", timeout=10, trust_env=False).text


def _line(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("vllm:num_requests_running{"))


def test_an_engine_that_hangs_is_restarted_by_its_liveness_probe(
    plane: Plane, client: Client, eventually: Eventually
) -> None:
    client.create(_deployment("frozen", 1))
    (pod,) = eventually(lambda: _ready(client, "frozen"))
    name = pod["metadata"]["name"]
    froze = httpx2.post(f"{control_url(plane.pods)}/pods/default/{name}/freeze", trust_env=False)
    assert froze.status_code == 200
    eventually(lambda: not _ready(client, "frozen"))
    (again,) = eventually(lambda: _ready(client, "frozen"))
    assert again["metadata"]["name"] == name
    assert again["status"]["containerStatuses"][0]["restartCount"] == 1
    client.delete(DEPLOYMENT, "frozen", namespace="default")
    eventually(lambda: not _pods(client, "frozen"))
