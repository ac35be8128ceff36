"""Why a request counts as lost."""

from typing import Final

NO_TARGET: Final = "no-target"
REFUSED: Final = "connect-refused"
UNCONNECTED: Final = "connect-failed"
RESET_BEFORE_HEADERS: Final = "reset-before-headers"
RESET_MID_STREAM: Final = "reset-mid-stream"
CUT_BODY: Final = "cut-body"
UNFINISHED: Final = "stream-unfinished"
ERROR_EVENT: Final = "error-event"
NO_FIRST_BYTE: Final = "timeout-first-byte"
TOO_LONG: Final = "timeout-total"
ABORTED: Final = "aborted"
ENGINE_ERROR: Final = "engine-error"
SHORT: Final = "short-output"
LONG: Final = "long-output"
SWAPPED: Final = "swapped-answer"
DUPLICATE: Final = "duplicate-answer"
MALFORMED: Final = "malformed-answer"

MEANINGS: Final = {
    NO_TARGET: "nothing was ready to send to",
    REFUSED: "the connection was refused",
    UNCONNECTED: "no connection within 10 s, or no way to the address",
    RESET_BEFORE_HEADERS: "the connection ended before any answer",
    RESET_MID_STREAM: "the connection ended inside a stream",
    CUT_BODY: "the connection ended inside an answer that is not streamed",
    UNFINISHED: "a stream ended in good order without a finish_reason or without [DONE]",
    ERROR_EVENT: "status 200, and then an error in the body",
    NO_FIRST_BYTE: "no first token, or no whole answer, within the time for it",
    TOO_LONG: "begun, and not ended within the time for the whole",
    ABORTED: "finish_reason abort: the engine gave it up",
    ENGINE_ERROR: "finish_reason error",
    SHORT: "finish_reason length with fewer tokens than asked for",
    LONG: "more tokens than asked for",
    SWAPPED: "an answer, or a part of one, that belongs to another request",
    DUPLICATE: "an answer whose id another answer had",
    MALFORMED: "no answer of an OpenAI server",
}
"""Each cause in words. Besides these, ``status-503`` and its like: an HTTP status other than 200."""


def status(code: int) -> str:
    """The cause for an HTTP status other than 200."""
    return f"status-{code}"


class LostError(Exception):
    """A request is lost: its cause, and what was seen."""

    def __init__(self, cause: str, detail: str = "") -> None:
        super().__init__(f"{cause}: {detail}")
        self.cause = cause
        self.detail = detail
