"""The exposition of one engine: names, labels, types and buckets of vLLM 0.32.0 as scraped from a real server."""

from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST
_Family = TypeVar("_Family", Gauge, Counter)

_FIRST = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75),
    *(1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560),
)
_LATENCY = (0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
_TOKEN = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80)
_ITERATION = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
_COUNT = (1, 2, 5, 10, 20)
_LATENCIES = {
    "time_to_first_token_seconds": _FIRST,
    "inter_token_latency_seconds": _TOKEN,
    "request_time_per_output_token_seconds": _TOKEN,
    "e2e_request_latency_seconds": _LATENCY,
    "request_queue_time_seconds": _LATENCY,
    "request_inference_time_seconds": _LATENCY,
    "request_prefill_time_seconds": _LATENCY,
    "request_decode_time_seconds": _LATENCY,
}
_SIZES = (
    "request_prompt_tokens",
    "request_generation_tokens",
    "request_max_num_generation_tokens",
    "request_params_max_tokens",
    "request_prefill_kv_computed_tokens",
)
_PLAIN_COUNTERS = (
    "estimated_flops_per_gpu",
    "estimated_read_bytes_per_gpu",
    "estimated_write_bytes_per_gpu",
    "prefix_cache_queries",
    "prefix_cache_hits",
    "external_prefix_cache_queries",
    "external_prefix_cache_hits",
    "mm_cache_queries",
    "mm_cache_hits",
    "num_preemptions",
    "prompt_tokens",
    "prompt_tokens_cached",
    "generation_tokens",
)
_SOURCES = ("local_compute", "local_cache_hit", "external_kv_transfer")
_CACHED = ("device", "host", "p2p", "disk", "external_unspecified")
_REASONS = ("stop", "length", "abort", "error", "repetition")
REJECTED = ("max_num_queued_reqs", "max_num_queued_tokens")
BLOCK = 16
"""Tokens of a KV cache block (vLLM's default on GPUs)."""


def decades(most: int) -> list[int]:
    """1, 2, 5, 10, ... up to ``most``: vLLM's buckets for token counts end at the longest context."""
    found = [step * 10**power for power in range(len(str(most))) for step in (1, 2, 5)]
    return [bound for bound in found if bound <= most]


class Exposition:
    """All series exist from the first scrape at 0, the http ones once a request came, as in vLLM."""

    def __init__(self, model_name: str, max_model_len: int, kv_tokens: int) -> None:
        self.registry = CollectorRegistry()
        self._labels = {"engine": "0", "model_name": model_name}
        self.running = self._gauge("num_requests_running")
        self.waiting = self._gauge("num_requests_waiting")
        by_reason = self._family(Gauge, "num_requests_waiting_by_reason", "reason")
        self.waiting_for_capacity = by_reason.labels(**self._labels, reason="capacity")
        by_reason.labels(**self._labels, reason="deferred")
        sleep = self._family(Gauge, "engine_sleep_state", "sleep_state")
        for state in ("awake", "weights_offloaded", "discard_all"):
            sleep.labels(**self._labels, sleep_state=state).set(float(state == "awake"))
        self.kv_usage = self._gauge("kv_cache_usage_perc")
        self._counters = {
            name: self._family(Counter, name).labels(**self._labels) for name in _PLAIN_COUNTERS
        }
        self._by_source = self._labelled("prompt_tokens_by_source", "source", _SOURCES)
        self._labelled("prompt_tokens_cached_by_source", "source", _CACHED)
        self._success = self._labelled("request_success", "finished_reason", _REASONS)
        rejections = Counter(
            "vllm:admission_rejections",
            "Requests refused on arrival.",
            ["model_name", "reason"],
            registry=self.registry,
        )
        self._rejections = {
            reason: rejections.labels(model_name=model_name, reason=reason) for reason in REJECTED
        }
        buckets: dict[str, tuple[float, ...]] = {
            **_LATENCIES,
            **dict.fromkeys(_SIZES, tuple(decades(max_model_len))),
            "iteration_tokens_total": _ITERATION,
            "request_params_n": _COUNT,
            "request_num_preemptions": (1, 2, 3, 4, 5, 10, 20),
        }
        self._histograms = {name: self._histogram(name, bounds) for name, bounds in buckets.items()}
        self._cache(kv_tokens)
        self._requests = Counter(
            "http_requests", "Requests by route.", ["handler", "method", "status"], registry=self.registry
        )
        self._durations = Histogram(
            "http_request_duration_seconds",
            "Seconds by route.",
            ["handler", "method"],
            buckets=(0.1, 0.5, 1),
            registry=self.registry,
        )

    def observe(self, name: str, value: float, times: int = 1) -> None:
        """``times`` equal observations of a histogram, named without ``vllm:``."""
        histogram = self._histograms[name]
        for _ in range(times):
            histogram.observe(value)

    def count(self, name: str, amount: float = 1.0) -> None:
        """Raises a counter without labels of its own, named without ``vllm:`` and ``_total``."""
        self._counters[name].inc(amount)

    def prefilled(self, tokens: int) -> None:
        """A prompt was read."""
        self.count("prompt_tokens", tokens)
        self.count("prefix_cache_queries", tokens)
        self._by_source["local_compute"].inc(tokens)

    def succeeded(self, reason: str) -> None:
        """A request ended with a finish_reason. Clients that hang up are not counted (vLLM 0.32.0)."""
        self._success[reason].inc()

    def rejected(self, reason: str) -> None:
        """A request was refused because the queue is full."""
        self._rejections[reason].inc()

    def answered(self, handler: str, method: str, status: int, seconds: float) -> None:
        """An HTTP response; statuses are grouped as 2xx, 4xx, 5xx."""
        self._requests.labels(handler=handler, method=method, status=f"{status // 100}xx").inc()
        self._durations.labels(handler=handler, method=method).observe(seconds)

    def text(self) -> bytes:
        """The exposition."""
        return generate_latest(self.registry)

    def _family(self, kind: type[_Family], name: str, *labels: str) -> _Family:
        return kind(f"vllm:{name}", _said(name), [*self._labels, *labels], registry=self.registry)

    def _gauge(self, name: str) -> Gauge:
        return self._family(Gauge, name).labels(**self._labels)

    def _labelled(self, name: str, label: str, values: tuple[str, ...]) -> dict[str, Counter]:
        family = self._family(Counter, name, label)
        return {value: family.labels(**self._labels, **{label: value}) for value in values}

    def _histogram(self, name: str, bounds: tuple[float, ...]) -> Histogram:
        family = Histogram(
            f"vllm:{name}", _said(name), list(self._labels), buckets=bounds, registry=self.registry
        )
        return family.labels(**self._labels)

    def _cache(self, kv_tokens: int) -> None:
        values = {
            "block_size": str(BLOCK),
            "cache_dtype": "auto",
            "enable_prefix_caching": "True",
            "kv_cache_size_tokens": str(kv_tokens),
            "num_gpu_blocks": str(kv_tokens // BLOCK),
            "num_cpu_blocks": "None",
            "engine": "0",
        }
        family = Gauge("vllm:cache_config_info", "KV cache.", list(values), registry=self.registry)
        family.labels(**values).set(1)


def _said(name: str) -> str:
    return f"{name.replace('_', ' ').capitalize()}."
