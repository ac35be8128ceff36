"""Label selectors as relabelings of discovered pods, and as a test on labels."""

import re
from collections.abc import Mapping
from typing import Any

Relabeling = dict[str, Any]


def label_name(text: str) -> str:
    """A Kubernetes label's name as Prometheus spells it in meta labels."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", text)


def keep_pods(selector: Mapping[str, Any]) -> list[Relabeling]:
    """Relabelings that keep the pods a selector chooses (matchLabels and matchExpressions)."""
    found = [_value(key, "In", [value]) for key, value in sorted(selector.get("matchLabels", {}).items())]
    for one in selector.get("matchExpressions", []):
        if one["operator"] in ("In", "NotIn"):
            found.append(_value(one["key"], one["operator"], one["values"]))
        else:
            action = "keep" if one["operator"] == "Exists" else "drop"
            source = [f"__meta_kubernetes_pod_labelpresent_{label_name(one['key'])}"]
            found.append({"action": action, "source_labels": source, "regex": "true"})
    return found


def chooses(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a selector chooses an object with these labels."""
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    return all(_holds(one, labels) for one in selector.get("matchExpressions", []))


def _holds(one: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    match one["operator"]:
        case "In":
            return labels.get(one["key"]) in one["values"]
        case "NotIn":
            return labels.get(one["key"]) not in one["values"]
        case "Exists":
            return one["key"] in labels
        case _:
            return one["key"] not in labels


def _value(key: str, operator: str, values: list[str]) -> Relabeling:
    name = label_name(key)
    return {
        "action": "keep" if operator == "In" else "drop",
        "source_labels": [
            f"__meta_kubernetes_pod_label_{name}",
            f"__meta_kubernetes_pod_labelpresent_{name}",
        ],
        "regex": f"({'|'.join(re.escape(value) for value in values)});true",
    }
