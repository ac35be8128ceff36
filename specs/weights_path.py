"""Where a model's weights lie: one layout for bucket, mounted file system and image."""

from __future__ import annotations

from typing import Final

from specs.settings.model import Model
from specs.weights import weights_prefix

MOUNT: Final = "/weights"
"""Where mounted weights appear in the engine's container, and where an image with weights baked in has them."""
BUCKET_VARIABLE: Final = "WEIGHTS_BUCKET"


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
