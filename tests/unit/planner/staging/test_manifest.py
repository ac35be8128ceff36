"""Checksums by part and the manifest's form."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.staging.digest import (
    MEBI,
    MOST_PARTS,
    SMALLEST_PART,
    part_count,
    part_digest,
    part_size,
    same_digest,
    whole_digest,
)
from planner.staging.errors import StagingError
from planner.staging.manifest import Entry, Manifest, parse
from planner.staging.place import place_of
from specs.settings import Settings, read


def entry(path: str = "model.safetensors", size: int = 3) -> Entry:
    return Entry(path=path, size=size, part_size=SMALLEST_PART, parts=(part_digest(b"abc"),))


@given(st.integers(min_value=0, max_value=5 * 2**40))
def test_parts_cover_any_size_within_what_s3_takes(size: int) -> None:
    each, count = part_size(size), part_count(size)
    assert 1 <= count <= MOST_PARTS
    assert each % MEBI == 0
    assert (count - 1) * each < max(1, size) <= count * each


def test_one_part_has_its_own_digest() -> None:
    assert whole_digest([part_digest(b"abc")]) == base64.b64encode(hashlib.sha256(b"abc").digest()).decode()


def test_several_parts_have_the_digest_of_their_digests_and_their_number() -> None:
    """S3 user guide, checking object integrity: composite checksums."""
    joined = hashlib.sha256(hashlib.sha256(b"a").digest() + hashlib.sha256(b"b").digest()).digest()
    expected = base64.b64encode(joined).decode() + "-2"
    assert whole_digest([part_digest(b"a"), part_digest(b"b")]) == expected
    assert same_digest(expected.removesuffix("-2"), expected)


def test_no_digest_is_no_match() -> None:
    assert not same_digest(None, "x")


def test_a_manifest_reads_back_as_it_was_written() -> None:
    manifest = Manifest(model="chat", version="v1", files=(entry(),))
    assert parse(manifest.text(), "s3://b/k") == manifest
    assert parse(manifest.text(), "s3://b/k").text() == manifest.text()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'{"format": 2, "model": "a", "version": "b", "files": []}',
        b'{"format": 1, "model": "a", "version": "b", "files": []}',
        b'{"model": "a", "version": "b", "files": [{"path": "x", "size": 3, "partSize": 1, "parts": ["x"]}]}',
    ],
)
def test_a_text_that_is_no_manifest_is_refused(text: bytes) -> None:
    with pytest.raises(StagingError) as refused:
        parse(text, "s3://b/k")
    assert refused.value.problems[0].path == "s3://b/k"


def stack(*names: str, **weights: object) -> Settings:
    models = [{"name": name, "pool": "gpu", "model": "owner/x", "weightsGiB": 15} for name in names]
    return read(
        {
            "headroom:weights": {"backend": "s3", **weights},
            "headroom:gpuPools": [{"name": "gpu", "families": ["g5"], "gpuLimit": 10}],
            "headroom:gpuBudget": {"maxGpus": 10},
            "headroom:models": models,
        }
    )


def test_the_place_is_the_stacks_bucket_and_the_models_version() -> None:
    place = place_of(stack("chat"), "prod", None, None)
    assert (place.bucket, place.prefix) == ("headroom-prod-weights-us-east-1", "models/chat/v1/")
    assert place.key == "alias/headroom-prod-weights"


def test_a_bucket_of_another_name_keeps_its_own_encryption() -> None:
    place = place_of(stack("chat"), "prod", None, "elsewhere")
    assert (place.bucket, place.key) == ("elsewhere", None)


def test_without_kms_no_key_is_named() -> None:
    assert place_of(stack("chat", kms=False), "prod", None, None).key is None


def test_of_several_models_one_must_be_named() -> None:
    with pytest.raises(StagingError) as refused:
        place_of(stack("chat", "code"), "prod", None, None)
    assert refused.value.problems[0].allowed == "one of chat, code"
    assert place_of(stack("chat", "code"), "prod", "code", None).model.name == "code"


def test_a_model_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(StagingError) as refused:
        place_of(stack("chat"), "prod", "caht", None)
    assert (refused.value.problems[0].given, refused.value.problems[0].allowed) == ("caht", "one of chat")


def test_a_backend_without_a_bucket_is_refused() -> None:
    with pytest.raises(StagingError) as refused:
        place_of(stack("chat", backend="hub"), "prod", None, None)
    assert refused.value.problems[0].path == "headroom:weights.backend"
