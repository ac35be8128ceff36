"""Who plays the life of a pod: kwok, or the lab's own engines."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.control.parts.kwok import stages

STAGE = {
    "spec": {
        "selector": {"matchExpressions": [{"key": ".x", "operator": "Exists"}]},
        "delay": {"durationMilliseconds": 1},
    }
}
NAMES = {
    "node/fast/node-initialize.yaml": "node-initialize",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml": "node-heartbeat",
    "pod/fast/pod-ready.yaml": "pod-ready",
    "pod/fast/pod-complete.yaml": "pod-complete",
    "pod/fast/pod-delete.yaml": "pod-delete",
    "pod/general/pod-create.yaml": "pod-create",
}


@pytest.fixture
def found(tmp_path: Path) -> dict[str, dict[str, Any]]:
    """The rendered stages by name, from files shaped like kwok's."""
    for path, name in NAMES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(yaml.safe_dump({"metadata": {"name": name}} | STAGE))
    return {stage["metadata"]["name"]: stage for stage in stages(tmp_path, "vllm/")}


def _images(stage: dict[str, Any]) -> list[str]:
    return [
        one["operator"]
        for one in stage["spec"]["selector"]["matchExpressions"]
        if 'test("vllm/")' in one["key"]
    ]


def test_pods_with_an_own_image_get_an_address_at_once_and_nothing_else(
    found: dict[str, dict[str, Any]],
) -> None:
    assert _images(found["pod-create"]) == ["Exists"]
    assert "delay" not in found["pod-create"]["spec"]
    for name in ("pod-ready", "pod-complete", "pod-delete"):
        assert _images(found[name]) == ["DoesNotExist"]


def test_nodes_are_not_asked_for_their_image(found: dict[str, dict[str, Any]]) -> None:
    assert _images(found["node-initialize"]) == _images(found["node-heartbeat"]) == []
