"""Small Pulumi projects for the recorded cloud, written where a test wants them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from lab.cloud.outcome import Outcome
from lab.cloud.session import RecordedCloud

PROGRAMS = Path(__file__).parent / "programs"
SERVING = (PROGRAMS / "serving.py").read_text(encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class Project:
    """A project with a stack named dev, and a cloud of its own."""

    folder: Path
    cloud: RecordedCloud

    def configure(self, **settings: Any) -> None:
        """Replaces the stack's settings; keys are in the namespace `headroom`."""
        config = {"aws:region": "us-east-1", **{f"headroom:{key}": value for key, value in settings.items()}}
        write_stack(self.folder, "dev", config)

    def preview(self) -> Outcome:
        return self.cloud.preview("dev")

    def up(self) -> Outcome:
        """Brings the stack up; the test has nothing to say when that fails."""
        outcome = self.cloud.up("dev")
        assert outcome.ok, outcome.problems
        return outcome


def write(folder: Path, source: str) -> None:
    """A project with the given program and an empty stack dev."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Pulumi.yaml").write_text("name: headroom\nruntime: python\n", encoding="utf-8")
    (folder / "__main__.py").write_text(source, encoding="utf-8")
    write_stack(folder, "dev", {"aws:region": "us-east-1"})


def write_stack(folder: Path, stack: str, config: Mapping[str, Any]) -> None:
    """The settings of a stack."""
    with (folder / f"Pulumi.{stack}.yaml").open("w", encoding="utf-8") as file:
        YAML(typ="safe", pure=True).dump({"config": dict(config)}, file)


def steps(outcome: Outcome, *ops: str) -> list[str]:
    """`type name` of the steps of these kinds, without the package and module of the type."""
    return [f"{step.type.rpartition(':')[2]} {step.name}" for step in outcome.steps if step.op in ops]
