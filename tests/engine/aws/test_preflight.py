"""Preflight over real HTTP: a full account, every shortage, and every way in which an answer is missing."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import boto3
import jsonschema
import pytest

from planner.preflight import Check, as_json, fails, run
from planner.preflight.registry import DOCKER_HUB, Registry
from planner.staging import push
from specs.settings import Settings, read
from specs.versions import KUBE_PROXY, VPC_CNI
from tests.engine.aws import answers
from tests.engine.aws.server import Rule, Server

PROJECT = Path(__file__).resolve().parents[3]
OFFERED = ["g5.2xlarge", "g5.4xlarge", "g5.8xlarge"]
CONFIG: dict[str, Any] = {
    "aws:region": "us-east-1",
    "headroom:network": {"cidr": "10.0.0.0/16", "zones": ["us-east-1a", "us-east-1b"]},
    "headroom:weights": {"backend": "s3", "kms": False},
    "headroom:platform": {"router": {"image": "vllm/vllm-router:nightly-20260809-d2ba586"}},
    "headroom:gpuPools": [
        {
            "name": "gpu",
            "instanceTypes": ["g5.2xlarge"],
            "capacityTypes": ["on-demand"],
            "gpuLimit": 10,
            "ami": "bottlerocket@v1.60.0",
        }
    ],
    "headroom:gpuBudget": {"maxGpus": 10},
    "headroom:models": [
        {
            "name": "chat",
            "pool": "gpu",
            "model": "owner/chat",
            "weightsGiB": 0.05,
            "replicas": {"min": 1, "max": 10},
            "image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/vllm:v0.33.0",
            "capacity": {"requestsPerSecond": 1, "promptTokens": 100, "outputTokens": 100},
        }
    ],
}
SPOT = {"capacityTypes": ["spot", "on-demand"], "instanceTypes": OFFERED}


def settings(
    pool: Mapping[str, object] | None = None, model: Mapping[str, object] | None = None, **more: object
) -> Settings:
    config = copy.deepcopy(CONFIG)
    config["headroom:gpuPools"][0].update(pool or {})
    config["headroom:models"][0].update(model or {})
    config.update({f"headroom:{key}": value for key, value in more.items()})
    return read(config)


# One session for all tests: the service models are read once.
SESSION: Any = boto3.Session(aws_access_key_id="testing", aws_secret_access_key="testing")


def client(service: str) -> Any:
    return SESSION.client(service, region_name="us-east-1")


@pytest.fixture
def registry(aws: Server) -> Registry:
    """A public registry on loopback that has the router's image."""
    aws.rules.append(Rule(lambda request: request.path.startswith("/v2/vllm/vllm-router/"), 200, b"{}"))
    return Registry({DOCKER_HUB: aws.address})


Ask = Callable[..., dict[str, Check]]


@pytest.fixture
def ask(aws: Server, registry: Registry) -> Ask:
    """Run the preflight; its checks by name."""

    def asked(wanted: Settings | None = None, **words: Any) -> dict[str, Check]:
        words = {"session": lambda: SESSION, "attempts": 1, **words}
        checks = run(wanted or settings(), "test", registry=registry, **words)
        assert len({check.name for check in checks}) == len(checks)
        return {check.name: check for check in checks}

    return asked


@pytest.fixture
def full(aws: Server, tmp_path: Path) -> Server:
    """An account that has everything the stack needs."""
    aws.rules += [
        answers.quota("L-DB2E81BA", 640),
        answers.quota("L-3819A6DF", 640),
        answers.quota("L-1216C47A", 64),
        answers.spot_score(7),
        answers.cluster_versions(
            v1_35="standard-support", v1_36="standard-support", v1_33="extended-support"
        ),
        answers.addon_versions("vpc-cni", "v1.23.0-eksbuild.1", VPC_CNI),
        answers.addon_versions("kube-proxy", KUBE_PROXY["1.35"]),
    ]
    client("iam").create_service_linked_role(AWSServiceName="spot.amazonaws.com")
    _parameter(aws)
    client("s3").create_bucket(Bucket="headroom-test-weights-us-east-1")
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"tensor")
    push(folder, settings(), "test", session=lambda: SESSION)
    aws.rules.append(_image())
    return aws


