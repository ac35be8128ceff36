"""The dashboards in the types that Grafana's makers generate from its own schema."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from specs.dashboards.config_maps import dashboards
from specs.dashboards.dashboard import Dashboard
from tests.unit.specs.stack import settings

with warnings.catch_warnings():
    # It warns that dashboards of schema 2 are to come; Grafana's sidecar loads the classic ones.
    warnings.simplefilter("ignore", DeprecationWarning)
    from grafana_foundation_sdk.cog.encoder import JSONEncoder
    from grafana_foundation_sdk.cog.plugins import register_default_plugins
    from grafana_foundation_sdk.models import dashboard as grafana
    from grafana_foundation_sdk.models import units

register_default_plugins()
STACK = settings()
EACH = pytest.mark.parametrize("shown", dashboards(STACK), ids=lambda shown: shown.uid)


def document(shown: Dashboard) -> dict[str, Any]:
    return json.loads(shown.text(5))


def lost(given: Any, kept: Any, path: str = "") -> Iterator[str]:
    """What Grafana's own types did not take over from a document."""
    if isinstance(given, dict) and isinstance(kept, dict):
        inside = cast(dict[str, Any], kept)
        for key, value in cast(dict[str, Any], given).items():
            if key in inside:
                yield from lost(value, inside[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}"
    elif isinstance(given, list) and isinstance(kept, list):
        before, after = cast(list[Any], given), cast(list[Any], kept)
        if len(before) != len(after):
            yield path
        for number, (one, other) in enumerate(zip(before, after, strict=False)):
            yield from lost(one, other, f"{path}[{number}]")
    elif given != kept:
        yield path


def through_grafana(found: dict[str, Any]) -> Any:
    return json.loads(json.dumps(grafana.Dashboard.from_json(found), cls=JSONEncoder))


@EACH
def test_grafanas_own_types_take_all_of_it(shown: Dashboard) -> None:
    found = document(shown)
    assert list(lost(found, through_grafana(found))) == []


def test_what_grafana_does_not_know_would_be_seen() -> None:
    found = document(dashboards(STACK)[0])
    found["panels"][1]["fieldConfig"]["defaults"]["units"] = "s"
    found["refreshed"] = "5s"
    assert list(lost(found, through_grafana(found))) == [
        ".panels[1].fieldConfig.defaults.units",
        ".refreshed",
    ]


@EACH
def test_every_unit_is_one_of_grafanas(shown: Dashboard) -> None:
    ids = set(re.findall(r'= "([^"]*)"', Path(units.__file__).read_text(encoding="utf-8")))
    panels = [panel for panel in document(shown)["panels"] if panel["type"] != "row"]
    assert {panel["fieldConfig"]["defaults"]["unit"] for panel in panels} <= ids
