"""Reading trace files: every malformed line is named with its number, all at once (the first twenty).

| form | header |
|---|---|
| requests | `t_s,prompt_tokens,output_tokens`: seconds from the start, in order |
| rates | `t_s,...` with one of rate_rps, rps, rpm or rpm_est, in bins of equal length |
| counts | `minute,counts_per_second`: sixty numbers a line |
| counter | `timestamp,value`: a Prometheus counter, Unix seconds or RFC 3339 |
| counter | the JSON of Prometheus' `/api/v1/query_range` for a counter; several series are added up |
"""

from __future__ import annotations

import csv
import json
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from planner import counter_export
from planner.numbers import LineError, integer, real
from planner.traces import LONGEST_SECONDS, Trace, TraceError, of_counts, of_rates, of_requests
from specs.problems import Problem, printable, shown

MOST_BYTES = 2 * 2**30
MOST_ROWS = 20_000_000
MOST_SHOWN = 20
RATE_COLUMNS = {"rate_rps": 1.0, "rps": 1.0, "rpm": 1 / 60, "rpm_est": 1 / 60}
FORMATS = (
    "t_s,prompt_tokens,output_tokens or t_s,rate_rps or t_s,rpm or minute,counts_per_second or timestamp,value,"
    " or Prometheus query_range JSON"
)
Row = tuple[int, list[str]]


def read(path: Path) -> Trace:
    """Read a trace file. Raises TraceError."""
    try:
        problem = _unreadable(path)
        if problem:
            raise TraceError([problem])
        with path.open(encoding="utf-8-sig", newline="") as file:
            start = file.read(64).lstrip()
            file.seek(0)
            if start.startswith(("{", "[")):
                return _json(path, file.read())
            return _csv(path, file)
    except OSError as error:
        raise TraceError([_unopened(path, error.strerror or "unreadable")]) from error
    except UnicodeDecodeError as error:
        raise TraceError([_problem(path, 0, f"byte {error.start} is no UTF-8 text", FORMATS)]) from error
    except csv.Error as error:
        raise TraceError([_problem(path, 0, "text that is no CSV", str(error))]) from error


def _unopened(path: Path, given: str) -> Problem:
    return Problem(printable(str(path)), given, "a readable trace file", "check the path given with --trace")


def _unreadable(path: Path) -> Problem | None:
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):
        return _unopened(path, "a folder" if stat.S_ISDIR(state.st_mode) else "no regular file")
    if state.st_size > MOST_BYTES:
        given = f"{state.st_size / 2**30:.1f} GiB"
        return Problem(str(path), given, "at most 2 GiB", "aggregate it to rates or counts per second")
    if not state.st_size:
        return Problem(str(path), "an empty file", FORMATS, "export the trace again")
    return None


def _problem(path: Path, line: int, given: str, allowed: str) -> Problem:
    where = f"{path}:{line}" if line else str(path)
    return Problem(where, given, allowed, "correct the line, or leave it out")


def _csv(path: Path, lines: Iterable[str]) -> Trace:
    reader = csv.reader(lines)
    empty: list[str] = []
    header = [cell.strip().lower() for cell in next(reader, empty)]
    rows: list[Row] = []
    for cells in reader:
        if any(cell.strip() for cell in cells):
            rows.append((reader.line_num, cells))
        if len(rows) > MOST_ROWS:
            given = f"more than {MOST_ROWS} rows"
            raise TraceError([_problem(path, reader.line_num, given, "aggregate to rates or counts")])
    parse = _form(header)
    if parse is None:
        raise TraceError([_problem(path, 1, f"the header {shown(','.join(header))}", FORMATS)])
    if not rows:
        raise TraceError([_problem(path, 1, "a header and no rows", "at least one row")])
    return parse(path, header, rows)


def _form(header: Sequence[str]) -> Callable[[Path, Sequence[str], list[Row]], Trace] | None:
    if {"t_s", "prompt_tokens", "output_tokens"} <= set(header):
        return _requests
    if "t_s" in header and any(name in header for name in RATE_COLUMNS):
        return _rates
    if {"minute", "counts_per_second"} <= set(header):
        return _counts
    if len(header) == 2 and header[0] in ("timestamp", "time"):
        return _counter
    return None


