"""What the loop asks of whatever serves the requests."""

from __future__ import annotations

from typing import Protocol


class Server(Protocol):
    """What serves: the fluid or the request-level fleet of engines."""

    @property
    def violation_so_far(self) -> float:
        """Seconds in violation up to now, where the server can tell already."""
        ...

    @property
    def ready(self) -> int:
        """Replicas that take requests."""
        ...

    @property
    def waiting(self) -> float:
        """Requests waiting in engines."""
        ...

    @property
    def running(self) -> float:
        """Requests running in engines."""
        ...

    @property
    def held(self) -> float:
        """Requests the router holds while no replica is ready."""
        ...

    @property
    def kv_usage(self) -> float:
        """Mean KV-cache usage of the engines."""
        ...

    @property
    def gpu_utilisation(self) -> float:
        """Mean share of time with a kernel on the GPU, in percent."""
        ...

    def advance_to(self, moment: float) -> None:
        """Time passes up to `moment`."""
        ...

    def processed(self) -> float:
        """Requests the router has sent to engines so far."""
        ...
