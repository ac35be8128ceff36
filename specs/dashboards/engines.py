"""The engines: how fast they answer, how full they are, what they produce."""

from __future__ import annotations

from specs import metrics_names as names
from specs.dashboards.dashboard import MODEL, RATE, Dashboard, Row
from specs.dashboards.panel import Panel, Query
from specs.series import where

LABEL = names.MODEL_LABEL
LEGEND = f"{{{{{LABEL}}}}}"
QUANTILES = (0.5, 0.95, 0.99)


def quantile(share: float, histogram: str) -> str:
    """Quantile of an engine histogram by model."""
    buckets = where(f"{histogram}_bucket", like=MODEL)
    return f"histogram_quantile({share}, sum by ({LABEL}, le) (rate({buckets}[{RATE}])))"


def _latency(title: str, description: str, histogram: str, width: int = 12) -> Panel:
    queries = tuple(Query(quantile(share, histogram), f"{LEGEND} p{share:.0%}"[:-1]) for share in QUANTILES)
    return Panel(title, description, "s", queries, width=width)


def _per_second(name: str) -> str:
    return f"sum by ({LABEL}) (rate({where(name, like=MODEL)}[{RATE}]))"


def _total(name: str) -> str:
    return f"sum by ({LABEL}) ({where(name, like=MODEL)})"


def dashboard() -> Dashboard:
    """Latency first, since callers feel it."""
    # Under the name before vLLM 0.11 too: a rollout across the rename is seen on the way.
    cache = " or ".join(where(name, like=MODEL) for name in (names.KV_USAGE, names.KV_USAGE_BEFORE_0_11))
    latency = Row(
        "Latency",
        (
            _latency(
                "Time to first token",
                "In the engine: its queue and prefill. Time held in the router comes on top.",
                names.TTFT,
            ),
            _latency("Time between tokens", "What a reader sees while an answer runs.", names.ITL),
            _latency("Whole request", "From arrival at the engine to the last token.", names.END_TO_END),
            _latency(
                "Queue time", "Part of the time to first token; grows before anything else.", names.QUEUED
            ),
        ),
    )
    load = Row(
        "Load",
        (
            Panel(
                "Running and waiting",
                "Requests in the batch, and in the queue behind it.",
                "short",
                (
                    Query(_total(names.RUNNING), f"{LEGEND} running"),
                    Query(_total(names.WAITING), f"{LEGEND} waiting"),
                ),
            ),
            Panel(
                "Running per engine",
                "Uneven lines: the router holds on to shared prefixes, or an engine is stuck.",
                "short",
                (Query(f"sum by ({LABEL}, pod) ({where(names.RUNNING, like=MODEL)})", "{{pod}}"),),
            ),
            Panel(
                "KV cache usage",
                "Mean and fullest engine. At 100 % requests are preempted.",
                "percentunit",
                (
                    Query(f"avg by ({LABEL}) ({cache})", f"{LEGEND} mean"),
                    Query(f"max by ({LABEL}) ({cache})", f"{LEGEND} fullest"),
                ),
                most=1,
            ),
            Panel(
                "Preemptions",
                "Requests a second thrown out of the batch and computed anew: the cache is too small for the batch.",
                "reqps",
                (Query(_per_second(names.PREEMPTIONS), LEGEND),),
            ),
        ),
    )
    output = Row(
        "Throughput",
        (
            Panel(
                "Tokens a second",
                "Prompt tokens read and output tokens written.",
                "short",
                (
                    Query(_per_second(names.PROMPT_TOKENS), f"{LEGEND} prompt"),
                    Query(_per_second(names.OUTPUT_TOKENS), f"{LEGEND} output"),
                ),
            ),
            Panel(
                "Ended requests",
                "By reason. abort and error are the engine's doing; callers that hang up are in none.",
                "reqps",
                (
                    Query(
                        f"sum by ({LABEL}, finished_reason) (rate({where(names.FINISHED, like=MODEL)}[{RATE}]))",
                        f"{LEGEND} {{{{finished_reason}}}}",
                    ),
                ),
                stacked=True,
            ),
            Panel(
                "Prefix cache hits",
                "Share of the prompt tokens that were not computed again.",
                "percentunit",
                (Query(f"{_per_second(names.PREFIX_HITS)} / {_per_second(names.PREFIX_QUERIES)}", LEGEND),),
                most=1,
            ),
            Panel(
                "Given up by the router",
                "Requests whose caller got an error after the last try.",
                "reqps",
                (Query(_per_second(names.ROUTER_GIVEN_UP), LEGEND),),
            ),
        ),
    )
    return Dashboard(
        "engines",
        "Headroom / Engines",
        "vLLM as its callers and its GPUs see it.",
        (latency, load, output),
    )