def _parameter(aws: Server) -> None:
    """AWS keeps these public parameters; nobody may write below /aws."""
    document = {"Parameter": {"Name": "x", "Value": "ami-0123", "Type": "String"}}
    aws.rules.append(
        Rule(
            lambda request: request.target.endswith(".GetParameter") and b"bottlerocket" in request.body(),
            200,
            json.dumps(document).encode(),
            "application/x-amz-json-1.1",
        )
    )


def _image() -> Rule:
    document = {"imageDetails": [{"imageTags": ["v0.33.0"], "repositoryName": "vllm"}]}
    return Rule(
        lambda request: request.target.endswith(".DescribeImages") and b"v0.33.0" in request.body(),
        200,
        json.dumps(document).encode(),
        "application/x-amz-json-1.1",
    )


def verdicts(checks: Iterable[Check]) -> dict[str, str]:
    return {check.name: check.verdict for check in checks}


def test_an_account_that_has_everything_passes_every_check(full: Server, ask: Ask) -> None:
    found = ask()
    assert set(verdicts(found.values()).values()) == {"pass"}, [
        c for c in found.values() if c.verdict != "pass"
    ]
    assert not fails(found.values())


def test_the_checks_come_in_the_same_order_every_time(full: Server, ask: Ask) -> None:
    assert list(ask()) == list(ask())


def test_the_document_fits_its_schema(full: Server, ask: Ask) -> None:
    schema = json.loads((PROJECT / "docs/json/preflight.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(as_json(ask().values()), schema)


def test_sixty_four_vcpus_are_short_by_two_of_ten_nodes(full: Server, ask: Ask) -> None:
    """AW1: g5.2xlarge has eight vCPUs."""
    full.rules.insert(0, answers.quota("L-DB2E81BA", 64))
    check = ask()["quota:L-DB2E81BA"]
    assert check.verdict == "fail"
    assert "64 vCPU" in check.found
    assert "80 vCPU" in check.needed
    assert "short by 2 nodes" in check.fix
    assert "--desired-value 80" in check.fix


def test_exactly_eighty_vcpus_pass(full: Server, ask: Ask) -> None:
    full.rules.insert(0, answers.quota("L-DB2E81BA", 80))
    assert ask()["quota:L-DB2E81BA"].verdict == "pass"


def test_spot_and_on_demand_are_judged_apart(full: Server, ask: Ask) -> None:
    """AW1: one may be there without the other."""
    full.rules.insert(0, answers.quota("L-3819A6DF", 0))
    found = ask(settings(pool=SPOT | {"instanceTypes": ["g5.2xlarge"]}))
    assert (found["quota:L-3819A6DF"].verdict, found["quota:L-DB2E81BA"].verdict) == ("fail", "pass")


def test_a_quota_that_holds_the_cheapest_type_alone_names_that_way_out(full: Server, ask: Ask) -> None:
    full.rules.insert(0, answers.quota("L-DB2E81BA", 100))
    check = ask(settings(pool={"instanceTypes": OFFERED}))["quota:L-DB2E81BA"]
    assert check.verdict == "fail"
    assert "offer only g5.2xlarge" in check.fix


def test_what_the_account_runs_already_counts_against_the_quota(full: Server, ask: Ask) -> None:
    full.rules.insert(0, answers.quota("L-DB2E81BA", 88))
    assert ask()["quota:L-DB2E81BA"].verdict == "pass"
    ec2 = client("ec2")
    ec2.run_instances(ImageId="ami-12c6146b", InstanceType="g5.4xlarge", MinCount=1, MaxCount=1)
    check = ask()["quota:L-DB2E81BA"]
    assert check.verdict == "fail"
    assert "16 of them in use" in check.found


def test_the_stacks_own_nodes_do_not_count_twice(full: Server, ask: Ask) -> None:
    full.rules.insert(0, answers.quota("L-DB2E81BA", 88))
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "eks:eks-cluster-name", "Value": "headroom-test"}]}]
    client("ec2").run_instances(
        ImageId="ami-12c6146b", InstanceType="g5.4xlarge", MinCount=1, MaxCount=1, TagSpecifications=tags
    )
    assert ask()["quota:L-DB2E81BA"].verdict == "pass"


