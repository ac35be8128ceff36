"""Which taints a toleration stands for."""

from collections.abc import Mapping


def tolerates(toleration: Mapping[str, object], taint: Mapping[str, object]) -> bool:
    """As Kubernetes does: without an effect it stands for every effect, and Exists without a key for every key
    (k8s.io/component-helpers scheduling/corev1 ToleratesTaint).
    """
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    same = toleration.get("key") == taint.get("key")
    if toleration.get("operator") == "Exists":
        return same or not toleration.get("key")
    return same and toleration.get("value", "") == taint.get("value", "")
