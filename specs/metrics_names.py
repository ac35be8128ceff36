"""The series that triggers, rules and dashboards read: every name is written here once.

vLLM names: vLLM 0.33 `/metrics`; router names: vllm-router 0.1.17 `/metrics`. The router's series carry no
model label, so its PodMonitor must add `headroom_model` (see `router_labels`) by relabelling.
"""

from __future__ import annotations

import re
from typing import Final

from specs.settings.model import Model

RUNNING: Final = "vllm:num_requests_running"
WAITING: Final = "vllm:num_requests_waiting"
KV_USAGE: Final = "vllm:kv_cache_usage_perc"
KV_USAGE_BEFORE_0_11: Final = "vllm:gpu_cache_usage_perc"

TTFT: Final = "vllm:time_to_first_token_seconds"
ITL: Final = "vllm:inter_token_latency_seconds"
END_TO_END: Final = "vllm:e2e_request_latency_seconds"
QUEUED: Final = "vllm:request_queue_time_seconds"
"""Histograms of one engine: `_bucket`, `_sum` and `_count`. TTFT: to the first token, ITL: to each next one."""
PREEMPTIONS: Final = "vllm:num_preemptions_total"
PROMPT_TOKENS: Final = "vllm:prompt_tokens_total"
OUTPUT_TOKENS: Final = "vllm:generation_tokens_total"
PREFIX_QUERIES: Final = "vllm:prefix_cache_queries_total"
PREFIX_HITS: Final = "vllm:prefix_cache_hits_total"
FINISHED: Final = "vllm:request_success_total"
"""Ended requests by finished_reason; those whose caller hung up are not counted (vLLM 0.32)."""
FAILED_REASONS: Final = ("abort", "error")

ROUTER_ATTEMPTS: Final = "vllm_router_processed_requests_total"
"""One per attempt sent to a worker; arrival-side while workers exist."""
ROUTER_RUNNING: Final = "vllm_router_running_requests"
"""In flight per worker; only with the policies cache_aware and power_of_two."""
ROUTER_ERRORS: Final = "vllm_router_request_errors_total"
"""With error_type="no_available_workers": one per try of a held request, about one a second each."""
ROUTER_ANSWERED: Final = "vllm_router_requests_total"
"""Requests answered with success, counted when the answer begins."""
ROUTER_GIVEN_UP: Final = "vllm_router_retries_exhausted_total"
"""Requests whose caller got the last try's 5xx or 429 (seen on 0.1.17; a caller's own 4xx is not in it)."""
ROUTER_WORKERS: Final = "vllm_router_active_workers"
"""Workers in the list; the only series of the router that exists from its first scrape."""
NO_WORKERS: Final = "no_available_workers"

MODEL_LABEL: Final = "headroom_model"
"""Label that the PodMonitors put on router and engine targets, and the rules on recorded series."""

OFFERED: Final = "headroom:offered_requests:rate5m"
"""Requests a second that callers offer, over five minutes."""
OFFERED_NOW: Final = "headroom:offered_requests:rate"
"""The same, raised by shorter windows as soon as these exceed counting noise."""
DEMAND: Final = "headroom:demand:replicas"
"""Replicas that the offered load needs now, not rounded."""
GROWTH: Final = "headroom:growth:ratio"
"""Demand now over the demand one lead time ago."""
RESERVED: Final = "headroom:reserved_requests:rate"
"""Requests a second to be ready for: the offered ones with conditional headroom."""
TREND: Final = "headroom:candidate_requests:trend"
SEASON_DAY: Final = "headroom:candidate_requests:day"
SEASON_WEEK: Final = "headroom:candidate_requests:week"
LOSS_LAST: Final = "headroom:candidate_loss:last"
LOSS_TREND: Final = "headroom:candidate_loss:trend"
LOSS_SEASON_DAY: Final = "headroom:candidate_loss:day"
LOSS_SEASON_WEEK: Final = "headroom:candidate_loss:week"
"""What acting on each candidate one lead time ago cost, in requests a second."""
FORECAST: Final = "headroom:forecast_requests:rate"
"""Requests a second expected one lead time ahead, by the candidates whose backtest wins."""

TTFT_MEASURED: Final = "headroom:ttft_requests:rate5m"
"""First tokens a second."""
TTFT_PROMISED: Final = "headroom:ttft_promised:seconds"
"""slo.ttftSeconds, for charts to draw."""
TTFT_SLOW: Final = "headroom:ttft_slow:rate5m"
"""First tokens a second that came later than `slo.ttftSeconds`."""
DECIDED: Final = "headroom:decided_requests:rate5m"
"""Requests a second that were answered or given up."""
FAILED: Final = "headroom:failed_requests:rate5m"
"""Requests a second that were given up, or broken off by the engine."""
LOSS_FORECAST: Final = "headroom:forecast_loss:rate"
"""What acting on the forecast one lead time ago cost, in requests a second."""

# vLLM renamed the gauge in 0.11 (vllm pull requests 24245 and 27341) and dropped the old names; the names
# below are in no release that this program pins.
GONE_SINCE: Final[dict[str, tuple[tuple[int, int], str]]] = {
    "vllm:gpu_cache_usage_perc": ((0, 11), KV_USAGE),
    "vllm:cpu_cache_usage_perc": ((0, 9), KV_USAGE),
    "vllm:num_requests_swapped": ((0, 9), WAITING),
    "vllm:gpu_prefix_cache_hit_rate": ((0, 9), "vllm:prefix_cache_hits_total"),
    "vllm:cpu_prefix_cache_hit_rate": ((0, 9), "vllm:prefix_cache_hits_total"),
    "vllm:time_in_queue_requests": ((0, 9), "vllm:request_queue_time_seconds"),
}
ADDED_IN: Final[dict[str, tuple[tuple[int, int], str]]] = {
    "vllm:kv_cache_usage_perc": ((0, 11), KV_USAGE_BEFORE_0_11),
}

_TAG_VERSION = re.compile(r":v?(\d+)\.(\d+)(?:\.(\d+))?[^/@]*(?:@|$)")


def vllm_version(image: str) -> tuple[int, int] | None:
    """(major, minor) of a vLLM image's tag; None when the tag says nothing (a digest alone, a nightly)."""
    match = _TAG_VERSION.search(image)
    return (int(match[1]), int(match[2])) if match else None


def kv_usage_names(image: str) -> tuple[str, ...]:
    """The KV-cache gauge(s) the image exports. Both where the version is unknown or older than the rename,
    so that a rollout across the rename is covered on the way.
    """
    version = vllm_version(image)
    if version is not None and version >= (0, 11):
        return (KV_USAGE,)
    return (KV_USAGE, KV_USAGE_BEFORE_0_11)


def engine_labels(model: Model) -> tuple[tuple[str, str], ...]:
    """Matchers that select one model's engines."""
    return (("namespace", model.namespace), ("model_name", model.api_name))


def router_labels(model: Model) -> tuple[tuple[str, str], ...]:
    """Matchers that select one model's routers; `headroom_model` comes from the PodMonitor's relabelling."""
    return (("namespace", model.namespace), (MODEL_LABEL, model.name))


def recorded_labels(model: Model) -> tuple[tuple[str, str], ...]:
    """Labels that the rules put on a model's recorded series, and the matchers that select them."""
    return router_labels(model)
