"""Arrivals from traces: the replay's own, compressed, bounded."""

from pathlib import Path

import pytest

from lab.load import Closed, LoadError, Open, of_trace, profile_of, trace_of
from planner.arrivals import arrivals
from planner.generator import KINDS, generate
from tests.unit.lab.fleet.bodies import local


def test_at_speed_one_they_are_those_of_the_replay() -> None:
    trace = generate("bursty", days=0.05, mean_rps=2.0)
    times, prompts, outputs = arrivals(trace, 1.5, 7).requests(7, 300.0, 40.0)
    made = of_trace(trace, scale=1.5, seed=7, prompt_tokens=300.0, output_tokens=40.0)
    assert list(made.times) == times.tolist()
    assert made.sizes == list(zip(prompts.tolist(), outputs.tolist(), strict=True))


def test_speed_shortens_the_trace_and_keeps_its_rate() -> None:
    trace = generate("constant", days=1.0, mean_rps=5.0)
    fast = of_trace(trace, speed=60.0)
    assert max(fast.times) <= 86_400 / 60
    assert len(fast.times) / (86_400 / 60) == pytest.approx(5.0, rel=0.05)


def test_speed_keeps_the_shape() -> None:
    made = of_trace(generate("step", days=0.5, mean_rps=4.0), speed=10.0)
    middle = 43_200 / 10 / 2
    early = sum(moment < middle for moment in made.times)
    assert early / len(made.times) == pytest.approx(1 / 8, rel=0.1)


def test_a_trace_of_requests_brings_its_own_sizes(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("t_s,prompt_tokens,output_tokens\n0,100,7\n1.5,200,8\n3,300,9\n")
    made = of_trace(trace_of(str(path)), seconds=2.0)
    assert (list(made.times), made.sizes) == ([0.0, 1.5], [(100, 7), (200, 8)])


def test_time_and_count_both_bound_arrivals() -> None:
    trace = generate("constant", days=0.01, mean_rps=5.0)
    assert len(of_trace(trace, requests=10).times) == 10
    assert max(of_trace(trace, seconds=20.0).times) < 20.0


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_the_generator_is_an_arrival(kind: str) -> None:
    assert trace_of(f"{kind}:0.1:2").mean_rate == pytest.approx(2.0)


def test_an_unknown_kind_is_refused_with_the_kinds() -> None:
    with pytest.raises(LoadError) as refused:
        trace_of("dirunal")
    (problem,) = refused.value.problems
    assert "diurnal, weekly" in problem.allowed


def test_a_malformed_file_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("t_s,prompt_tokens,output_tokens\n0,1,1\nx,1,1\n")
    with pytest.raises(LoadError, match=r"bad\.csv:3"):
        trace_of(str(path))


def test_more_requests_than_a_load_can_carry_are_refused_before_they_are_drawn() -> None:
    with pytest.raises(LoadError, match="at most 2000000"):
        of_trace(generate("constant", days=60, mean_rps=1000.0))


def test_scale_and_speed_out_of_range_are_refused_together() -> None:
    with pytest.raises(LoadError) as refused:
        of_trace(generate("step", days=0.1), scale=0.0, speed=-1.0)
    assert [problem.path for problem in refused.value.problems] == ["scale", "speed"]


def test_fifty_clients_are_the_profile_unless_arrivals_are_named() -> None:
    settings = local()
    closed = profile_of(settings, seconds=60.0)
    assert isinstance(closed, Closed)
    assert closed.clients == 50
    arriving = profile_of(settings, arrivals="step:0.01:5", seconds=60.0)
    assert isinstance(arriving, Open)
    assert max(arriving.times) < 60.0


def test_clients_and_arrivals_together_are_refused() -> None:
    with pytest.raises(LoadError, match="both --clients and --arrivals"):
        profile_of(local(), clients=3, arrivals="step", seconds=60.0)


def test_a_model_that_the_stack_does_not_serve_is_refused() -> None:
    with pytest.raises(LoadError, match="llama3-8b, mistral-7b"):
        profile_of(local(), model="llama", arrivals="step", seconds=60.0)
