"""Rates out of exported Prometheus counters: resets are counted as Prometheus does, several series are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

import numpy as np
from numpy.typing import NDArray

from planner.numbers import LineError, real
from planner.traces import LONGEST_SECONDS

Samples = Sequence[tuple[float, float]]


def timestamp(text: str) -> float:
    """Unix seconds of a number or an RFC 3339 time. Raises LineError."""
    try:
        return real(text)
    except LineError:
        pass
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise LineError("Unix seconds or an RFC 3339 time") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def series(body: object) -> list[list[tuple[float, float]]]:
    """The samples of each series in a `query_range` answer. Raises LineError."""
    allowed = 'an answer of /api/v1/query_range with {"data": {"result": [{"values": [[time, "value"]]}]}}'
    data = cast(Mapping[str, object], body).get("data") if isinstance(body, Mapping) else None
    result = cast(Mapping[str, object], data).get("result") if isinstance(data, Mapping) else None
    if not isinstance(result, list) or not result:
        raise LineError(allowed, "no data.result" if result is None else "an empty result")
    found: list[list[tuple[float, float]]] = []
    for position, item in enumerate(cast(list[object], result)):
        values = cast(Mapping[str, object], item).get("values") if isinstance(item, Mapping) else None
        if not isinstance(values, list):
            raise LineError(allowed, f"data.result[{position}] without values")
        samples: list[tuple[float, float]] = []
        for place, pair in enumerate(cast(list[object], values)):
            where = f"data.result[{position}].values[{place}]"
            if not isinstance(pair, list) or len(cast(list[object], pair)) != 2:
                raise LineError('a pair [time, "value"]', where)
            try:
                moment, value = (real(str(part)) for part in cast(list[object], pair))
            except LineError as error:
                raise LineError(error.allowed, f"{where}: {pair}") from error
            if samples and moment <= samples[-1][0]:
                raise LineError("timestamps in order, each once", where)
            samples.append((moment, value))
        found.append(samples)
    return found


def rates(exported: Sequence[Samples]) -> tuple[NDArray[np.float64], int]:
    """(requests a second per bin, bin in whole seconds) of counters. A fall is a reset: what follows counts from
    zero. Gaps are bridged evenly. Raises LineError.
    """
    known = [np.array(samples, dtype=np.float64) for samples in exported if len(samples) > 1]
    if not known:
        raise LineError("two or more samples of a counter", "fewer than two samples")
    step = max(1, round(min(float(np.diff(samples[:, 0]).min()) for samples in known)))
    start = min(float(samples[0, 0]) for samples in known)
    end = max(float(samples[-1, 0]) for samples in known)
    if end - start > LONGEST_SECONDS:
        raise LineError(f"at most {LONGEST_SECONDS} seconds", f"{end - start:g} seconds")
    bins = int((end - start) // step)
    if bins < 1:
        raise LineError("samples at least a second apart", f"{end - start:g} seconds in all")
    grid = start + step * np.arange(bins + 1)
    total = np.zeros(bins + 1)
    for samples in known:
        change = np.diff(samples[:, 1])
        change = np.where(change < 0, samples[1:, 1], change)
        total += np.interp(grid, samples[:, 0], np.concatenate([[0.0], np.cumsum(change)]))
    return np.diff(total) / step, step
