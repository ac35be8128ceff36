"""The catalogue asked anew over real HTTP: EC2 by moto, the price list by answers in its own form, page by page."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import boto3
import jsonschema
import pytest

from planner.plan.prices import load_prices, prices
from planner.refresh import Refreshed, RefreshError, refresh
from specs.catalogue import DATA, catalogue, load_catalogue
from tests.engine.aws.answers import json_error, query_error
from tests.engine.aws.server import Request, Rule, Server

PROJECT = Path(__file__).resolve().parents[3]
NOW: Final = datetime(2026, 11, 30, tzinfo=UTC)
SESSION: Any = boto3.Session(aws_access_key_id="testing", aws_secret_access_key="testing")


PAGE = 20


class PriceList:
    """Answers GetProducts: an hour of each known type, PAGE a page, and a few items by their usage type."""

    def __init__(self, prefix: str = "", hours: dict[str, float] | None = None) -> None:
        shipped = {entry.type: entry.usd_per_hour for entry in catalogue().types}
        self.hours = shipped | {"m7i.large": 0.2} if hours is None else hours
        self.items = {
            "AmazonEKS-Hours:perCluster": ["0.11"],
            "NatGateway-Hours": ["0.05"],
            "NatGateway-Bytes": ["0.05", "0.06"],
            "EBS:VolumeP-Throughput.gp3": ["40.96"],
            "KMS-Keys": ["1.25"],
        }
        self.prefix = prefix
        self.regions: set[str] = set()

    def rule(self) -> Rule:
        def matches(request: Request) -> bool:
            return request.target.endswith(".GetProducts")

        return PricedRule(matches, 200, kind="application/x-amz-json-1.1", source=self)

    def answer(self, request: Request) -> bytes:
        asked = json.loads(request.body())
        filters = {entry["Field"]: entry["Value"] for entry in asked["Filters"]}
        self.regions.add(filters["regionCode"])
        usage = filters.get("usagetype")
        if usage is None:
            found = [self.product(f"BoxUsage:{name}", usd, name) for name, usd in self.hours.items()]
        else:
            head = f"{filters['regionCode']}-" if usage == "KMS-Keys" else self.prefix
            found = [self.product(head + usage, price) for price in self.items.get(usage, [])]
            found.append(self.product(self.prefix + usage + "-Other", "9"))
        start = int(asked.get("NextToken", 0))
        page = {"PriceList": [json.dumps(entry) for entry in found[start : start + PAGE]]}
        more = {"NextToken": str(start + PAGE)} if start + PAGE < len(found) else {}
        return json.dumps({"FormatVersion": "aws_v1"} | page | more).encode()

    @staticmethod
    def product(usage: str, usd: object, kind: str | None = None) -> dict[str, Any]:
        tiers = {
            "a": {"beginRange": "0", "pricePerUnit": {"USD": str(usd)}},
            "b": {"beginRange": "1000", "pricePerUnit": {"USD": "0.001"}},
        }
        attributes = {"usagetype": usage} | ({"instanceType": kind} if kind else {})
        return {
            "product": {"attributes": attributes},
            "terms": {"OnDemand": {"x": {"priceDimensions": tiers}}},
        }


class PricedRule(Rule):
    """A rule whose content depends on the request."""

    def __init__(self, matches: Any, status: int, kind: str, source: PriceList) -> None:
        super().__init__(matches, status, kind=kind)
        self.source = source

    def answer(self, request: Request) -> bytes:
        return self.source.answer(request)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Copies of the shipped files."""
    copies = tmp_path / "instances.json", tmp_path / "prices.json"
    for copy in copies:
        copy.write_bytes((DATA / copy.name).read_bytes())
    document = json.loads(copies[1].read_text(encoding="utf-8"))
    document["systemTypes"] = {name: document["systemTypes"][name] for name in ("m7i.large", "m5.large")}
    copies[1].write_text(json.dumps(document), encoding="utf-8")
    return copies


