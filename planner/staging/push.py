"""Weights into the bucket: resumable, checked, and complete only when the manifest is there."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from planner.aws.cloud import SessionFactory
from planner.staging.digest import part_digest
from planner.staging.errors import StagingError, refused
from planner.staging.manifest import Entry, Manifest, parse
from planner.staging.place import Place, place_of
from planner.staging.source import MANIFEST, SourceFile, doubts, scan
from planner.staging.store import Store
from planner.staging.upload import OnBytes, StoppedError, Uploaded, Uploader, changed, hashed
from specs.problems import Problem
from specs.settings.model import Model
from specs.settings.stack import Settings

THREADS = 8
FILES_AT_ONCE = 4


@dataclass(frozen=True)
class Pushed:
    """What a push did, or would do. `live` counts from the moment the manifest is there."""

    bucket: str
    prefix: str
    files: int
    size: int
    sent: int
    """Bytes sent by this run."""
    kept: int
    """Bytes found in the bucket."""
    live: bool
    dry_run: bool
    doubts: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """The document of `headroom weights push --json`."""
        return {
            "bucket": self.bucket,
            "prefix": self.prefix,
            "files": self.files,
            "bytes": self.size,
            "sentBytes": self.sent,
            "keptBytes": self.kept,
            "live": self.live,
            "dryRun": self.dry_run,
            "doubts": list(self.doubts),
        }


def _nothing(path: str, count: int, sent: bool) -> None:
    del path, count, sent


def push(
    source: Path,
    settings: Settings,
    stack: str,
    model: str | None = None,
    *,
    bucket: str | None = None,
    dry_run: bool = False,
    progress: OnBytes = _nothing,
    session: SessionFactory | None = None,
    threads: int = THREADS,
) -> Pushed:
    """Stage the folder `source` as the weights of a model (default: the only one) into `bucket` (default: the stack's).

    A run that was killed is taken up where it ended; a complete version is never touched. Raises StagingError.
    """
    place = place_of(settings, stack, model, bucket)
    files = scan(source, place.prefix)
    store = Store(place.bucket, settings.region, place.key, session, threads)
    state = _state(store, place, files)
    notes = tuple(doubts(files, place.model.weights_gi_b))
    size = sum(file.size for file in files)
    if state.manifest is not None:
        _refuse_other(place, state.manifest, files)
        return Pushed(place.bucket, place.prefix, len(files), size, 0, size, True, dry_run, notes)
    if dry_run:
        kept = sum(file.size for file in files if state.sizes.get(place.prefix + file.path) == file.size)
        return Pushed(place.bucket, place.prefix, len(files), size, size - kept, kept, False, True, notes)
    done = _upload(store, place, files, state, progress, threads)
    _at_rest(source, place, files)
    _publish(store, place, [uploaded.entry for uploaded in done])
    sent = sum(uploaded.sent for uploaded in done)
    return Pushed(place.bucket, place.prefix, len(files), size, sent, size - sent, True, False, notes)


@dataclass(frozen=True)
class _State:
    """What the bucket holds below the prefix."""

    manifest: Manifest | None
    sizes: dict[str, int]
    unfinished: dict[str, list[str]]


def _state(store: Store, place: Place, files: Sequence[SourceFile]) -> _State:
    sizes = store.sizes(place.prefix)
    manifest = None
    if place.manifest in sizes:
        text = store.read(place.manifest)
        manifest = parse(text, store.address(place.manifest)) if text is not None else None
    wanted = {place.prefix + file.path for file in files}
    strays = sorted(key for key in sizes if key not in wanted and key != place.manifest)
    if strays and manifest is None:
        raise StagingError(
            Problem(
                store.address(key),
                "an object of another push",
                "a prefix with this folder's files alone: the streamer reads all of it",
                "delete it, or choose another weightsVersion",
            )
            for key in strays[:20]
        )
    return _State(manifest, sizes, store.unfinished(place.prefix) if manifest is None else {})


def _refuse_other(place: Place, manifest: Manifest, files: Sequence[SourceFile]) -> None:
    """A live version may be pushed again only as what it is."""
    live = {entry.path: entry for entry in manifest.files}
    other = sorted(live.keys() ^ {file.path for file in files}) or [
        file.path
        for file in files
        if live[file.path].size != file.size or live[file.path].digest != _digest(file, live[file.path])
    ]
    if other:
        raise refused(
            f"s3://{place.bucket}/{place.prefix}",
            f"a live version that differs in {', '.join(other[:5])}{' and more' if len(other) > 5 else ''}",
            "a version that does not exist yet: engines may be reading this one",
            f"set models[].weightsVersion to another than {place.model.weights_version}",
        )


def _digest(file: SourceFile, live: Entry) -> str:
    return hashed(file).digest if file.size == live.size else ""


def _upload(
    store: Store,
    place: Place,
    files: Sequence[SourceFile],
    state: _State,
    progress: OnBytes,
    threads: int,
) -> list[Uploaded]:
    """All files, large ones first so that no long one is left over at the end."""
    with ThreadPoolExecutor(threads, "part") as parts, ThreadPoolExecutor(FILES_AT_ONCE, "file") as whole:
        uploader = Uploader(store, parts, progress)

        def one(file: SourceFile) -> Uploaded:
            key = place.prefix + file.path
            return uploader.upload(file, key, state.unfinished.get(key, ()), key in state.sizes)

        ordered = sorted(files, key=lambda file: (-file.size, file.path))
        pending = [whole.submit(one, file) for file in ordered]
        try:
            return _collected(pending, uploader)
        except BaseException:
            uploader.stop()
            for future in pending:
                future.cancel()
            raise


def _collected(pending: Sequence[Future[Uploaded]], uploader: Uploader) -> list[Uploaded]:
    """Every result; all failures together once the rest has stopped."""
    done: list[Uploaded] = []
    problems: list[Problem] = []
    for future in pending:
        try:
            done.append(future.result())
        except StagingError as error:
            uploader.stop()
            problems += error.problems
        except StoppedError:
            continue
    if problems:
        raise StagingError(sorted(set(problems)))
    return sorted(done, key=lambda uploaded: uploaded.entry.path)


def _at_rest(source: Path, place: Place, files: Sequence[SourceFile]) -> None:
    """Nothing came, went or changed since the folder was read."""
    for file in files:
        if not file.same():
            raise changed(file)
    now = {file.path for file in scan(source, place.prefix)}
    moved = sorted(now ^ {file.path for file in files})
    if moved:
        raise refused(
            str(source / moved[0]),
            "came or went while the folder was uploaded",
            "a folder at rest",
            "wait until the download has ended, then push again",
        )


def _publish(store: Store, place: Place, entries: Sequence[Entry]) -> None:
    """Write the manifest, once: from here on the version is complete and live."""
    manifest = Manifest(model=place.model.name, version=place.model.weights_version, files=tuple(entries))
    text = manifest.text()
    if not store.put(place.manifest, text, part_digest(text), once=True):
        raise refused(
            store.address(place.manifest),
            "a manifest that another push wrote meanwhile",
            "one push of a version at a time",
            "see what it holds with `headroom weights verify`, or choose another weightsVersion",
        )


__all__ = ["MANIFEST", "Model", "Pushed", "push"]
