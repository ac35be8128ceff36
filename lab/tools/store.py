"""Where built tools lie: one folder per tool and key, a lock per tool, logs, and measured durations."""

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from lab.tools.catalogue import Tool

MODULES = Path(__file__).parent / "modules"
"""One folder for each go.mod."""

_KEPT_BUILDS = 3


def root() -> Path:
    """The folder of all built tools: ``$HEADROOM_CACHE/tools``, or ``~/.cache/headroom/tools``."""
    chosen = os.environ.get("HEADROOM_CACHE")
    return (Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "headroom") / "tools"


def module_of(tool: Tool) -> Path:
    """The folder with the tool's go.mod, go.sum and, where it has one, its own main."""
    return MODULES / tool.module


def inputs_digest(tool: Tool) -> str:
    """A digest of all that decides the result apart from the Go version: pins, own source, flags, files."""
    digest = hashlib.sha256()
    module = module_of(tool)
    for path in sorted(path for path in module.rglob("*") if path.is_file() and _counts(tool, path)):
        digest.update(str(path.relative_to(module)).encode() + b"\0" + path.read_bytes() + b"\0")
    facts: dict[str, object] = {
        "name": tool.name,
        "package": tool.package,
        "stamp": dict(tool.stamp),
        "tags": tool.tags,
        "embeds": [asdict(files) for files in tool.embeds],
        "files": [asdict(files) for files in tool.files],
    }
    if tool.amendments:
        facts["renames"] = tool.renames
        facts["amendments"] = [asdict(amendment) for amendment in tool.amendments]
    digest.update(json.dumps(facts, sort_keys=True).encode())
    return digest.hexdigest()


def _counts(tool: Tool, path: Path) -> bool:
    """Own Go source decides only the result of the tool that is compiled beside it."""
    return bool(tool.embeds) or path.suffix != ".go"


def key(tool: Tool, settings: Mapping[str, str]) -> str:
    """The key of a build: the inputs and Go's version, system and architecture."""
    parts = [inputs_digest(tool), settings["GOVERSION"], settings["GOOS"], settings["GOARCH"]]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def installed(tool: Tool, build_key: str | None) -> Path | None:
    """The folder of a finished build. Without a key (no Go here), the newest with the same inputs."""
    if build_key is not None:
        folder = root() / f"{tool.name}-{build_key}"
        return folder if (folder / "build.json").is_file() else None
    digest = inputs_digest(tool)
    fitting = [
        manifest.parent
        for manifest in sorted(
            root().glob(f"{tool.name}-*/build.json"), key=lambda path: path.stat().st_mtime
        )
        if _manifest(manifest).get("inputs") == digest
    ]
    return fitting[-1] if fitting else None


@contextmanager
def staging(tool: Tool, build_key: str) -> Generator[Path]:
    """A folder to fill; renamed to its final place when the block ends well, removed when it does not.

    The caller holds the tool's lock, so leftovers of a killed builder can be removed.
    """
    partial = root() / ".partial" / tool.name
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        final = root() / f"{tool.name}-{build_key}"
        shutil.rmtree(final, ignore_errors=True)
        partial.rename(final)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def prune(tool: Tool) -> None:
    """Removes builds of a tool beyond the newest three: those of pins that nobody has used for long."""
    own = [
        path for path in root().glob(f"{tool.name}-*/build.json") if _manifest(path).get("tool") == tool.name
    ]
    for manifest in sorted(own, key=lambda path: path.stat().st_mtime)[:-_KEPT_BUILDS]:
        shutil.rmtree(manifest.parent, ignore_errors=True)


def _manifest(path: Path) -> dict[str, str]:
    return json.loads(path.read_text())


@contextmanager
def lock(tool: Tool, waiting: Callable[[str], None]) -> Generator[None]:
    """Holds the tool's lock; calls ``waiting`` with the holder's pid now and then while another has it.

    The kernel frees the lock of a killed builder, so it can't go stale.
    """
    path = root() / ".locks" / tool.name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                file.seek(0)
                waiting(file.read().strip() or "unknown")
                time.sleep(0.5)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def log_path(tool: Tool) -> Path:
    """The log of the tool's latest build."""
    path = root() / "logs" / f"{tool.name}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def estimate(tool: Tool) -> float:
    """Seconds that a build should take: the longest measured here, else the catalogue's figure."""
    try:
        return float((root() / "durations" / tool.name).read_text())
    except (OSError, ValueError):
        return float(tool.seconds)


def remember_duration(tool: Tool, seconds: float) -> None:
    """Keeps the longest duration measured here, for the next estimate.

    A build that took under a twentieth of the catalogue's figure only linked what Go's cache held: it says
    nothing of a cold one and is not kept.
    """
    path = root() / "durations" / tool.name
    path.parent.mkdir(parents=True, exist_ok=True)
    if seconds > tool.seconds / 20 and (not path.exists() or estimate(tool) < seconds):
        path.write_text(f"{seconds:.1f}")
