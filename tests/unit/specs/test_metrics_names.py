"""Versions read from image tags, and the names that follow from them."""

from __future__ import annotations

import pytest

from specs.metrics_names import kv_usage_names, vllm_version


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("vllm/vllm-openai:v0.33.0", (0, 33)),
        ("vllm/vllm-openai:0.9.1", (0, 9)),
        ("vllm/vllm-openai:v0.11.0rc1", (0, 11)),
        ("registry.example.com:5000/vllm:v0.10.2-cu128", (0, 10)),
        ("vllm/vllm-openai:v0.33.0@sha256:" + "a" * 64, (0, 33)),
        ("registry.example.com:5000/vllm@sha256:" + "a" * 64, None),
        ("vllm/vllm-openai:nightly-20260809", None),
    ],
)
def test_the_version_is_read_from_the_tag(image: str, version: tuple[int, int] | None) -> None:
    assert vllm_version(image) == version


def test_an_unknown_version_reads_both_names() -> None:
    assert len(kv_usage_names("x@sha256:" + "a" * 64)) == 2
    assert kv_usage_names("x:v0.33.0") == ("vllm:kv_cache_usage_perc",)
