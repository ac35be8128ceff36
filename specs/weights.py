"""The layout of the weights bucket: what the streamer, Mountpoint and `headroom weights` agree on."""

from __future__ import annotations

from specs.settings.model import Model


def weights_prefix(model: Model) -> str:
    """Key prefix of one version of a model's weights, `models/<name>/<version>/`; manifest.json, written
    last, makes a version complete."""
    return f"models/{model.name}/{model.weights_version}/"


def model_prefix(model: Model) -> str:
    """Key prefix of all versions of a model: what its service account may read."""
    return f"models/{model.name}/"
