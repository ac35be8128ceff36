"""Flags by image version (VL5, ST6): never an argument the image does not know."""

import pytest

from specs.vllm import SINCE, understands

DIGEST = "@sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("image", "knows"),
    [
        ("vllm/vllm-openai:v0.17.1", False),
        ("vllm/vllm-openai:v0.18.0", True),
        ("vllm/vllm-openai:v0.33.0", True),
        ("vllm/vllm-openai:v1.0.0", True),
        ("registry.example.com:5000/mirror/vllm:v0.9.2" + DIGEST, False),
        ("registry.example.com:5000/mirror/vllm:0.18.0-cu130", True),
    ],
)
def test_the_drain_flag_is_known_since_0_18(image: str, knows: bool) -> None:
    assert understands(image, "--shutdown-timeout") is knows


@pytest.mark.parametrize(
    "image", ["vllm/vllm-openai" + DIGEST, "vllm/vllm-openai:nightly", "own/llm:2026-11"]
)
def test_an_image_that_does_not_tell_its_version_counts_as_current(image: str) -> None:
    assert all(understands(image, feature) for feature in SINCE)


def test_an_old_image_knows_none_of_the_newer_features() -> None:
    assert not any(understands("vllm/vllm-openai:v0.10.2", feature) for feature in SINCE)
