"""The folder of weights on this machine."""

from __future__ import annotations

import errno
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from planner.staging.errors import StagingError, refused
from specs.problems import Problem, printable

MANIFEST: Final = "manifest.json"
INDEX: Final = "model.safetensors.index.json"
LARGEST: Final = 5 * 2**40
"""Bytes of the largest S3 object."""
LONGEST_KEY: Final = 1024
FOLDER: Final = "a folder of weights"
NAME_IT: Final = "name the folder that holds config.json"


@dataclass(frozen=True)
class SourceFile:
    """One file: `path` below the folder with `/`, and the state it was found in."""

    path: str
    place: Path
    size: int
    changed_ns: int

    def same(self) -> bool:
        """The file is still as it was found."""
        try:
            now = self.place.stat()
        except OSError:
            return False
        return (now.st_size, now.st_mtime_ns) == (self.size, self.changed_ns)


def scan(folder: Path, prefix: str) -> list[SourceFile]:
    """Every file of the folder, sorted by path; hidden files and folders are left out (.git, .cache). Links to files
    are followed, as the Hugging Face cache is made of them. Raises StagingError with every reason to refuse.
    """
    try:
        state = folder.stat()
    except OSError as error:
        given = "no such folder" if error.errno == errno.ENOENT else error.strerror or "unreadable"
        raise refused(printable(str(folder)), given, FOLDER, NAME_IT) from error
    if not stat.S_ISDIR(state.st_mode):
        given = "a file" if stat.S_ISREG(state.st_mode) else "no folder"
        raise refused(printable(str(folder)), given, FOLDER, NAME_IT)
    problems: list[Problem] = []
    found: list[SourceFile] = []

    def unread(error: OSError) -> None:
        given = error.strerror or "unreadable"
        problems.append(Problem(str(error.filename), given, "a readable folder", "mend its rights"))

    for top, folders, names in os.walk(folder, onerror=unread):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.startswith("."):
                continue
            entry = _file(folder, Path(top) / name, prefix)
            if isinstance(entry, Problem):
                problems.append(entry)
            else:
                found.append(entry)
    found.sort(key=lambda entry: entry.path)
    if found or not problems:
        problems += _whole(folder, found)
    if problems:
        raise StagingError(sorted(problems))
    return found


def _file(folder: Path, place: Path, prefix: str) -> SourceFile | Problem:
    shown = str(place).encode("utf-8", "replace").decode()
    try:
        path = place.relative_to(folder).as_posix()
        key = (prefix + path).encode("utf-8")
        state = place.stat()
        if not place.is_file():
            return Problem(shown, "no regular file", "files and links to files", "remove it")
        with place.open("rb"):
            pass
    except UnicodeEncodeError:
        return Problem(shown, "a name that is no UTF-8 text", "a key that S3 takes", "rename it")
    except OSError as error:
        return Problem(
            shown, error.strerror or "unreadable", "a readable file", "mend the link or its rights"
        )
    if len(key) > LONGEST_KEY:
        return Problem(shown, f"a key of {len(key)} bytes", f"at most {LONGEST_KEY}", "shorten the name")
    if state.st_size > LARGEST:
        return Problem(shown, f"{state.st_size} bytes", "at most 5 TiB an object", "split it into shards")
    if path == MANIFEST:
        return Problem(
            shown, "a manifest of its own", "a folder without one: it marks a complete version", "rename it"
        )
    return SourceFile(path, place, state.st_size, state.st_mtime_ns)


def _whole(folder: Path, files: list[SourceFile]) -> list[Problem]:
    """Nothing missing: some file, and every shard that the index names."""
    paths = {entry.path for entry in files}
    if not files:
        return [Problem(str(folder), "an empty folder", "weights", "download the model into it")]
    if INDEX not in paths:
        return []
    try:
        document: object = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return [Problem(str(folder / INDEX), "not JSON", "the index of the shards", "download it again")]
    shards = cast(dict[str, object], document).get("weight_map") if isinstance(document, dict) else None
    if not isinstance(shards, dict):
        return [Problem(str(folder / INDEX), "no weight_map", "the index of the shards", "download it again")]
    missing = sorted({str(name) for name in cast(dict[str, object], shards).values()} - paths)
    return [
        Problem(
            str(folder / name), "missing, while the index names it", "every shard", "download the model again"
        )
        for name in missing
    ]


def doubts(files: list[SourceFile], weights_gib: float) -> list[str]:
    """What is accepted and worth a look: no config.json or safetensors, or a size far from `weightsGiB`."""
    found: list[str] = []
    if "config.json" not in {entry.path for entry in files}:
        found.append("no config.json: vLLM can't tell what model this is")
    tensors = sum(entry.size for entry in files if entry.path.endswith(".safetensors"))
    if not tensors:
        found.append("no .safetensors file: the streamer reads nothing else")
    elif abs(tensors / 2**30 - weights_gib) > 0.2 * weights_gib:
        found.append(
            f"{tensors / 2**30:.2f} GiB of safetensors, while weightsGiB says {weights_gib:g}: the plan's seconds"
            " rest on it"
        )
    return found
