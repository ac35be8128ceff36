"""What keeps a lab small: the types that it offers, and what Prometheus asks its controllers for."""

from collections.abc import Callable
from typing import Any

import boto3
import httpx2

from lab.control.plane import Plane
from specs.catalogue import catalogue


def _ask(plane: Plane, path: str, **params: str) -> Any:
    answer = httpx2.get(f"{plane.url('prometheus')}/api/v1/{path}", params=params, trust_env=False)
    return answer.json()["data"]


def test_the_account_offers_the_types_of_the_catalogue_and_no_other(full: Plane) -> None:
    session: Any = boto3.Session("lab", "lab", region_name=full.settings.aws.region)
    ec2 = session.client("ec2", endpoint_url=full.url("aws"))
    pages = ec2.get_paginator("describe_instance_types").paginate()
    offered = {one["InstanceType"] for page in pages for one in page["InstanceTypes"]}
    assert offered == {entry.type for entry in catalogue().types}


def test_controllers_are_asked_twice_a_minute_and_not_for_their_price_lists(
    full: Plane, eventually: Callable[..., Any]
) -> None:
    def asked() -> dict[str, str]:
        targets = _ask(full, "targets")["activeTargets"]
        up = {one["labels"]["job"]: one["scrapeInterval"] for one in targets if one["health"] == "up"}
        return up if {"karpenter", "keda-operator"} <= up.keys() else {}

    found = eventually(asked)
    assert (found["karpenter"], found["keda-operator"]) == ("30s", "30s")
    names = set(_ask(full, "label/__name__/values"))
    assert "karpenter_build_info" in names
    assert not [name for name in names if name.startswith("karpenter_cloudprovider_instance_type_")]
