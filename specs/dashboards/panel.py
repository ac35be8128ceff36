"""Panels of Grafana's classic dashboard model (schema version 41)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Body = dict[str, object]
Unit = Literal["short", "none", "reqps", "s", "percentunit", "currencyUSD", "celsius", "watt", "bool_yes_no"]
"""Grafana's unit ids; all of this list are tested to exist."""
DATASOURCE: Final[Mapping[str, str]] = {"type": "prometheus", "uid": "${datasource}"}
COLUMNS: Final = 24


@dataclass(frozen=True)
class Query:
    """One PromQL query; `legend` names a series by `{{label}}`. `limit` draws it as a dashed red line."""

    expr: str
    legend: str
    limit: bool = False


@dataclass(frozen=True)
class Panel:
    """`width` in the grid's 24 columns, `height` in its rows of 30 pixels.

    `stat` shows the last value large; `stacked` adds the areas up. `steps` colours a stat from these values on.
    """

    title: str
    description: str
    unit: Unit
    queries: Sequence[Query]
    kind: Literal["timeseries", "stat"] = "timeseries"
    width: int = 12
    height: int = 8
    stacked: bool = False
    most: float | None = None
    decimals: int | None = None
    steps: tuple[tuple[float, str], ...] = ()

    def body(self, number: int, x: int, y: int, scrape: str) -> Body:
        """The panel at a place of the grid. `scrape` is its smallest step: `$__rate_interval` is four of them."""
        return {
            "id": number,
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "datasource": dict(DATASOURCE),
            "gridPos": {"x": x, "y": y, "w": self.width, "h": self.height},
            "interval": scrape,
            "targets": [
                _target(query, letter) for query, letter in zip(self.queries, "ABCDEFGHIJ", strict=False)
            ],
            "fieldConfig": {"defaults": self._defaults(), "overrides": self._limits()},
            "options": _STAT if self.kind == "stat" else _SERIES,
        }

    def _defaults(self) -> Body:
        ends: tuple[tuple[float | None, str], ...] = ((None, "green"), *self.steps)
        steps: list[Body] = [{"color": color, "value": value} for value, color in ends]
        found: Body = {
            "unit": self.unit,
            "min": 0,
            "color": {"mode": "thresholds" if self.kind == "stat" else "palette-classic"},
            "thresholds": {"mode": "absolute", "steps": steps},
        }
        if self.most is not None:
            found["max"] = self.most
        if self.decimals is not None:
            found["decimals"] = self.decimals
        if self.kind == "timeseries":
            found["custom"] = {
                "drawStyle": "line",
                "lineWidth": 1,
                "fillOpacity": 30 if self.stacked else 5,
                "showPoints": "never",
                "stacking": {"mode": "normal" if self.stacked else "none", "group": "A"},
            }
        return found

    def _limits(self) -> list[Body]:
        return [
            {
                "matcher": {"id": "byFrameRefID", "options": letter},
                "properties": [
                    {"id": "color", "value": {"mode": "fixed", "fixedColor": "red"}},
                    {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [8, 8]}},
                    {"id": "custom.fillOpacity", "value": 0},
                ],
            }
            for query, letter in zip(self.queries, "ABCDEFGHIJ", strict=False)
            if query.limit
        ]


def stat(
    title: str,
    description: str,
    unit: Unit,
    expr: str,
    steps: tuple[tuple[float, str], ...] = (),
    decimals: int | None = None,
) -> Panel:
    """One number, a sixth of the width."""
    return Panel(
        title, description, unit, (Query(expr, title),), "stat", 4, 4, decimals=decimals, steps=steps
    )


def _target(query: Query, letter: str) -> Body:
    return {
        "refId": letter,
        "datasource": dict(DATASOURCE),
        "expr": query.expr,
        "legendFormat": query.legend,
        "range": True,
        "editorMode": "code",
    }


_SERIES: Final[Body] = {
    "legend": {
        "displayMode": "table",
        "placement": "bottom",
        "showLegend": True,
        "calcs": ["lastNotNull", "max"],
    },
    "tooltip": {"mode": "multi", "sort": "desc"},
}
_STAT: Final[Body] = {
    "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
    "orientation": "auto",
    "textMode": "auto",
    "colorMode": "value",
    "graphMode": "area",
    "justifyMode": "auto",
    "wideLayout": True,
    "showPercentChange": False,
    "percentChangeColorMode": "standard",
}
