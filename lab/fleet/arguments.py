"""What a container's arguments and environment say about the engine in it."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

KEEP_ALIVE_SECONDS = 5.0
"""Idle connections are closed after this long (vLLM 0.32, VLLM_HTTP_TIMEOUT_KEEP_ALIVE)."""


class ArgumentsError(ValueError):
    """Arguments that vLLM would not start with; the text names them."""


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """The options of ``vllm serve`` that the simulation obeys; seconds and tokens. None: vLLM sets no limit."""

    model_name: str
    port: int = 8000
    max_model_len: int = 8192
    max_num_seqs: int | None = None
    shutdown_timeout: float = 0.0
    max_num_queued_reqs: int | None = None
    keep_alive: float = KEEP_ALIVE_SECONDS


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]  # argparse declares NoReturn; this raises too
        raise ArgumentsError(f"vllm serve: {message}")


def engine_options(words: Sequence[str], environment: Mapping[str, str]) -> EngineOptions:
    """Command and arguments of a container, as vLLM reads them. Raises ArgumentsError."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("model", nargs="?", default="")
    parser.add_argument("--model", dest="named", default="")
    parser.add_argument("--served-model-name", nargs="+", default=[])
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--max-model-len", type=int, default=8192)
    parser.add_argument("--max-num-seqs", type=int)
    parser.add_argument("--shutdown-timeout", type=float, default=0.0)
    parser.add_argument("--max-num-queued-reqs", type=int)
    given = [_hyphens(word) for word in words]
    found, _ = parser.parse_known_args(given[2:] if given[:2] == ["vllm", "serve"] else given)
    try:
        keep_alive = float(environment.get("VLLM_HTTP_TIMEOUT_KEEP_ALIVE", KEEP_ALIVE_SECONDS))
    except ValueError as error:
        raise ArgumentsError(f"VLLM_HTTP_TIMEOUT_KEEP_ALIVE: {error}; allowed: seconds") from error
    name: str = (found.served_model_name or [found.model or found.named])[0]
    if not name:
        raise ArgumentsError("vllm serve: no model named; give it after `serve` or as --served-model-name")
    return EngineOptions(
        model_name=name,
        port=found.port,
        max_model_len=found.max_model_len,
        max_num_seqs=found.max_num_seqs,
        shutdown_timeout=found.shutdown_timeout,
        max_num_queued_reqs=found.max_num_queued_reqs,
        keep_alive=keep_alive,
    )


def _hyphens(word: str) -> str:
    """``--max_model_len`` is ``--max-model-len`` to vLLM."""
    if not word.startswith("--"):
        return word
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value
