"""Reads the figures that Prometheus has."""

import math
import re

import httpx2
from pydantic import BaseModel

from lab.watch.queries import LABEL

SECONDS = 5.0
"""How long an answer may take: longer than the interval would show the past as the present."""


_UNAVAILABLE = 503
_NUMBER = re.compile(r"^\[Errno -?\d+\] ")


class SourceError(Exception):
    """A source gives nothing now; the text is why, in a few words."""


def reason(error: Exception) -> str:
    """An error of the transport in a few words."""
    return _NUMBER.sub("", str(error)).strip() or type(error).__name__


class Prometheus:
    """One server, or what speaks its API. ``tenant`` is Mimir's."""

    def __init__(self, url: str, tenant: str | None = None) -> None:
        headers = {"X-Scope-OrgID": tenant} if tenant else {}
        self._url = url.rstrip("/")
        self._client = httpx2.Client(timeout=SECONDS, trust_env=False, headers=headers)

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def ask(self, query: str) -> dict[str, float]:
        """Values by the label ``watched``; NaN and infinite ones are left out. Raises SourceError."""
        if not query:
            return {}
        try:
            answer = self._client.post(f"{self._url}/api/v1/query", data={"query": query})
        except httpx2.TimeoutException as error:
            raise SourceError(f"no answer within {SECONDS:g} s") from error
        except httpx2.InvalidURL as error:
            raise SourceError(f"no URL: {error}") from error
        except httpx2.HTTPError as error:
            raise SourceError(reason(error)) from error
        return _values(answer.content, answer.status_code)


class _One(BaseModel):
    """An element of an instant vector: its labels, its moment and its value."""

    metric: dict[str, str]
    value: tuple[float, str]


class _Vector(BaseModel):
    result: list[_One]


class _Answer(BaseModel):
    status: str
    error: str = ""
    data: _Vector = _Vector(result=[])


def _values(body: bytes, status: int) -> dict[str, float]:
    try:
        answer = _Answer.model_validate_json(body)
        found = {one.metric[LABEL]: float(one.value[1]) for one in answer.data.result}
    except (ValueError, KeyError) as error:
        busy = "it is starting or ending" if status == _UNAVAILABLE else "what answers is no Prometheus"
        raise SourceError(f"{busy} (HTTP {status})") from error
    if answer.status != "success":
        raise SourceError(f"refused: {answer.error or f'HTTP {status}'}")
    return {name: value for name, value in found.items() if math.isfinite(value)}
