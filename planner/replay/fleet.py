"""Nodes and pods over time: scheduler, Karpenter, start-up stages, drain, consolidation, warm nodes, reclaims.

One replica fills one node (specs.fit accepts only instance types whose GPUs the replica uses up).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

CLAIM_SECONDS = 1.5
"""Karpenter's idle batch window of 1 s and the API trips around it."""
TERMINATION_SECONDS = 20.0
"""From the end of the quiet time to the instance's end: Karpenter's 15 s emptiness validation and its loop."""
BUFFER_SECONDS = 30.0
"""Karpenter looks at CapacityBuffers every 30 s."""
EXIT_SECONDS = 6.0
"""vLLM 0.32 exits 6 s after its last request."""
SPOT_NOTICE_SECONDS = 120.0


@dataclass(frozen=True)
class Timing:
    """Seconds of the stages and delays; `claim` is from a pending pod to the launch."""

    node: float
    image: float
    weights: float
    engine: float
    drain_most: float
    """preStop plus the shutdown timeout: the longest a leaving pod may stay."""
    pre_stop: float
    idle: float
    """Quiet time after which an empty node goes; infinite for never."""
    claim: float = CLAIM_SECONDS
    termination: float = TERMINATION_SECONDS
    reclaim_mean: float = float("inf")
    """Mean seconds between reclaims of one spot node."""


PodState = Literal["pending", "starting", "ready", "draining", "gone"]


@dataclass(eq=False)
class Pod:
    """One replica."""

    serial: int
    state: PodState = "pending"
    node: Node | None = None
    ready_at: float = 0.0
    load: object = None
    """The server's own record of a ready pod."""


@dataclass(eq=False)
class Node:
    """One GPU node."""

    serial: int
    launched: float
    pod: Pod | None = None
    up: bool = False
    image_at: float = float("inf")
    """When the image is on the node; infinite until a pull has begun."""
    empty_since: float = 0.0
    ending: bool = False
    watched: bool = False
    """A look at whether it is empty is due."""