def test_a_quota_without_a_confirmed_code_is_found_by_its_name(full: Server, ask: Ask) -> None:
    full.rules.insert(0, answers.quota_list({"All P6 Spot Instance Requests": 10_000}))
    p6 = {"instanceTypes": ["p6-b200.48xlarge"], "capacityTypes": ["spot"], "gpuLimit": 80}
    wanted = settings(pool=p6, model={"gpusPerReplica": 8}, gpuBudget={"maxGpus": 80})
    assert ask(wanted)["quota:unconfirmed: P6 Spot Instance Requests"].verdict == "pass"


def test_a_type_that_a_zone_does_not_offer_fails_there(full: Server, ask: Ask) -> None:
    text = (
        '<DescribeInstanceTypeOfferingsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">'
        "<instanceTypeOfferingSet/></DescribeInstanceTypeOfferingsResponse>"
    )
    full.rules.insert(
        0,
        Rule(
            lambda request: (
                request.action == "DescribeInstanceTypeOfferings" and b"us-east-1b" in request.body()
            ),
            200,
            text.encode(),
            "text/xml",
        ),
    )
    found = ask()
    assert (found["offering:gpu/us-east-1a"].verdict, found["offering:gpu/us-east-1b"].verdict) == (
        "pass",
        "fail",
    )
    assert "us-east-1b" in found["offering:gpu/us-east-1b"].fix


def test_spot_without_its_role_fails_and_tells_the_cost(aws: Server, ask: Ask) -> None:
    """KP16: Karpenter then buys on-demand quietly."""
    check = ask(settings(pool=SPOT))["spot-role"]
    assert check.verdict == "fail"
    assert "dearer" in check.fix
    assert "create-service-linked-role" in check.fix


def test_without_spot_neither_role_nor_score_is_asked_for(full: Server, ask: Ask) -> None:
    found = ask()
    assert "spot-role" not in found
    assert not [name for name in found if name.startswith("spot-score")]


def test_a_low_score_fails_a_pool_that_has_nothing_but_spot(full: Server, ask: Ask) -> None:
    full.rules.insert(0, answers.spot_score(1))
    alone = ask(settings(pool=SPOT | {"capacityTypes": ["spot"]}))["spot-score:gpu"]
    beside = ask(settings(pool=SPOT))["spot-score:gpu"]
    assert (alone.verdict, beside.verdict) == ("fail", "pass")
    assert "on-demand" in beside.found


def test_a_score_of_fewer_than_three_types_means_nothing(full: Server, ask: Ask) -> None:
    few = SPOT | {"instanceTypes": ["g5.2xlarge", "g5.4xlarge"]}
    assert ask(settings(pool=few))["spot-score:gpu"].verdict == "unknown"


def test_a_score_for_another_region_is_no_answer(full: Server, ask: Ask) -> None:
    full.rules.insert(0, answers.spot_score(9, "eu-west-1"))
    assert ask(settings(pool=SPOT))["spot-score:gpu"].verdict == "unknown"


@pytest.mark.parametrize(
    ("version", "verdict"), [("1.35", "pass"), ("1.33", "fail"), ("1.29", "fail"), ("1.36", "pass")]
)
def test_only_a_version_in_standard_support_passes(
    full: Server, ask: Ask, version: str, verdict: str
) -> None:
    check = ask(settings(cluster={"version": version}))["eks-version"]
    assert check.verdict == verdict
    assert verdict == "pass" or "1.35, 1.36" in check.fix


def test_an_addon_that_eks_has_withdrawn_fails_before_a_cluster_is_half_made(full: Server, ask: Ask) -> None:
    full.rules.insert(0, answers.addon_versions("kube-proxy", "v1.35.9-eksbuild.1"))
    found = ask()
    assert found["addon:vpc-cni"].verdict == "pass"
    assert found["addon:kube-proxy"].verdict == "fail"
    assert "v1.35.9-eksbuild.1" in found["addon:kube-proxy"].found
    assert "specs/versions.py" in found["addon:kube-proxy"].fix


def test_planned_subnets_pass_and_their_size_is_said(full: Server, ask: Ask) -> None:
    check = ask()["addresses:us-east-1a"]
    assert check.verdict == "pass"
    assert "no subnet yet" in check.found


