"""Metric names of the vLLM engine, by image version.

Sources: a scrape of vLLM 0.32.0 and the source of 0.33.0; what left with 0.11 is in vllm pull requests 27341
and 18354, what was before it in vllm/engine/metrics.py of 0.6 to 0.10. Routers that use the same prefix are no
engines.
"""

import re
from collections.abc import Collection

from policies.shape import ENGINE

CURRENT = (0, 33)
"""The newest version whose names stand here."""
SINCE = (0, 11)
_RENAMED = "kv_cache_usage_perc"
GONE = {
    "gpu_cache_usage_perc": "kv_cache_usage_perc",
    "cpu_cache_usage_perc": "kv_cache_usage_perc",
    "num_requests_swapped": "num_requests_waiting",
    "gpu_prefix_cache_hit_rate": "prefix_cache_hits_total",
    "cpu_prefix_cache_hit_rate": "prefix_cache_hits_total",
    "gpu_prefix_cache_queries": "prefix_cache_queries_total",
    "gpu_prefix_cache_hits": "prefix_cache_hits_total",
}
_BEFORE = frozenset(
    [
        "avg_prompt_throughput_toks_per_s",
        "avg_generation_throughput_toks_per_s",
        "time_in_queue_requests",
        "model_forward_time_milliseconds",
        "model_execute_time_milliseconds",
        "request_params_best_of",
        "tokens",
    ]
)
_SUFFIX = re.compile(r"_(?:total|bucket|sum|count|created)$")
_NAMES = frozenset(
    [
        "num_requests_running",
        "num_requests_waiting",
        "num_requests_waiting_by_reason",
        "kv_cache_usage_perc",
        "engine_sleep_state",
        "cache_config_info",
        "prompt_tokens",
        "generation_tokens",
        "request_success",
        "num_preemptions",
        "prefix_cache_queries",
        "prefix_cache_hits",
        "admission_rejections",
        "prompt_tokens_by_source",
        "prompt_tokens_cached",
        "prompt_tokens_cached_by_source",
        "estimated_flops_per_gpu",
        "estimated_read_bytes_per_gpu",
        "estimated_write_bytes_per_gpu",
        "time_to_first_token_seconds",
        "inter_token_latency_seconds",
        "request_time_per_output_token_seconds",
        "time_per_output_token_seconds",
        "e2e_request_latency_seconds",
        "request_queue_time_seconds",
        "request_inference_time_seconds",
        "request_prefill_time_seconds",
        "request_decode_time_seconds",
        "request_prompt_tokens",
        "request_generation_tokens",
        "request_max_num_generation_tokens",
        "request_params_n",
        "request_params_max_tokens",
        "iteration_tokens",
        "request_num_preemptions",
        "request_prefill_kv_computed_tokens",
        "corrupted_requests",
        "lora_requests_info",
    ]
)
_FAMILIES = ("external_prefix_cache_", "mm_cache_", "spec_decode_", "nixl_", "kv_block_", "kv_offload_")


def wrong_name(metric: str, version: tuple[int, int] | None, read: Collection[str]) -> str | None:
    """Why an image of this version does not export `vllm:<metric>`; `None` when it does, or may.

    A version that can't be read from the image is taken for `CURRENT`. `read` is every metric of the query: a name
    of another version passes beside its name in this one, for it is then read `or`.
    """
    bare = metric.removeprefix(ENGINE)
    base = _SUFFIX.sub("", bare)
    if version is not None and version < SINCE:
        return _wrong_before(bare, base, read)
    replacement = GONE.get(bare) or GONE.get(base)
    if replacement is not None:
        beside = version is None and f"{ENGINE}{replacement}" in read
        return None if beside else f"vllm:{bare} is gone since vLLM 0.11; use vllm:{replacement}"
    if bare in _NAMES or base in _NAMES or bare.startswith(_FAMILIES):
        return None
    return f"vllm:{bare} is not a metric of vLLM {CURRENT[0]}.{CURRENT[1]}"


def _wrong_before(bare: str, base: str, read: Collection[str]) -> str | None:
    if bare == _RENAMED:
        older = next(old for old, new in GONE.items() if new == bare)
        beside = f"{ENGINE}{older}" in read
        return None if beside else f"vllm:{bare} came with vLLM 0.11; use vllm:{older}"
    known = _NAMES | GONE.keys() | _BEFORE
    if bare in known or base in known or bare.startswith(_FAMILIES):
        return None
    return f"vllm:{bare} is not a metric of any vLLM"
