"""Where a model's weights lie: one layout for bucket, mounted file system and image."""

from __future__ import annotations

from typing import Final

from specs.settings.model import Model

MOUNT: Final = "/weights"
"""Where mounted weights appear in the engine's container, and where an image with weights baked in has them."""
BUCKET_VARIABLE: Final = "WEIGHTS_BUCKET"


def weights_prefix(model: Model) -> str:
    """Key prefix of one version of a model's weights, `models/<name>/<version>/`; manifest.json, written
    last, makes a version complete."""
    return f"models/{model.name}/{model.weights_version}/"


def model_prefix(model: Model) -> str:
    """Key prefix of all versions of a model: what its service account may read."""
    return f"models/{model.name}/"


def folder(model: Model) -> str:
    """Folder of one version of the model, below the root of bucket, file system or image."""
    return weights_prefix(model).rstrip("/")


def in_bucket(model: Model) -> str:
    """The s3:// address as a container argument. The kubelet puts the bucket's name in (Kubernetes expands
    `$(NAME)` in args), so the arguments are known before the bucket exists.
    """
    return f"s3://$({BUCKET_VARIABLE})/{folder(model)}"


def in_container(model: Model) -> str:
    """The path in the container, for backends efs, fsx and image."""
    return f"{MOUNT}/{folder(model)}"
