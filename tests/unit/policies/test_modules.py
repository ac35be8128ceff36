"""The pack's folder is the working directory of its process under a standard CLI."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "policies"


def test_no_module_of_the_pack_hides_one_of_pythons() -> None:
    """`python -m pulumi.policy` puts the folder first: a resource.py there broke psutil, and with it the pack."""
    own = {path.stem for path in FOLDER.glob("*.py")} | {
        path.name for path in FOLDER.iterdir() if path.is_dir()
    }
    assert own & sys.stdlib_module_names == set()
