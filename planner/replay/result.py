"""What a replay found."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.replay.clock import Timeline


@dataclass(frozen=True)
class ReplayResult:
    """Figures of one policy on one trace. Node-hours count from launch to termination, warm and draining nodes
    included; violation seconds are those in which callers waited longer than the SLO.
    """

    policy: str
    trace: str
    model: str
    duration_seconds: float
    requests: int
    node_seconds: float
    gpus_per_node: int
    usd: float
    violation_seconds: float
    bound_node_seconds: float
    peak_replicas: int
    reversals: int
    cpu_seconds: float
    launches: int = 0
    reclaims: int = 0
    held_back: bool = False
    cut: int = 0
    """Requests a drain cut off; request-level only."""
    lead_seconds: float = 0.0
    usd_per_node_hour: float = 0.0
    timeline: Timeline | None = field(default=None, compare=False, repr=False)

    @property
    def violation_share(self) -> float:
        """Share of the time in violation."""
        return self.violation_seconds / self.duration_seconds if self.duration_seconds else 0.0

    @property
    def bound_ratio(self) -> float:
        """Node-seconds over the clairvoyant bound (CR); 0 where the bound is 0."""
        return self.node_seconds / self.bound_node_seconds if self.bound_node_seconds else 0.0

    @property
    def cost(self) -> float:
        """J: node-hours plus 20 for each hour in violation."""
        return self.node_seconds / 3600 + 20.0 * self.violation_seconds / 3600

    def as_json(self) -> dict[str, object]:
        """The keys of `headroom replay --json`."""
        hours = self.duration_seconds / 3600
        return {
            "policy": self.policy,
            "trace": self.trace,
            "model": self.model,
            "durationSeconds": round(self.duration_seconds, 3),
            "requests": self.requests,
            "nodeHours": round(self.node_seconds / 3600, 4),
            "gpuHours": round(self.node_seconds * self.gpus_per_node / 3600, 4),
            "usd": round(self.usd, 2),
            "violationSeconds": round(self.violation_seconds, 3),
            "violationShare": round(self.violation_share, 6),
            "boundNodeHours": round(self.bound_node_seconds / 3600, 4),
            "boundRatio": round(self.bound_ratio, 4),
            "peakReplicas": self.peak_replicas,
            "reversalsPerHour": round(self.reversals / hours, 4) if hours else 0.0,
            "cpuSeconds": round(self.cpu_seconds, 3),
        }
