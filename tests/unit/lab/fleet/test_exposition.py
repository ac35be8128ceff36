"""/metrics: what the rules and triggers of the program read, and what a real vLLM 0.32.0 exports beside it."""

import asyncio

from prometheus_client.parser import text_string_to_metric_families

from lab.fleet.exposition import Exposition
from specs.metrics_names import KV_USAGE, RUNNING, WAITING
from tests.unit.lab.fleet.engines import play, serving

# Every family of a real vLLM 0.32.0 exposition, without the prefix and the _created ones.
REAL = {
    "counter": """
    admission_rejections_total estimated_flops_per_gpu_total estimated_read_bytes_per_gpu_total
    estimated_write_bytes_per_gpu_total external_prefix_cache_hits_total
    external_prefix_cache_queries_total generation_tokens_total mm_cache_hits_total
    mm_cache_queries_total num_preemptions_total prefix_cache_hits_total prefix_cache_queries_total
    prompt_tokens_by_source_total prompt_tokens_cached_by_source_total prompt_tokens_cached_total
    prompt_tokens_total request_success_total
    """,
    "gauge": """
    cache_config_info engine_sleep_state kv_cache_usage_perc num_requests_running num_requests_waiting
    num_requests_waiting_by_reason
    """,
    "histogram": """
    e2e_request_latency_seconds inter_token_latency_seconds iteration_tokens_total
    request_decode_time_seconds request_generation_tokens request_inference_time_seconds
    request_max_num_generation_tokens request_num_preemptions request_params_max_tokens request_params_n
    request_prefill_kv_computed_tokens request_prefill_time_seconds request_prompt_tokens
    request_queue_time_seconds request_time_per_output_token_seconds time_to_first_token_seconds
    """,
}
LABELS = '{engine="0",model_name="m"}'


def _families(model_len: int = 8192) -> dict[str, str]:
    text = Exposition("m", model_len, 16_000).text().decode()
    return {family.name: family.type for family in text_string_to_metric_families(text)}


def test_every_series_exists_before_the_first_request() -> None:
    families = _families()
    assert {RUNNING, WAITING, KV_USAGE} <= families.keys()
    assert families["vllm:request_success"] == "counter"
    assert families["vllm:time_to_first_token_seconds"] == "histogram"
    assert families["vllm:admission_rejections"] == "counter"
    assert not [name for name in families if "gpu_cache" in name]


def test_names_and_types_are_those_of_a_real_exposition() -> None:
    text = Exposition("m", 8192, 16_000).text().decode()
    told = {line for line in text.splitlines() if line.startswith("# TYPE vllm:") and "_created " not in line}
    assert told == {f"# TYPE vllm:{name} {kind}" for kind, names in REAL.items() for name in names.split()}


def test_token_buckets_end_at_the_longest_context() -> None:
    text = Exposition("m", 512, 16_000).text().decode()
    found = [line for line in text.splitlines() if line.startswith("vllm:request_prompt_tokens_bucket")]
    assert 'le="500.0"' in found[-2]
    assert 'le="+Inf"' in found[-1]


def test_counters_and_histograms_say_when_they_were_created() -> None:
    text = Exposition("m", 8192, 16_000).text().decode()
    assert "# TYPE vllm:generation_tokens_created gauge" in text
    assert "# TYPE vllm:time_to_first_token_seconds_created gauge" in text


def test_running_and_waiting_are_told_apart() -> None:
    async def scene() -> None:
        async with serving(max_num_seqs=2) as caller:
            tasks = [asyncio.create_task(caller.ask(2000)) for _ in range(5)]
            await caller.loaded(5)
            await asyncio.sleep(0.1)
            assert await caller.metric(RUNNING + LABELS) == 2
            assert await caller.metric(WAITING + LABELS) == 3
            capacity = 'vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="capacity"}'
            assert await caller.metric(capacity) == 3
            assert 0 < await caller.metric(KV_USAGE + LABELS) < 1
            for task in tasks:
                task.cancel()

    play(scene())


def test_a_finished_request_is_counted_and_leaves_nothing_behind() -> None:
    async def scene() -> None:
        async with serving() as caller:
            await caller.ask(7)
            done = 'vllm:request_success_total{engine="0",finished_reason="length",model_name="m"}'
            assert await caller.metric(done) == 1
            assert await caller.metric("vllm:prompt_tokens_total" + LABELS) == 50
            assert await caller.metric("vllm:generation_tokens_total" + LABELS) == 7
            assert await caller.metric("vllm:inter_token_latency_seconds_count" + LABELS) == 6
            assert await caller.metric("vllm:time_to_first_token_seconds_count" + LABELS) == 1
            assert await caller.metric(KV_USAGE + LABELS) == 0
            assert await caller.metric(RUNNING + LABELS) == 0
            posted = 'http_requests_total{handler="/v1/completions",method="POST",status="2xx"}'
            assert await caller.metric(posted) == 1

    play(scene())


def test_a_client_that_hangs_up_frees_its_place_and_is_counted_nowhere() -> None:
    async def scene() -> None:
        async with serving() as caller:
            tasks = [asyncio.create_task(caller.stream(2000)), asyncio.create_task(caller.ask(2000))]
            await caller.loaded(2)
            await asyncio.sleep(0.1)
            for task in tasks:
                task.cancel()
            await caller.loaded(0)
            assert await caller.metric(RUNNING + LABELS) == 0
            for reason in ("abort", "length"):
                line = f'vllm:request_success_total{{engine="0",finished_reason="{reason}",model_name="m"}}'
                assert await caller.metric(line) == 0

    play(scene())
