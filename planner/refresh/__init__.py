"""The instance catalogue and the prices, asked of AWS anew: any region, any day."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from planner.aws.cloud import MISUNDERSTOOD, Cloud, SessionFactory
from planner.aws.unanswered import UnansweredError, brief, misunderstood
from planner.plan.prices import Item, Prices, load_prices
from planner.refresh.machines import Skipped, gpu_types, offerings
from planner.refresh.price_list import ITEMS, PriceList
from planner.refresh.write import catalogue_text, prices_text, replace
from specs.catalogue import DATA, Catalogue
from specs.problems import Problem
from specs.settings.stack import REGION

ATTEMPTS = 6
"""The price list allows a few questions a second."""
ORIGIN = ", "
"""Between an item's source and the region and day it is of."""
SOURCE = (
    "EC2 DescribeInstanceTypes and AWS Price List; allocatable as Karpenter v1.15 reckons (7.5 % VM overhead,"
    " DaemonSets not subtracted)"
)


class RefreshError(Exception):
    """Nothing was written; `problems` says why. `refused`: what was given is at fault, not AWS or the disk."""

    def __init__(self, problems: list[Problem], *, refused: bool = False) -> None:
        self.problems = problems
        self.refused = refused
        super().__init__("\n".join(map(str, problems)))


@dataclass(frozen=True)
class Refreshed:
    """What was written. `kept` are items whose price the list does not tell: they stand as before."""

    region: str
    date: str
    types: int
    system_types: int
    spot_types: int
    kept: tuple[str, ...]
    skipped: tuple[Skipped, ...]

    def as_json(self) -> dict[str, object]:
        """The document of `headroom catalogue refresh --json`; docs/json/catalogue.schema.json describes it."""
        return {
            "region": self.region,
            "date": self.date,
            "types": self.types,
            "systemTypes": self.system_types,
            "spotTypes": self.spot_types,
            "keptItems": list(self.kept),
            "skipped": [{"type": entry.type, "reason": entry.reason} for entry in self.skipped],
        }


def refresh(
    region: str,
    session: SessionFactory | None = None,
    *,
    types_file: Path = DATA / "instances.json",
    prices_file: Path = DATA / "prices.json",
    now: datetime | None = None,
) -> Refreshed:
    """Ask EC2 and the price list of `region`, then replace both files. Raises RefreshError; then nothing is changed."""
    if not re.fullmatch(REGION, region):
        words = Problem("--region", region, "the name of a region", "give one such as eu-west-1")
        raise RefreshError([words], refused=True)
    before = _before(prices_file)
    cloud, moment = Cloud(session, region, ATTEMPTS), now or datetime.now(UTC)
    try:
        return _refresh(cloud, region, before, types_file, prices_file, moment)
    except UnansweredError as error:
        raise RefreshError([Problem("AWS", error.reason, "an answer", error.fix)]) from error
    except MISUNDERSTOOD as error:
        given = misunderstood(error)
        raise RefreshError(
            [Problem("AWS", given, "an answer", "check proxy and AWS_ENDPOINT_URL")]
        ) from error
    except OSError as error:
        given = error.strerror or "not writable"
        raise RefreshError(
            [Problem(str(types_file.parent), given, "a writable folder", "mend its rights")]
        ) from error


def _before(file: Path) -> Prices:
    """The prices so far: what is bought besides GPU types, and the prices that no list tells."""
    try:
        return load_prices(file)
    except (OSError, ValueError) as error:
        given = brief(error.strerror if isinstance(error, OSError) and error.strerror else error)
        fix = f"restore it, e.g. git checkout -- specs/data/{file.name}"
        raise RefreshError([Problem(str(file), given, "the prices so far", fix)], refused=True) from error


def _refresh(
    cloud: Cloud, region: str, before: Prices, types_file: Path, prices_file: Path, moment: datetime
) -> Refreshed:
    listed = PriceList(cloud, region)
    entries, skipped = gpu_types(cloud)
    names = [str(entry["type"]) for entry in entries]
    zones = offerings(cloud, names)
    usd = listed.on_demand(names)
    sold = [entry for entry in entries if zones[entry["type"]] and entry["type"] in usd]
    priced = [entry | {"usdPerHour": usd[entry["type"]]} for entry in sold]
    skipped += [Skipped(name, "offered in no zone") for name in names if not zones[name]]
    skipped += [Skipped(name, "no on-demand price") for name in names if zones[name] and name not in usd]
    if not priced:
        fix = f"check the region's name, and that {region} has GPU types"
        words = Problem("--region", region, "a region with priced GPU types", fix)
        raise RefreshError([words], refused=True)
    date = moment.date().isoformat()
    head = {"region": region, "date": date, "source": SOURCE}
    kept_types = [str(entry["type"]) for entry in priced]
    document, kept = _prices(before, listed, region, date, moment, kept_types)
    document["offerings"] = {name: zones[name] for name in kept_types}
    texts = {types_file: catalogue_text(head, priced), prices_file: prices_text(document)}
    TypeAdapter(Catalogue).validate_python(json.loads(texts[types_file]), by_alias=True)
    fresh = TypeAdapter(Prices).validate_python(json.loads(texts[prices_file]), by_alias=True)
    replace(texts)
    return Refreshed(
        region, date, len(priced), len(fresh.system_types), len(fresh.spot_prices), kept, tuple(skipped)
    )


def _prices(
    before: Prices, listed: PriceList, region: str, date: str, moment: datetime, types: list[str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    system = listed.on_demand(before.system_types)
    items: dict[str, Item] = dict(before.items)
    kept: list[str] = []
    for name, item in before.items.items():
        usd = listed.item(name) if name in ITEMS else None
        if usd is None:
            kept.append(name)
            origin = (
                item.source
                if ORIGIN in item.source
                else f"{item.source}{ORIGIN}{before.region} {before.date}"
            )
            items[name] = item.model_copy(update={"source": origin})
        else:
            origin = f"AWS Price List{ORIGIN}{region} {date}"
            items[name] = item.model_copy(update={"usd": usd, "source": origin})
    document: dict[str, Any] = {
        "region": region,
        "date": date,
        "source": "AWS Price List; an item that it does not tell clearly keeps its own source",
        "spotShare": before.spot_share,
        "spotSource": before.spot_source,
        "spotPrices": listed.spot(types, moment),
        "items": {name: item.model_dump() for name, item in items.items()},
        "systemTypes": {
            name: {"vcpu": before.system_types[name].vcpu, "usdPerHour": usd} for name, usd in system.items()
        },
    }
    return document, tuple(kept)


__all__ = ["RefreshError", "Refreshed", "refresh"]