class _Findings:
    """Problems of a file, the first MOST_SHOWN of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: list[Problem] = []
        self._count = 0

    def add(self, line: int, given: str, allowed: str) -> None:
        self._count += 1
        if len(self._found) < MOST_SHOWN:
            self._found.append(_problem(self._path, line, given, allowed))

    def cell(self, row: Row, column: int, parse: Callable[[str], float], default: float = 0.0) -> float:
        """One parsed cell; a bad one is noted and reads as `default`."""
        line, cells = row
        if column >= len(cells):
            self.add(line, f"{len(cells)} columns", f"at least {column + 1}")
            return default
        try:
            return parse(cells[column])
        except LineError as error:
            self.add(line, shown(cells[column].strip()), error.allowed)
            return default

    def refuse(self) -> None:
        """Raise TraceError if anything was found."""
        if self._count > len(self._found):
            more = self._count - len(self._found)
            self._found.append(_problem(self._path, 0, f"{more} more bad lines", "see above"))
        if self._found:
            raise TraceError(self._found)


def _requests(path: Path, header: Sequence[str], rows: list[Row]) -> Trace:
    found = _Findings(path)
    columns = [header.index(name) for name in ("t_s", "prompt_tokens", "output_tokens")]
    before = 0.0
    times, prompt, output = [], [], []
    for row in rows:
        moment = found.cell(row, columns[0], real, before)
        if moment < before:
            found.add(row[0], f"t_s {moment:g} after {before:g}", "times in order")
        elif moment > LONGEST_SECONDS:
            found.add(row[0], f"t_s {moment:g}", f"at most {LONGEST_SECONDS} seconds from the start")
        before = max(before, moment)
        times.append(moment)
        # A request without prompt or output still costs a token of work.
        prompt.append(max(1, int(found.cell(row, columns[1], integer, 1))))
        output.append(max(1, int(found.cell(row, columns[2], integer, 1))))
    found.refuse()
    sizes = (np.array(prompt, dtype=np.int64), np.array(output, dtype=np.int64))
    return of_requests(path.stem, np.array(times, dtype=np.float64), *sizes)


def _rates(path: Path, header: Sequence[str], rows: list[Row]) -> Trace:
    found = _Findings(path)
    name = next(name for name in RATE_COLUMNS if name in header)
    column, factor = header.index(name), RATE_COLUMNS[name]
    moments = [found.cell(row, header.index("t_s"), real) for row in rows]
    rates = [found.cell(row, column, real) * factor for row in rows]
    found.refuse()
    if len(rows) < 2:
        raise TraceError([_problem(path, rows[0][0], "one row", "two or more, to know a bin's length")])
    length = moments[1] - moments[0]
    if length < 1 or length != int(length):
        given = f"t_s {moments[0]:g} and then {moments[1]:g}"
        found.add(rows[1][0], given, "bins of equal length, whole seconds, in order")
    else:
        for row, moment, before in zip(rows[1:], moments[1:], moments, strict=False):
            if moment - before != length:
                found.add(row[0], f"t_s {moment:g} after {before:g}", f"bins of {length:g} s, in order")
    if len(rows) * length > LONGEST_SECONDS:
        found.add(rows[-1][0], f"{len(rows) * length:g} seconds", f"at most {LONGEST_SECONDS}")
    found.refuse()
    return of_rates(path.stem, np.array(rates, dtype=np.float64), int(length))


def _counts(path: Path, header: Sequence[str], rows: list[Row]) -> Trace:
    found = _Findings(path)
    minute, column = header.index("minute"), header.index("counts_per_second")
    counts: list[int] = []
    for position, row in enumerate(rows):
        number = found.cell(row, minute, integer, position)
        if number != position:
            found.add(row[0], f"minute {number:g}", f"minute {position}: every minute once, in order")
        cells = row[1][column].split() if column < len(row[1]) else []
        if len(cells) != 60:
            found.add(row[0], f"{len(cells)} counts", "sixty counts a minute")
        for cell in cells:
            counts.append(int(found.cell((row[0], [cell]), 0, integer)))
    if len(counts) > LONGEST_SECONDS:
        found.add(rows[-1][0], f"{len(counts)} seconds", f"at most {LONGEST_SECONDS}")
    found.refuse()
    return of_counts(path.stem, np.array(counts, dtype=np.int64))


def _counter(path: Path, header: Sequence[str], rows: list[Row]) -> Trace:
    del header
    found = _Findings(path)
    samples = [(found.cell(row, 0, counter_export.timestamp), found.cell(row, 1, real)) for row in rows]
    for row, sample, before in zip(rows[1:], samples[1:], samples, strict=False):
        if sample[0] <= before[0]:
            found.add(row[0], f"timestamp {row[1][0]}", "timestamps in order, each once")
    found.refuse()
    return _exported(path, [samples])


def _json(path: Path, text: str) -> Trace:
    try:
        body: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise TraceError([_problem(path, error.lineno, f"no JSON: {error.msg}", FORMATS)]) from error
    except RecursionError as error:
        raise TraceError([_problem(path, 0, "JSON nested too deep", FORMATS)]) from error
    try:
        return _exported(path, counter_export.series(body))
    except LineError as error:
        raise TraceError([_problem(path, 0, error.given, error.allowed)]) from error


def _exported(path: Path, series: Sequence[Sequence[tuple[float, float]]]) -> Trace:
    try:
        rates, step = counter_export.rates(series)
    except LineError as error:
        raise TraceError([_problem(path, 0, error.given, error.allowed)]) from error
    return of_rates(path.stem, rates, step)
