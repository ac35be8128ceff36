"""Load on an OpenAI endpoint: requests that arrive at random, streamed, with the time to each first token."""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final, cast

import httpx2

from planner.calibrate.result import Step, refused
from planner.calibrated import LARGEST, OUTPUT_SPREAD, PROMPT_SPREAD

PERCENTILE: Final = 0.95
FAILED_SHARE: Final = 0.01
KEPT_UP: Final = 0.85
"""An engine keeps up when at least this share of what arrived in the second half was served in its time."""
SEED: Final = 20250609
WORDS: Final = (
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "that",
    "for",
    "it",
    "as",
    "was",
    "with",
    "be",
    "by",
    "on",
    "not",
)
"""Common words, one token each to every large tokenizer; in random order no two prompts share a prefix."""


@dataclass(frozen=True)
class Load:
    """What is sent: mean tokens of prompts and answers, and how long a step lasts."""

    endpoint: str
    """Base URL, with or without /v1."""
    model: str
    prompt_tokens: float
    output_tokens: float
    slo: float
    step_seconds: float = 60.0
    least_requests: int = 60
    """A step lasts until that many have arrived, so that a percentile means something."""
    longest_step_seconds: float = 300.0
    most_in_flight: int = 512
    longest_context: int = 8192
    key: str | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """Where completions are asked for."""
        base = self.endpoint.rstrip("/")
        return f"{base}/completions" if base.endswith("/v1") else f"{base}/v1/completions"


@dataclass
class Sent:
    """One request and what became of it; seconds on the loop's clock."""

    at: float
    first: float | None = None
    end: float | None = None
    prompt: int = 0
    output: int = 0
    failed: bool = False


OnSent = Callable[[Sent], None]


