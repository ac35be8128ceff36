"""Capacity from two saved scrapes of one replica's /metrics, made while it served."""

from __future__ import annotations

import math
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from planner.calibrate.result import Bound, Calibration, CalibrationError, refused
from specs.metrics_names import WAITING
from specs.problems import Problem, printable
from specs.settings.model import Model

DONE: Final = "vllm:request_success_total"
PROMPT: Final = "vllm:prompt_tokens_total"
OUTPUT: Final = "vllm:generation_tokens_total"
FIRST_TOKEN: Final = "vllm:time_to_first_token_seconds_bucket"  # noqa: S105 - a metric's name
COUNTED: Final = ("stop", "length")
LEAST_REQUESTS: Final = 50
"""Fewer can't tell a 95th percentile."""
NEAR: Final = 0.7
"""From this share of the SLO on, the load is taken for the capacity itself."""
PERCENTILE: Final = 0.95
MOST_BYTES: Final = 64 * 2**20


@dataclass(frozen=True)
class _Scrape:
    """Sums over the engines of one replica."""

    done: float
    prompt: float
    output: float
    waiting: float
    first: Mapping[float, float]
    """Cumulative count of first tokens by upper bound in seconds."""


def from_scrapes(before: Path, after: Path, model: Model, seconds: float | None = None) -> Calibration:
    """The rate served between two scrapes and how near the SLO it is. `seconds` lie between them (default: the files'
    times). Raises CalibrationError.
    """
    problems: list[Problem] = []
    scrapes: list[_Scrape] = []
    for path in (before, after):
        try:
            scrapes.append(_read(path, model.api_name))
        except CalibrationError as error:
            problems += error.problems
    if problems:
        raise CalibrationError(problems)
    apart = _apart(before, after) if seconds is None else seconds
    return _between(scrapes[0], scrapes[1], model, apart, str(after))


def _between(first: _Scrape, last: _Scrape, model: Model, seconds: float, where: str) -> Calibration:
    _refuse_odd(first, last, seconds, where)
    done = last.done - first.done
    if done < 0 or last.output < first.output:
        raise refused(where, "counters below those of the first scrape", "two scrapes of one running engine",
                      "give them in order, and scrape again if it was restarted")  # fmt: skip
    if done < LEAST_REQUESTS:
        raise refused(where, f"{done:g} requests between the scrapes", f"at least {LEAST_REQUESTS}",
                      "scrape again after more load")  # fmt: skip
    counts = {bound: count - first.first.get(bound, 0.0) for bound, count in last.first.items()}
    p95, slo = _quantile(counts), model.slo.ttft_seconds
    return Calibration(
        requests_per_second=done / seconds,
        prompt_tokens=(last.prompt - first.prompt) / done,
        output_tokens=(last.output - first.output) / done,
        ttft_p95=p95,
        slo=slo,
        bound=_bound(p95, slo, last.waiting),
        source="scrapes",
    )


def _refuse_odd(first: _Scrape, last: _Scrape, seconds: float, where: str) -> None:
    if not (math.isfinite(seconds) and seconds > 0):
        raise refused(
            "--seconds", f"{seconds:g}", "a number above 0", "state the seconds between the scrapes"
        )
    totals = [value for one in (first, last) for value in (one.done, one.prompt, one.output, one.waiting)]
    if not all(map(math.isfinite, [*totals, *first.first.values(), *last.first.values()])):
        raise refused(
            where, "counters that are no finite numbers", "the text that /metrics gives", "scrape again"
        )


def _bound(p95: float, slo: float, waiting: float) -> Bound:
    if p95 > slo:
        return "atMost"
    return "measured" if p95 >= NEAR * slo or waiting > 0 else "atLeast"


def _apart(before: Path, after: Path) -> float:
    apart = after.stat().st_mtime - before.stat().st_mtime
    if apart < 1:
        raise refused("--seconds", f"none, and the files' times are {apart:.1f} s apart",
                      "the seconds between the scrapes", "state them with --seconds")  # fmt: skip
    return apart


def _read(path: Path, name: str) -> _Scrape:
    """Sums of the series that bear the model's name. Raises CalibrationError."""
    sums: dict[str, float] = {}
    first: dict[float, float] = {}
    names: set[str] = set()
    wanted = {DONE, PROMPT, OUTPUT, WAITING, FIRST_TOKEN}
    try:
        text = _text(path)
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if sample.name not in wanted:
                    continue
                names.add(sample.labels.get("model_name", ""))
                if sample.labels.get("model_name") != name:
                    continue
                if sample.name == FIRST_TOKEN:
                    bound = float(sample.labels["le"])
                    first[bound] = first.get(bound, 0.0) + sample.value
                elif sample.name != DONE or sample.labels.get("finished_reason") in COUNTED:
                    sums[sample.name] = sums.get(sample.name, 0.0) + sample.value
    except (ValueError, KeyError, IndexError) as error:
        given = f"no Prometheus exposition ({printable(str(error))})"
        raise refused(str(path), given, "the text that /metrics gives", "save it with curl") from error
    missing = sorted(wanted - {FIRST_TOKEN} - sums.keys()) + ([] if first else [FIRST_TOKEN])
    if missing:
        others = ", ".join(sorted(names - {name})) or "none"
        raise refused(
            str(path),
            f"no {missing[0]} of model_name {name}; models found: {others}",
            "a scrape of an engine that serves this model",
            "set servedName, or scrape the engine and not the router",
        )
    return _Scrape(sums[DONE], sums[PROMPT], sums[OUTPUT], sums[WAITING], first)


def _text(path: Path) -> str:
    name = printable(str(path))
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            given = "a folder" if stat.S_ISDIR(state.st_mode) else "no regular file"
            raise refused(name, given, "a saved scrape", "save one answer of /metrics into a file")
        if state.st_size > MOST_BYTES:
            raise refused(name, f"{state.st_size} bytes", "one scrape", "save one answer of /metrics")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise refused(name, error.strerror or "unreadable", "a saved scrape", "check the path") from error


def _quantile(counts: Mapping[float, float]) -> float:
    """The 95th percentile as Prometheus' histogram_quantile reads it; the last finite bound beyond that."""
    bounds = sorted(counts)
    wanted = PERCENTILE * counts[bounds[-1]]
    below, lower = 0.0, 0.0
    for bound in bounds:
        if counts[bound] >= wanted:
            if bound == float("inf"):
                return lower
            inside = counts[bound] - below
            return lower + (bound - lower) * ((wanted - below) / inside if inside else 1.0)
        below, lower = counts[bound], bound
    return lower
