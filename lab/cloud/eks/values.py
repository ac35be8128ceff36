"""Values that may not be known yet, with the resources they come from: the wire form of a Pulumi Output."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from lab.cloud.wire import OUTPUT, SECRET, SIGNATURE, UNKNOWN, bare, dependencies, has_unknown


def output(value: Any, urns: list[str], *, secret: bool = False) -> dict[str, Any]:
    """The value as an Output; one that has an unknown part is unknown as a whole."""
    wrapped: dict[str, Any] = {SIGNATURE: OUTPUT, "dependencies": sorted(set(urns))}
    if secret:
        wrapped["secret"] = True
    if not has_unknown(value):
        wrapped["value"] = value
    return wrapped


def derived(make: Callable[..., Any], *sources: Any) -> dict[str, Any]:
    """`make` applied to the plain sources, or an unknown Output when a source is unknown; keeps where they
    come from."""
    plain = [bare(source) for source in sources]
    urns = [urn for source in sources for urn in dependencies(source)]
    secret = any(is_secret(source) for source in sources)
    return output(UNKNOWN if has_unknown(plain) else make(*plain), urns, secret=secret)


def merged(first: dict[str, str], *rest: Any) -> dict[str, Any]:
    """`first` and the given tags as one Output; later ones win, absent ones are skipped."""

    def merge(*tags: dict[str, str] | None) -> dict[str, str]:
        return {key: value for one in (first, *tags) for key, value in (one or {}).items()}

    return derived(merge, *rest)


def is_secret(value: object) -> bool:
    """Whether any part of the value is a secret."""
    if isinstance(value, Mapping):
        wrapped = cast(Mapping[str, Any], value)
        if wrapped.get(SIGNATURE) == SECRET or (wrapped.get(SIGNATURE) == OUTPUT and wrapped.get("secret")):
            return True
        return any(is_secret(item) for item in wrapped.values())
    if isinstance(value, list | tuple):
        return any(is_secret(item) for item in cast(list[object], value))
    return False


def opened(value: Any) -> Any:
    """The value without its outermost Output, or None when that is not known yet; what is inside stays as
    it is."""
    wrapped = cast(dict[str, Any], value if isinstance(value, Mapping) else {})
    return opened(wrapped.get("value")) if wrapped.get(SIGNATURE) in (OUTPUT, SECRET) else cast(Any, value)
