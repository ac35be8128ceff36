"""How a live object differs from what the specs would deploy."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

SHOWN = 60


def differences(wanted: Any, live: Any, path: str = "") -> list[str]:
    """Each place where `live` is not `wanted`, in words. Keys that only `live` has are the API server's defaults;
    members of lists are compared one by one.
    """
    if isinstance(wanted, Mapping):
        keys = cast(Mapping[str, Any], wanted)
        have = cast(Mapping[str, Any], live if isinstance(live, Mapping) else {})
        return [
            text
            for key, value in keys.items()
            for text in differences(value, have.get(key), f"{path}.{key}" if path else key)
        ]
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        members = cast(Sequence[Any], wanted)
        found = cast(Sequence[Any], live) if isinstance(live, Sequence) and not isinstance(live, str) else ()
        if len(found) != len(members):
            return [f"{path} has {len(found)} entries, wanted {len(members)}"]
        pairs = enumerate(zip(members, found, strict=True))
        return [text for at, (one, other) in pairs for text in differences(one, other, f"{path}[{at}]")]
    if not wanted and live is None:
        return []  # Go leaves empty values out (omitempty): KEDA writes its ScaledObjects anew
    return [] if wanted == live else [f"{path} is {_brief(live)}, wanted {_brief(wanted)}"]


def _brief(value: Any) -> str:
    text = "not set" if value is None else str(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def few(found: Sequence[str], most: int = 3) -> list[str]:
    """The first few, and how many more there are."""
    return [*found[:most], *([f"and {len(found) - most} more"] if len(found) > most else [])]
