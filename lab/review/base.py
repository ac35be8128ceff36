"""The tree a change is compared with: a folder, or a commit of the project's own repository."""

from __future__ import annotations

import contextlib
import io
import subprocess
import tarfile
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from specs.problems import Problem, SettingsError, printable


@dataclass(frozen=True)
class Base:
    """The folder of the base's files, and how a reader may find it again."""

    folder: Path
    label: str


@contextlib.contextmanager
def tree(project: Path, base: str) -> Generator[Base]:
    """The base's files. A commit is unpacked into a temporary folder that goes again.

    Raises SettingsError where `base` is neither a folder with Pulumi.yaml nor a commit that has one.
    """
    folder = Path(base)
    if base and folder.is_dir():
        if not (folder / "Pulumi.yaml").is_file():
            raise _refused(base, "a folder without Pulumi.yaml")
        yield Base(folder.resolve(), base)
        return
    with tempfile.TemporaryDirectory(prefix="headroom-base-") as unpacked:
        commit = _unpack(project, base, Path(unpacked))
        yield Base(Path(unpacked).resolve(), base if commit.startswith(base) else f"{base} ({commit[:12]})")


def _unpack(project: Path, base: str, into: Path) -> str:
    """The commit's full name."""
    # Ends of options and of paths: a commit's name can be neither.
    found = _git(project, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    if found is None:
        raise _refused(base, "neither a folder nor a commit of this repository")
    commit = found.decode().strip()
    archive = _git(project, "archive", "--format=tar", commit, "--", ".")
    if archive is None:
        raise _refused(base, "a commit without this project")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(into, filter="data")
    if not (into / "Pulumi.yaml").is_file():
        raise _refused(base, "a commit without Pulumi.yaml")
    return commit


def _git(project: Path, *words: str) -> bytes | None:
    try:
        ran = subprocess.run(["git", "-C", str(project), *words], capture_output=True, check=False)
    except OSError:
        return None
    return ran.stdout if ran.returncode == 0 else None


def _refused(base: str, given: str) -> SettingsError:
    return SettingsError(
        [
            Problem(
                "--base",
                f"{printable(base) or 'nothing'}, {given}",
                "a checkout of the project, or a commit such as origin/main or HEAD^1",
                "name one; in a shallow clone fetch it first",
            )
        ]
    )
