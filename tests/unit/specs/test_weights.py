"""The layout of the weights bucket."""

from __future__ import annotations

from specs.weights import model_prefix, weights_prefix
from tests.unit.specs.stack import only, settings

FEW = {"replicas": {"min": 1, "max": 2}}


def test_a_version_lies_below_its_model() -> None:
    model = only(settings({"weightsVersion": "2026-11-01"}))
    assert weights_prefix(model) == "models/llama3-8b/2026-11-01/"
    assert weights_prefix(model).startswith(model_prefix(model))


def test_a_models_prefix_never_covers_another_whose_name_begins_alike() -> None:
    short, long = settings({"name": "llama3", **FEW}, {"name": "llama3-8b", **FEW}).models
    assert not weights_prefix(long).startswith(model_prefix(short))