@dataclass
class Fleet:
    """The cluster's side of the loop. `on_ready` and `on_leave` tell the server about capacity."""

    timing: Timing
    node_limit: int
    spares: int
    on_ready: Callable[[Pod, float], None]
    on_leave: Callable[[Pod, float], float]
    """Takes a pod that stops getting requests; returns the seconds until its last request ends."""
    next_reclaim: Callable[[], float] = lambda: float("inf")
    pods: list[Pod] = field(default_factory=list[Pod])
    """Pods that count as replicas, oldest first; draining ones are no longer in it."""
    nodes: list[Node] = field(default_factory=list[Node])
    node_seconds: float = 0.0
    launches: int = 0
    reclaims: int = 0
    peak_nodes: int = 0
    held_back: bool = False
    """A pod is pending and the limit forbids its node."""
    _events: list[tuple[float, int, Callable[[float], None]]] = field(
        default_factory=list[tuple[float, int, Callable[[float], None]]]
    )
    _serial: int = 0

    @property
    def next_event(self) -> float:
        """When something happens next by itself."""
        return self._events[0][0] if self._events else float("inf")

    @property
    def ready(self) -> int:
        """Replicas that serve."""
        return sum(1 for pod in self.pods if pod.state == "ready")

    def run_until(self, moment: float) -> None:
        """Let everything due at or before `moment` happen."""
        events = self._events
        while events and events[0][0] <= moment:
            when, _, action = heapq.heappop(events)
            action(when)

    def start_ready(self, count: int, moment: float) -> None:
        """Begin with `count` serving replicas, as a stack that has been running."""
        for _ in range(count):
            pod = self._new_pod()
            node = self._launch(moment)
            node.up, node.image_at, node.pod, pod.node = True, moment, pod, node
            self._serve(pod, moment)
        for _ in range(min(self.spares, self.node_limit - count)):
            node = self._launch(moment)
            node.up, node.image_at, node.empty_since = True, moment, moment
            self._watch(node, moment + self.timing.idle)

    def scale(self, replicas: int, moment: float) -> None:
        """The Deployment's replica count changed."""
        while len(self.pods) < replicas:
            self._new_pod()
        if len(self.pods) > replicas:
            for pod in self._victims(len(self.pods) - replicas):
                self._remove(pod, moment)
        self._place(moment)

    def finish(self, moment: float) -> None:
        """Bill what still runs at the end."""
        for node in self.nodes:
            self.node_seconds += moment - node.launched
        self.nodes.clear()

    def _at(self, when: float, action: Callable[[float], None]) -> None:
        self._serial += 1
        heapq.heappush(self._events, (when, self._serial, action))

    def _new_pod(self) -> Pod:
        self._serial += 1
        pod = Pod(self._serial)
        self.pods.append(pod)
        return pod

    def _victims(self, count: int) -> list[Pod]:
        # ReplicaSet: not ready before ready, then the one that became ready last (controller_utils.go).
        order = {"pending": 0, "starting": 1, "ready": 2}
        ranked = sorted(self.pods, key=lambda pod: (order[pod.state], -pod.ready_at, -pod.serial))
        return ranked[:count]

    def _remove(self, pod: Pod, moment: float) -> None:
        self.pods.remove(pod)
        node, served = pod.node, pod.state == "ready"
        pod.state = "draining"
        if node is None:
            pod.state = "gone"
            return
        busy = (
            min(self.on_leave(pod, moment), self.timing.drain_most - self.timing.pre_stop) if served else 0.0
        )
        stay = self.timing.pre_stop + busy + EXIT_SECONDS if served else 0.0
        self._at(moment + stay, lambda when: self._release(pod, when))

    def _release(self, pod: Pod, moment: float) -> None:
        pod.state = "gone"
        node = pod.node
        if node is None or node.pod is not pod:
            return
        node.pod, node.empty_since = None, moment
        self._place(moment)
        self._watch(node, moment + self.timing.idle)

    def _watch(self, node: Node, when: float) -> None:
        if not node.watched:
            node.watched = True
            self._at(when, lambda moment: self._consolidate(node, moment))

    def _consolidate(self, node: Node, moment: float) -> None:
        node.watched = False
        if node.ending or node.pod is not None or not node.up:
            return
        due = node.empty_since + self.timing.idle
        if moment < due:
            self._watch(node, due)
        elif self._free() <= self.spares:
            # A buffer's node is exempt from emptiness; look again when it may have become surplus.
            self._watch(node, moment + BUFFER_SECONDS)
        else:
            node.ending = True
            self._at(moment + self.timing.termination, lambda when: self._end(node, when))

    def _end(self, node: Node, moment: float) -> None:
        if node in self.nodes:
            self.nodes.remove(node)
            self.node_seconds += moment - node.launched
        self._place(moment)

    def _free(self) -> int:
        return sum(1 for node in self.nodes if node.pod is None and not node.ending)

    def _place(self, moment: float) -> None:
        """Bind pending pods to free nodes, warm ones first, and claim nodes for the rest within the limit."""
        pending = [pod for pod in self.pods if pod.state == "pending" and pod.node is None]
        if pending:
            free = [node for node in self.nodes if node.pod is None and not node.ending]
            free.sort(key=lambda node: (not node.up, node.image_at, node.launched))
            for pod, node in zip(pending, free, strict=False):
                pod.node, node.pod = node, pod
                if node.up:
                    self._begin(pod, node, moment)
            pending = pending[len(free) :]
        room = self.node_limit - len(self.nodes)
        self.held_back = len(pending) > room
        for pod in pending[: max(0, room)]:
            node = self._launch(moment + self.timing.claim)
            pod.node, node.pod = node, pod
            self._at(node.launched + self.timing.node, lambda when, node=node: self._up(node, when))
        if self.spares and self._free() < self.spares and len(self.nodes) < self.node_limit:
            self._at(moment + BUFFER_SECONDS, self._refill)

    def _refill(self, moment: float) -> None:
        while self._free() < self.spares and len(self.nodes) < self.node_limit:
            node = self._launch(moment)
            self._at(moment + self.timing.node, lambda when, node=node: self._up(node, when))

    def _launch(self, moment: float) -> Node:
        self._serial += 1
        node = Node(self._serial, moment, empty_since=moment)
        self.nodes.append(node)
        self.launches += 1
        self.peak_nodes = max(self.peak_nodes, len(self.nodes))
        reclaim = self.next_reclaim()
        if reclaim != float("inf"):
            self._at(moment + reclaim, lambda when: self._reclaim(node, when))
        return node

    def _up(self, node: Node, moment: float) -> None:
        if node not in self.nodes:
            return
        node.up = True
        # The pre-pull DaemonSet and a bound pod pull the image alike.
        node.image_at = moment + self.timing.image
        if node.pod is not None:
            self._begin(node.pod, node, moment)
        else:
            node.empty_since = moment
            self._place(moment)
            self._watch(node, moment + self.timing.idle)

    def _begin(self, pod: Pod, node: Node, moment: float) -> None:
        pod.state = "starting"
        image = max(0.0, node.image_at - moment)
        ready = moment + image + self.timing.weights + self.timing.engine
        self._at(ready, lambda when: self._serve(pod, when))

    def _serve(self, pod: Pod, moment: float) -> None:
        if pod.state in ("pending", "starting") and pod in self.pods:
            pod.state, pod.ready_at = "ready", moment
            self.on_ready(pod, moment)

    def _reclaim(self, node: Node, moment: float) -> None:
        """Spot takes the node back: its pod leaves at once and is asked for anew."""
        if node not in self.nodes or node.ending:
            return
        self.reclaims += 1
        node.ending = True
        self._at(moment + SPOT_NOTICE_SECONDS, lambda when: self._end(node, when))
        pod = node.pod
        if pod is not None and pod in self.pods:
            self._remove(pod, moment)
            self._new_pod()
            self._place(moment)
