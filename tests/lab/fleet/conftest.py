"""A lab with a cluster, a fake GPU node and the fleet; brought up once."""

import time
from collections.abc import Callable, Generator
from typing import Any

import pytest
from lightkube import Client

from lab.control import kubernetes
from lab.control.parts.registry import CLUSTER
from lab.control.plane import Plane, down, up
from lab.fleet.component import tell
from lab.fleet.settings import FleetSettings

NODE = "gpu-node"


@pytest.fixture(scope="package")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Generator[Plane]:
    """The cluster and the fleet; starts take a hundredth of the planned seconds."""
    root = tmp_path_factory.mktemp("fleet") / "lab"
    try:
        made = up(root, CLUSTER)
        with made.client() as client:
            client.create(_node())
        tell(made, FleetSettings(factor=0.01, hang_share=0.0))
        yield made
    finally:
        down(root)


def _node() -> Any:
    kind = kubernetes.resource("", "v1", "Node", "nodes", namespaced=False)
    room = {"cpu": "64", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": "8"}
    return kind(
        {
            "metadata": {"name": NODE, "annotations": {"kwok.x-k8s.io/node": "fake"}},
            "status": {"allocatable": room, "capacity": room},
        }
    )


@pytest.fixture
def client(plane: Plane) -> Generator[Client]:
    """A client of the lab."""
    with plane.client() as made:
        yield made


@pytest.fixture
def eventually() -> Callable[..., Any]:
    """Waits until something is true and returns it."""

    def wait(holds: Callable[[], Any], seconds: float = 90.0) -> Any:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = holds()
            if found:
                return found
            time.sleep(0.2)
        pytest.fail(f"not so within {seconds:.0f} s: {holds.__qualname__}")

    return wait
