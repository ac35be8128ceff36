"""Samples as Prometheus keeps them: scraped counters and gauges, recorded series, and range functions on them.

Range selectors are left-open (Prometheus 3: a sample exactly one window old is out), instant selectors look back
five minutes, `rate` extrapolates to the window's edges as promql/functions.go does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from collections import deque
from math import floor

LOOKBACK_SECONDS = 300.0
_NEAR = 1.1
"""Prometheus extrapolates to a window's edge that lies within 1.1 scrape intervals of the outermost sample."""

Sample = float | None


class Counter:
    """A counter scraped every `interval` seconds from `first` on; `values[i]` was read at first + i x interval."""

    __slots__ = ("first", "interval", "values")

    def __init__(self, first: float, interval: float) -> None:
        self.first = first
        self.interval = interval
        self.values: list[float] = []

    def rate(self, moment: float, window: float) -> Sample:
        """`rate(counter[window])` at `moment`; None with fewer than two samples."""
        first, interval, values = self.first, self.interval, self.values
        high = floor((moment - first) / interval)
        if high >= len(values):
            high = len(values) - 1
        low = floor((moment - window - first) / interval) + 1
        if low < 0:
            low = 0
        if high <= low:
            return None
        start, delta = values[low], values[high] - values[low]
        sampled = (high - low) * interval
        to_start = first + low * interval - (moment - window)
        to_end = moment - (first + high * interval)
        near = interval * _NEAR
        if to_start >= near:
            to_start = interval / 2
        if delta > 0 and start >= 0:
            to_zero = sampled * start / delta
            to_start = min(to_start, to_zero)
        if to_end >= near:
            to_end = interval / 2
        return delta * (sampled + to_start + to_end) / sampled / window


class Recorded:
    """A series written by a recording rule every `interval` seconds from `first` on; None where it was empty."""

    __slots__ = ("first", "interval", "values")

    def __init__(self, first: float, interval: float) -> None:
        self.first = first
        self.interval = interval
        self.values: list[Sample] = []

    def index(self, moment: float) -> int:
        """Position of the newest evaluation at or before `moment`; negative before the first."""
        return floor((moment - self.first) / self.interval + 1e-9)

    def at(self, moment: float) -> Sample:
        """The instant value: the newest sample no older than five minutes."""
        position = self.index(moment)
        last = len(self.values) - 1
        if position < 0:
            return None
        if position > last:
            if last < 0 or (position - last) * self.interval > LOOKBACK_SECONDS:
                return None
            position = last
        return self.values[position]


class Window(ABC):
    """A sliding window (moment - seconds, moment] over a recorded series; asked at non-decreasing moments."""

    __slots__ = ("_fed", "_gone", "_offset", "_seconds", "_series")

    def __init__(self, series: Recorded, seconds: float, offset: float) -> None:
        self._series = series
        self._seconds = seconds
        self._offset = offset
        self._fed = 0
        self._gone = 0

    def move(self, moment: float) -> None:
        """Take in the samples up to `moment` and let go of those older than the window."""
        series = self._series
        upto = series.index(moment - self._offset) + 1
        values = series.values
        if upto > len(values):
            upto = len(values)
        while self._fed < upto:
            value = values[self._fed]
            if value is not None:
                self.add(self._fed, value)
            self._fed += 1
        oldest = series.index(moment - self._offset - self._seconds) + 1
        while self._gone < oldest and self._gone < self._fed:
            value = values[self._gone]
            if value is not None:
                self.drop(self._gone, value)
            self._gone += 1

    @abstractmethod
    def add(self, position: int, value: float) -> None:
        """A sample entered the window."""

    @abstractmethod
    def drop(self, position: int, value: float) -> None:
        """A sample left the window."""

    @abstractmethod
    def value(self, moment: float) -> Sample:
        """The function's value at `moment`; None over no sample."""


