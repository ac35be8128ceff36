"""Leaving without losing a request: drains, spot notices, rollouts."""

from __future__ import annotations

from collections.abc import Iterator

from specs.checks.places import active, placed, pools
from specs.drain import LEAST_MARGIN_SECONDS, SPOT_NOTICE_SECONDS, drain_seconds, grace_seconds, on_spot
from specs.gpus import surge_of
from specs.metrics_names import vllm_version
from specs.problems import Problem, shown
from specs.settings.stack import Settings

DRAIN_FLAG_SINCE = (0, 18)
# vllm-router 0.1.17 drops a pod with a deletionTimestamp within a second (measured); balancers take longer.
ROUTER_FORGETS_SECONDS = 5
# Inter-token latency of an 8B model in a busy batch: 0.03 s a token is the goal most chat SLOs state.
SECONDS_PER_TOKEN = 0.03


def problems(settings: Settings) -> Iterator[Problem]:
    """Drains against spot notices and node deadlines."""
    for path, model, pool in placed(settings):
        if on_spot(pool) and drain_seconds(model) + LEAST_MARGIN_SECONDS > SPOT_NOTICE_SECONDS:
            longest = SPOT_NOTICE_SECONDS - LEAST_MARGIN_SECONDS
            yield Problem(
                f"{path}.drain",
                f"preStopSeconds {model.drain.pre_stop_seconds} + shutdownSeconds {model.drain.shutdown_seconds}"
                f" = {drain_seconds(model)} s on pool {pool.name}, which may launch spot nodes",
                f"at most {longest} s: a spot notice leaves about 120 s and the engine's exit takes 10 s of them",
                f"set drain.shutdownSeconds to at most {max(1, longest - model.drain.pre_stop_seconds)},"
                " or serve it from a pool without spot",
            )
    for path, pool in pools(settings):
        graces = [
            (grace_seconds(model, pool), model.name) for _, model, its in placed(settings) if its is pool
        ]
        longest_grace, name = max(graces, default=(0, ""))
        if pool.termination_grace_seconds is not None and pool.termination_grace_seconds < longest_grace:
            yield Problem(
                f"{path}.terminationGraceSeconds",
                shown(pool.termination_grace_seconds),
                f"at least {longest_grace}, the grace of {name}'s replicas: else its requests are cut",
                f"set it to {max(1800, longest_grace)}",
            )


def warnings(settings: Settings) -> Iterator[Problem]:
    """What is accepted and costs requests."""
    for path, model in active(settings):
        if model.drain.pre_stop_seconds < ROUTER_FORGETS_SECONDS:
            yield Problem(
                f"{path}.drain.preStopSeconds",
                shown(model.drain.pre_stop_seconds),
                f"at least {ROUTER_FORGETS_SECONDS}: the router needs a moment to forget the replica, which answers"
                " 500 once it drains",
                "use 20",
            )
        longest = model.max_model_len * SECONDS_PER_TOKEN
        if longest > model.drain.shutdown_seconds:
            yield Problem(
                f"{path}.drain.shutdownSeconds",
                shown(model.drain.shutdown_seconds),
                f"the longest request: {model.max_model_len} tokens at {SECONDS_PER_TOKEN:g} s a token take"
                f" {longest:.0f} s; what is longer is cut at scale-down",
                "cap max_tokens at the router, or raise it on a pool without spot",
            )
        version = vllm_version(model.image)
        if version is not None and version < DRAIN_FLAG_SINCE:
            yield Problem(
                f"{path}.image",
                shown(model.image),
                "vLLM 0.18 or newer, which knows --shutdown-timeout; this one aborts what is in flight on SIGTERM",
                "use a newer image, or make drain.preStopSeconds as long as the longest request",
            )
    for path, model, pool in placed(settings):
        if surge_of(settings, model) == 0 and model.replicas.min == 1:
            yield Problem(
                f"{path}.replicas.min",
                shown(model.replicas.min),
                f"2, or room for one more replica in pool {pool.name} and gpuBudget: a rollout is not zero-downtime",
                f"raise gpuLimit and maxGpus by {model.gpus_per_replica}, or lower replicas.max",
            )