def test_a_subnet_without_enough_free_addresses_fails(full: Server, ask: Ask) -> None:
    ec2 = client("ec2")
    network = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    tags = [{"ResourceType": "subnet", "Tags": [{"Key": "karpenter.sh/discovery", "Value": "headroom-test"}]}]
    ec2.create_subnet(
        VpcId=network, CidrBlock="10.0.0.0/25", AvailabilityZone="us-east-1a", TagSpecifications=tags
    )
    found = ask()
    assert (found["addresses:us-east-1a"].verdict, found["addresses:us-east-1b"].verdict) == ("fail", "pass")
    assert "123 free" in found["addresses:us-east-1a"].found


def test_an_image_that_the_registry_lacks_fails(full: Server, ask: Ask) -> None:
    image = "111122223333.dkr.ecr.us-east-1.amazonaws.com/vllm:v9.9.9"
    assert ask(settings(model={"image": image}))[f"image:{image}"].verdict == "fail"


def test_a_repository_that_ecr_lacks_fails(full: Server, ask: Ask) -> None:
    image = "111122223333.dkr.ecr.us-east-1.amazonaws.com/none:v0.33.1"
    assert ask(settings(model={"image": image}))[f"image:{image}"].verdict == "fail"


def test_a_machine_image_that_was_never_published_fails(full: Server, ask: Ask) -> None:
    check = ask(settings(pool={"ami": "al2023@v20200101"}))["ami:gpu"]
    assert check.verdict == "fail"
    assert "amazon-eks-node-al2023-x86_64-nvidia-1.35-v20200101" in check.needed


def test_weights_without_a_bucket_fail_with_the_order_to_follow(aws: Server, ask: Ask) -> None:
    check = ask()["weights:chat"]
    assert check.verdict == "fail"
    assert check.fix.index("pulumi up") < check.fix.index("headroom weights push")


def test_weights_that_are_not_complete_fail(full: Server, ask: Ask) -> None:
    s3 = client("s3")
    s3.delete_object(Bucket="headroom-test-weights-us-east-1", Key="models/chat/v1/model.safetensors")
    check = ask()["weights:chat"]
    assert check.verdict == "fail"
    assert "model.safetensors missing" in check.found


def test_weights_of_another_backend_are_not_looked_for(full: Server, ask: Ask) -> None:
    assert "weights:chat" not in ask(settings(weights={"backend": "hub"}))


def test_an_existing_cluster_is_not_asked_for_version_addresses_or_images(full: Server, ask: Ask) -> None:
    found = ask(settings(cluster={"mode": "existing"}, weights={"backend": "hub"}))
    assert not [name for name in found if name.startswith(("eks-", "addon", "addresses", "ami"))]


DENIALS = [
    (
        "quota:L-DB2E81BA",
        answers.json_error("GetServiceQuota", "AccessDeniedException"),
        "servicequotas:GetServiceQuota",
    ),
    (
        "quota:L-DB2E81BA",
        answers.query_error("DescribeInstances", "UnauthorizedOperation", 403),
        "ec2:DescribeInstances",
    ),
    (
        "offering:gpu/us-east-1a",
        answers.query_error("DescribeInstanceTypeOfferings", "UnauthorizedOperation", 403),
        "ec2:DescribeInstanceTypeOfferings",
    ),
    ("spot-role", answers.iam_error("GetRole", "AccessDenied"), "iam:GetRole"),
    (
        "spot-score:gpu",
        answers.query_error("GetSpotPlacementScores", "UnauthorizedOperation", 403),
        "ec2:GetSpotPlacementScores",
    ),
    (
        "eks-version",
        answers.json_error("/cluster-versions", "AccessDeniedException", 403),
        "eks:DescribeClusterVersions",
    ),
    (
        "addon:vpc-cni",
        answers.json_error("/addons/supported-versions", "AccessDeniedException", 403),
        "eks:DescribeAddonVersions",
    ),
    ("ami:gpu", answers.json_error("GetParameter", "AccessDeniedException"), "ssm:GetParameter"),
    (
        "addresses:us-east-1a",
        answers.query_error("DescribeSubnets", "UnauthorizedOperation", 403),
        "ec2:DescribeSubnets",
    ),
    (
        "image:111122223333.dkr.ecr.us-east-1.amazonaws.com/vllm:v0.33.0",
        answers.json_error("DescribeImages", "AccessDeniedException"),
        "ecr:DescribeImages",
    ),
    ("identity", answers.iam_error("GetCallerIdentity", "AccessDenied"), "sts:GetCallerIdentity"),
]


