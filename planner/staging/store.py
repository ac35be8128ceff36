"""The bucket, as far as staging needs it. Every call is answered or raises StagingError."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, cast

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from planner.aws.cloud import MISUNDERSTOOD, SessionFactory
from planner.aws.unanswered import code_of, unanswered
from planner.staging.errors import failed, refused

CONNECT_SECONDS, READ_SECONDS, ATTEMPTS = 10, 60, 8
ABSENT: Final = frozenset({"404", "NoSuchKey", "NotFound"})
TAKEN: Final = frozenset({"PreconditionFailed", "412", "ConditionalRequestConflict", "409"})


@dataclass(frozen=True)
class Stored:
    """An object as S3 describes it; `digest` is its SHA-256 checksum where it was uploaded with one."""

    size: int
    digest: str | None
    encryption: str | None


@dataclass(frozen=True)
class PartStored:
    """A part of an unfinished upload."""

    number: int
    size: int
    digest: str | None
    etag: str


class Store:
    """One bucket. `key` encrypts with KMS; None leaves it to the bucket."""

    def __init__(
        self,
        bucket: str,
        region: str,
        key: str | None = None,
        session: SessionFactory | None = None,
        threads: int = 8,
        attempts: int = ATTEMPTS,
    ) -> None:
        self.bucket = bucket
        self._encryption: dict[str, object] = (
            {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": key, "BucketKeyEnabled": True} if key else {}
        )
        config = Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": attempts},
            max_pool_connections=threads + 2,
            user_agent_extra="headroom",
            # Checksums are ours, by part; no second pass over the bytes for another algorithm.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        try:
            self._client: Any = (session or boto3.Session)().client("s3", region_name=region, config=config)
        except (BotoCoreError, ValueError) as error:
            raise failed(f"s3://{bucket}", unanswered(error, "s3:PutObject")) from error

    def address(self, key: str) -> str:
        """s3:// address of a key."""
        return f"s3://{self.bucket}/{key}"

    def head(self, key: str) -> Stored | None:
        """What lies at a key; None for nothing."""
        with self._told("s3:GetObject", key, ABSENT):
            answer = self._client.head_object(Bucket=self.bucket, Key=key, ChecksumMode="ENABLED")
            size, digest = int(answer["ContentLength"]), answer.get("ChecksumSHA256")
            return Stored(size, digest, answer.get("ServerSideEncryption"))
        return None

    def sizes(self, prefix: str) -> dict[str, int]:
        """Bytes of every object below a prefix by its key."""
        with self._told("s3:ListBucket", prefix):
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
            return {
                str(entry["Key"]): int(entry["Size"]) for page in pages for entry in page.get("Contents", ())
            }
        raise AssertionError

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes | None:
        """The bytes of an object, or of a range of it; None where it is not there."""
        words = {} if length is None else {"Range": f"bytes={start}-{start + length - 1}"}
        with self._told("s3:GetObject", key, ABSENT):
            answer = self._client.get_object(Bucket=self.bucket, Key=key, **words)
            with answer["Body"] as body:
                return cast(bytes, body.read())
        return None

    def put(self, key: str, data: bytes, digest: str, once: bool = False) -> bool:
        """Write a whole object; with `once` only where nothing lies yet, else False."""
        words: dict[str, object] = {"IfNoneMatch": "*"} if once else {}
        with self._told("s3:PutObject", key, TAKEN if once else frozenset()):
            answer = self._client.put_object(
                Bucket=self.bucket,
                Key=key,
                Body=data,
                ChecksumAlgorithm="SHA256",
                ChecksumSHA256=digest,
                **words,
                **self._encryption,
            )
            self._encrypted(key, answer)
            return True
        return False

    def begin(self, key: str) -> str:
        """Start a multipart upload; its id."""
        with self._told("s3:PutObject", key):
            answer = self._client.create_multipart_upload(
                Bucket=self.bucket, Key=key, ChecksumAlgorithm="SHA256", **self._encryption
            )
            self._encrypted(key, answer)
            return str(answer["UploadId"])
        raise AssertionError

    def unfinished(self, prefix: str) -> dict[str, list[str]]:
        """Ids of the unfinished uploads below a prefix by key, the newest first."""
        found: dict[str, list[tuple[str, str]]] = {}
        with self._told("s3:ListBucketMultipartUploads", prefix):
            pages = self._client.get_paginator("list_multipart_uploads")
            for page in pages.paginate(Bucket=self.bucket, Prefix=prefix):
                for entry in page.get("Uploads", ()):
                    since = str(entry.get("Initiated", ""))
                    found.setdefault(str(entry["Key"]), []).append((since, str(entry["UploadId"])))
        return {
            key: [upload for _, upload in sorted(ids, reverse=True)]
            for key, ids in found.items()
            if key.startswith(prefix)
        }

    def parts(self, key: str, upload: str) -> dict[int, PartStored]:
        """The parts an unfinished upload holds already, by number; empty when it is gone."""
        found: dict[int, PartStored] = {}
        with self._told("s3:ListMultipartUploadParts", key, frozenset({"NoSuchUpload"})):
            pages = self._client.get_paginator("list_parts")
            for page in pages.paginate(Bucket=self.bucket, Key=key, UploadId=upload):
                for entry in page.get("Parts", ()):
                    number, size = int(entry["PartNumber"]), int(entry["Size"])
                    found[number] = PartStored(number, size, entry.get("ChecksumSHA256"), str(entry["ETag"]))
        return found

    def put_part(self, key: str, upload: str, number: int, data: bytes, digest: str) -> PartStored:
        """Upload one part; S3 refuses it when its bytes don't have the digest."""
        with self._told("s3:PutObject", key):
            answer = self._client.upload_part(
                Bucket=self.bucket,
                Key=key,
                UploadId=upload,
                PartNumber=number,
                Body=data,
                ChecksumSHA256=digest,
            )
            return PartStored(number, len(data), digest, str(answer["ETag"]))
        raise AssertionError

    def finish(self, key: str, upload: str, parts: Sequence[PartStored]) -> None:
        """Make the parts one object."""
        listed = [
            {"PartNumber": part.number, "ETag": part.etag, "ChecksumSHA256": part.digest} for part in parts
        ]
        with self._told("s3:PutObject", key):
            self._client.complete_multipart_upload(
                Bucket=self.bucket, Key=key, UploadId=upload, MultipartUpload={"Parts": listed}
            )

    def abandon(self, key: str, upload: str) -> None:
        """Drop an unfinished upload and its parts."""
        with self._told("s3:AbortMultipartUpload", key, frozenset({"NoSuchUpload", "404"})):
            self._client.abort_multipart_upload(Bucket=self.bucket, Key=key, UploadId=upload)

    def _encrypted(self, key: str, answer: Mapping[str, Any]) -> None:
        if self._encryption and answer.get("ServerSideEncryption") != "aws:kms":
            raise refused(
                self.address(key),
                f"stored with encryption {answer.get('ServerSideEncryption') or 'none'}",
                "aws:kms, as headroom:weights.kms asks",
                "use a store that encrypts, or set headroom:weights.kms to false",
            )

    @contextmanager
    def _told(self, action: str, key: str, absent: frozenset[str] = frozenset()) -> Generator[None]:
        """Turn what botocore raises into StagingError; error codes in `absent` end the block without one."""
        try:
            yield
        except ClientError as error:
            code = code_of(error)
            if code == "NoSuchBucket":
                raise refused(
                    f"s3://{self.bucket}",
                    "no such bucket",
                    "the stack's weights bucket",
                    "create it with `pulumi up`, or name another with --bucket",
                ) from error
            if code not in absent:
                raise failed(self.address(key), unanswered(error, action)) from error
        except (*MISUNDERSTOOD, BotoCoreError, OSError) as error:
            raise failed(self.address(key), unanswered(error, action)) from error
