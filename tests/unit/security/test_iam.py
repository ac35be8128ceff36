"""Every IAM document that dev and prod declare: no wildcard without a reason, and no reason without its wildcard."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import pytest

from specs import iam
from specs.names import Names
from tests.audit.scanned import QUEUE
from tests.unit.program.rendered import declared

STACKS = ("dev", "prod")
# Statements, by resource and Sid, that name every resource (`*`) or every resource of a kind without a condition.
JUSTIFIED = {
    "karpenter-discovery AllowRegionalReadActions": "EC2's Describe calls take no resource; bound to the region",
    "karpenter-discovery AllowPricingReadActions": "pricing:GetProducts takes no resource; a public list",
    "karpenter-discovery AllowUnscopedInstanceProfileListAction": "iam:ListInstanceProfiles takes no resource",
    "karpenter-discovery AllowInstanceProfileReadActions": "read only; the names are Karpenter's own hashes",
    "karpenter-node-lifecycle AllowScopedEC2InstanceAccessActions": "what an instance is launched from (image,"
    " subnet, group) bears no tag of ours; what it makes is bound by the statements beside it",
    "load-balancer-controller Read": "Describe calls take no resource; bound to the region",
    "load-balancer-controller CreateGroup": "a group has no tag before it exists; every later change is bound to it",
}
# Policies of AWS's own, which change without us.
ATTACHED = {
    "AmazonEKSWorkerNodePolicy": "nodes describe the cluster they join",
    "AmazonEKS_CNI_Policy": "the CNI takes addresses for pods; it runs before Pod Identity does",
    "AmazonEC2ContainerRegistryPullOnly": "nodes pull images",
    "AmazonSSMManagedInstanceCore": "a shell on a node without SSH",
    "service-role/AmazonEBSCSIDriverPolicy": "volumes; bound to the driver's own tag",
}
# A whole kind: `instance/*`, `loadbalancer/app/*`, or any resource at all.
KIND = re.compile(r"\*|[a-z-]+(/(app|net))?/\*")


@dataclass(frozen=True)
class Statement:
    """One statement and the resource whose document it stands in."""

    holder: str
    body: Mapping[str, Any]

    @property
    def key(self) -> str:
        """As the list of reasons spells it."""
        return f"{self.holder} {self.body.get('Sid')}"

    def each(self, field: str) -> list[str]:
        """Actions or resources as a list."""
        given = self.body.get(field, [])
        return [given] if isinstance(given, str) else list(given)

    @property
    def unbound(self) -> bool:
        """Everything, or everything of a kind that no condition narrows."""
        wide = [resource for resource in self.each("Resource") if KIND.fullmatch(_part(resource))]
        return "*" in wide or (bool(wide) and "Condition" not in self.body)


def _part(resource: str) -> str:
    """The resource's part of an ARN; the whole text where it is none."""
    return resource.split(":", 5)[-1]


