"""What a router may do in the cluster: watch the pods of its namespace, nothing else."""

from __future__ import annotations

from specs.router import name
from specs.serving import metadata
from specs.settings.model import Model


def account(model: Model) -> dict[str, object]:
    """The router's ServiceAccount; its token is what it watches pods with."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(model, name(model), "router"),
        "automountServiceAccountToken": True,
    }


def role(model: Model) -> dict[str, object]:
    """Read access to pods; vllm-router filters by label itself."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata(model, name(model), "router"),
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}],
    }


def role_binding(model: Model) -> dict[str, object]:
    """Gives the role to the router's account."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": metadata(model, name(model), "router"),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name(model)},
        "subjects": [{"kind": "ServiceAccount", "name": name(model), "namespace": model.namespace}],
    }
