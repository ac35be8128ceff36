"""Runs programs and the pack through the real Pulumi engine: no account, no cloud, no language host."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pulumi
from pulumi import automation

from tests.engine.policies.recorder import Recorder
from tests.unit.policies.programs import Program, Props, urn

PACK = Path(__file__).parents[3] / "policies" / "__main__.py"
UNKNOWN = "(an output of another resource, not known in preview)"


class Hidden(str):
    """In a program's inputs: a secret."""


@dataclass(frozen=True)
class Outcome:
    """How an engine operation ended and all it printed."""

    code: int
    text: str


@dataclass(frozen=True)
class Engine:
    """One empty stack on a file backend, with the recorder attached for every package a program names."""

    folder: Path
    port: int
    recorder: Recorder
    pulumi: Path

    def preview(self, program: Program, config: Props | str, protect: bool = True) -> Outcome:
        """`pulumi preview` with the pack."""
        return self._run("preview", program, config, protect)

    def up(self, program: Program, config: Props | str, protect: bool = True) -> Outcome:
        """`pulumi up --skip-preview` with the pack."""
        return self._run("up", program, config, protect)

    def analyze(self, program: Program, config: Props | str, protect: bool = True) -> Outcome:
        """`pulumi policy analyze --file` over the state that the program would leave."""
        state = self.folder / "state.json"
        state.write_text(json.dumps(_state(program, protect)), encoding="utf-8")
        arguments = ["policy", "analyze", "--file", str(state), "--policy-pack", str(PACK)]
        ran = subprocess.run(
            [
                str(self.pulumi),
                *arguments,
                "--policy-pack-config",
                str(self._config(config)),
                "--color=never",
            ],
            env={**_settings(self.folder), "PATH": os.environ["PATH"], "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return Outcome(ran.returncode, ran.stdout + ran.stderr)

    def _run(self, operation: str, program: Program, config: Props | str, protect: bool) -> Outcome:
        packages = {kind.split(":")[0] for kind, _ in program.values()}
        attached = ",".join(f"{package}:{self.port}" for package in sorted(packages | {"aws"}))
        settings = {**_settings(self.folder), "PULUMI_DEBUG_PROVIDERS": attached}
        work = self.folder / "work"  # else a folder in /tmp that nobody removes
        work.mkdir(exist_ok=True)
        options = automation.LocalWorkspaceOptions(
            work_dir=str(work), env_vars=settings, pulumi_home=str(self.folder / "home")
        )
        stack = automation.create_or_select_stack(
            "dev", "headroom", lambda: declare(program, protect), opts=options
        )
        pack, chosen = [str(PACK)], [str(self._config(config))]
        try:
            if operation == "preview":
                return Outcome(0, stack.preview(policy_packs=pack, policy_pack_configs=chosen).stdout)
            return Outcome(0, stack.up(policy_packs=pack, policy_pack_configs=chosen).stdout)
        except automation.CommandError as error:
            return Outcome(1, str(error))

    def _config(self, config: Props | str) -> Path:
        path = self.folder / "config.json"
        path.write_text(config if isinstance(config, str) else json.dumps(config), encoding="utf-8")
        return path


def _settings(folder: Path) -> dict[str, str]:
    return {
        "PULUMI_BACKEND_URL": folder.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": "test",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PYTHONUNBUFFERED": "",
    }


def declare(program: Program, protect: bool) -> None:
    """Register a program's resources; its buckets are protected when told so."""
    source = pulumi.CustomResource("aws:ec2/vpc:Vpc", "source", {"arn": None})
    for name, (kind, props) in program.items():
        options = pulumi.ResourceOptions(protect=protect if kind.startswith("aws:s3/") else None)
        pulumi.CustomResource(kind, name, _filled(props, source), options)


def _filled(value: Any, source: Any) -> Any:
    if value is UNKNOWN:
        return source.arn
    if isinstance(value, Hidden):
        return pulumi.Output.secret(str(value))
    if isinstance(value, dict):
        return {key: _filled(inner, source) for key, inner in cast("Props", value).items()}
    if isinstance(value, list):
        return [_filled(inner, source) for inner in cast("list[Any]", value)]
    return value


def _state(program: Program, protect: bool) -> dict[str, Any]:
    """A deployment as `pulumi stack export` writes it, with the server's defaults among the outputs."""
    root = urn("headroom-dev", "pulumi:pulumi:Stack")
    resources: list[dict[str, Any]] = [{"urn": root, "custom": False, "type": "pulumi:pulumi:Stack"}]
    for name, (kind, props) in program.items():
        outputs = json.loads(json.dumps(props))
        if kind.endswith(":Deployment"):
            outputs["spec"].setdefault("replicas", 3)
        outputs["status"] = {"observed": True}
        entry = {"urn": urn(name, kind), "custom": True, "type": kind, "id": name, "parent": root}
        resources.append(entry | {"inputs": props, "outputs": outputs, "protect": protect})
    return {
        "version": 3,
        "deployment": {"manifest": {"time": "2026-11-30T00:00:00Z"}, "resources": resources},
    }
