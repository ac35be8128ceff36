"""The clairvoyant bound: the least node-seconds that serve the load with a start of `lead` seconds.

D(t) = ceil(rate over 30 s / capacity). For each level k: the time with D >= k, plus the lead once for the first
start, plus min(gap, lead) for each gap (a node is kept through a gap shorter than its start).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from planner.arrivals import Arrivals

WINDOW_SECONDS = 30


def steady_rate(arrivals: Arrivals) -> NDArray[np.float64]:
    """Requests a second over 30 s, second by second; a rate trace's own profile."""
    rate = arrivals.rate
    if arrivals.smooth:
        return rate
    total = np.concatenate([[0.0], np.cumsum(rate)])
    high = np.arange(1, len(rate) + 1)
    low = np.maximum(high - WINDOW_SECONDS, 0)
    return (total[high] - total[low]) / (high - low)


def needed(rate: NDArray[np.float64], capacity: float) -> NDArray[np.int64]:
    """Replicas that a mind reader would have serving, second by second."""
    return np.ceil(rate / capacity - 1e-9).astype(np.int64)


def node_seconds(levels: NDArray[np.int64], lead: float, most: int | None = None) -> float:
    """The bound in node-seconds; `most` caps the levels."""
    if not len(levels):
        return 0.0
    top = int(levels.max()) if most is None else min(int(levels.max()), most)
    spent = 0.0
    for level in range(1, top + 1):
        on = levels >= level
        spent += float(on.sum()) + lead
        edges = np.flatnonzero(np.diff(on.astype(np.int8)))
        # Gaps lie between a fall and the next rise.
        falls = edges[~on[edges + 1]]
        rises = edges[on[edges + 1]]
        if len(falls) and len(rises):
            after = rises[np.searchsorted(rises, falls, side="right").clip(max=len(rises) - 1)]
            gaps = after - falls
            spent += float(np.minimum(gaps[gaps > 0], lead).sum())
    return spent