class Mean(Window):
    """`avg_over_time`, `sum_over_time` and `count_over_time`."""

    __slots__ = ("_count", "_kind", "_total")

    def __init__(self, series: Recorded, seconds: float, offset: float, kind: str) -> None:
        super().__init__(series, seconds, offset)
        self._kind = kind
        self._total = 0.0
        self._count = 0

    def add(self, position: int, value: float) -> None:
        """A sample entered the window."""
        del position
        self._total += value
        self._count += 1

    def drop(self, position: int, value: float) -> None:
        """A sample left the window."""
        del position
        self._total -= value
        self._count -= 1
        if not self._count:
            self._total = 0.0

    def value(self, moment: float) -> Sample:
        """Mean, sum or count of the window."""
        self.move(moment)
        if not self._count:
            return None
        if self._kind == "avg":
            return self._total / self._count
        return self._total if self._kind == "sum" else float(self._count)


class Extreme(Window):
    """`max_over_time` (sign 1) and `min_over_time` (sign -1), by a monotone queue."""

    __slots__ = ("_queue", "_sign")

    def __init__(self, series: Recorded, seconds: float, offset: float, sign: float) -> None:
        super().__init__(series, seconds, offset)
        self._sign = sign
        self._queue: deque[tuple[int, float]] = deque()

    def add(self, position: int, value: float) -> None:
        """A sample entered the window."""
        queue, signed = self._queue, value * self._sign
        while queue and queue[-1][1] <= signed:
            queue.pop()
        queue.append((position, signed))

    def drop(self, position: int, value: float) -> None:
        """A sample left the window."""
        del value
        if self._queue and self._queue[0][0] == position:
            self._queue.popleft()

    def value(self, moment: float) -> Sample:
        """The extreme of the window."""
        self.move(moment)
        return self._queue[0][1] * self._sign if self._queue else None


class Quantile(Window):
    """`quantile_over_time`: linear between the two nearest ranks, as Prometheus does."""

    __slots__ = ("_quantile", "_sorted")

    def __init__(self, series: Recorded, seconds: float, offset: float, quantile: float) -> None:
        super().__init__(series, seconds, offset)
        self._quantile = quantile
        self._sorted: list[float] = []

    def add(self, position: int, value: float) -> None:
        """A sample entered the window."""
        del position
        insort(self._sorted, value)

    def drop(self, position: int, value: float) -> None:
        """A sample left the window."""
        del position
        del self._sorted[bisect_left(self._sorted, value)]

    def value(self, moment: float) -> Sample:
        """The quantile of the window."""
        self.move(moment)
        ranked = self._sorted
        if not ranked:
            return None
        rank = self._quantile * (len(ranked) - 1)
        low = int(rank)
        high = min(low + 1, len(ranked) - 1)
        share = rank - low
        return ranked[low] * (1 - share) + ranked[high] * share


class Line(Window):
    """`predict_linear`: least squares through the window, read `ahead` seconds after the moment."""

    __slots__ = ("_ahead", "_count", "_origin", "_sum_v", "_sum_x", "_sum_xv", "_sum_xx")

    def __init__(self, series: Recorded, seconds: float, offset: float, ahead: float) -> None:
        super().__init__(series, seconds, offset)
        self._ahead = ahead
        self._origin = 0
        self._count = 0
        self._sum_x = self._sum_xx = self._sum_v = self._sum_xv = 0.0

    def add(self, position: int, value: float) -> None:
        """A sample entered the window."""
        if not self._count:
            self._origin = position
            self._sum_x = self._sum_xx = self._sum_v = self._sum_xv = 0.0
        x = position - self._origin
        self._count += 1
        self._sum_x += x
        self._sum_xx += x * x
        self._sum_v += value
        self._sum_xv += x * value

    def drop(self, position: int, value: float) -> None:
        """A sample left the window."""
        x = position - self._origin
        self._count -= 1
        self._sum_x -= x
        self._sum_xx -= x * x
        self._sum_v -= value
        self._sum_xv -= x * value

    def value(self, moment: float) -> Sample:
        """The line's value; None with fewer than two samples."""
        self.move(moment)
        count = self._count
        if count < 2:
            return None
        spread = count * self._sum_xx - self._sum_x * self._sum_x
        slope = (count * self._sum_xv - self._sum_x * self._sum_v) / spread
        level = (self._sum_v - slope * self._sum_x) / count
        series = self._series
        now = (moment - series.first) / series.interval - self._origin
        return level + slope * (now + self._ahead / series.interval)
