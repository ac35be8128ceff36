"""Answers of AWS services that moto lacks, in the form the services give them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tests.engine.aws.server import Request, Rule


def quota(code: str, vcpu: float) -> Rule:
    """Service Quotas: GetServiceQuota of one code."""

    def matches(request: Request) -> bool:
        return request.target.endswith(".GetServiceQuota") and code in request.body().decode()

    document = {"Quota": {"ServiceCode": "ec2", "QuotaCode": code, "QuotaName": code, "Value": vcpu}}
    return Rule(matches, 200, json.dumps(document).encode(), "application/x-amz-json-1.1")


def quota_list(values: Mapping[str, float]) -> Rule:
    """Service Quotas: ListServiceQuotas by name."""
    rows = [{"QuotaName": name, "Value": value, "QuotaCode": "L-X"} for name, value in values.items()]
    return Rule(
        lambda request: request.target.endswith(".ListServiceQuotas"),
        200,
        json.dumps({"Quotas": rows}).encode(),
        "application/x-amz-json-1.1",
    )


def spot_score(score: int, region: str = "us-east-1") -> Rule:
    """EC2: GetSpotPlacementScores."""
    text = (
        '<GetSpotPlacementScoresResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><spotPlacementScoreSet>'
        f"<item><region>{region}</region><score>{score}</score></item>"
        "</spotPlacementScoreSet></GetSpotPlacementScoresResponse>"
    )
    return Rule(lambda request: request.action == "GetSpotPlacementScores", 200, text.encode(), "text/xml")


def cluster_versions(**status: str) -> Rule:
    """EKS: DescribeClusterVersions; `v1_35="standard-support"`."""
    rows = [
        {
            "clusterVersion": name[1:].replace("_", "."),
            "status": text,
            "versionStatus": text.upper().replace("-", "_"),
        }
        for name, text in status.items()
    ]
    content = json.dumps({"clusterVersions": rows}).encode()
    return Rule(lambda request: request.path == "/cluster-versions", 200, content)


def addon_versions(addon: str, *versions: str) -> Rule:
    """EKS: DescribeAddonVersions of one add-on."""
    rows = [{"addonVersion": version} for version in versions]
    content = json.dumps({"addons": [{"addonName": addon, "addonVersions": rows}]}).encode()
    return Rule(
        lambda request: (
            request.path == "/addons/supported-versions" and f"addonName={addon}" in request.query
        ),
        200,
        content,
    )


def json_error(word: str, code: str, status: int = 400) -> Rule:
    """A JSON service's error for requests whose target or path contains `word`."""
    content = json.dumps({"__type": code, "message": "told to"}).encode()
    return Rule(
        lambda request: word in request.target or word in request.path,
        status,
        content,
        "application/x-amz-json-1.1",
    )


def query_error(action: str, code: str, status: int = 400) -> Rule:
    """EC2's form of an error, for one action."""
    text = (
        f"<Response><Errors><Error><Code>{code}</Code><Message>told to</Message></Error></Errors></Response>"
    )
    return Rule(lambda request: request.action == action, status, text.encode(), "text/xml")


def iam_error(action: str, code: str, status: int = 403) -> Rule:
    """IAM's and STS's form of an error, for one action."""
    inner = f"<Type>Sender</Type><Code>{code}</Code><Message>told to</Message>"
    text = f"<ErrorResponse><Error>{inner}</Error></ErrorResponse>"
    return Rule(lambda request: request.action == action, status, text.encode(), "text/xml")


def garbage(word: str) -> Rule:
    """Something that is no answer at all."""
    return Rule(
        lambda request: word in request.target or word in request.path or request.action == word,
        200,
        b"<html>proxy</html>",
        "text/html",
    )
