"""When the kubernetes provider itself would be replaced, and every object of the cluster with it.

The rules are the real provider's (provider/pkg/provider/provider.go, DiffConfig): `clusterIdentifier` alone
decides where it is set; else the cluster that the kubeconfig's current context names; an unknown kubeconfig
counts as another cluster.
"""

from typing import Any, cast

from ruamel.yaml import YAML, YAMLError

from lab.cloud.wire import Properties, has_unknown

IDENTIFIER = "clusterIdentifier"
_CLUSTER_KEYS = ("kubeconfig", "context", "cluster")


def replaced_by(old: Properties, new: Properties) -> frozenset[str]:
    """The settings whose change replaces the provider."""
    before, after = old.get(IDENTIFIER), new.get(IDENTIFIER)
    if before and after:
        return frozenset() if before == after else frozenset({IDENTIFIER})
    unknown = [key for key in _CLUSTER_KEYS if has_unknown(new.get(key))]
    if unknown:
        return frozenset(unknown[:1])
    was, now = _active(old), _active(new)
    if was is not None and now is not None and was != now:
        return frozenset(key for key in _CLUSTER_KEYS if old.get(key) != new.get(key))
    return frozenset()


def _active(settings: Properties) -> object:
    """The active cluster's entry in the kubeconfig, None where there is none."""
    config = _parsed(settings.get("kubeconfig"))
    context = settings.get("context") or config.get("current-context")
    named = settings.get("cluster") or _entry(config, "contexts", context, "context").get("cluster")
    return _entry(config, "clusters", named, "cluster") or None


def _entry(config: Properties, group: str, name: object, key: str) -> Properties:
    entries: list[Properties] = config.get(group) or []
    found: list[Properties | None] = [entry.get(key) for entry in entries if entry.get("name") == name]
    return (found[0] if found else None) or {}


def _parsed(kubeconfig: object) -> dict[str, Any]:
    if not isinstance(kubeconfig, str):
        return {}
    try:
        parsed: object = YAML(typ="safe", pure=True).load(kubeconfig)
    except YAMLError:
        return {}
    return cast(dict[str, Any], parsed) if isinstance(parsed, dict) else {}
