"""Is a staged version what its manifest says: nothing missing, truncated, changed or added."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from planner.aws.cloud import SessionFactory
from planner.staging.digest import part_digest, same_digest
from planner.staging.errors import StagingError
from planner.staging.manifest import Entry, Manifest, parse
from planner.staging.place import Place, place_of
from planner.staging.source import MANIFEST
from planner.staging.store import Store
from specs.settings.stack import Settings

THREADS = 8
Fault = Literal["missing", "truncated", "changed", "added"]


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that is wrong below the prefix."""

    path: str
    fault: Fault
    detail: str

    def as_json(self) -> dict[str, str]:
        """Documented keys of `findings`."""
        return {"path": self.path, "fault": self.fault, "detail": self.detail}


@dataclass(frozen=True)
class Verified:
    """What was looked at and what was found; complete without findings."""

    bucket: str
    prefix: str
    files: int
    size: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """The version is complete and unchanged."""
        return not self.findings

    def as_json(self) -> dict[str, object]:
        """The document of `headroom weights verify --json`."""
        return {
            "bucket": self.bucket,
            "prefix": self.prefix,
            "files": self.files,
            "bytes": self.size,
            "complete": self.ok,
            "findings": [finding.as_json() for finding in self.findings],
        }


def verify(
    settings: Settings,
    stack: str,
    model: str | None = None,
    *,
    bucket: str | None = None,
    deep: bool = False,
    session: SessionFactory | None = None,
    threads: int = THREADS,
) -> Verified:
    """Compare the bucket with the manifest, by S3's own checksums; `deep` reads every byte. Raises StagingError where
    S3 does not answer.
    """
    place = place_of(settings, stack, model, bucket)
    store = Store(place.bucket, settings.region, None, session, threads)
    sizes = store.sizes(place.prefix)
    text = store.read(place.manifest) if place.manifest in sizes else None
    if text is None:
        held = f"{len(sizes)} objects without it" if sizes else "nothing below the prefix"
        finding = Finding(MANIFEST, "missing", f"the version is not complete: {held}")
        return Verified(place.bucket, place.prefix, 0, 0, (finding,))
    try:
        manifest = parse(text, store.address(place.manifest))
    except StagingError as error:
        finding = Finding(MANIFEST, "changed", error.problems[0].given)
        return Verified(place.bucket, place.prefix, 0, 0, (finding,))
    found = [*_identity(place, manifest), *_added(place, manifest, sizes)]
    with ThreadPoolExecutor(threads, "verify") as pool:
        pending = [pool.submit(_entry, store, place, entry, sizes, deep) for entry in manifest.files]
        found += [finding for future in pending if (finding := future.result()) is not None]
    return Verified(place.bucket, place.prefix, len(manifest.files), manifest.size, tuple(sorted(found)))


def _identity(place: Place, manifest: Manifest) -> list[Finding]:
    wanted = (place.model.name, place.model.weights_version)
    if (manifest.model, manifest.version) == wanted:
        return []
    detail = f"of {manifest.model} {manifest.version}, expected {' '.join(wanted)}"
    return [Finding(MANIFEST, "changed", detail)]


def _added(place: Place, manifest: Manifest, sizes: dict[str, int]) -> list[Finding]:
    known = {place.prefix + entry.path for entry in manifest.files} | {place.manifest}
    return [
        Finding(key.removeprefix(place.prefix), "added", f"{size} bytes that the manifest does not name")
        for key, size in sizes.items()
        if key not in known
    ]


def _entry(store: Store, place: Place, entry: Entry, sizes: dict[str, int], deep: bool) -> Finding | None:
    size = sizes.get(place.prefix + entry.path)
    if size is None:
        return Finding(entry.path, "missing", f"{entry.size} bytes expected")
    if size != entry.size:
        fault: Fault = "truncated" if size < entry.size else "changed"
        return Finding(entry.path, fault, f"{size} bytes instead of {entry.size}")
    if not deep:
        stored = store.head(place.prefix + entry.path)
        if stored is not None and same_digest(stored.digest, entry.digest):
            return None
    # Another tool may have stored the same bytes under another checksum: the bytes themselves decide.
    for number, digest in enumerate(entry.parts):
        start = number * entry.part_size
        length = min(entry.part_size, entry.size - start)
        data = store.read(place.prefix + entry.path, start, length) if length else b""
        if data is None:
            return Finding(entry.path, "missing", "gone while it was read")
        if part_digest(data) != digest:
            return Finding(
                entry.path, "changed", f"other bytes from {start} on, in the {length} bytes read there"
            )
    return None
