"""Weights into a bucket over real HTTP, with everything that goes wrong on the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import boto3
import jsonschema
import pytest
from typer.testing import CliRunner

from cli.app import app
from planner.staging import StagingError, push, verify
from planner.staging.digest import SMALLEST_PART
from specs.settings import Settings, read
from tests.engine.aws.server import Request, Rule, Server

PROJECT = Path(__file__).resolve().parents[3]
BUCKET = "headroom-test-weights-us-east-1"
PREFIX = "models/chat/v1/"
MEBI = 2**20
LARGE, SMALL = os.urandom(2 * SMALLEST_PART + 5 * MEBI), os.urandom(3 * MEBI)


def settings(**changes: object) -> Settings:
    weights = {"backend": "s3", "kms": False}
    model = {"name": "chat", "pool": "gpu", "model": "owner/chat", "weightsGiB": 0.05}
    model |= {"capacity": {"requestsPerSecond": 1, "promptTokens": 100, "outputTokens": 100}}
    model |= {key: value for key, value in changes.items() if key not in weights}
    weights |= {key: value for key, value in changes.items() if key in weights}
    return read(
        {
            "aws:region": "us-east-1",
            "headroom:weights": weights,
            "headroom:gpuPools": [{"name": "gpu", "families": ["g5"], "gpuLimit": 10}],
            "headroom:gpuBudget": {"maxGpus": 10},
            "headroom:models": [model],
        }
    )


@pytest.fixture
def s3(aws: Server) -> Any:
    client = cast(Any, boto3.client("s3", region_name="us-east-1"))
    client.create_bucket(Bucket=BUCKET)
    return client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small model: one file of three parts, one of one part, texts, and what must not be staged."""
    source = tmp_path / "model"
    source.mkdir()
    (source / "config.json").write_text('{"architectures": ["Llama"]}')
    (source / "model-00001-of-00002.safetensors").write_bytes(LARGE)
    (source / "model-00002-of-00002.safetensors").write_bytes(SMALL)
    (source / "empty.txt").write_bytes(b"")
    (source / "sub").mkdir()
    (source / "sub" / "tokenizer.model").write_bytes(b"tokens")
    (source / ".cache").mkdir()
    (source / ".cache" / "lock").write_text("x")
    return source


def keys(s3: Any) -> list[str]:
    return sorted(entry["Key"] for entry in s3.list_objects_v2(Bucket=BUCKET).get("Contents", []))


def body(s3: Any, key: str) -> bytes:
    return s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()


def test_every_file_lies_below_model_and_version_with_its_bytes(s3: Any, folder: Path) -> None:
    done = push(folder, settings(), "test")
    assert keys(s3) == [
        PREFIX + path
        for path in (
            "config.json",
            "empty.txt",
            "manifest.json",
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
            "sub/tokenizer.model",
        )
    ]
    for path in ("model-00001-of-00002.safetensors", "sub/tokenizer.model", "empty.txt"):
        assert body(s3, PREFIX + path) == (folder / path).read_bytes()
    assert (done.files, done.live, done.sent) == (5, True, done.size)


def test_the_manifest_is_the_last_thing_written(aws: Server, s3: Any, folder: Path) -> None:
    push(folder, settings(), "test")
    writes = [entry for entry in aws.seen if entry.startswith(("PUT", "POST"))]
    assert writes[-1].startswith(f"PUT /{BUCKET}/{PREFIX}manifest.json")


def test_a_version_is_complete_to_verify_only_with_its_manifest(aws: Server, s3: Any, folder: Path) -> None:
    push(folder, settings(), "test")
    assert verify(settings(), "test").ok
    s3.delete_object(Bucket=BUCKET, Key=PREFIX + "manifest.json")
    assert [finding.fault for finding in verify(settings(), "test").findings] == ["missing"]


def test_a_second_push_of_the_same_folder_sends_nothing(aws: Server, s3: Any, folder: Path) -> None:
    push(folder, settings(), "test")
    aws.seen.clear()
    again = push(folder, settings(), "test")
    assert (again.sent, again.live) == (0, True)
    assert not [entry for entry in aws.seen if entry.startswith(("PUT", "POST"))]