class Generator:
    """Offers constant rates, one step after the other. An async context manager."""

    def __init__(self, load: Load, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._load, self._source = load, random.Random(SEED)  # noqa: S311 - load, no secret
        headers = {"Authorization": f"Bearer {load.key}"} if load.key else {}
        limits = httpx2.Limits(max_connections=load.most_in_flight + 8, max_keepalive_connections=64)
        timeout = httpx2.Timeout(connect=10.0, read=max(60.0, 20 * load.slo), write=10.0, pool=None)
        self._client = httpx2.AsyncClient(
            headers=headers, limits=limits, timeout=timeout, transport=transport
        )
        self._words_a_token = 1.0

    async def __aenter__(self) -> Generator:
        await self._probe()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def _probe(self) -> None:
        """One request: is it there, does it know the model, how many tokens are its words. Raises CalibrationError."""
        sent = Sent(at=0.0)
        words = max(8, round(self._load.prompt_tokens))
        try:
            await self._ask(sent, words, 2)
        except httpx2.HTTPStatusError as error:
            body = error.response.text[:200]
            raise refused(self._load.url, f"{error.response.status_code}: {body}", "200 and a stream of tokens",
                          "check the address, the model's name and the key") from error  # fmt: skip
        except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
            raise refused(self._load.url, f"{type(error).__name__}: {error}", "an OpenAI completions endpoint",
                          "check the address; a port-forward to one engine pod will do") from error  # fmt: skip
        if sent.first is None:
            raise refused(
                self._load.url, "a stream without a token", "a streamed completion", "check the model"
            )
        if sent.prompt:
            self._words_a_token = words / sent.prompt

    async def step(self, rate: float) -> Step:
        """Offer `rate` until enough has arrived, then wait for what is in flight."""
        load = self._load
        seconds = min(max(load.step_seconds, load.least_requests / rate), load.longest_step_seconds)
        loop = asyncio.get_running_loop()
        began, sent = loop.time(), list[Sent]()
        tasks: set[asyncio.Task[None]] = set()
        overrun = False
        moment = self._source.expovariate(rate)
        while moment < seconds:
            await asyncio.sleep(max(0.0, began + moment - loop.time()))
            if len(tasks) >= load.most_in_flight:
                overrun = True
                break
            one = Sent(at=loop.time())
            sent.append(one)
            task = asyncio.create_task(self._answered(one))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            moment += self._source.expovariate(rate)
        ended = loop.time()
        if tasks:
            await asyncio.wait(tasks, timeout=max(10.0, 10 * load.slo))
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return summary(rate, sent, began, ended, load.slo, overrun)

    async def _answered(self, sent: Sent) -> None:
        load = self._load
        words = _size(self._source, load.prompt_tokens, PROMPT_SPREAD)
        output = _size(self._source, load.output_tokens, OUTPUT_SPREAD)
        words = min(words, max(1, load.longest_context - output - 8))
        try:
            await self._ask(sent, max(1, round(words * self._words_a_token)), output)
        except (httpx2.HTTPError, ValueError, KeyError, TypeError):
            sent.failed = True
        except asyncio.CancelledError:
            sent.failed = True
            raise

    async def _ask(self, sent: Sent, words: int, output: int) -> None:
        """Stream one completion into `sent`."""
        loop = asyncio.get_running_loop()
        body: dict[str, object] = {
            "model": self._load.model,
            "prompt": " ".join(self._source.choices(WORDS, k=words)),
            "max_tokens": output,
            "ignore_eos": True,
            "temperature": 1.0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        async with self._client.stream("POST", self._load.url, json=body) as answer:
            if answer.status_code != 200:
                await answer.aread()
                answer.raise_for_status()
            async for event in _events(answer):
                if "error" in event:
                    raise ValueError(str(event["error"]))
                if event.get("choices"):
                    sent.first = sent.first if sent.first is not None else loop.time()
                    sent.output += 1
                usage = event.get("usage")
                if isinstance(usage, dict):
                    counts = cast(dict[str, int], usage)
                    sent.prompt, sent.output = counts["prompt_tokens"], counts["completion_tokens"]
        if sent.first is None:
            raise ValueError("no token")
        sent.end = loop.time()


async def _events(answer: httpx2.Response) -> AsyncIterator[dict[str, object]]:
    """The JSON of each server-sent event, until [DONE]."""
    async for line in answer.aiter_lines():
        text = line.removeprefix("data:").strip()
        if not line.startswith("data:") or not text:
            continue
        if text == "[DONE]":
            return
        yield cast(dict[str, object], json.loads(text))


def _size(source: random.Random, mean: float, spread: float) -> int:
    drawn = source.lognormvariate(math.log(mean) - spread**2 / 2, spread)
    return max(1, round(min(drawn, mean * LARGEST)))


def summary(rate: float, sent: list[Sent], began: float, ended: float, slo: float, overrun: bool) -> Step:
    """What a step shows. The first tenth is left out, in which the batch only fills."""
    counted = [one for one in sent if one.at >= began + 0.1 * (ended - began)] or sent
    waits = sorted(one.first - one.at if one.first is not None else math.inf for one in counted)
    p95 = waits[min(len(waits) - 1, int(PERCENTILE * len(waits)))] if waits else math.inf
    failed = sum(one.failed for one in sent)
    done = [one for one in counted if one.end is not None and not one.failed]
    half = began + (ended - began) / 2
    arrived = sum(one.at >= half for one in sent)
    left = sum(half <= (one.end or math.inf) <= ended for one in sent)
    kept = left >= KEPT_UP * arrived or p95 <= slo / 2
    within = not overrun and bool(sent) and p95 <= slo and failed <= FAILED_SHARE * len(sent) and kept
    span = max(1e-9, ended - began)
    return Step(
        offered=rate,
        served=sum(not one.failed and one.end is not None for one in sent) / span,
        ttft_p95=p95 if math.isfinite(p95) else span,
        requests=len(sent),
        failed=failed,
        prompt_tokens=_mean([one.prompt for one in done]),
        output_tokens=_mean([one.output for one in done]),
        within=within,
    )


def _mean(values: list[int]) -> float:
    return sum(values) / len(values) if values else 0.0
