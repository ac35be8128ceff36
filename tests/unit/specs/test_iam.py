"""IAM documents: scoped to the stack, small enough, and no wildcard without a reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest

from specs import iam
from specs.iam_load_balancer import load_balancer_controller
from specs.names import Names

NAMES = Names("prod")
REGION = "eu-west-1"
DOCUMENTS: Mapping[str, iam.Document] = {
    **iam.karpenter(NAMES, REGION),
    "load-balancer": load_balancer_controller(NAMES, REGION),
    "weights": iam.weights_reader("bucket", "models/llama3-8b/", REGION, NAMES.weights_alias),
    "prometheus": iam.prometheus_reader(REGION),
}
# AWS offers no narrower resource for these, or they only read (service authorization reference).
UNSCOPED = {
    "AllowRegionalReadActions": "Describe calls take no resource; bound to the region",
    "AllowPricingReadActions": "pricing:GetProducts takes no resource",
    "AllowUnscopedInstanceProfileListAction": "iam:ListInstanceProfiles takes no resource",
    "Read": "Describe calls take no resource; bound to the region",
}


def statements(document: iam.Document) -> Iterator[dict[str, Any]]:
    yield from cast(list[dict[str, Any]], document["Statement"])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_fits_a_managed_policy(name: str) -> None:
    assert len(json.dumps(DOCUMENTS[name], separators=(",", ":"))) <= 6144


@pytest.mark.parametrize("name", DOCUMENTS)
def test_only_justified_statements_have_a_bare_wildcard(name: str) -> None:
    bare = {statement["Sid"] for statement in statements(DOCUMENTS[name]) if "*" in statement["Resource"]}
    assert bare <= set(UNSCOPED)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_action_is_a_wildcard(name: str) -> None:
    assert not any(
        "*" in action for statement in statements(DOCUMENTS[name]) for action in statement["Action"]
    )


@pytest.mark.parametrize(
    "action",
    [
        "ec2:RunInstances",
        "ec2:CreateFleet",
        "ec2:TerminateInstances",
        "ec2:CreateTags",
        "iam:CreateInstanceProfile",
    ],
)
def test_karpenter_changes_only_what_bears_the_clusters_tag(action: str) -> None:
    for document in iam.karpenter(NAMES, REGION).values():
        for statement in statements(document):
            if action in statement["Action"] and statement["Sid"] != "AllowScopedEC2InstanceAccessActions":
                assert f"kubernetes.io/cluster/{NAMES.cluster}" in json.dumps(statement["Condition"])


def test_karpenter_passes_the_nodes_role_and_no_other() -> None:
    [passing] = [
        s
        for s in statements(iam.karpenter(NAMES, REGION)["iam-integration"])
        if "iam:PassRole" in s["Action"]
    ]
    assert passing["Resource"] == [f"arn:aws:iam::*:role/{NAMES.node_role}"]


@pytest.mark.parametrize("made", ["loadbalancer/app", "targetgroup", "listener/app", "listener-rule/app"])
def test_the_controller_may_tag_each_thing_it_makes_before_that_has_a_tag(made: str) -> None:
    """Refused, the tag takes the creation with it: a balancer without a listener serves nobody."""
    tagging = [
        statement
        for statement in statements(DOCUMENTS["load-balancer"])
        if "elasticloadbalancing:AddTags" in statement["Action"]
        and any(f":{made}/" in resource for resource in statement["Resource"])
        and "aws:ResourceTag/elbv2.k8s.aws/cluster" not in json.dumps(statement["Condition"])
    ]
    assert tagging
    own = f'"aws:RequestTag/elbv2.k8s.aws/cluster": "{NAMES.cluster}"'
    assert all(own in json.dumps(statement["Condition"]) for statement in tagging)


def test_a_model_reads_its_own_prefix_only() -> None:
    reader = DOCUMENTS["weights"]
    objects = [s for s in statements(reader) if "s3:GetObject" in s["Action"]]
    assert [s["Resource"] for s in objects] == [["arn:aws:s3:::bucket/models/llama3-8b/*"]]
    listing = next(s for s in statements(reader) if "s3:ListBucket" in s["Action"])
    assert listing["Condition"]["StringLike"]["s3:prefix"] == ["models/llama3-8b/", "models/llama3-8b/*"]


def test_without_a_key_nothing_may_decrypt() -> None:
    assert "kms:Decrypt" not in json.dumps(iam.weights_reader("bucket", "p/", REGION, None))


@pytest.mark.parametrize("stack", ["p", "production.eu_1", "x" * 100])
def test_names_stay_within_what_aws_takes(stack: str) -> None:
    names = Names(stack)
    assert len(names.role("karpenter-node-lifecycle")) <= 64
    assert len(names.role("weights-" + "m" * 54)) <= 64
    assert len(names.queue) <= 80
    assert 3 <= len(names.bucket(None, "ap-southeast-2")) <= 63
    assert names.bucket(None, REGION) == names.bucket(None, REGION).lower()


def test_two_long_stack_names_never_share_a_name() -> None:
    assert Names("x" * 99 + "a").cluster != Names("x" * 99 + "b").cluster


def test_a_pods_role_is_for_one_service_account_of_one_cluster() -> None:
    """Else any association in the account could hand it to a pod (EKS user guide, pod-id-role)."""
    [trust] = statements(iam.pod_identity_trust(NAMES, "llm-serving", "llama3-8b"))
    assert trust["Condition"]["StringEquals"] == {
        "aws:RequestTag/eks-cluster-name": NAMES.cluster,
        "aws:RequestTag/kubernetes-namespace": "llm-serving",
        "aws:RequestTag/kubernetes-service-account": "llama3-8b",
    }
