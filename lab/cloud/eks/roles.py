"""Service roles: a role that one AWS service takes, with managed policies attached."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from lab.cloud.eks.monitor import Monitor, Registered

_MANAGED = "arn:aws:iam::aws:policy/"


def service_role(
    monitor: Monitor,
    name: str,
    service: str,
    policies: Sequence[str],
    *,
    parent: str,
    actions: Sequence[str] = ("sts:AssumeRole",),
    description: str | None = None,
    tags: Any = None,
) -> tuple[Registered, list[str]]:
    """The role, and the URNs of everything that must exist before the role can do its work."""
    component = monitor.component("eks:index:ServiceRole", name, parent)
    trust = {
        "Version": "2012-10-17",
        "Statement": [{"Action": list(actions), "Effect": "Allow", "Principal": {"Service": [service]}}],
    }
    role = monitor.resource(
        "aws:iam/role:Role",
        f"{name}-role",
        {
            "description": description,
            "assumeRolePolicy": json.dumps(trust, separators=(",", ":")),
            "tags": tags,
        },
        parent=component.urn,
    )
    attached = [
        monitor.resource(
            "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
            f"{name}-{_short(_MANAGED + policy)}",
            {"policyArn": _MANAGED + policy, "role": role.get("name")},
            parent=component.urn,
        ).urn
        for policy in policies
    ]
    monitor.outputs(component, {"directRole": role.reference})
    return role, [role.urn, *attached]


def _short(arn: str) -> str:
    """The plugin's own suffix of an attachment's name; no secret hangs on it."""
    return hashlib.sha1(arn.encode(), usedforsecurity=False).hexdigest()[:8]
