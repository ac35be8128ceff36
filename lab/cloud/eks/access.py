"""Who may enter the cluster: access entries and their policies."""

from collections.abc import Mapping
from typing import Any

from lab.cloud.eks.monitor import Monitor, Registered


def entries(
    monitor: Monitor, name: str, wanted: Mapping[str, Mapping[str, Any]], cluster: Registered, parent: str
) -> list[str]:
    """Registers each entry with its policy associations; the URNs of the entries."""
    made: list[str] = []
    for key, entry in wanted.items():
        registered = monitor.resource(
            "aws:eks/accessEntry:AccessEntry",
            f"{name}-{key}",
            {
                "clusterName": cluster.get("name"),
                "principalArn": entry["principalArn"],
                "kubernetesGroups": entry.get("kubernetesGroups"),
                "type": entry.get("type"),
                "userName": entry.get("username"),
                "tags": entry.get("tags"),
            },
            parent=parent,
            depends=[cluster.urn],
        )
        made.append(registered.urn)
        policies: Mapping[str, Any] = entry.get("accessPolicies") or {}
        for policy, association in policies.items():
            monitor.resource(
                "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
                f"{name}-{key}-{policy}",
                {
                    "clusterName": cluster.get("name"),
                    "principalArn": entry["principalArn"],
                    "policyArn": association["policyArn"],
                    "accessScope": association["accessScope"],
                },
                parent=registered.urn,
                depends=[registered.urn],
            )
    return made
