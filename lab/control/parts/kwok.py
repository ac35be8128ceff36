"""kwok: the kubelets of the fake nodes, and the life of the pods that the lab does not simulate itself."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import yaml

from lab.control.component import Component, Health
from lab.control.parts.context import Context

_STAGES = (
    "node/fast/node-initialize.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/fast/pod-complete.yaml",
    "pod/fast/pod-delete.yaml",
)
_CREATE = "pod/general/pod-create.yaml"


def kwok(lab: Context) -> Component:
    """Manages the nodes with kwok's own annotation, which Karpenter's KWOK provider sets too."""
    config = lab.layout.config("kwok.yaml")
    content = yaml.safe_dump_all(stages(lab.tools["kwok-stages"], lab.settings.own_images), sort_keys=True)
    flags = {
        "config": config,
        "kubeconfig": lab.layout.kubeconfig,
        "manage-all-nodes": "false",
        "manage-nodes-with-annotation-selector": "kwok.x-k8s.io/node=fake",
        "cidr": lab.pods,
        "node-ip": "127.0.0.1",
        # A dead node is seen after node-monitor-grace-period, as with a kubelet.
        "node-lease-duration-seconds": 40,
        "server-address": lab.address("kwok"),
    }
    argv = [lab.tool("kwok"), *(f"--{name}={value}" for name, value in flags.items())]
    health = Health(url=f"{lab.url('kwok')}/healthz")
    return Component(name="kwok", argv=tuple(argv), files={config: content}, health=health)


def stages(folder: Path, own_images: str) -> Iterable[dict[str, Any]]:
    """kwok's own stages, split in two by image.

    Pods with an image that matches ``own_images`` get an address and stay Pending with their containers waiting;
    the rest of their life, deletion included, is left to whoever simulates them. Other pods run, complete and go
    at once.
    """
    own = f'.spec.containers[] | select(.image | test("{own_images}")) | .name'
    for path in _STAGES:
        stage = _load(folder / path)
        if path.startswith("pod/"):
            _require(stage, own, "DoesNotExist")
        yield stage
    create = _load(folder / _CREATE)
    _require(create, own, "Exists")
    # Upstream's stage waits 1-6 s to look natural; the planned seconds are the engine's to spend.
    create["spec"].pop("delay", None)
    yield create


def _load(path: Path) -> dict[str, Any]:
    return cast(dict[str, Any], yaml.safe_load(path.read_text()))


def _require(stage: dict[str, Any], key: str, operator: str) -> None:
    stage["spec"]["selector"].setdefault("matchExpressions", []).append({"key": key, "operator": operator})
