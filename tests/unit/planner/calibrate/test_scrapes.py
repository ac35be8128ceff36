"""Capacity from two scrapes of an engine's /metrics."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from planner.calibrate import CalibrationError, from_scrapes
from specs.settings import Model, Settings, read

REAL = Path(__file__).parent / "vllm-0.33-metrics.txt"


def model(name: str = "chat", slo: float = 2.0) -> Model:
    entry = {"name": name, "pool": "gpu", "model": "o/c", "weightsGiB": 15, "slo": {"ttftSeconds": slo}}
    settings: Settings = read(
        {
            "headroom:gpuPools": [{"name": "gpu", "families": ["g5"], "gpuLimit": 10}],
            "headroom:gpuBudget": {"maxGpus": 10},
            "headroom:models": [entry],
        }
    )
    return settings.models[0]


def exposition(
    requests: int, wait_bound: float = 1.0, waiting: int = 0, name: str = "chat", engines: int = 1
) -> str:
    """So many requests of 1000 and 200 tokens, first tokens all at or below `wait_bound` seconds."""
    lines: list[str] = []
    for engine in range(engines):
        labels = f'engine="{engine}",model_name="{name}"'
        lines += [
            f'vllm:request_success_total{{finished_reason="stop",{labels}}} {requests * 0.75}',
            f'vllm:request_success_total{{finished_reason="length",{labels}}} {requests * 0.25}',
            f'vllm:request_success_total{{finished_reason="abort",{labels}}} 7',
            f"vllm:prompt_tokens_total{{{labels}}} {requests * 1000}",
            f"vllm:generation_tokens_total{{{labels}}} {requests * 200}",
            f"vllm:num_requests_waiting{{{labels}}} {waiting}",
        ]
        for bound in (0.5, 1.0, 2.5, 5.0):
            count = requests if bound >= wait_bound else 0
            lines.append(f'vllm:time_to_first_token_seconds_bucket{{le="{bound}",{labels}}} {count}')
        lines.append(f'vllm:time_to_first_token_seconds_bucket{{le="+Inf",{labels}}} {requests}')
    return "\n".join(lines) + "\n"


def files(folder: Path, before: str, after: str) -> tuple[Path, Path]:
    first, last = folder / "before.txt", folder / "after.txt"
    first.write_text(before)
    last.write_text(after)
    return first, last


def refusal(folder: Path, before: str, after: str, seconds: float | None = 100) -> str:
    with pytest.raises(CalibrationError) as refused:
        from_scrapes(*files(folder, before, after), model(), seconds)
    return str(refused.value)


def test_rate_and_sizes_are_differences_over_the_time_between(tmp_path: Path) -> None:
    found = from_scrapes(*files(tmp_path, exposition(100), exposition(300)), model(), 100)
    assert found.requests_per_second == pytest.approx(2.0)
    assert (found.prompt_tokens, found.output_tokens) == (pytest.approx(1000), pytest.approx(200))


def test_engines_of_one_replica_are_added_up(tmp_path: Path) -> None:
    found = from_scrapes(
        *files(tmp_path, exposition(100, engines=2), exposition(300, engines=2)), model(), 100
    )
    assert found.requests_per_second == pytest.approx(4.0)
    assert found.prompt_tokens == pytest.approx(1000)


@pytest.mark.parametrize(
    ("wait", "waiting", "bound"),
    [(0.5, 0, "atLeast"), (0.5, 3, "measured"), (2.5, 0, "atMost"), (5.0, 9, "atMost")],
)
def test_how_near_the_slo_it_was_decides_what_is_known(
    tmp_path: Path, wait: float, waiting: int, bound: str
) -> None:
    after = exposition(300, wait, waiting)
    assert from_scrapes(*files(tmp_path, exposition(100, wait), after), model(), 100).bound == bound


def test_the_percentile_is_read_as_prometheus_does(tmp_path: Path) -> None:
    """All 200 within (0.5, 1]: the 95th percentile lies at 0.975."""
    found = from_scrapes(*files(tmp_path, exposition(100), exposition(300)), model(), 100)
    assert found.ttft_p95 == pytest.approx(0.975)


def test_the_files_times_stand_in_for_the_seconds(tmp_path: Path) -> None:
    first, last = files(tmp_path, exposition(100), exposition(300))
    os.utime(first, (1000, 1000))
    os.utime(last, (1050, 1050))
    assert from_scrapes(first, last, model()).requests_per_second == pytest.approx(4.0)


def test_files_of_the_same_time_need_the_seconds(tmp_path: Path) -> None:
    assert "--seconds" in refusal(tmp_path, exposition(100), exposition(300), None)


def test_a_restart_between_the_scrapes_is_refused(tmp_path: Path) -> None:
    assert "below" in refusal(tmp_path, exposition(300), exposition(100))


def test_too_few_requests_are_refused(tmp_path: Path) -> None:
    assert "at least 50" in refusal(tmp_path, exposition(100), exposition(140))


def test_a_scrape_of_another_model_names_those_it_has(tmp_path: Path) -> None:
    assert "models found: other" in refusal(
        tmp_path, exposition(100, name="other"), exposition(300, name="other")
    )


def test_both_bad_files_are_told_at_once(tmp_path: Path) -> None:
    text = refusal(tmp_path, "no metrics {", "")
    assert "before.txt" in text
    assert "after.txt" in text


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError) as refused:
        from_scrapes(tmp_path / "x", tmp_path / "y", model(), 10)
    assert len(refused.value.problems) == 2


def test_a_real_exposition_is_read(tmp_path: Path) -> None:
    """vLLM 0.33's own output, once as it was and once with its counters raised."""
    text = REAL.read_text(encoding="utf-8")
    later = text
    for name, labels, was, now in [
        ("request_success_total", 'engine="0",finished_reason="length",model_name="m"', "2.0", "202.0"),
        ("prompt_tokens_total", 'engine="0",model_name="m"', "98.0", "40098.0"),
        ("generation_tokens_total", 'engine="0",model_name="m"', "5161.0", "25161.0"),
    ]:
        line = f"vllm:{name}{{{labels}}} "
        assert line + was in later
        later = later.replace(line + was, line + now)
    found = from_scrapes(*files(tmp_path, text, later), model("m", slo=5), 100)
    assert found.requests_per_second == pytest.approx(2.0)
    assert (found.prompt_tokens, found.output_tokens) == (pytest.approx(200), pytest.approx(100))


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop of links", "absent", "name too long"])
def test_what_is_no_readable_page_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("x" * 300 if kind == "name too long" else "page.txt")
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop of links":
        path.symlink_to(path)
    with pytest.raises(CalibrationError) as refused:
        from_scrapes(path, path, model(), 10)
    assert len(refused.value.problems) == 2


@pytest.mark.parametrize("value", ["NaN", "+Inf"])
def test_counters_that_are_no_numbers_give_no_capacity(tmp_path: Path, value: str) -> None:
    after = exposition(300).replace("300000", value)
    assert "no finite numbers" in refusal(tmp_path, exposition(100), after)


@pytest.mark.parametrize("seconds", [0.0, -5.0, float("nan"), float("inf")])
def test_a_time_between_the_scrapes_that_is_none_is_refused(tmp_path: Path, seconds: float) -> None:
    assert "--seconds" in refusal(tmp_path, exposition(100), exposition(300), seconds)
