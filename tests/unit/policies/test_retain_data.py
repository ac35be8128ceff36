"""retain-data: stores of data survive a destroy where a stack says so."""

import pytest

from tests.unit.policies.programs import UNKNOWN, Program, judged

BUCKET: Program = {"weights": ("aws:s3/bucket:Bucket", {"bucket": "weights"})}


def test_a_protected_bucket_passes() -> None:
    assert judged("retain-data", BUCKET, {"require": True}) == []


def test_an_unprotected_bucket_is_refused_where_required_and_by_default() -> None:
    for config in ({"require": True}, {}):
        ((name, message),) = judged("retain-data", BUCKET, config, protect=False)
        assert name == "weights" or "not protected" in message


def test_an_unprotected_bucket_passes_where_not_required() -> None:
    assert judged("retain-data", BUCKET, {"require": False}, protect=False) == []


@pytest.mark.parametrize("force", [True, UNKNOWN])
def test_a_bucket_that_a_destroy_empties_is_refused(force: object) -> None:
    program: Program = {"weights": ("aws:s3/bucket:Bucket", {"forceDestroy": force})}
    ((_, message),) = judged("retain-data", program, {"require": True})
    assert "forceDestroy" in message


@pytest.mark.parametrize("kind", ["aws:s3/bucketV2:BucketV2", "aws:efs/fileSystem:FileSystem"])
def test_other_stores_are_judged_too(kind: str) -> None:
    assert len(judged("retain-data", {"d": (kind, {})}, {"require": True}, protect=False)) == 1
