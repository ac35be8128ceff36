"""What is asked: sizes, kinds and texts of requests, the same for the same seed."""

import itertools
import json
import math
import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from lab.fleet.asked import CHARACTERS_PER_TOKEN, Route
from lab.load.errors import LoadError
from planner.calibrate.load import WORDS
from planner.calibrated import LARGEST, OUTPUT_SPREAD, PROMPT_SPREAD
from specs.problems import Problem

ID_PREFIX: Final = "load-"
_TEXT_WORDS: Final = 1 << 15
_MARGIN_TOKENS: Final = 64
"""Left free of the context: a chat template, and the id that begins each prompt."""
Sizes = tuple[int, int]
"""Tokens of a prompt and of its answer."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What requests are like. Sizes in tokens, shares from 0 to 1, times in seconds.

    ``first_byte_seconds``: longest wait for the first token of a stream; ``total_seconds``: for the whole answer,
    and the only limit for an answer that is not streamed. Where arrivals bring their own sizes, these hold.
    """

    prompt_tokens: float = 1000.0
    output_tokens: float = 200.0
    stream_share: float = 0.8
    chat_share: float = 0.5
    spread: bool = True
    """Sizes vary log-normally around their means (the spread of the public Azure conversation trace of 2023)."""
    longest_context: int = 8192
    first_byte_seconds: float = 600.0
    total_seconds: float = 900.0

    def __post_init__(self) -> None:
        """Raises LoadError with all that is wrong."""
        problems = [
            Problem(name, f"{value:g}", "from 0 to 1", "0 is none, 1 is all")
            for name, value in (("stream", self.stream_share), ("chat", self.chat_share))
            if not 0 <= value <= 1
        ]
        positive = (
            "prompt_tokens",
            "output_tokens",
            "longest_context",
            "first_byte_seconds",
            "total_seconds",
        )
        problems += [
            Problem(name, f"{getattr(self, name):g}", "a number above 0", "give a larger one")
            for name in positive
            if not 0 < getattr(self, name) < math.inf
        ]
        if problems:
            raise LoadError(problems)


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request; ``id`` goes out as X-Request-Id, which vLLM makes part of its answer's id."""

    number: int
    id: str
    route: Route
    stream: bool
    prompt_tokens: int
    output_tokens: int
    clipped: bool
    """Its sizes were cut to fit the context."""
    body: bytes


class Requests:
    """Makes requests, the same ones for the same seed but for the part of the id that tells runs apart."""

    def __init__(self, model: str, asking: Asking, seed: int) -> None:
        self._model = model
        self._asking = asking
        self._source = random.Random(seed)  # noqa: S311 - load, no secret
        self._run = f"{ID_PREFIX}{uuid.uuid4().hex[:8]}"
        self._numbers: Iterator[int] = itertools.count(1)
        self._text = " ".join(self._source.choices(WORDS, k=_TEXT_WORDS))

    def make(self, sizes: Sizes | None = None) -> Request:
        """The next request, of the given size or of one drawn around the means."""
        asking, source, number = self._asking, self._source, next(self._numbers)
        wanted = sizes or (
            self._size(asking.prompt_tokens, PROMPT_SPREAD),
            self._size(asking.output_tokens, OUTPUT_SPREAD),
        )
        room = max(2, asking.longest_context - _MARGIN_TOKENS)
        output = min(wanted[1], room - 1)
        prompt = min(wanted[0], room - output)
        stream = source.random() < asking.stream_share
        chat = source.random() < asking.chat_share
        name = f"{self._run}-{number}"
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": output,
            "ignore_eos": True,
            "stream": stream,
        }
        if stream:
            body["stream_options"] = {"include_usage": True}
        text = self._prompt(name, prompt * CHARACTERS_PER_TOKEN)
        if chat:
            body["messages"] = [{"role": "user", "content": text}]
        else:
            body["prompt"] = text
        return Request(
            number=number,
            id=name,
            route="/v1/chat/completions" if chat else "/v1/completions",
            stream=stream,
            prompt_tokens=prompt,
            output_tokens=output,
            clipped=(prompt, output) != wanted,
            body=json.dumps(body).encode(),
        )

    def _size(self, mean: float, sigma: float) -> int:
        if not self._asking.spread:
            return max(1, round(mean))
        drawn = self._source.lognormvariate(math.log(mean) - sigma**2 / 2, sigma)
        return max(1, round(min(drawn, mean * LARGEST)))

    def _prompt(self, name: str, characters: int) -> str:
        """The id first: no two prompts share a prefix that a cache could answer from."""
        begin = self._source.randrange(len(self._text))
        text = f"{name} {self._text[begin : begin + characters]}"
        while len(text) < characters:
            text += " " + self._text
        return text[: max(1, characters)]