@pytest.mark.parametrize(
    ("name", "denial", "action"), DENIALS, ids=[f"{name}-{action}" for name, _, action in DENIALS]
)
def test_without_permission_a_check_is_unknown_and_names_the_action(
    full: Server, ask: Ask, name: str, denial: Rule, action: str
) -> None:
    full.rules.insert(0, copy.copy(denial))
    check = ask(settings(pool=SPOT))[name]
    assert check.verdict == "unknown"
    assert "not permitted" in check.found
    assert action in check.fix


def test_without_permission_on_the_bucket_the_weights_are_unknown(full: Server, ask: Ask) -> None:
    text = b"<Error><Code>AccessDenied</Code><Message>told to</Message></Error>"
    full.rules.insert(0, Rule(lambda request: "weights" in request.path, 403, text, "application/xml"))
    check = ask()["weights:chat"]
    assert check.verdict == "unknown"
    assert "s3:ListBucket" in check.fix


@pytest.mark.parametrize("code", ["ThrottlingException", "TooManyRequestsException"])
def test_throttling_is_unknown_and_says_so(full: Server, ask: Ask, code: str) -> None:
    full.rules.insert(0, answers.json_error("GetServiceQuota", code))
    check = ask()["quota:L-DB2E81BA"]
    assert (check.verdict, check.found) == ("unknown", f"throttled ({code})")
    assert "servicequotas:GetServiceQuota" in check.fix


def test_a_throttled_call_is_tried_again(full: Server, registry: Registry) -> None:
    once = answers.json_error("GetServiceQuota", "ThrottlingException")
    once.times = 1
    full.rules.insert(0, once)
    found = {check.name: check for check in run(settings(), "test", lambda: SESSION, registry=registry)}
    assert found["quota:L-DB2E81BA"].verdict == "pass"


def test_a_quota_that_moto_or_aws_does_not_know_is_unknown(aws: Server, ask: Ask) -> None:
    assert ask()["quota:L-DB2E81BA"].verdict == "unknown"


def test_a_proxys_page_instead_of_an_answer_is_unknown(full: Server, ask: Ask) -> None:
    for word in ("GetServiceQuota", "DescribeInstanceTypeOfferings", "/cluster-versions", "GetParameter"):
        full.rules.insert(0, answers.garbage(word))
    found = ask()
    for name in ("quota:L-DB2E81BA", "offering:gpu/us-east-1a", "eks-version", "ami:gpu"):
        assert found[name].verdict != "pass", name


def test_aws_out_of_order_is_unknown(full: Server, ask: Ask) -> None:
    full.rules.insert(0, answers.json_error("GetServiceQuota", "InternalFailure", 500))
    assert ask()["quota:L-DB2E81BA"].verdict == "unknown"


def test_refused_credentials_are_told_from_missing_permission(full: Server, ask: Ask) -> None:
    full.rules.insert(0, answers.iam_error("GetCallerIdentity", "ExpiredToken"))
    check = ask()["identity"]
    assert (check.verdict, check.found) == ("unknown", "credentials refused (ExpiredToken)")


def test_without_credentials_everything_is_unknown(
    full: Server, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    found = [check for check in ask(session=None).values() if not check.name.startswith("image:vllm/")]
    assert {check.verdict for check in found} == {"unknown"}
    assert all("no credentials" in check.found for check in found)


def test_a_profile_that_does_not_exist_is_unknown(
    full: Server, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    found = ask(session=None)
    assert found["identity"].verdict == "unknown"
    assert "nobody" in found["identity"].found
    assert "pass" not in {
        check.verdict for check in found.values() if not check.name.startswith("image:vllm/")
    }


def test_without_network_everything_is_unknown(
    aws: Server, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    found = [check for check in ask().values() if not check.name.startswith("image:vllm/")]
    assert {check.verdict for check in found} == {"unknown"}
    assert all("no network" in check.found for check in found)
    assert not fails(found)


def test_nothing_in_the_account_is_changed(full: Server, ask: Ask) -> None:
    full.seen.clear()
    ask(settings(pool=SPOT))
    assert not [entry for entry in full.seen if entry.startswith(("PUT", "DELETE", "PATCH"))]
