"""One file into the bucket: nothing twice, every part checked by S3, nothing of a file that changes meanwhile."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from planner.staging.digest import part_count, part_digest, part_size, same_digest
from planner.staging.errors import StagingError, refused
from planner.staging.manifest import Entry
from planner.staging.source import SourceFile
from planner.staging.store import PartStored, Store

OnBytes = Callable[[str, int, bool], None]
"""Called with path, bytes and whether they were sent (else found there); from several threads."""


class StoppedError(Exception):
    """Another part failed; this one was not begun."""


@dataclass(frozen=True)
class Uploaded:
    """A file's manifest entry and the bytes that were sent for it."""

    entry: Entry
    sent: int


class Uploader:
    """Uploads files with a shared pool of part workers; `stop` ends all of them early."""

    def __init__(self, store: Store, workers: ThreadPoolExecutor, on_bytes: OnBytes) -> None:
        self._store, self._workers, self._on_bytes = store, workers, on_bytes
        self._stop = threading.Event()

    def stop(self) -> None:
        """Begin no further part."""
        self._stop.set()

    def upload(self, file: SourceFile, key: str, unfinished: Sequence[str], there: bool) -> Uploaded:
        """Bring one file to `key`. `unfinished` are uploads of an earlier run, `there` that something lies at the key.

        Raises StagingError; what was sent stays for the next run, unless the file changed.
        """
        entry = self._present(file, key) if there else None
        if entry is not None:
            self._on_bytes(file.path, file.size, False)
            return Uploaded(entry, 0)
        if part_count(file.size) == 1:
            return self._single(file, key)
        return self._parts(file, key, unfinished)

    def _present(self, file: SourceFile, key: str) -> Entry | None:
        """The entry, when the object at the key is this very file."""
        stored = self._store.head(key)
        if stored is None or stored.size != file.size or stored.digest is None:
            return None
        entry = hashed(file, self._check)
        return entry if same_digest(stored.digest, entry.digest) else None

    def _single(self, file: SourceFile, key: str) -> Uploaded:
        self._check()
        data = read_part(file, 1)
        digest = part_digest(data)
        self._store.put(key, data, digest)
        self._unchanged(file)
        self._on_bytes(file.path, file.size, True)
        return Uploaded(_entry(file, [digest]), file.size)

    def _parts(self, file: SourceFile, key: str, unfinished: Sequence[str]) -> Uploaded:
        upload, found = self._begin(key, unfinished)
        pending = [
            self._workers.submit(self._part, file, key, upload, number, found.get(number))
            for number in range(1, part_count(file.size) + 1)
        ]
        parts = _results(pending, self.stop)
        try:
            self._unchanged(file)
        except StagingError:
            self._store.abandon(key, upload)  # parts of two states of a file are of no use
            raise
        self._store.finish(key, upload, [part for part, _ in parts])
        entry = _entry(file, [part.digest or "" for part, _ in parts])
        stored = self._store.head(key)
        if stored is None or stored.size != file.size or not same_digest(stored.digest, entry.digest):
            given = "nothing" if stored is None else f"{stored.size} bytes, SHA-256 {stored.digest}"
            raise refused(
                self._store.address(key), given, f"{file.size} bytes, SHA-256 {entry.digest}", "push again"
            )
        return Uploaded(entry, sum(sent for _, sent in parts))

    def _begin(self, key: str, unfinished: Sequence[str]) -> tuple[str, dict[int, PartStored]]:
        """The newest unfinished upload with its parts, the older ones dropped; or a new one."""
        for older in unfinished[1:]:
            self._store.abandon(key, older)
        if unfinished:
            return unfinished[0], self._store.parts(key, unfinished[0])
        return self._store.begin(key), {}

    def _part(
        self, file: SourceFile, key: str, upload: str, number: int, found: PartStored | None
    ) -> tuple[PartStored, int]:
        self._check()
        data = read_part(file, number)
        digest = part_digest(data)
        if found is not None and found.size == len(data) and _same(found, data, digest):
            self._on_bytes(file.path, len(data), False)
            return PartStored(number, found.size, digest, found.etag), 0
        stored = self._store.put_part(key, upload, number, data, digest)
        self._on_bytes(file.path, len(data), True)
        return stored, len(data)

    def _check(self) -> None:
        if self._stop.is_set():
            raise StoppedError

    def _unchanged(self, file: SourceFile) -> None:
        if not file.same():
            raise changed(file)


def hashed(file: SourceFile, check: Callable[[], None] = lambda: None) -> Entry:
    """The manifest entry of a file from its bytes. `check` may raise between two parts."""
    digests: list[str] = []
    for number in range(1, part_count(file.size) + 1):
        check()
        digests.append(part_digest(read_part(file, number)))
    if not file.same():
        raise changed(file)
    return _entry(file, digests)


def read_part(file: SourceFile, number: int) -> bytes:
    """Part `number` (from 1) of a file. Raises StagingError where the file has become shorter or is gone."""
    size = part_size(file.size)
    start = (number - 1) * size
    try:
        with file.place.open("rb") as stream:
            stream.seek(start)
            data = stream.read(size)
    except OSError as error:
        raise refused(
            str(file.place), error.strerror or "unreadable", "a readable file", "mend it and push again"
        ) from error
    if len(data) != min(size, file.size - start):
        raise changed(file)
    return data


def changed(file: SourceFile) -> StagingError:
    """The file is not what it was."""
    return refused(
        str(file.place),
        "changed while it was uploaded",
        "a folder at rest",
        "wait until the download has ended, then push again",
    )


def _entry(file: SourceFile, digests: Sequence[str]) -> Entry:
    return Entry(path=file.path, size=file.size, part_size=part_size(file.size), parts=tuple(digests))


def _same(found: PartStored, data: bytes, digest: str) -> bool:
    """The stored part has these bytes: by its checksum, or by its ETag where the store lists none."""
    if found.digest is not None:
        return found.digest == digest
    return found.etag.strip('"') == hashlib.md5(data, usedforsecurity=False).hexdigest()


def _results(
    pending: Sequence[Future[tuple[PartStored, int]]], stop: Callable[[], None]
) -> list[tuple[PartStored, int]]:
    """All results in order; the first failure stops the parts that have not begun, and is raised in the end."""
    failures: list[BaseException] = []
    results: list[tuple[PartStored, int]] = []
    for future in pending:
        try:
            results.append(future.result())
        except (StagingError, StoppedError) as error:
            stop()
            failures.append(error)
    told = [error for error in failures if isinstance(error, StagingError)]
    if failures:
        raise (told or failures)[0]
    return results
