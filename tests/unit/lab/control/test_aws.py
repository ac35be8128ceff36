"""What stands in front of moto."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from moto.ec2.models import ec2_backends

from lab.control.aws import prices
from lab.control.aws.answers import Answers
from lab.control.aws.images import image_of
from lab.control.aws.journal import Change, Journal, changes

TABLE = """
	// us-east-1
	"us-east-1": {
		// g6 family
		"g6.2xlarge": 0.977600, "g6.xlarge": 0.804800,
		"g6.metal": 9.000000,
	},
	// us-west-2
	"us-west-2": {
		"g6.xlarge": 0.900000,
	},
"""
AL2023 = (
    "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/{0}/{1}"
    "/amazon-eks-node-al2023-{0}-{1}-1.35-v20261101/image_id"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A price table as Karpenter generates it."""
    (tmp_path / "prices.go").write_text(TABLE)
    return tmp_path / "prices.go"


@pytest.fixture
def ask(table: Path) -> Callable[..., tuple[str, str]]:
    """Sends one request; the status and the body. What is passed on gets the body back from "moto"."""

    def behind(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        start("299 Moto", [])
        return [environ["wsgi.input"].read()]

    images = SimpleNamespace(amis={}, account_id="1", region_name="us-east-1")
    journal = Journal(table.parent / "journal", "account")
    answers = Answers(
        behind,
        prices.on_demand(table, "us-east-1"),
        "us-east-1",
        ("us-east-1a", "us-east-1b"),
        images,
        journal,
    )

    def send(
        body: str, target: str = "", path: str = "/", ready: bool = True, agent: str = ""
    ) -> tuple[str, str]:
        answers.ready = ready
        kind = "application/x-amz-json-1.1" if target else "application/x-www-form-urlencoded"
        environ = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": path,
            "CONTENT_TYPE": kind,
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_X_AMZ_TARGET": target,
            "HTTP_USER_AGENT": agent,
            "wsgi.input": io.BytesIO(body.encode()),
        }
        seen: list[str] = []

        def start(status: str, headers: object) -> None:
            seen.append(status)

        answer = b"".join(answers(environ, start))
        return seen[0], answer.decode()

    return send


Ask = Callable[..., tuple[str, str]]


def test_prices_are_those_of_the_region(table: Path) -> None:
    assert prices.on_demand(table, "us-east-1") == {
        "g6.2xlarge": 0.9776,
        "g6.xlarge": 0.8048,
        "g6.metal": 9.0,
    }
    assert prices.on_demand(table, "us-west-2") == {"g6.xlarge": 0.9}
    with pytest.raises(ValueError, match="no prices for region 'mars-1'"):
        prices.on_demand(table, "mars-1")


def test_a_made_up_spot_price_is_steady_and_below_on_demand() -> None:
    first = prices.spot({"g6.xlarge": 0.8048}, "g6.xlarge", "us-east-1a")
    assert first == prices.spot({"g6.xlarge": 0.8048}, "g6.xlarge", "us-east-1a")
    assert 0.3 * 0.8048 <= first <= 0.5 * 0.8048


