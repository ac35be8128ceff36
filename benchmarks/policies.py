"""What the policy pack costs: a preview with and without it, and milliseconds a resource in a large stack.

Run from the project's folder: `.venv/bin/python -m benchmarks.policies [--runs 5] [--resources 150] [--large 2000]`.
The preview is the real engine over a recorded provider, so both sides do the same work; medians and their ratio
are printed. With `--stack dev` it is this project's own program over the recorded cloud, each preview in a fresh
process, in CPU seconds of everything it started. The large stack is judged by the pack's own server, first each
resource, then the stack at once.
"""

import argparse
import gc
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from google.protobuf import struct_pb2
from pulumi import automation
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel

from lab.cloud.pack import PolicyPack
from lab.cloud.session import RecordedCloud
from lab.tools.build import find
from policies.analyzer import Analyzer
from policies.pack import POLICIES
from tests.engine.policies.engine import PACK, declare
from tests.engine.policies.recorder import serving
from tests.unit.policies.programs import Program, good, replaced, urn


def stack_of(count: int) -> Program:
    """A program of about `count` resources: copies of the good one, each model in its own namespace."""
    program: Program = {}
    copies = max(1, count // len(good()))
    for index in range(copies):
        for name, (kind, props) in good().items():
            named = props
            if "metadata" in props:
                for key in ("name", "namespace"):
                    if key in props["metadata"]:
                        named = replaced(named, ("metadata", key), f"{props['metadata'][key]}-{index}")
            elif "bucket" in props:
                named = {**props, "bucket": f"weights-{index}"}
            program[f"{name}-{index}"] = (kind, named)
    return program


def previews(program: Program, runs: int, cli: Path) -> tuple[float, float]:
    """Median seconds of a preview without and with the pack, runs of both taken in turn."""
    os.environ["PATH"] = os.pathsep.join(
        [str(cli.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    )
    with serving() as (_recorder, port), tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.json"
        config.write_text(
            '{"gpu-limit": {"maxGpus": 100000}, "gpu-demand": {"maxGpus": 100000}}', encoding="utf-8"
        )
        settings = {
            "PULUMI_BACKEND_URL": Path(folder).as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": "benchmark",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DEBUG_PROVIDERS": f"aws:{port},kubernetes:{port}",
        }
        options = automation.LocalWorkspaceOptions(env_vars=settings)
        stack = automation.create_or_select_stack(
            "d2", "headroom", lambda: declare(program, True), opts=options
        )
        attached: dict[str, Any] = {"policy_packs": [str(PACK)], "policy_pack_configs": [str(config)]}
        plain: list[float] = []
        packed: list[float] = []
        for _ in range(runs):
            plain.append(seconds(lambda: stack.preview()))
            packed.append(seconds(lambda: _preview(stack, attached)))
        return statistics.median(plain), statistics.median(packed)


def _preview(stack: automation.Stack, attached: dict[str, Any]) -> None:
    try:
        stack.preview(**attached)
    except automation.CommandError as error:
        if "headroom@" not in str(error):
            raise


def own(stack: str, runs: int) -> tuple[float, float]:
    """Median CPU seconds of a fresh process that previews one of our stacks, without and with the pack."""
    found: dict[str, list[float]] = {"without": [], "with": []}
    for _ in range(runs):
        for how, spent in found.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            ran = subprocess.run(
                [sys.executable, "-m", "benchmarks.policies", "--once", stack, how], check=False
            )
            if ran.returncode:
                sys.exit(ran.returncode)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(found["without"]), statistics.median(found["with"])


def once(stack: str, how: str, cli: Path) -> None:
    """One preview of one of our stacks over the recorded cloud."""
    pack = PolicyPack(path=PACK.parent, config=PACK.parent / f"{stack}.json") if how == "with" else None
    with tempfile.TemporaryDirectory() as folder, RecordedCloud(PACK.parents[1], Path(folder), cli) as cloud:
        outcome = cloud.preview(stack, pack=pack)
    if outcome.status != "succeeded":
        sys.exit(f"the preview of {stack} ended as {outcome.status}; run headroom preview --stack {stack}")


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def judged(program: Program) -> tuple[float, float]:
    """CPU milliseconds a resource for `Analyze` and for `AnalyzeStack`, through the pack's own server."""
    rules: list[Any] = list(POLICIES)
    server = Analyzer("headroom", "0.0.0", rules, EnforcementLevel.MANDATORY)
    context: Any = None
    singles = [_request(proto.AnalyzeRequest(), name, kind, props) for name, (kind, props) in program.items()]
    stacked = [
        _request(proto.AnalyzerResource(), name, kind, props) for name, (kind, props) in program.items()
    ]
    request = proto.AnalyzeStackRequest(resources=stacked)
    start = time.process_time()
    for single in singles:
        server.Analyze(single, context)
    between = time.process_time()
    server.AnalyzeStack(request, context)
    end = time.process_time()
    return (between - start) * 1000 / len(program), (end - between) * 1000 / len(program)


def _request(message: Any, name: str, kind: str, props: dict[str, Any]) -> Any:
    struct = struct_pb2.Struct()
    struct.update(props)
    message.properties.CopyFrom(struct)
    message.urn, message.type, message.name = urn(name, kind), kind, name
    return message


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--resources", type=int, default=150)
    parser.add_argument("--large", type=int, default=2000)
    parser.add_argument("--stack", help="measure one of our own stacks instead of the synthetic program")
    parser.add_argument("--once", nargs=2, metavar=("STACK", "HOW"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    found = os.environ.get("HEADROOM_PULUMI") or shutil.which("pulumi")
    cli = Path(found) if found else find("pulumi")
    if cli is None:
        sys.exit("no pulumi found: run `make tools`, put pulumi on PATH, or set HEADROOM_PULUMI")
    warnings.simplefilter("ignore", ResourceWarning)
    if given.once:
        once(given.once[0], given.once[1], cli)
        return
    if given.stack:
        alone, judged_too = own(given.stack, given.runs)
        ratio = judged_too / alone
        print(
            f"preview of {given.stack}: {alone:.2f} s CPU without, {judged_too:.2f} s with, ratio {ratio:.2f}"
        )
        return
    small, large = stack_of(given.resources), stack_of(given.large)
    without, with_pack = previews(small, given.runs, cli)
    ratio = with_pack / without
    print(
        f"preview of {len(small)} resources: {without:.2f} s without, {with_pack:.2f} s with, ratio {ratio:.2f}"
    )
    each, whole = judged(large)
    print(
        f"{len(large)} resources: {each:.2f} ms a resource alone, {whole:.2f} ms a resource in the stack (CPU)"
    )


if __name__ == "__main__":
    main()
