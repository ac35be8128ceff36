"""Stands in front of moto and answers four calls that it lacks or only pretends to have.

pricing GetProducts and EC2 DescribeSpotPriceHistory (moto's spot prices are placeholders), EC2
DescribeCapacityReservations (none), and SSM GetParameter for the AMI aliases of EKS.
"""

import io
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs

from moto.moto_api._internal import mock_random
from werkzeug.test import create_environ

from lab.control.aws import prices
from lab.control.aws.images import image_of
from lab.control.aws.journal import Change, Journal, changes
from lab.control.aws.seed import RANDOM_SEED, SEEDING

_XML = "text/xml"
_JSON = "application/x-amz-json-1.1"
# Larger bodies are uploads, none of the calls above.
_LARGEST_BYTES = 1 << 20
_KEPT = ("CONTENT_TYPE", "HTTP_X_AMZ_TARGET", "HTTP_AUTHORIZATION", "HTTP_HOST", "HTTP_X_AMZ_DATE")
_NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"

StartResponse = Callable[..., Any]
Application = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


class Answers:
    """A WSGI application around moto's. ``ready`` is set once the account is seeded."""

    def __init__(
        self,
        behind: Application,
        on_demand: Mapping[str, float],
        region: str,
        zones: tuple[str, ...],
        images: Any,
        journal: Journal,
    ) -> None:
        self.ready = False
        self._behind = behind
        self._on_demand = on_demand
        self._region = region
        self._zones = zones
        self._images = images
        self._journal = journal
        self._changing = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Answers, or passes on to moto with the body put back."""
        if environ.get("PATH_INFO") == "/headroom/ready":
            status = "200 OK" if self.ready else "503 Service Unavailable"
            return _send(start_response, status, "text/plain", "")
        if not self.ready and SEEDING not in environ.get("HTTP_USER_AGENT", ""):
            return _send(
                start_response, "503 Service Unavailable", "text/plain", "the account is being seeded"
            )
        target = environ.get("HTTP_X_AMZ_TARGET", "")
        is_form = environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded")
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if environ.get("REQUEST_METHOD") != "POST" or not (target or is_form) or length > _LARGEST_BYTES:
            return self._behind(environ, start_response)
        body = environ["wsgi.input"].read(length)
        environ["wsgi.input"] = io.BytesIO(body)
        change = Change({name: environ[name] for name in _KEPT if name in environ}, body.decode())
        with self._changing:
            answer = self._own(change)
        if answer:
            return _send(start_response, *answer)
        if not self.ready or not changes(_operation(change), change.body):
            return self._behind(environ, start_response)
        with self._changing:
            return self._make(self._journal.write(change), environ, start_response)

    def restore(self) -> None:
        """Makes once more what an earlier process of this account was asked for, with the same ids."""
        for number, change in enumerate(self._journal.past, 1):
            if not self._own(change):
                body = change.body.encode()
                environ = create_environ(method="POST", input_stream=io.BytesIO(body))
                environ |= {**change.headers, "CONTENT_LENGTH": str(len(body))}
                self._make(number, environ, lambda *_: None)

    def _make(self, number: int, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        # Each change draws from its own numbers, whatever was read before it.
        mock_random.seed(RANDOM_SEED + number)
        return list(self._behind(environ, start_response))

    def _own(self, change: Change) -> tuple[str, str, str] | None:
        """The answer to a call that moto lacks. An image that it made known is a change too."""
        target = change.headers.get("HTTP_X_AMZ_TARGET", "")
        known = len(self._images.amis)
        answer = self._json_call(target, change.body) if target else self._query_call(change.body)
        if self.ready and len(self._images.amis) > known:
            self._journal.write(change)
        return answer

    def _json_call(self, target: str, body: str) -> tuple[str, str, str] | None:
        operation = target.rpartition(".")[2]
        if target.startswith("AWSPriceListService.") and operation == "GetProducts":
            return "200 OK", _JSON, json.dumps(self._products(json.loads(body or "{}")))
        if target == "AmazonSSM.GetParameter":
            name = str(json.loads(body).get("Name", ""))
            image = image_of(name, self._images)
            if image is not None:
                value = {"Name": name, "Type": "String", "Value": image, "Version": 1, "DataType": "text"}
                return "200 OK", _JSON, json.dumps({"Parameter": value})
        return None

    def _query_call(self, body: str) -> tuple[str, str, str] | None:
        asked = parse_qs(body)
        match asked.get("Action"):
            case ["DescribeSpotPriceHistory"]:
                return "200 OK", _XML, self._spot_history(asked)
            case ["DescribeCapacityReservations"]:
                return "200 OK", _XML, _response("DescribeCapacityReservations", "<capacityReservationSet/>")
            case _:
                return None

    def _products(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """One page with everything that the filters let through; fields that are not modelled match anything."""
        wanted = {one["Field"]: one["Value"] for one in asked.get("Filters", [])}
        found: list[str] = []
        for name, price in self._on_demand.items():
            metal = ".metal" in name
            attributes = {
                "instanceType": name,
                "regionCode": self._region,
                "tenancy": "Dedicated" if metal else "Shared",
                "operatingSystem": "Linux",
                "preInstalledSw": "NA",
                "capacitystatus": "Used",
                "marketoption": "OnDemand",
            }
            family = "Compute Instance (bare metal)" if metal else "Compute Instance"
            facts = attributes | {"productFamily": family, "serviceCode": "AmazonEC2"}
            if all(facts.get(field, value) == value for field, value in wanted.items()):
                rate = {"unit": "Hrs", "pricePerUnit": {"USD": f"{price:.10f}"}}
                terms = {"OnDemand": {f"{name}.term": {"priceDimensions": {f"{name}.rate": rate}}}}
                product = {"productFamily": family, "attributes": attributes, "sku": name}
                found.append(json.dumps({"product": product, "serviceCode": "AmazonEC2", "terms": terms}))
        return {"FormatVersion": "aws_v1", "PriceList": found}

    def _spot_history(self, asked: Mapping[str, list[str]]) -> str:
        types = {value[0] for key, value in asked.items() if key.startswith("InstanceType.")}
        zone = asked.get("AvailabilityZone", [None])[0]
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        items = "".join(
            f"<item><instanceType>{name}</instanceType><productDescription>Linux/UNIX</productDescription>"
            f"<spotPrice>{prices.spot(self._on_demand, name, where)}</spotPrice><timestamp>{now}</timestamp>"
            f"<availabilityZone>{where}</availabilityZone></item>"
            for name in self._on_demand
            if not types or name in types
            for where in self._zones
            if zone in (None, where)
        )
        body = f"<spotPriceHistorySet>{items}</spotPriceHistorySet><nextToken/>"
        return _response("DescribeSpotPriceHistory", body)


def _operation(change: Change) -> str:
    target = change.headers.get("HTTP_X_AMZ_TARGET", "")
    return target.rpartition(".")[2] or parse_qs(change.body).get("Action", [""])[0]


def _response(action: str, body: str) -> str:
    return (
        f'<{action}Response xmlns="{_NAMESPACE}"><requestId>headroom-lab</requestId>{body}</{action}Response>'
    )


def _send(start_response: StartResponse, status: str, kind: str, text: str) -> list[bytes]:
    body = text.encode()
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]
