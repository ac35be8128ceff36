"""Puts a clean copy of the policy pack where the Pulumi Cloud provider can take it from."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from specs.policy_pack import sources, version_tag

STAGED = ".headroom/policy-pack"


def staged(project: Path) -> str:
    """The pack's own files below `project`, in a folder of their version; returns its path from there.

    The provider packs and fingerprints whole folders, byte code, virtual environments and file modes included
    (pulumi-pulumiservice policy_pack.go, hashPolicyPackSource). From policies/ itself each machine would see
    another pack, and republishing one version is refused.
    """
    folder = f"{STAGED}/{version_tag()}"
    if not (project / folder).is_dir():
        (project / STAGED).mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=project / STAGED, prefix=".writing-"))
        for name, content in sources().items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for path in [fresh, *fresh.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        _place(fresh, project / folder)
    return folder


def _place(fresh: Path, final: Path) -> None:
    """Rename, so that nobody sees half a copy; where another run was faster, its copy is the same."""
    try:
        fresh.rename(final)
    except OSError:
        shutil.rmtree(fresh)
        if not final.is_dir():
            raise