def refreshed(files: tuple[Path, Path], region: str = "us-east-1") -> Refreshed:
    return refresh(region, lambda: SESSION, types_file=files[0], prices_file=files[1], now=NOW)


def test_ec2s_figures_are_those_of_the_shipped_snapshot(aws: Server, files: tuple[Path, Path]) -> None:
    """Two sources of the same facts: Karpenter's reference table and EC2's description with Karpenter's arithmetic."""
    aws.rules.append(PriceList().rule())
    refreshed(files)
    fresh = {entry.type: entry for entry in load_catalogue(files[0]).types}
    compared = 0
    for shipped in catalogue().types:
        # The two sources are of different days for g7: figures of new families still move.
        if shipped.type not in fresh or shipped.family.startswith("g7"):
            continue
        compared += 1
        found = fresh[shipped.type]
        for name in (
            "gpu",
            "gpus",
            "compute_capability",
            "vcpu",
            "memory_gi_b",
            "allocatable_cpu_milli",
            "network_gbps",
        ):
            assert getattr(found, name) == getattr(shipped, name), (shipped.type, name)
        assert found.allocatable_memory_mi_b == pytest.approx(shipped.allocatable_memory_mi_b, abs=2), (
            shipped.type
        )
    assert compared >= 25


def test_the_files_say_region_and_day(aws: Server, files: tuple[Path, Path]) -> None:
    aws.rules.append(PriceList().rule())
    refreshed(files)
    for data in (load_catalogue(files[0]), load_prices(files[1])):
        assert (data.region, data.date) == ("us-east-1", "2026-11-30")


def test_another_region_works_and_its_own_prices_are_asked_for(aws: Server, files: tuple[Path, Path]) -> None:
    prices_of = PriceList(prefix="EUW1-", hours={"g5.2xlarge": 1.353})
    aws.rules.append(prices_of.rule())
    found = refreshed(files, "eu-west-1")
    assert prices_of.regions == {"eu-west-1"}
    assert [(entry.type, entry.usd_per_hour) for entry in load_catalogue(files[0]).types] == [
        ("g5.2xlarge", 1.353)
    ]
    assert found.region == "eu-west-1"
    assert load_prices(files[1]).of("controlPlaneHour") == 0.11


def test_prices_are_taken_where_the_list_is_clear_and_kept_where_it_is_not(
    aws: Server, files: tuple[Path, Path]
) -> None:
    aws.rules.append(PriceList(prefix="USE1-").rule())
    found = refreshed(files)
    fresh = load_prices(files[1])
    assert fresh.of("controlPlaneHour") == 0.11
    assert fresh.of("natGatewayHour") == 0.05
    assert fresh.of("volumeThroughputMonth") == pytest.approx(0.04)
    assert fresh.of("keyMonth") == 1.25
    assert fresh.of("natGatewayGB") == prices().of("natGatewayGB")
    assert "natGatewayGB" in found.kept
    assert "controlPlaneHour" not in found.kept
    assert fresh.items["controlPlaneHour"].source == "AWS Price List, us-east-1 2026-11-30"


def test_a_kept_price_keeps_the_region_and_day_it_is_of(aws: Server, files: tuple[Path, Path]) -> None:
    aws.rules.append(PriceList(prefix="EUW1-").rule())
    refreshed(files, "eu-west-1")
    refreshed(files, "eu-west-1")
    source = load_prices(files[1]).items["natGatewayGB"].source
    assert source == f"{prices().items['natGatewayGB'].source}, us-east-1 {prices().date}"


def test_system_types_get_the_prices_of_the_region(aws: Server, files: tuple[Path, Path]) -> None:
    aws.rules.append(PriceList().rule())
    refreshed(files)
    system = load_prices(files[1]).system_types
    assert {name: entry.usd_per_hour for name, entry in system.items()} == {"m7i.large": 0.2}


