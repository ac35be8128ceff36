"""Requests: the same for the same seed, of the sizes and kinds asked for."""

import json
from collections import Counter
from typing import Any

import pytest

from lab.fleet.asked import CHARACTERS_PER_TOKEN
from lab.load import Asking
from lab.load.request import Request, Requests


def _bodies(seed: int, asking: Asking, count: int = 200) -> list[dict[str, Any]]:
    maker = Requests("m", asking, seed)
    return [json.loads(maker.make().body) for _ in range(count)]


def _prompt(body: dict[str, Any]) -> str:
    return body["prompt"] if "prompt" in body else body["messages"][0]["content"]


def test_a_seed_gives_the_same_sizes_and_kinds() -> None:
    def shape(seed: int) -> list[tuple[Any, ...]]:
        return [
            (body["max_tokens"], body["stream"], "prompt" in body, len(_prompt(body)))
            for body in _bodies(seed, Asking())
        ]

    assert shape(3) == shape(3)
    assert shape(3) != shape(4)


def test_no_two_prompts_begin_alike() -> None:
    prompts = [_prompt(body) for body in _bodies(0, Asking(prompt_tokens=50))]
    assert len({prompt.split()[0] for prompt in prompts}) == len(prompts)


def test_sizes_vary_around_their_means() -> None:
    bodies = _bodies(0, Asking(prompt_tokens=400, output_tokens=100), 2000)
    assert sum(body["max_tokens"] for body in bodies) / 2000 == pytest.approx(100, rel=0.1)
    characters = sum(len(_prompt(body)) for body in bodies) / 2000
    assert characters / CHARACTERS_PER_TOKEN == pytest.approx(400, rel=0.1)


def test_shares_of_streams_and_chats_are_kept() -> None:
    asking = Asking(prompt_tokens=20, output_tokens=5, stream_share=0.25, chat_share=0.75)
    kinds = Counter((body["stream"], "messages" in body) for body in _bodies(1, asking, 2000))
    streams = sum(count for (stream, _), count in kinds.items() if stream)
    chats = sum(count for (_, chat), count in kinds.items() if chat)
    assert (streams / 2000, chats / 2000) == pytest.approx((0.25, 0.75), abs=0.05)


@pytest.mark.parametrize("size", [(5000, 5000), (20_000, 3), (3, 20_000)])
def test_what_exceeds_the_context_is_cut_and_told(size: tuple[int, int]) -> None:
    request = Requests("m", Asking(longest_context=4096), 0).make(size)
    assert request.clipped
    assert request.prompt_tokens + request.output_tokens <= 4096
    assert not Requests("m", Asking(longest_context=4096), 0).make((2000, 2000)).clipped


@pytest.mark.parametrize("tokens", [1, 7, 60_000])
def test_a_prompt_has_the_size_asked_for_however_long(tokens: int) -> None:
    request: Request = Requests("m", Asking(longest_context=1 << 20), 0).make((tokens, 1))
    assert len(_prompt(json.loads(request.body))) == tokens * CHARACTERS_PER_TOKEN
