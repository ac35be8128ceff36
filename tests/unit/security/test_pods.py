"""Every pod the program declares meets the Pod Security standard `restricted`, and a policy closes its network."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from lab.render import Declared
from tests.audit import scanned
from tests.unit.program.rendered import declared, of
from tests.unit.security.pods import Body, bodies, containers, templates

# kubernetes.io/docs/concepts/security/pod-security-standards, restricted
VOLUMES = {
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
}
STACKS = ("dev", "prod", "local", "prod with a spare")


@cache
def stack(name: str) -> tuple[Declared, ...]:
    return tuple(scanned.declared()) if name == "prod with a spare" else declared(name)


def faults(template: Body) -> list[str]:
    """Where a pod falls short of `restricted`."""
    spec, found = template["spec"], list[str]()
    if any(spec.get(key) for key in ("hostNetwork", "hostPID", "hostIPC")):
        found.append("a namespace of the host")
    if spec["securityContext"].get("runAsNonRoot") is not True or not spec["securityContext"].get(
        "runAsUser"
    ):
        found.append("may run as root")
    if spec["securityContext"].get("seccompProfile") != {"type": "RuntimeDefault"}:
        found.append("no seccomp profile")
    for volume in spec.get("volumes", []):
        if not set(volume) - {"name"} <= VOLUMES:
            found.append(f"volume {volume['name']}")
    for container in containers(template):
        context = container.get("securityContext", {})
        if context.get("allowPrivilegeEscalation") is not False or context.get("privileged"):
            found.append("may gain privileges")
        if context.get("capabilities") != {"drop": ["ALL"]}:
            found.append("keeps capabilities")
        if any(port.get("hostPort") for port in container.get("ports", [])):
            found.append("a port of the host")
    return found


@pytest.mark.parametrize("name", STACKS)
def test_every_pod_meets_restricted(name: str) -> None:
    found = dict(templates(stack(name)))
    assert len(found) >= 4
    assert {pod: faults(template) for pod, template in found.items() if faults(template)} == {}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "hostNetwork"), True),
        (("spec", "securityContext", "runAsNonRoot"), False),
        (("spec", "securityContext", "seccompProfile"), None),
        (("spec", "volumes"), [{"name": "node", "hostPath": {"path": "/"}}]),
        (("spec", "containers", 0, "securityContext", "allowPrivilegeEscalation"), True),
        (
            ("spec", "containers", 0, "securityContext", "capabilities"),
            {"drop": ["ALL"], "add": ["SYS_ADMIN"]},
        ),
        (("spec", "containers", 0, "ports"), [{"hostPort": 80}]),
    ],
)
def test_a_pod_that_falls_short_is_found(path: tuple[str | int, ...], value: object) -> None:
    template: dict[str, Any] = {
        "spec": {
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 2000,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {"securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}
            ],
        }
    }
    assert faults(template) == []
    inside: Any = template
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    assert len(faults(template)) == 1


@pytest.mark.parametrize("name", STACKS)
def test_no_container_may_write_to_its_image(name: str) -> None:
    for pod, template in templates(stack(name)):
        for container in containers(template):
            assert container["securityContext"]["readOnlyRootFilesystem"] is True, pod


@pytest.mark.parametrize("name", STACKS)
def test_only_routers_hold_a_token_and_it_reads_pods_alone(name: str) -> None:
    accounts = {
        body["metadata"]["name"]: body["automountServiceAccountToken"]
        for body in bodies(stack(name), "ServiceAccount")
    }
    for pod, template in templates(stack(name)):
        account = template["spec"].get("serviceAccountName")
        mounts = template["spec"].get("automountServiceAccountToken", accounts.get(account, True))
        assert mounts is pod.endswith("-router"), pod
    roles = [body["rules"] for body in bodies(stack(name), "Role")]
    assert roles
    assert all(
        rules == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
        for rules in roles
    )
    assert [entry.name for entry in stack(name) if "ClusterRole" in entry.type] == []


@pytest.mark.parametrize("name", STACKS)
def test_a_network_policy_selects_every_pod(name: str) -> None:
    """A pod that no policy selects answers everybody."""
    policies = list(bodies(stack(name), "NetworkPolicy"))
    for pod, template in templates(stack(name)):
        labels = template["metadata"]["labels"].items()
        assert [
            policy
            for policy in policies
            if policy["metadata"]["namespace"] == template["namespace"]
            and policy["spec"]["podSelector"]["matchLabels"].items() <= labels
            and "Ingress" in policy["spec"]["policyTypes"]
        ], pod


def test_production_runs_images_by_digest() -> None:
    for pod, template in templates(declared("prod")):
        for container in containers(template):
            assert "@sha256:" in container["image"], pod


@pytest.mark.parametrize("name", ["dev", "prod"])
def test_only_namespaces_of_node_agents_admit_more_than_restricted(name: str) -> None:
    """The device plugin, the GPU exporter and the node exporter need paths of the host (docs/security.md)."""
    level = "pod-security.kubernetes.io/enforce"
    found = {
        space: inputs["metadata"]["labels"][level]
        for space, inputs in of(name, "kubernetes:core/v1:Namespace").items()
    }
    assert {space for space, enforced in found.items() if enforced != "restricted"} == {
        "gpu-system",
        "monitoring",
    }
