"""Runs a Python policy pack without a language host: as the executable form of a pack.

`pulumi preview --policy-pack` also takes an executable file, which it starts with the engine's address
(resource/plugin/analyzer_plugin.go). The file written here runs the same module the Python host runs.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

_SCRIPT = """#!{python}
import runpy, sys
sys.argv = [sys.argv[0], sys.argv[1], {main!r}]
runpy.run_module("pulumi.policy", run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True, kw_only=True)
class PolicyPack:
    """A pack's folder (with PulumiPolicy.yaml and __main__.py) and the JSON file with its levels and numbers.

    `python` is the interpreter that has pulumi-policy; this one unless told.
    """

    path: Path
    config: Path | None = None
    python: Path = Path(sys.executable)


class PolicyPackError(ValueError):
    """The folder holds no policy pack; the message says what is missing."""


def executable(pack: PolicyPack, into: Path) -> Path:
    """Writes the executable form of the pack into the folder and returns its path."""
    main = pack.path.resolve() / "__main__.py"
    manifest = pack.path.resolve() / "PulumiPolicy.yaml"
    for needed in (main, manifest):
        if not needed.is_file():
            raise PolicyPackError(
                f"policy pack: given {pack.path}; allowed a folder with {needed.name}; add it"
            )
    if pack.config is not None and not pack.config.is_file():
        raise PolicyPackError(
            f"policy pack config: given {pack.config}; allowed an existing JSON file; write it"
        )
    into.mkdir(parents=True, exist_ok=True)
    script = into / "policy-pack"
    script.write_text(_SCRIPT.format(python=pack.python, main=str(main)), encoding="utf-8")
    script.chmod(0o755)
    (into / manifest.name).write_text(manifest.read_text(encoding="utf-8"), encoding="utf-8")
    return script
