"""What Prometheus is asked: the triggers' own queries, how old their series are, its targets and its rules."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import httpx2

from lab.doctor.seen import Body, Element, Presence, Selector, Signal, Unread
from lab.watch.prometheus import reason

SECONDS = 10.0
OF = "of"
HOUR, ABSENT = 3600, 404
MOST_OTHERS = 4


class Prometheus:
    """One server, or what speaks its API. Every read that fails is an Unread. ``tenant`` is Mimir's."""

    def __init__(self, url: str, tenant: str | None = None) -> None:
        headers = {"X-Scope-OrgID": tenant} if tenant else {}
        self.url = url.rstrip("/")
        self._client = httpx2.Client(timeout=SECONDS, trust_env=False, headers=headers)

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def now(self) -> float | Unread:
        """Its clock, from a query that needs no series."""
        found = self.vector("vector(time())")
        if isinstance(found, Unread):
            return found
        return found[0].value if found else Unread("it does not know the time", "refused")

    def vector(self, query: str) -> list[Element] | Unread:
        """An instant query, asked as KEDA does (pkg/scalers/prometheus_scaler.go ExecutePromQuery)."""
        data = self._get("query", query=query)
        if isinstance(data, Unread):
            return data
        try:
            if data["resultType"] != "vector":
                return Unread(f"it gives a {data['resultType']}, which KEDA can't decode", "refused")
            return [Element(one["metric"], float(one["value"][1])) for one in data["result"]]
        except (LookupError, TypeError, ValueError):
            return Unread("what answers is no Prometheus", "refused")

    def signals(self, selectors: Sequence[Selector]) -> dict[Selector, Signal] | Unread:
        """The age of the newest sample of each selector; the clock is that of Prometheus."""
        parts = [
            f'label_replace(time() - max(timestamp({one.text})), "{OF}", "{at}", "", "")'
            for at, one in enumerate(selectors)
        ]
        found = self.vector(" or ".join(parts)) if parts else []
        if isinstance(found, Unread):
            return found
        try:
            ages = {int(one.labels[OF]): one.value for one in found if math.isfinite(one.value)}
        except (LookupError, ValueError):
            return Unread("what answers is no Prometheus", "refused")
        return {
            one: Signal(ages.get(at), () if at in ages else self._others(one))
            for at, one in enumerate(selectors)
        }

    def _others(self, selector: Selector) -> tuple[str, ...]:
        """Labels under which a metric exists that the selector does not find."""
        keys = [key for key, _ in selector.labels]
        found = self.vector(f"count by ({', '.join(keys)}) ({selector.name})") if keys else []
        if isinstance(found, Unread):
            return ()
        told = sorted(",".join(f'{key}="{one.labels.get(key, "")}"' for key in keys) for one in found)
        return tuple(told[:MOST_OTHERS])

    def presence(self, metric: str) -> Presence | Unread:
        """Whether a metric has a series now, or had one within the hour."""
        for answer, query in (
            ("now", f"count({metric})"),
            ("lately", f"count(last_over_time({metric}[{HOUR}s]))"),
        ):
            found = self.vector(query)
            if isinstance(found, Unread):
                return found
            if found:
                return cast(Presence, answer)
        return "never"

    def targets(self) -> list[Body] | Unread:
        """The active targets of all scrape pools."""
        return self._listed("targets", "activeTargets", state="active")

    def groups(self) -> list[Body] | Unread:
        """The rule groups that are loaded."""
        return self._listed("rules", "groups")

    def _listed(self, path: str, key: str, **asked: str) -> list[Body] | Unread:
        data = self._get(path, **asked)
        if isinstance(data, Unread):
            return data
        found: Any = data.get(key)
        return list(found) if isinstance(found, list) else Unread("what answers is no Prometheus", "refused")  # pyright: ignore[reportUnknownArgumentType]

    def _get(self, path: str, **asked: str) -> Mapping[str, Any] | Unread:
        try:
            answer = self._client.get(f"{self.url}/api/v1/{path}", params=asked)
        except httpx2.TimeoutException:
            return Unread(f"no answer within {SECONDS:g} s")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            return Unread(reason(error))
        try:
            body: Any = answer.json()
            if body["status"] == "success" and isinstance(body["data"], dict):
                return cast(Mapping[str, Any], body["data"])
            return Unread(f"it refuses: {body.get('error') or answer.status_code}", "refused")
        except (LookupError, TypeError, ValueError, AttributeError):
            absent = answer.status_code == ABSENT
            return Unread(
                f"HTTP {answer.status_code}, no answer of Prometheus", "absent" if absent else "away"
            )