def test_a_live_version_is_not_overwritten_by_other_weights(s3: Any, folder: Path) -> None:
    push(folder, settings(), "test")
    before = body(s3, PREFIX + "config.json")
    (folder / "config.json").write_text('{"architectures": ["Mixtr"]}')
    with pytest.raises(StagingError) as refused:
        push(folder, settings(), "test")
    assert "weightsVersion" in refused.value.problems[0].fix
    assert body(s3, PREFIX + "config.json") == before


def test_other_weights_go_to_another_version(s3: Any, folder: Path) -> None:
    push(folder, settings(), "test")
    (folder / "config.json").write_text("{}")
    push(folder, settings(weightsVersion="v2"), "test")
    assert body(s3, "models/chat/v2/config.json") == b"{}"
    assert verify(settings(), "test").ok


def test_a_dry_run_writes_nothing(aws: Server, s3: Any, folder: Path) -> None:
    planned = push(folder, settings(), "test", dry_run=True)
    assert (planned.dry_run, planned.live, planned.sent) == (True, False, planned.size)
    assert keys(s3) == []


def test_a_dry_run_shows_no_bar_of_an_upload(
    aws: Server, s3: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(*_: object) -> None:
        raise AssertionError("a bar was made")

    monkeypatch.setattr("planner.staging.ProgressBar", shown)
    words = ["weights", "push", str(folder), "--stack", "dev", "--model", "llama3-8b", "--bucket", BUCKET]
    ran = CliRunner().invoke(app, [*words, "--dry-run"])
    assert ran.exit_code == 0
    assert "would be sent" in ran.stdout


def test_a_file_that_is_there_is_not_sent_again(aws: Server, s3: Any, folder: Path) -> None:
    """The manifest could not be written: everything else is kept for the next run."""
    aws.rules.append(
        _rule(lambda request: request.path.endswith("manifest.json"), 403, _error("AccessDenied"))
    )
    with pytest.raises(StagingError):
        push(folder, settings(), "test")
    aws.rules.clear()
    again = push(folder, settings(), "test")
    assert (again.sent, again.kept) == (0, again.size)
    assert verify(settings(), "test", deep=True).ok


PUSH = """
from pathlib import Path
from tests.engine.aws.test_push import settings
from planner.staging import push
push(Path({folder!r}), settings(), "test", threads=1)
"""


def test_a_push_killed_in_the_middle_is_taken_up_by_parts(aws: Server, s3: Any, folder: Path) -> None:
    """kill -9 while the third part is on its way."""
    big = "model-00001-of-00002.safetensors"
    aws.rules.append(_rule(lambda request: "partNumber=3" in request.query, 0, b"", delay=30.0))
    code = PUSH.format(folder=str(folder))
    killed = subprocess.Popen([sys.executable, "-c", code], cwd=PROJECT)
    while not any("partNumber=3" in entry for entry in aws.seen):
        assert killed.poll() is None
        time.sleep(0.05)
    killed.kill()
    killed.wait()
    aws.rules.clear()
    aws.seen.clear()
    sent: list[tuple[str, int, bool]] = []

    def note(path: str, count: int, new: bool) -> None:
        sent.append((path, count, new))

    again = push(folder, settings(), "test", progress=note)
    assert (big, SMALLEST_PART, False) in sent
    assert (big, 5 * MEBI, True) in sent
    assert again.kept >= 2 * SMALLEST_PART
    assert body(s3, PREFIX + big) == (folder / big).read_bytes()


def test_a_part_left_by_another_file_of_the_same_size_is_sent_anew(s3: Any, folder: Path) -> None:
    big = "model-00001-of-00002.safetensors"
    key = PREFIX + big
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key=key, ChecksumAlgorithm="SHA256")["UploadId"]
    for number in (1, 2):
        s3.upload_part(
            Bucket=BUCKET, Key=key, UploadId=upload, PartNumber=number, Body=os.urandom(SMALLEST_PART)
        )
    push(folder, settings(), "test")
    assert body(s3, key) == (folder / big).read_bytes()