def documents(stack: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every document in any input of any AWS resource, by what it looks like, whatever the type."""
    for entry in declared(stack):
        for value in entry.inputs.values() if entry.type.startswith("aws:") else ():
            if isinstance(value, str) and '"Statement"' in value:
                yield entry.name, json.loads(value)
    names = Names(stack)
    yield "interruption", iam.interruption_queue(QUEUE.replace("headroom-prod", names.cluster))


def statements(stack: str) -> list[Statement]:
    return [
        Statement(holder, body)
        for holder, document in documents(stack)
        for body in cast(list[dict[str, Any]], document["Statement"])
    ]


def allowed(stack: str) -> list[Statement]:
    return [statement for statement in statements(stack) if statement.body["Effect"] == "Allow"]


@pytest.mark.parametrize("stack", STACKS)
def test_only_the_queues_document_waits_for_a_name_born_in_aws(stack: str) -> None:
    """A document not known yet would escape the tests below; the queue's is rebuilt there from its own function."""
    unknown = [
        entry.name
        for entry in declared(stack)
        if entry.type.startswith("aws:")
        and any(key in entry.inputs and entry.inputs[key] is None for key in ("policy", "assumeRolePolicy"))
    ]
    assert unknown == ["interruption"]


@pytest.mark.parametrize("stack", STACKS)
def test_no_action_is_a_wildcard(stack: str) -> None:
    found = [s.key for s in allowed(stack) for action in s.each("Action") if "*" in action]
    assert found == []
    assert [s.key for s in statements(stack) if "NotAction" in s.body or "NotResource" in s.body] == []


@pytest.mark.parametrize("stack", STACKS)
def test_only_justified_statements_name_every_resource(stack: str) -> None:
    assert sorted({s.key for s in allowed(stack) if s.unbound} - set(JUSTIFIED)) == []


def test_no_reason_outlives_its_wildcard() -> None:
    found = {s.key for stack in STACKS for s in allowed(stack) if s.unbound}
    assert sorted(set(JUSTIFIED) - found) == []


@pytest.mark.parametrize("stack", STACKS)
def test_what_a_condition_narrows_is_this_stacks_own(stack: str) -> None:
    """Names are the same in no other stack of the account; a service-linked role is AWS's own."""
    cluster = Names(stack).cluster
    for statement in allowed(stack):
        wide = any(KIND.fullmatch(_part(resource)) for resource in statement.each("Resource"))
        if wide and statement.key not in JUSTIFIED:
            assert cluster in json.dumps(statement.body["Condition"]), statement.key


@pytest.mark.parametrize("stack", STACKS)
def test_the_world_is_only_ever_denied(stack: str) -> None:
    for statement in statements(stack):
        principal = statement.body.get("Principal")
        if principal in ("*", {"AWS": "*"}):
            assert statement.body["Effect"] == "Deny", statement.key


@pytest.mark.parametrize("stack", STACKS)
def test_only_aws_services_may_take_a_role(stack: str) -> None:
    trusted = {
        json.dumps(statement.body["Principal"])
        for statement in allowed(stack)
        if any(action.startswith("sts:") for action in statement.each("Action"))
    }
    assert trusted == {'{"Service": "ec2.amazonaws.com"}', '{"Service": "pods.eks.amazonaws.com"}'}


@pytest.mark.parametrize("stack", STACKS)
def test_each_pods_role_trusts_the_service_account_that_its_association_names(stack: str) -> None:
    """A role that trusts another one would leave its pod without rights; one that trusts all, every pod with them."""
    trusted = {
        (
            condition["aws:RequestTag/kubernetes-namespace"],
            condition["aws:RequestTag/kubernetes-service-account"],
        )
        for statement in allowed(stack)
        if "sts:TagSession" in statement.each("Action")
        for condition in [statement.body["Condition"]["StringEquals"]]
    }
    bound = {
        (str(entry.inputs["namespace"]), str(entry.inputs["serviceAccount"]))
        for entry in declared(stack)
        if entry.type.endswith(":PodIdentityAssociation")
    }
    assert trusted == bound | {("kube-system", "ebs-csi-controller-sa")}  # the add-on makes its own


@pytest.mark.parametrize("stack", STACKS)
def test_only_reviewed_policies_of_aws_are_attached(stack: str) -> None:
    attached = {
        str(entry.inputs["policyArn"]).partition(":policy/")[2]
        for entry in declared(stack)
        if entry.type.endswith(":RolePolicyAttachment") and entry.inputs["policyArn"] is not None
    }
    assert attached == set(ATTACHED)


@pytest.mark.parametrize(
    ("resource", "condition", "unbound"),
    [
        ("*", {"StringEquals": {"aws:RequestedRegion": "us-east-1"}}, True),
        ("arn:aws:ec2:us-east-1:*:instance/*", None, True),
        ("arn:aws:ec2:us-east-1:*:instance/*", {"StringEquals": {"aws:ResourceTag/x": "y"}}, False),
        ("arn:aws:elasticloadbalancing:us-east-1:*:*", None, True),
        ("arn:aws:s3:::bucket/models/a/*", None, False),
        ("arn:aws:eks:us-east-1:*:cluster/headroom-prod", None, False),
    ],
)
def test_a_wildcard_is_told_from_a_name(resource: str, condition: object, unbound: bool) -> None:
    body = {"Effect": "Allow", "Action": "x:Y", "Resource": resource}
    assert Statement("it", body | ({"Condition": condition} if condition else {})).unbound is unbound
