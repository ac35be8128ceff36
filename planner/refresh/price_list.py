"""List prices by the AWS Price List API, spot prices by EC2."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from statistics import fmean
from typing import Any, Final

from planner.aws.cloud import Answer, Cloud
from planner.aws.unanswered import UnansweredError, brief

# The API lives in few regions only and knows the prices of all (Price List user guide, endpoints).
PRICING_REGIONS: Final = (("ap-", "ap-south-1"), ("eu-", "eu-central-1"), ("", "us-east-1"))
# What an hour of an on-demand Linux instance is called; as Karpenter's own price provider asks.
PLAIN: Final = {
    "operatingSystem": "Linux",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
    "tenancy": "Shared",
    "marketoption": "OnDemand",
}


@dataclass(frozen=True)
class Billed:
    """How an item of the price file is billed: service, usage type less the region's prefix, family where the usage
    type is shared; the listed price is divided by `units`.
    """

    service: str
    usage: str
    family: str | None = None
    units: float = 1.0


ITEMS: Final[Mapping[str, Billed]] = {
    "controlPlaneHour": Billed("AmazonEKS", "AmazonEKS-Hours:perCluster"),
    "natGatewayHour": Billed("AmazonEC2", "NatGateway-Hours"),
    "natGatewayGB": Billed("AmazonEC2", "NatGateway-Bytes"),
    "publicAddressHour": Billed("AmazonVPC", "PublicIPv4:InUseAddress"),
    "interfaceEndpointHour": Billed("AmazonVPC", "VpcEndpoint-Hours"),
    "loadBalancerHour": Billed("AWSELB", "LoadBalancerUsage", "Load Balancer-Application"),
    "loadBalancerUnitHour": Billed("AWSELB", "LCUUsage", "Load Balancer-Application"),
    "volumeGiBMonth": Billed("AmazonEC2", "EBS:VolumeUsage.gp3"),
    "volumeIopsMonth": Billed("AmazonEC2", "EBS:VolumeP-IOPS.gp3"),
    "volumeThroughputMonth": Billed("AmazonEC2", "EBS:VolumeP-Throughput.gp3", units=1024),  # listed by GiB/s
    "bucketGiBMonth": Billed("AmazonS3", "TimedStorage-ByteHrs"),
    "keyMonth": Billed("awskms", "KMS-Keys"),
}


class PriceList:
    """Prices of one region, asked of the pricing endpoint near it."""

    def __init__(self, cloud: Cloud, region: str) -> None:
        self._cloud, self._region = cloud, region
        self._home = next(home for prefix, home in PRICING_REGIONS if region.startswith(prefix))

    def on_demand(self, types: Iterable[str]) -> dict[str, float]:
        """USD an hour of each type that has one unambiguous price. Raises UnansweredError."""
        return {name: min(found) for name in types if len(found := self._hours.get(name, set())) == 1}

    @cached_property
    def _hours(self) -> Mapping[str, set[float]]:
        """Prices of every type of the region: a dozen pages, where a question for each type is throttled."""
        found: dict[str, set[float]] = {}
        for product in self._products("AmazonEC2", PLAIN):
            name = str(_attributes(product).get("instanceType", ""))
            found.setdefault(name, set()).update(_first_tier(product))
        return found

    def item(self, name: str) -> float | None:
        """USD of an item of the price file; None where the list has none or several."""
        billed = ITEMS[name]
        terms = {"productFamily": billed.family} if billed.family else {}
        prices = {
            usd
            for product in self._products(billed.service, terms, billed.usage)
            if _usage(product, self._region) == billed.usage
            for usd in _first_tier(product)
        }
        return prices.pop() / billed.units if len(prices) == 1 else None

    def _products(
        self, service: str, terms: Mapping[str, str], usage: str | None = None
    ) -> Iterator[Mapping[str, Any]]:
        filters = [
            {"Type": "TERM_MATCH", "Field": field, "Value": value}
            for field, value in {"regionCode": self._region, **terms}.items()
        ]
        if usage is not None:
            filters.append({"Type": "CONTAINS", "Field": "usagetype", "Value": usage})
        pages = self._cloud.pages(
            "pricing", "get_products", "PriceList", region=self._home, ServiceCode=service, Filters=filters
        )
        for text in pages:
            product = _parsed(text)
            if isinstance(product, dict):
                yield product  # pyright: ignore[reportUnknownVariableType] - JSON

    def spot(self, types: list[str], since: datetime) -> dict[str, float]:
        """Mean over the zones of each type's newest spot price in USD an hour. Raises UnansweredError."""
        newest: dict[tuple[str, str], tuple[datetime, float]] = {}
        for entry in self._cloud.pages(
            "ec2",
            "describe_spot_price_history",
            "SpotPriceHistory",
            InstanceTypes=types,
            ProductDescriptions=["Linux/UNIX"],
            StartTime=since,
        ):
            key = (str(entry["InstanceType"]), str(entry["AvailabilityZone"]))
            seen = (entry["Timestamp"], _usd(entry["SpotPrice"], f"the spot price of {key[0]}"))
            newest[key] = max(newest.get(key, seen), seen)
        return {
            name: round(fmean(prices), 6)
            for name in types
            if (prices := [usd for (kind, _), (_, usd) in newest.items() if kind == name])
        }


def _attributes(product: Answer) -> Answer:
    return product.get("product", {}).get("attributes", {})


def _parsed(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError as error:
        raise _unclear(f"a price document that is no JSON ({brief(error)})") from error


def _usage(product: Answer, region: str) -> str:
    """The usage type less what says the region: a prefix such as `EUW1-`, or the region's own name (KMS)."""
    usage = str(_attributes(product).get("usagetype", "")).removeprefix(f"{region}-")
    head, dash, rest = usage.partition("-")
    return rest if dash and head.isalnum() and head.isupper() and head != "KMS" else usage


def _first_tier(product: Answer) -> Iterator[float]:
    """USD per unit of each on-demand term, first tier; a price of 0 is a promotion and left out."""
    for term in product.get("terms", {}).get("OnDemand", {}).values():
        for dimension in term.get("priceDimensions", {}).values():
            given = dimension.get("pricePerUnit", {}).get("USD", 0)
            usd = _usd(given, f"the price of {_attributes(product).get('usagetype', 'a product')}")
            if usd > 0 and str(dimension.get("beginRange", "0")) == "0":
                yield usd


def _usd(given: object, what: str) -> float:
    try:
        usd = float(str(given))
    except ValueError:
        usd = math.nan
    if not math.isfinite(usd) or usd < 0:
        raise _unclear(f"{what} is {given!r}")
    return usd


def _unclear(given: str) -> UnansweredError:
    return UnansweredError(
        f"an answer that was not understood: {given}", "check proxy and AWS_ENDPOINT_URL, and run it again"
    )