def test_the_older_of_two_unfinished_uploads_is_dropped(s3: Any, folder: Path) -> None:
    key = PREFIX + "model-00001-of-00002.safetensors"
    for _ in range(2):
        s3.create_multipart_upload(Bucket=BUCKET, Key=key, ChecksumAlgorithm="SHA256")
    push(folder, settings(), "test")
    assert not s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads")


def test_errors_500_are_waited_out(aws: Server, s3: Any, folder: Path) -> None:
    aws.rules.append(_rule(lambda request: request.method == "PUT", 500, _error("InternalError"), times=3))
    assert push(folder, settings(), "test").live
    assert verify(settings(), "test", deep=True).ok


def test_cut_connections_are_made_again(aws: Server, s3: Any, folder: Path) -> None:
    aws.rules.append(_rule(lambda request: "partNumber" in request.query, 0, b"", cut=True, times=2))
    assert push(folder, settings(), "test").live
    assert verify(settings(), "test", deep=True).ok


def test_a_slow_answer_is_waited_for(aws: Server, s3: Any, folder: Path) -> None:
    aws.rules.append(_rule(lambda request: "partNumber=1" in request.query, 0, b"", delay=1.0))
    assert push(folder, settings(), "test").live


def test_without_permission_the_needed_action_is_named_and_no_manifest_written(
    aws: Server, s3: Any, folder: Path
) -> None:
    aws.rules.append(_rule(lambda request: request.method == "PUT", 403, _error("AccessDenied")))
    with pytest.raises(StagingError) as refused:
        push(folder, settings(), "test")
    assert "s3:PutObject" in refused.value.problems[0].fix
    assert PREFIX + "manifest.json" not in keys(s3)


def test_without_a_bucket_the_way_out_is_named(aws: Server, folder: Path) -> None:
    with pytest.raises(StagingError) as refused:
        push(folder, settings(), "test")
    assert (refused.value.problems[0].given, "pulumi up" in refused.value.problems[0].fix) == (
        "no such bucket",
        True,
    )


