"""What a caller asks for: the bodies of /v1/completions and /v1/chat/completions, reduced to sizes."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

CHARACTERS_PER_TOKEN = 4
"""English text in the tokenizers of Llama 3 and its kind, roughly."""
_TEMPLATE_TOKENS = 4
"""What a chat template adds to each message, roughly."""
DEFAULT_COMPLETION_TOKENS = 16
"""max_tokens of /v1/completions (the OpenAI API's default)."""

Route = Literal["/v1/completions", "/v1/chat/completions"]


class RefusedError(ValueError):
    """A body that the server refuses with a status."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class _StreamOptions(BaseModel):
    include_usage: bool = False


class Asked(BaseModel):
    """The fields that the simulation obeys; the others are accepted and ignored, as vLLM does."""

    model_config = ConfigDict(frozen=True)

    model: str | None = None
    prompt: str | list[str] | list[int] | None = None
    messages: list[dict[str, Any]] | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    stream: bool = False
    stream_options: _StreamOptions | None = None

    @property
    def usage_wanted(self) -> bool:
        """Whether a stream ends with a chunk of token counts."""
        return self.stream_options is not None and self.stream_options.include_usage


class Sizes(BaseModel):
    """Tokens in and out; ``natural``: the text ends by itself before a limit."""

    model_config = ConfigDict(frozen=True)

    prompt: int
    output: int
    natural: bool


def parse(body: bytes, route: Route, served: str) -> Asked:
    """Reads a body. Raises RefusedError with 400 for a bad one, 404 for another model."""
    try:
        asked = Asked.model_validate_json(body)
    except ValidationError as error:
        said = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in error.errors()
        )
        raise RefusedError(400, "BadRequestError", said) from error
    given = asked.prompt if route == "/v1/completions" else asked.messages
    if given is None:
        field = "prompt" if route == "/v1/completions" else "messages"
        raise RefusedError(400, "BadRequestError", f"{field}: Field required")
    if asked.model not in (None, served):
        raise RefusedError(404, "NotFoundError", f"The model `{asked.model}` does not exist.")
    return asked


def sizes(asked: Asked, max_model_len: int, natural_tokens: int) -> Sizes:
    """How much there is to read and to write. Raises RefusedError when it exceeds the context.

    A chat without a limit ends by itself after ``natural_tokens``.
    """
    prompt = _prompt_tokens(asked)
    limit = asked.max_completion_tokens or asked.max_tokens
    if limit is None and asked.messages is None:
        limit = DEFAULT_COMPLETION_TOKENS
    room = max_model_len - prompt
    if room < 1 or (limit or 0) > room:
        raise RefusedError(
            400,
            "BadRequestError",
            f"This model's maximum context length is {max_model_len} tokens. However, you requested "
            f"{limit or 1} output tokens and your prompt contains {prompt} input tokens.",
        )
    if limit is None:
        return Sizes(prompt=prompt, output=min(room, natural_tokens), natural=natural_tokens <= room)
    return Sizes(prompt=prompt, output=limit, natural=False)


def _prompt_tokens(asked: Asked) -> int:
    if asked.messages is not None:
        return sum(_text_tokens(one.get("content")) + _TEMPLATE_TOKENS for one in asked.messages) or 1
    prompt = asked.prompt or ""
    if isinstance(prompt, list) and prompt and isinstance(prompt[0], int):
        return len(prompt)
    return max(1, _text_tokens(prompt if isinstance(prompt, str) else "".join(map(str, prompt))))


def _text_tokens(content: object) -> int:
    text = content if isinstance(content, str) else str(content or "")
    return -(-len(text) // CHARACTERS_PER_TOKEN)
