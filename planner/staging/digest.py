"""Checksums by part, as S3 computes them: SHA-256 of each part, and of all parts' digests for the whole."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from typing import Final

MEBI: Final = 2**20
SMALLEST_PART: Final = 16 * MEBI
MOST_PARTS: Final = 9000
"""S3 takes 10,000 parts."""


def part_size(size: int) -> int:
    """Bytes of each part but the last; the same for equal sizes, so that a later run finds the same parts."""
    wanted = -(-size // MOST_PARTS)
    return max(SMALLEST_PART, -(-wanted // MEBI) * MEBI)


def part_count(size: int) -> int:
    """Parts of a file; an empty file is one empty part."""
    return max(1, -(-size // part_size(size)))


def part_digest(data: bytes) -> str:
    """SHA-256 of a part in base64, as S3's ChecksumSHA256."""
    return base64.b64encode(hashlib.sha256(data).digest()).decode()


def whole_digest(parts: Iterable[str]) -> str:
    """S3's checksum of the object: that of the only part, or the digest of all digests with their number behind it."""
    digests = list(parts)
    if len(digests) == 1:
        return digests[0]
    joined = hashlib.sha256(b"".join(base64.b64decode(digest) for digest in digests)).digest()
    return f"{base64.b64encode(joined).decode()}-{len(digests)}"


def same_digest(stored: str | None, wanted: str) -> bool:
    """S3 has this content. Some stores leave the number of parts out; `-` is no sign of base64."""
    return stored is not None and stored.partition("-")[0] == wanted.partition("-")[0]
