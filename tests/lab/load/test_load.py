"""Load through the real router on simulated engines: nothing lost, or exactly what was on the one that died."""

import itertools
import json
import sys
from pathlib import Path

import httpx2
import pytest

from cli.__main__ import main
from lab.load import Asking, Closed, Load, Open, of_stack
from tests.lab.load.conftest import Stand

MIXED = Asking(prompt_tokens=200, output_tokens=30, stream_share=0.7)
LONG = Asking(prompt_tokens=50, output_tokens=600, spread=False, stream_share=1.0)


def _served(stand: Stand) -> int:
    """Answers that the engines ended for their length."""
    total = 0.0
    for pod in stand.engines():
        text = httpx2.get(f"http://{pod['address']}:8000/metrics", timeout=10, trust_env=False).text
        total += sum(
            float(line.rsplit(" ", 1)[1])
            for line in text.splitlines()
            if line.startswith("vllm:request_success_total{") and 'finished_reason="length"' in line
        )
    return int(total)


def _completed(stand: Stand, load: Load, more: int) -> None:
    done = load.counts.completed
    stand.eventually(lambda: load.counts.completed >= done + more)


def test_nothing_is_lost_while_a_router_comes_and_one_goes(stand: Stand) -> None:
    before = _served(stand)
    profile = Closed(clients=15, seconds=300.0)
    load = of_stack(stand.settings, stand.plane.kubeconfig, profile, asking=MIXED)
    load.start()
    _completed(stand, load, 50)
    stand.routers(2)
    stand.eventually(lambda: len(load.counts.targets) == 2)
    _completed(stand, load, 50)
    stand.routers(1)
    stand.eventually(lambda: len(load.counts.targets) == 1)
    _completed(stand, load, 150)
    load.stop()
    result = load.wait(60)
    assert not result.failures
    assert result.completed == result.sent == _served(stand) - before
    assert len(result.by_target) == 2
    assert len(result.by_kind) == 4


def test_an_engine_that_dies_loses_exactly_the_streams_on_it(stand: Stand) -> None:
    times = list(itertools.accumulate([0.05] * 20))
    profile = Open(name="twenty streams", times=times)
    load = of_stack(stand.settings, stand.plane.kubeconfig, profile, asking=LONG)
    load.start()
    stand.eventually(lambda: load.counts.first_token.count == 20)
    one, other = sorted(stand.engines(), key=lambda pod: pod["load"])
    assert one["load"] + other["load"] == 20
    stand.crash(other["name"])
    result = load.wait(120)
    assert result.by_cause == {"reset-mid-stream": other["load"]}
    assert result.completed == one["load"]
    assert len(result.failures) == other["load"]


def test_the_command_sends_a_trace_file_and_prints_its_books(
    stand: Stand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.csv"
    rows = [f"{number / 10},{20 + number},{5 + number}" for number in range(20)]
    trace.write_text("\n".join(["t_s,prompt_tokens,output_tokens", *rows]))
    words = ("--state", str(stand.plane.state_dir), "--arrivals", str(trace), "--stream", "0.5", "--json")
    monkeypatch.setattr(sys, "argv", ["headroom", "lab", "load", *words])
    assert main() == 0
    books = json.loads(capsys.readouterr().out)
    assert (books["sent"], books["completed"], books["lost"]) == (20, 20, 0)
    assert books["outputTokens"] == sum(range(5, 25))
