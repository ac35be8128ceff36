"""Where a model's weights belong: bucket, prefix and key."""

from __future__ import annotations

from dataclasses import dataclass

from planner.staging.errors import refused
from planner.staging.source import MANIFEST
from specs.names import Names
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.weights import weights_prefix


@dataclass(frozen=True)
class Place:
    """`key` is the KMS key or its alias; None where the stack has none of its own."""

    model: Model
    bucket: str
    prefix: str
    key: str | None

    @property
    def manifest(self) -> str:
        """Key of the manifest."""
        return self.prefix + MANIFEST


def place_of(settings: Settings, stack: str, model: str | None, bucket: str | None) -> Place:
    """The place of a model by its name (default: the only one). Raises StagingError."""
    if settings.weights.backend != "s3":
        raise refused(
            "headroom:weights.backend",
            settings.weights.backend,
            "s3: only that one reads a bucket",
            "set it to s3, or put the weights where this backend looks for them",
        )
    chosen = _model(settings, model)
    names = Names(stack)
    own = names.bucket(settings.weights.bucket_name, settings.region)
    # A bucket of another name is encrypted as its owner has set it up.
    key = names.weights_alias if settings.weights.kms and (bucket is None or bucket == own) else None
    return Place(chosen, bucket or own, weights_prefix(chosen), key)


def _model(settings: Settings, name: str | None) -> Model:
    named = [model for model in settings.models if name is None or model.name == name]
    if len(named) == 1:
        return named[0]
    known = ", ".join(model.name for model in settings.models) or "none"
    given = "no model named" if name is None else name
    raise refused("--model", given, f"one of {known}", "name one with --model")
