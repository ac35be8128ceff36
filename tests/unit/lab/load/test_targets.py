"""Which router pods are sent to."""

from typing import Any

import pytest

from lab.load.targets import endpoint


def _pod(ready: str = "True", address: str = "127.10.0.7", **metadata: Any) -> dict[str, Any]:
    ports = [{"name": "metrics", "containerPort": 29000}, {"name": "http", "containerPort": 8081}]
    return {
        "metadata": {"uid": "1", **metadata},
        "spec": {"containers": [{"name": "router", "ports": ports}]},
        "status": {"podIP": address, "conditions": [{"type": "Ready", "status": ready}]},
    }


def test_a_ready_router_is_sent_to_at_its_http_port() -> None:
    assert endpoint(_pod()) == "http://127.10.0.7:8081"


@pytest.mark.parametrize(
    "pod",
    [
        _pod(ready="False"),
        _pod(deletionTimestamp="2026-01-01T00:00:00Z"),
        _pod(address=""),
        _pod(address="10.0.0.7"),
        {**_pod(), "status": {}},
    ],
    ids=["unready", "leaving", "no address", "not loopback", "new"],
)
def test_no_other_is(pod: dict[str, Any]) -> None:
    assert endpoint(pod) is None
