"""Labels that tie a model's objects together, and where the program's own controllers run."""

from __future__ import annotations

from typing import Final, Literal

from specs.metrics_names import MODEL_LABEL
from specs.settings.model import Model
from specs.settings.stack import Settings

SYSTEM_LABEL: Final = {"headroom.dev/role": "system"}
"""The managed node group; every controller and router is pinned to it, so that none of them lands on, and keeps
alive, a GPU node."""

Part = Literal["engine", "router", "image-puller"]

MODEL_KEY: Final = MODEL_LABEL.replace("_", "-")
PART_KEY: Final = "app.kubernetes.io/component"


def selector(model: Model, part: Part) -> dict[str, str]:
    """The labels that select the pods of one part of a model; immutable once a Deployment exists."""
    return {MODEL_KEY: model.name, PART_KEY: part}


def labels(model: Model, part: Part) -> dict[str, str]:
    """The selector's labels and those that people read."""
    return {**selector(model, part), "app.kubernetes.io/part-of": "headroom"}


def system_nodes(settings: Settings) -> dict[str, str]:
    """nodeSelector of controllers and routers: the managed node group, which the autoscaler never removes.

    Empty on an existing cluster, whose node labels are not known.
    """
    return dict(SYSTEM_LABEL) if settings.cluster.mode == "eks" else {}