def _products(ask: Ask, **filters: str) -> dict[str, str]:
    asked = {
        "Filters": [
            {"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in filters.items()
        ]
    }
    _, answer = ask(json.dumps(asked), target="AWSPriceListService.GetProducts")
    found = [json.loads(one) for one in json.loads(answer)["PriceList"]]
    return {
        one["product"]["attributes"]["instanceType"]: next(
            iter(next(iter(one["terms"]["OnDemand"].values()))["priceDimensions"].values())
        )["pricePerUnit"]["USD"]
        for one in found
    }


def test_the_price_list_is_filtered_as_asked(ask: Ask) -> None:
    assert set(_products(ask, tenancy="Shared", marketoption="OnDemand")) == {"g6.2xlarge", "g6.xlarge"}
    assert set(_products(ask, tenancy="Dedicated")) == {"g6.metal"}
    assert float(_products(ask, instanceType="g6.xlarge")["g6.xlarge"]) == 0.8048


def test_spot_history_has_each_type_in_each_zone(ask: Ask) -> None:
    _, answer = ask(urlencode({"Action": "DescribeSpotPriceHistory", "InstanceType.1": "g6.xlarge"}))
    tree = ElementTree.fromstring(answer)  # noqa: S314 - our own text
    zones = [one.text for one in tree.iter() if one.tag.endswith("availabilityZone")]
    assert zones == ["us-east-1a", "us-east-1b"]


def test_there_are_no_capacity_reservations(ask: Ask) -> None:
    _, answer = ask(urlencode({"Action": "DescribeCapacityReservations"}))
    assert "<capacityReservationSet/>" in answer


def test_every_other_call_reaches_moto_with_its_body(ask: Ask) -> None:
    assert ask("Action=DescribeVpcs") == ("299 Moto", "Action=DescribeVpcs")
    assert ask('{"Name": "/mine"}', target="AmazonSSM.GetParameter") == ("299 Moto", '{"Name": "/mine"}')


def test_only_the_seeding_client_is_let_in_before_the_account_is_ready(ask: Ask) -> None:
    assert ask("", path="/headroom/ready", ready=False)[0].startswith("503")
    assert ask("Action=CreateVpc", ready=False)[0].startswith("503")
    assert ask("Action=CreateVpc", ready=False, agent="Boto3/1 headroom-seed")[0] == "299 Moto"
    assert ask("", path="/headroom/ready")[0] == "200 OK"


@pytest.mark.parametrize(
    ("path", "architecture"),
    [
        (AL2023.format("x86_64", "nvidia"), "x86_64"),
        (AL2023.format("arm64", "standard"), "arm64"),
        ("/aws/service/bottlerocket/aws-k8s-1.35-nvidia/x86_64/1.60.0/image_id", "x86_64"),
        ("/aws/service/bottlerocket/aws-k8s-1.35/arm64/latest/image_id", "arm64"),
    ],
)
def test_an_alias_gives_an_image_of_the_architecture_that_it_names(path: str, architecture: str) -> None:
    backend = ec2_backends["123456789012"]["us-east-1"]
    identity = image_of(path, backend)
    assert identity is not None
    assert backend.amis[identity].architecture == architecture
    assert image_of(path, backend) == identity


@pytest.mark.parametrize(
    "path",
    [
        "/aws/service/bottlerocket/aws-k8s-1.35/x86_64/newest/image_id",
        "/aws/service/canonical/ubuntu",
        "mine",
    ],
)
def test_what_is_no_alias_of_eks_has_no_image(path: str) -> None:
    assert image_of(path, SimpleNamespace(amis={})) is None


@pytest.mark.parametrize(
    ("operation", "body", "is_one"),
    [
        ("RunInstances", "Action=RunInstances", True),
        ("RunInstances", "Action=RunInstances&DryRun=true", False),
        ("RunInstances", "Action=RunInstances&DryRun=false", True),
        ("DescribeInstances", "Action=DescribeInstances", False),
        ("GetParameter", "{}", False),
        ("ReceiveMessage", "{}", False),
        ("CreateTags", "Action=CreateTags", True),
    ],
)
def test_what_leaves_something_behind_is_a_change(operation: str, body: str, is_one: bool) -> None:
    assert changes(operation, body) is is_one


def test_a_journal_is_read_back_up_to_the_line_at_which_the_process_died(tmp_path: Path) -> None:
    first = Journal(tmp_path / "data" / "journal", "account")
    made = [Change({"HTTP_HOST": "ec2"}, f"Action=RunInstances&Number={number}") for number in range(2)]
    assert [first.write(one) for one in made] == [1, 2]
    with (tmp_path / "data" / "journal").open("a") as file:
        file.write('{"headers": {}')
    second = Journal(tmp_path / "data" / "journal", "account")
    assert second.past == made
    assert second.write(made[0]) == 3
    assert Journal(tmp_path / "data" / "journal", "account").past == [*made, made[0]]


def test_a_journal_of_another_account_starts_anew(tmp_path: Path) -> None:
    Journal(tmp_path / "journal", "account").write(Change({}, "Action=RunInstances"))
    assert Journal(tmp_path / "journal", "another account").past == []
    assert Journal(tmp_path / "journal", "account").past == []


def test_an_account_makes_again_what_it_was_asked_for_and_what_it_made_known(
    tmp_path: Path, table: Path
) -> None:
    path = AL2023.format("x86_64", "nvidia")

    def made(account: str, seen: list[str]) -> Answers:
        def behind(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
            start("200 OK", [])
            said = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])).decode()
            seen.append(f"{environ['HTTP_AUTHORIZATION']} {said}")
            return [b""]

        images = ec2_backends[account]["us-east-1"]
        journal = Journal(tmp_path / "journal", "account")
        return Answers(
            behind, prices.on_demand(table, "us-east-1"), "us-east-1", ("us-east-1a",), images, journal
        )

    def ask(answers: Answers, body: str, target: str = "") -> str:
        kind = "application/x-amz-json-1.1" if target else "application/x-www-form-urlencoded"
        told = {"HTTP_AUTHORIZATION": "lab", "HTTP_X_AMZ_TARGET": target, "CONTENT_TYPE": kind}
        stream = {"wsgi.input": io.BytesIO(body.encode()), "CONTENT_LENGTH": str(len(body))}
        return b"".join(answers({"REQUEST_METHOD": "POST"} | told | stream, lambda *_: None)).decode()

    before: list[str] = []
    first = made("111111111111", before)
    first.ready = True
    image = ask(first, json.dumps({"Name": path}), "AmazonSSM.GetParameter")
    ask(first, json.dumps({"Name": path}), "AmazonSSM.GetParameter")
    ask(first, "Action=RunInstances")
    ask(first, "Action=DescribeInstances")
    after: list[str] = []
    second = made("222222222222", after)
    second.restore()
    assert before == ["lab Action=RunInstances", "lab Action=DescribeInstances"]
    assert after == ["lab Action=RunInstances"]
    assert json.loads(image)["Parameter"]["Value"] in ec2_backends["222222222222"]["us-east-1"].amis
    assert len(Journal(tmp_path / "journal", "account").past) == 2
