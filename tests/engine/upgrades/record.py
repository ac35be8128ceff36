"""Records the state that a version of the program leaves: `python -m tests.engine.upgrades.record COMMIT STACK`.

The commit's whole tree is unpacked beside, and its own program and recorded cloud bring the stack up with the packages
installed here. Run it for a released version, then add what it replaces today to `expected.yaml`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ruamel.yaml import YAML

from lab.tools import ensure
from tests.engine.upgrades.stored import Stored, save
from tests.engine.upgrades.workspace import exported

PROJECT = Path(__file__).resolve().parents[3]


def record(commit: str, stack: str, special: Mapping[str, Any], label: str, work: Path) -> Path:
    """Bring `stack` up as of `commit`, with `special` laid over its configuration, and store its state under
    `label`; returns the file. Raises SystemExit with the reason."""
    cli = ensure(["pulumi"])["pulumi"]
    short = _git("rev-parse", "--short=7", f"{commit}^{{commit}}").decode().strip()
    tree, state = work / "tree", work / "state"
    tree.mkdir()
    subprocess.run(["tar", "-x", "-C", str(tree)], input=_git("archive", short), check=True)
    config = _configured(tree / f"Pulumi.{stack}.yaml", special)
    script = Path(__file__).with_name("bring_up.py")
    done = subprocess.run(
        [sys.executable, "-P", str(script), str(tree), str(state), str(cli), stack],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{stack} of {short} does not come up:\n{done.stderr or done.stdout}")
    deployment = exported(state, cli, stack)
    return save(Stored(commit=short, stack=stack, label=label, config=config, deployment=deployment))


def _configured(file: Path, special: Mapping[str, Any]) -> Mapping[str, Any]:
    if not file.is_file():
        raise SystemExit(f"there was no {file.name} at that commit")
    yaml = YAML(typ="safe", pure=True)
    config = cast(dict[str, Any], yaml.load(file.read_text(encoding="utf-8"))["config"]) | dict(special)
    with file.open("w", encoding="utf-8") as out:
        yaml.dump({"config": config}, out)
    return config


def _git(*arguments: str) -> bytes:
    done = subprocess.run(["git", "-C", str(PROJECT), *arguments], capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr.decode(errors="replace").strip())
    return done.stdout


def main() -> None:
    """Record one stack of one commit."""
    parser = argparse.ArgumentParser("python -m tests.engine.upgrades.record")
    parser.add_argument("commit", help="a released version of the program")
    parser.add_argument("stack", help="such as prod")
    parser.add_argument("--config", default="{}", help="JSON laid over the stack's configuration")
    parser.add_argument("--label", default="", help="a word for the file's name, with --config")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headroom-upgrades-") as work:
        made = record(given.commit, given.stack, json.loads(given.config), given.label, Path(work))
    print(made.relative_to(PROJECT))  # noqa: T201 - the command's answer


if __name__ == "__main__":
    main()
