"""The autoscaler: KEDA, and its signed queries."""

from __future__ import annotations

import json
from typing import Any

from components.autoscaler import Autoscaler, AutoscalerArgs
from specs.names import Names
from specs.scaling import scaled_object
from specs.settings import Settings
from tests.unit.components.recording import Recording, namespaces, provider, record, release
from tests.unit.specs.stack import dig, only, settings

MANAGED: dict[str, Any] = {
    "prometheus": {
        "install": False,
        "address": "https://aps-workspaces.us-east-1.amazonaws.com/workspaces/ws-1234",
        "auth": "sigv4",
    }
}


def declared(found: Settings) -> tuple[Recording, list[int]]:
    ready: list[int] = []

    def program() -> None:
        using = provider()
        autoscaler = Autoscaler(
            "autoscaler",
            AutoscalerArgs(
                settings=found,
                names=Names("unit"),
                provider=using,
                namespaces=namespaces("keda", using=using),
                ready=[release("agent", using)],
            ),
        )
        ready.append(len(autoscaler.ready))

    return record(program), ready


def test_keda_is_installed_in_its_namespace() -> None:
    found, _ = declared(settings())
    keda = found.one("Release", "keda")
    assert keda.inputs["namespace"] == "keda"
    assert {"Namespace keda", "Release agent"} <= found.waits_for(keda)
    assert not [entry for entry in found.entries if entry.type.startswith("aws:")]


def test_what_the_cluster_has_is_not_installed_again() -> None:
    found, ready = declared(settings({}, platform={"keda": {"install": False}}))
    assert [entry.name for entry in found.all("Release")] == ["agent"]
    assert ready == [1]


def test_queries_to_a_managed_prometheus_are_signed_with_the_operators_role() -> None:
    found, _ = declared(settings({}, platform=MANAGED))
    association = found.one("PodIdentityAssociation")
    assert association.inputs["namespace"] == "keda"
    assert association.inputs["serviceAccount"] == "keda-operator"
    (statement,) = json.loads(found.one("RolePolicy").inputs["policy"])["Statement"]
    assert statement["Action"][0] == "aps:QueryMetrics"
    # Credentials come into a pod when it starts.
    assert "PodIdentityAssociation keda" in found.waits_for(found.one("Release", "keda"))


def test_triggers_refer_to_the_authentication_that_exists() -> None:
    stack = settings({}, platform=MANAGED)
    found, _ = declared(stack)
    made = found.one("ClusterTriggerAuthentication")
    assert made.inputs["spec"] == {"podIdentity": {"provider": "aws"}}
    assert "Release keda" in found.waits_for(made)
    references = [
        trigger["authenticationRef"]
        for trigger in dig(scaled_object(stack, only(stack)), "spec", "triggers")
        if trigger["type"] == "prometheus"
    ]
    name = dig(made.inputs, "metadata", "name")
    assert references
    assert all(each == {"name": name, "kind": "ClusterTriggerAuthentication"} for each in references)
