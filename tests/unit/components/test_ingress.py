"""The load balancer controller and its rights."""

from __future__ import annotations

from components.ingress import Ingress, IngressArgs
from specs.names import Names
from specs.settings import Settings
from tests.unit.components import aws
from tests.unit.components.recording import Recording, provider, record
from tests.unit.specs.stack import settings


def declared(found: Settings) -> tuple[Recording, list[int]]:
    ready: list[int] = []

    def program() -> None:
        ingress = Ingress(
            "ingress",
            IngressArgs(
                settings=found,
                names=Names("unit"),
                network=aws.vpc(),
                provider=provider(),
                ready=[aws.agent()],
            ),
        )
        ready.append(len(ingress.ready))

    return record(program), ready


def test_the_controller_has_its_rights_before_it_starts() -> None:
    """LB5: and keeps them until the last balancer is gone."""
    found, ready = declared(settings())
    controller = found.one("Release", "load-balancer-controller")
    assert {
        "PodIdentityAssociation load-balancer-controller",
        "RolePolicyAttachment load-balancer-controller",
        "Addon agent",
    } <= found.waits_for(controller)
    assert ready == [1]


def test_the_rights_go_to_the_account_that_the_chart_makes() -> None:
    found, _ = declared(settings())
    values = found.one("Release", "load-balancer-controller").inputs["values"]
    association = found.one("PodIdentityAssociation").inputs
    assert values["serviceAccount"]["name"] == association["serviceAccount"]
    assert association["namespace"] == found.one("Release", "load-balancer-controller").inputs["namespace"]


def test_a_cluster_with_a_controller_gets_no_second_one() -> None:
    found, ready = declared(settings({}, platform={"loadBalancerController": {"install": False}}))
    assert found.all("Release") == []
    assert found.all("Role") == []
    assert ready == [0]
