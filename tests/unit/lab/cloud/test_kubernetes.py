"""Kubernetes objects and the provider that holds them."""

import json
import re
from typing import Any

import pytest

from lab.cloud.asked import Asked
from lab.cloud.kubernetes.book import KubernetesBook
from lab.cloud.kubernetes.provider_config import replaced_by
from lab.cloud.wire import UNKNOWN

_RELEASE = "kubernetes:helm.sh/v3:Release"


def _asked(type_: str, logical: str = "it", /, **inputs: Any) -> Asked:
    return Asked(
        urn=f"urn:pulumi:dev::headroom::{type_}::{logical}",
        type=type_,
        name=logical,
        inputs=inputs,
        region="us-east-1",
        forced={},
    )


def _kubeconfig(server: str, user: str = "t") -> str:
    return json.dumps(
        {
            "clusters": [{"name": "kubernetes", "cluster": {"server": server}}],
            "contexts": [{"name": "aws", "context": {"cluster": "kubernetes", "user": "aws"}}],
            "current-context": "aws",
            "users": [{"name": "aws", "user": {"token": user}}],
        }
    )


def test_another_kubeconfig_of_the_same_cluster_is_only_an_update() -> None:
    """PU2: with clusterIdentifier nothing else replaces the provider."""
    old = {"clusterIdentifier": "arn:c", "kubeconfig": _kubeconfig("https://a")}
    assert replaced_by(old, {**old, "kubeconfig": UNKNOWN}) == frozenset()
    assert replaced_by(old, {**old, "kubeconfig": _kubeconfig("https://b")}) == frozenset()
    assert replaced_by(old, {**old, "clusterIdentifier": "arn:d"}) == {"clusterIdentifier"}


def test_without_an_identifier_the_active_cluster_decides() -> None:
    old = {"kubeconfig": _kubeconfig("https://a")}
    assert replaced_by(old, {"kubeconfig": _kubeconfig("https://a", user="other")}) == frozenset()
    assert replaced_by(old, {"kubeconfig": _kubeconfig("https://b")}) == {"kubeconfig"}
    assert replaced_by(old, {"kubeconfig": UNKNOWN}) == {"kubeconfig"}


def test_an_object_without_a_name_gets_one_and_keeps_it() -> None:
    inputs, _ = KubernetesBook().check(_asked("kubernetes:core/v1:ConfigMap", "rules"), {})
    assert re.fullmatch("rules-[0-9a-f]{8}", inputs["metadata"]["name"])
    assert inputs["metadata"]["annotations"] == {"pulumi.com/autonamed": "true"}
    again, _ = KubernetesBook().check(
        _asked("kubernetes:core/v1:ConfigMap", "rules", data={"a": "b"}), inputs
    )
    assert again["metadata"] == inputs["metadata"]


def test_an_object_that_keeps_its_name_goes_before_its_replacement_comes() -> None:
    book = KubernetesBook()
    named = {"metadata": {"name": "llama3-8b", "namespace": "llm"}}
    generated = {"metadata": {"name": "x-12345678", "annotations": {"pulumi.com/autonamed": "true"}}}
    assert book.deletes_first("kubernetes:apps/v1:Deployment", named, named)
    assert not book.deletes_first("kubernetes:apps/v1:Deployment", named, {"metadata": {"name": "other"}})
    assert not book.deletes_first("kubernetes:core/v1:ConfigMap", generated, generated)


@pytest.mark.parametrize(
    ("type_", "path", "replaces"),
    [
        ("kubernetes:apps/v1:Deployment", "spec.selector", True),
        ("kubernetes:apps/v1:Deployment", "spec.template", False),
        ("kubernetes:core/v1:PersistentVolume", "spec.csi", True),
        ("kubernetes:keda.sh/v1alpha1:ScaledObject", "metadata.namespace", True),
        ("kubernetes:keda.sh/v1alpha1:ScaledObject", "spec", False),
        (_RELEASE, "name", True),
        (_RELEASE, "values", False),
    ],
)
def test_what_replaces_an_object(type_: str, path: str, replaces: bool) -> None:
    assert (path in KubernetesBook().forced(type_)) is replaces


def test_data_is_immutable_unless_the_provider_says_otherwise() -> None:
    book = KubernetesBook()
    assert "data" in book.forced("kubernetes:core/v1:ConfigMap")
    book.configure({"enableConfigMapMutable": "true"})
    assert "data" not in book.forced("kubernetes:core/v1:ConfigMap")
    assert "data" in book.forced("kubernetes:core/v1:Secret")


def test_a_release_is_deployed_under_its_name() -> None:
    book = KubernetesBook()
    inputs, _ = book.check(_asked(_RELEASE, "keda", chart="oci://x/keda", version="2.21.0"), {})
    assert inputs["timeout"] == 300
    identity, extra = book.answer(_asked(_RELEASE, "keda", **inputs))
    assert re.fullmatch("default/keda-[0-9a-f]{8}", identity)
    assert (extra["status"]["status"], extra["status"]["chart"]) == ("deployed", "keda")


@pytest.mark.parametrize(
    ("inputs", "path"),
    [
        ({"metadata": {"name": "Llama3"}}, "metadata.name"),
        ({"metadata": {"name": "a" * 254}}, "metadata.name"),
        ({"metadata": {"name": "a", "labels": {"model": "meta/llama"}}}, "metadata.labels.model"),
        ({"metadata": {"name": "a", "labels": {"model": "l" * 64}}}, "metadata.labels.model"),
    ],
)
def test_metadata_that_an_api_server_refuses_is_refused(inputs: dict[str, Any], path: str) -> None:
    _, refusals = KubernetesBook().check(_asked("kubernetes:core/v1:ConfigMap", **inputs), {})
    assert [refusal.path for refusal in refusals] == [path]


def test_two_objects_of_one_name_are_refused_unless_their_namespaces_differ() -> None:
    book = KubernetesBook()
    for name, namespace, expected in (("a", "x", 0), ("b", "y", 0), ("c", "x", 1)):
        metadata = {"name": "router", "namespace": namespace}
        _, refusals = book.check(_asked("kubernetes:core/v1:Service", name, metadata=metadata), {})
        assert len(refusals) == expected
