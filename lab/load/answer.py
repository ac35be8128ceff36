"""Whether an answer is whole and the right one: streams line by line, others in one piece."""

import json
from typing import Any, cast

from lab.load import causes
from lab.load.causes import LostError
from lab.load.request import ID_PREFIX, Request

_OPEN = b'"finish_reason":null'
_DONE = b"[DONE]"


class Answer:
    """What has been read of one answer. ``output_tokens`` is what the server says, 0 until it does."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._id = b""
        self._error = ""
        self._reason: str | None = None
        self._done = False
        self.begun = False
        self.prompt_tokens = 0
        self.output_tokens = 0
        self.id = ""

    def line(self, line: bytes) -> None:
        """A line of a stream. Raises LostError for what belongs to another request or is no event."""
        # Most events carry a token and nothing else: parsing each would be two thirds of the generator's work.
        if self.begun and _OPEN in line and self._id in line:
            return
        data = line.strip()
        if not data.startswith(b"data:"):
            return
        data = data[5:].strip()
        if data == _DONE:
            self._done = True
        elif data:
            self._event(_parsed(data))

    def whole(self, body: bytes) -> None:
        """The body of an answer that is not streamed. Raises LostError."""
        self._done = True
        self._event(_parsed(body))

    def judge(self) -> None:
        """After the end. Raises LostError unless the answer is whole and of the length asked for."""
        asked, made = self._request.output_tokens, self.output_tokens
        if self._error:
            raise LostError(causes.ERROR_EVENT, self._error)
        if self._reason == "abort":
            raise LostError(causes.ABORTED, f"after {made or 'an unknown number of'} tokens of {asked}")
        if self._reason is None:
            raise LostError(causes.UNFINISHED, "no finish_reason")
        if not self._done:
            raise LostError(causes.UNFINISHED, "no [DONE]")
        if self._reason == "error":
            raise LostError(causes.ENGINE_ERROR, f"after {made} tokens of {asked}")
        if self._reason == "length" and 0 < made < asked:
            raise LostError(causes.SHORT, f"{made} tokens of {asked}")
        if made > asked:
            raise LostError(causes.LONG, f"{made} tokens, asked for {asked}")

    def _event(self, event: dict[str, Any]) -> None:
        if event.get("error"):
            self._error = _error(event["error"])
            return
        self._known(str(event.get("id", "")))
        for choice in event.get("choices") or ():
            self.begun = True
            self._reason = choice.get("finish_reason") or self._reason
        usage = event.get("usage")
        if usage:
            self.prompt_tokens = int(usage.get("prompt_tokens", 0))
            self.output_tokens = int(usage.get("completion_tokens", 0))

    def _known(self, found: str) -> None:
        """One id through the whole answer; where the server takes ids from its callers, this request's."""
        if not self._id:
            self.id, self._id = found, json.dumps(found).encode()
            if ID_PREFIX in found and not _carries(found, self._request.id):
                raise LostError(causes.SWAPPED, f"the answer {found} to {self._request.id}")
        elif found != self.id:
            raise LostError(causes.SWAPPED, f"a part of {found} in {self.id}")


def _carries(found: str, wanted: str) -> bool:
    """``cmpl-ID`` or ``cmpl-ID-0``; never the id of which this one is the beginning."""
    return f"{found}-".find(f"{wanted}-") >= 0


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        found: object = json.loads(data)
    except ValueError as error:
        raise LostError(causes.MALFORMED, repr(data[:80])) from error
    if not isinstance(found, dict):
        raise LostError(causes.MALFORMED, repr(data[:80]))
    return cast(dict[str, Any], found)


def _error(error: object) -> str:
    if isinstance(error, dict):
        told = cast(dict[str, object], error)
        return f"{told.get('code', '')} {told.get('message', '')}".strip()
    return str(error)
