"""The policy pack as it is published: which files, under which version, and what Pulumi Cloud is told of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import cast

from ruamel.yaml import YAML

PACK = Path(__file__).resolve().parents[1] / "policies"
MANIFEST = "PulumiPolicy.yaml"
_KNOWN = Path(__file__).parent / "data" / "policies.json"


@cache
def sources(folder: Path = PACK) -> Mapping[str, bytes]:
    """The pack's own files by their path below `folder`: code, manifest and pins.

    Stack files (`prod.json`) are not among them: a group hands them over, so a cap changes without a new pack.
    """
    wanted = [*folder.rglob("*.py"), folder / MANIFEST, folder / "requirements.txt"]
    inside = {path.relative_to(folder).as_posix(): path for path in wanted if _own(path.relative_to(folder))}
    return {name: inside[name].read_bytes() for name in sorted(inside)}


def _own(path: Path) -> bool:
    return not any(part.startswith(".") or part in ("__pycache__", "venv") for part in path.parts)


def version_tag(folder: Path = PACK) -> str:
    """The manifest's version and a digest of the files: Pulumi Cloud never takes a second pack under one tag."""
    files = sources(folder)
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    manifest = cast(Mapping[str, object], YAML(typ="safe", pure=True).load(files[MANIFEST].decode()))
    # A letter before the digest: a semantic version's numeric part must not begin with zero.
    return f"{manifest['version']}-h{digest.hexdigest()[:12]}"


@cache
def known_policies() -> Sequence[Mapping[str, object]]:
    """Name, description, level, severity and configuration schema of each policy, in the pack's order.

    A test holds the data file to the pack; without these the provider would start the pack to ask it.
    """
    return cast(Sequence[Mapping[str, object]], json.loads(_KNOWN.read_text(encoding="utf-8")))


def stack_numbers(stack: str, folder: Path = PACK) -> Mapping[str, object] | None:
    """What `policies/<stack>.json` sets; None where there is no such file or it holds no JSON object."""
    try:
        found: object = json.loads((folder / f"{stack}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return cast(Mapping[str, object], found) if isinstance(found, dict) else None


def stacks_with_numbers(folder: Path = PACK) -> tuple[str, ...]:
    """The stacks that have such a file."""
    return tuple(sorted(path.stem for path in folder.glob("*.json")))