def test_without_credentials_nothing_but_words(
    aws: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(StagingError) as refused:
        push(folder, settings(), "test")
    assert refused.value.problems[0].given == "no credentials"


def test_a_file_that_changes_while_it_is_uploaded_makes_no_version(
    aws: Server, s3: Any, folder: Path
) -> None:
    big = folder / "model-00001-of-00002.safetensors"

    def change(path: str, count: int, sent: bool) -> None:
        if path == big.name and count == SMALLEST_PART:
            with big.open("r+b") as stream:
                stream.write(os.urandom(64))
            os.utime(big, ns=(1, time.time_ns()))

    with pytest.raises(StagingError) as refused:
        push(folder, settings(), "test", progress=change)
    assert refused.value.problems[0].given == "changed while it was uploaded"
    assert PREFIX + "manifest.json" not in keys(s3)
    assert not s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads")


def test_a_file_that_appears_meanwhile_makes_no_version(s3: Any, folder: Path) -> None:
    def add(path: str, count: int, sent: bool) -> None:
        (folder / "late.safetensors").write_bytes(b"late")

    with pytest.raises(StagingError) as refused:
        push(folder, settings(), "test", progress=add)
    assert "late.safetensors" in refused.value.problems[0].path
    assert PREFIX + "manifest.json" not in keys(s3)


def test_objects_of_another_push_below_the_prefix_are_refused(s3: Any, folder: Path) -> None:
    s3.put_object(Bucket=BUCKET, Key=PREFIX + "old.safetensors", Body=b"old")
    with pytest.raises(StagingError) as refused:
        push(folder, settings(), "test")
    assert refused.value.problems[0].path.endswith("old.safetensors")


def test_a_manifest_that_another_push_wrote_meanwhile_stands(aws: Server, s3: Any, folder: Path) -> None:
    def publish(path: str, count: int, sent: bool) -> None:
        s3.put_object(Bucket=BUCKET, Key=PREFIX + "manifest.json", Body=b"theirs")

    with pytest.raises(StagingError) as refused:
        push(folder, settings(), "test", progress=publish)
    assert "another push" in refused.value.problems[0].given
    assert body(s3, PREFIX + "manifest.json") == b"theirs"


def test_bytes_that_s3_finds_damaged_are_not_taken(aws: Server, s3: Any, folder: Path) -> None:
    aws.rules.append(_rule(lambda request: "partNumber=2" in request.query, 400, _error("BadDigest")))
    with pytest.raises(StagingError) as refused:
        push(folder, settings(), "test")
    assert "BadDigest" in refused.value.problems[0].given


def test_with_kms_every_object_is_encrypted_with_the_stacks_key(s3: Any, folder: Path) -> None:
    push(folder, settings(kms=True), "test")
    for path in ("config.json", "model-00001-of-00002.safetensors", "manifest.json"):
        head = s3.head_object(Bucket=BUCKET, Key=PREFIX + path)
        assert head["ServerSideEncryption"] == "aws:kms"
        assert head["SSEKMSKeyId"].endswith("alias/headroom-test-weights")


def test_links_to_files_are_followed_as_in_the_hub_cache(s3: Any, tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshot"
    blobs.mkdir()
    snapshot.mkdir()
    (blobs / "abc").write_bytes(b"tensor")
    (snapshot / "model.safetensors").symlink_to(blobs / "abc")
    push(snapshot, settings(), "test")
    assert body(s3, PREFIX + "model.safetensors") == b"tensor"


def _damage(s3: Any, path: str, change: Callable[[bytes], bytes]) -> None:
    key = PREFIX + path
    s3.put_object(Bucket=BUCKET, Key=key, Body=change(body(s3, key)))


def test_verify_finds_a_missing_object(s3: Any, folder: Path) -> None:
    push(folder, settings(), "test")
    s3.delete_object(Bucket=BUCKET, Key=PREFIX + "config.json")
    assert [(found.path, found.fault) for found in verify(settings(), "test").findings] == [
        ("config.json", "missing")
    ]


def test_verify_finds_a_truncated_object(s3: Any, folder: Path) -> None:
    push(folder, settings(), "test")
    _damage(s3, "model-00002-of-00002.safetensors", lambda data: data[:-1])
    assert [found.fault for found in verify(settings(), "test").findings] == ["truncated"]


def test_verify_finds_one_changed_byte(s3: Any, folder: Path) -> None:
    push(folder, settings(), "test")
    big = "model-00001-of-00002.safetensors"
    _damage(
        s3,
        big,
        lambda data: (
            data[: SMALLEST_PART + 9] + bytes([data[SMALLEST_PART + 9] ^ 1]) + data[SMALLEST_PART + 10 :]
        ),
    )
    findings = verify(settings(), "test").findings
    assert [(found.path, found.fault) for found in findings] == [(big, "changed")]
    assert f"from {SMALLEST_PART} on" in findings[0].detail


def test_verify_finds_an_added_object(s3: Any, folder: Path) -> None:
    push(folder, settings(), "test")
    s3.put_object(Bucket=BUCKET, Key=PREFIX + "more.safetensors", Body=b"x")
    assert [found.fault for found in verify(settings(), "test").findings] == ["added"]


def test_verify_accepts_the_same_bytes_written_by_another_tool(s3: Any, folder: Path) -> None:
    push(folder, settings(), "test")
    _damage(s3, "model-00001-of-00002.safetensors", lambda data: data)
    assert verify(settings(), "test").ok


def test_verify_finds_a_manifest_that_is_none(s3: Any, folder: Path) -> None:
    push(folder, settings(), "test")
    s3.put_object(Bucket=BUCKET, Key=PREFIX + "manifest.json", Body=b'{"files": 3}')
    findings = verify(settings(), "test").findings
    assert [(found.path, found.fault) for found in findings] == [("manifest.json", "changed")]


def test_documents_of_push_and_verify_fit_their_schema(s3: Any, folder: Path) -> None:
    schema = json.loads((PROJECT / "docs/json/weights.schema.json").read_text(encoding="utf-8"))
    for document in (push(folder, settings(), "test").as_json(), verify(settings(), "test").as_json()):
        jsonschema.validate(json.loads(json.dumps(document)), schema)


def _rule(matches: Callable[[Request], bool], status: int, content: bytes, **words: Any) -> Rule:
    return Rule(matches, status, content, "application/xml", **words)


def _error(code: str) -> bytes:
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>told to</Message></Error>".encode()