def test_spot_prices_and_zones_are_written(aws: Server, files: tuple[Path, Path]) -> None:
    aws.rules.append(PriceList().rule())
    refreshed(files)
    fresh = load_prices(files[1])
    assert "us-east-1a" in fresh.offerings["g5.2xlarge"]
    assert fresh.spot_prices["g5.2xlarge"] == pytest.approx(0.00001)  # what moto always answers


def test_types_without_price_and_shares_of_a_gpu_are_left_out_with_the_reason(
    aws: Server, files: tuple[Path, Path]
) -> None:
    listed = PriceList()
    del listed.hours["g5.2xlarge"]
    aws.rules.append(listed.rule())
    reasons = {entry.type: entry.reason for entry in refreshed(files).skipped}
    assert reasons["g5.2xlarge"] == "no on-demand price"
    assert reasons["g6f.xlarge"] == "a share of a GPU"


def test_the_same_answers_give_the_same_bytes(aws: Server, files: tuple[Path, Path]) -> None:
    aws.rules.append(PriceList().rule())
    refreshed(files)
    once = [file.read_bytes() for file in files]
    refreshed(files)
    assert [file.read_bytes() for file in files] == once


@pytest.mark.parametrize(
    ("rule", "action"),
    [
        (json_error("GetProducts", "AccessDeniedException"), "pricing:GetProducts"),
        (query_error("DescribeInstanceTypes", "UnauthorizedOperation", 403), "ec2:DescribeInstanceTypes"),
        (
            query_error("DescribeSpotPriceHistory", "UnauthorizedOperation", 403),
            "ec2:DescribeSpotPriceHistory",
        ),
    ],
)
def test_without_permission_nothing_is_written_and_the_action_is_named(
    aws: Server, files: tuple[Path, Path], rule: Rule, action: str
) -> None:
    before = [file.read_bytes() for file in files]
    aws.rules += [rule, PriceList().rule()]
    with pytest.raises(RefreshError) as refused:
        refreshed(files)
    assert action in refused.value.problems[0].fix
    assert [file.read_bytes() for file in files] == before


def test_a_region_without_prices_is_refused(aws: Server, files: tuple[Path, Path]) -> None:
    aws.rules.append(PriceList(hours={}).rule())
    with pytest.raises(RefreshError) as refused:
        refreshed(files)
    assert refused.value.problems[0].path == "--region"
    assert refused.value.refused


def test_an_answer_of_another_shape_is_refused(aws: Server, files: tuple[Path, Path]) -> None:
    aws.rules.append(
        Rule(lambda request: request.target.endswith(".GetProducts"), 200, b'{"PriceList": ["no"]}')
    )
    with pytest.raises(RefreshError):
        refreshed(files)


def test_the_document_fits_its_schema(aws: Server, files: tuple[Path, Path]) -> None:
    aws.rules.append(PriceList().rule())
    schema = json.loads((PROJECT / "docs/json/catalogue.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(refreshed(files).as_json(), schema)


def test_all_prices_of_hours_are_one_question_over_several_pages(
    aws: Server, files: tuple[Path, Path]
) -> None:
    listed = PriceList(hours={f"m9.{number}xlarge": 1.0 for number in range(3 * PAGE)} | {"g5.2xlarge": 1.3})
    aws.rules.append(listed.rule())
    refreshed(files)
    assert [entry.type for entry in load_catalogue(files[0]).types] == ["g5.2xlarge"]
    assert sum(entry.startswith("POST /?") for entry in aws.seen) < 60


def test_a_throttled_question_is_asked_again(
    aws: Server, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("botocore.endpoint.time.sleep", waits.append)
    throttled = json_error("GetProducts", "ThrottlingException")
    throttled.times = 3
    aws.rules += [throttled, PriceList().rule()]
    assert refreshed(files).types > 20
    assert len([seconds for seconds in waits if seconds]) == 3
