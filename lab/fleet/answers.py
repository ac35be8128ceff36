"""The bodies of an OpenAI server's answers, as vLLM 0.32 writes them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab.fleet.asked import Route
from lab.fleet.simulation import Reason

DONE = b"data: [DONE]\n\n"
_WORD = " token"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer: its id and time of creation (seconds of the epoch) are in every chunk of it."""

    route: Route
    id: str
    model: str
    created: int

    def chunk(self, tokens: int, reason: Reason | None = None) -> bytes:
        """An event of a stream."""
        text = _WORD * tokens
        if self.route == "/v1/completions":
            choice: dict[str, Any] = {"index": 0, "text": text, "finish_reason": reason}
            return event(self._body("text_completion", [choice]))
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
        return event(self._body("chat.completion.chunk", [choice]))

    def usage_chunk(self, prompt: int, output: int) -> bytes:
        """The event before [DONE] for who asked for token counts."""
        kind = "text_completion" if self.route == "/v1/completions" else "chat.completion.chunk"
        return event({**self._body(kind, []), "usage": usage(prompt, output)})

    def whole(self, prompt: int, output: int, reason: Reason | None) -> dict[str, Any]:
        """The body of an answer that is not streamed."""
        text = _WORD * output
        if self.route == "/v1/completions":
            kind, choice = "text_completion", {"index": 0, "text": text, "finish_reason": reason}
        else:
            message = {"role": "assistant", "content": text}
            kind, choice = "chat.completion", {"index": 0, "message": message, "finish_reason": reason}
        return {**self._body(kind, [choice]), "usage": usage(prompt, output)}

    def _body(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }


def usage(prompt: int, output: int) -> dict[str, int]:
    """Token counts."""
    return {"prompt_tokens": prompt, "total_tokens": prompt + output, "completion_tokens": output}


def event(body: Mapping[str, Any]) -> bytes:
    """A server-sent event."""
    return b"data: " + json.dumps(body, separators=(",", ":")).encode() + b"\n\n"


def error(status: int, kind: str, message: str) -> dict[str, Any]:
    """The body of a refusal."""
    return {"error": {"message": message, "type": kind, "param": None, "code": status}}


def models(name: str, created: int, max_model_len: int) -> dict[str, Any]:
    """The body of /v1/models."""
    model = {
        "id": name,
        "object": "model",
        "created": created,
        "owned_by": "vllm",
        "root": name,
        "max_model_len": max_model_len,
    }
    return {"object": "list", "data": [model]}
