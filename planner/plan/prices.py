"""How a pool buys its nodes, and at what price."""

from __future__ import annotations

from specs.prices import HOURS_A_MONTH, Item, Prices, hourly, load_prices, prices
from specs.settings.stack import GpuPool

__all__ = [
    "HOURS_A_MONTH",
    "Item",
    "Prices",
    "first_choice",
    "hourly",
    "last_resort",
    "load_prices",
    "prices",
]


def first_choice(pool: GpuPool) -> str:
    """The capacity type Karpenter tries first: reserved, then spot, then on-demand. A reservation is paid for
    whether used or not, so it is priced as on-demand.
    """
    if "reserved" in pool.capacity_types or "spot" not in pool.capacity_types:
        return "on-demand"
    return "spot"


def last_resort(pool: GpuPool) -> str:
    """The dearest way the pool may buy capacity."""
    return "spot" if set(pool.capacity_types) == {"spot"} else "on-demand"
