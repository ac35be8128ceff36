"""A dashboard: rows of panels laid on the grid, and the variables that choose what they show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from specs import metrics_names as names
from specs.dashboards.panel import COLUMNS, DATASOURCE, Body, Panel
from specs.series import where

SCHEMA_VERSION: Final = 41
TAG: Final = "headroom"
RATE: Final = "$__rate_interval"
"""Grafana's own window: four steps, or the step and one scrape where that is longer."""
MODEL: Final = {names.MODEL_LABEL: "$model"}
"""Chooses the series of the models that the reader picked."""


@dataclass(frozen=True)
class Row:
    """A heading and its panels, from left to right and then down."""

    title: str
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Dashboard:
    """`name` is the file and, with the prefix `headroom-`, the uid under which links find it."""

    name: str
    title: str
    description: str
    rows: Sequence[Row]
    by_model: bool = True
    """Whether it has the variable `model`."""

    @property
    def uid(self) -> str:
        """Stable across installations."""
        return f"{TAG}-{self.name}"

    def body(self, scrape_seconds: int) -> Body:
        """The document that Grafana loads."""
        return {
            "uid": self.uid,
            "title": self.title,
            "description": self.description,
            "tags": [TAG],
            "schemaVersion": SCHEMA_VERSION,
            "version": 1,
            "editable": True,
            "graphTooltip": 1,
            "fiscalYearStartMonth": 0,
            "timezone": "browser",
            "time": {"from": "now-3h", "to": "now"},
            "timepicker": {},
            "refresh": "30s",
            "links": [_links()],
            "annotations": {"list": [_alerts()]},
            "templating": {"list": [_datasource(), *([_model()] if self.by_model else [])]},
            "panels": self._panels(f"{scrape_seconds}s"),
        }

    def text(self, scrape_seconds: int) -> str:
        """The document as compact JSON."""
        return json.dumps(self.body(scrape_seconds), separators=(",", ":"))

    def _panels(self, scrape: str) -> list[Body]:
        found: list[Body] = []
        y = 0
        for row in self.rows:
            found.append(
                {
                    "id": len(found) + 1,
                    "type": "row",
                    "title": row.title,
                    "collapsed": False,
                    "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1},
                    "panels": [],
                }
            )
            x, y, tallest = 0, y + 1, 0
            for panel in row.panels:
                if x + panel.width > COLUMNS:
                    x, y, tallest = 0, y + tallest, 0
                found.append(panel.body(len(found) + 1, x, y, scrape))
                x, tallest = x + panel.width, max(tallest, panel.height)
            y += tallest
        return found


def _links() -> Body:
    return {
        "type": "dashboards",
        "title": "Headroom",
        "tags": [TAG],
        "asDropdown": True,
        "includeVars": True,
        "keepTime": True,
        "targetBlank": False,
        "icon": "external link",
        "tooltip": "",
        "url": "",
    }


def _alerts() -> Body:
    """Firing alerts as marks on every panel."""
    return {
        "name": "Alerts",
        "enable": True,
        "iconColor": "red",
        "datasource": dict(DATASOURCE),
        "expr": firing('severity="critical"'),
        "titleFormat": "{{alertname}}",
        "textFormat": "{{headroom_model}}{{nodepool}}{{node}}",
        "step": "1m",
    }


def firing(*matchers: str) -> str:
    """The program's alerts that fire, of Prometheus' own series ALERTS."""
    return "ALERTS{" + ",".join(('alertname=~"Headroom.*"', 'alertstate="firing"', *matchers)) + "}"


def _datasource() -> Body:
    return {
        "type": "datasource",
        "name": "datasource",
        "label": "Prometheus",
        "query": "prometheus",
        "current": {"text": "default", "value": "default"},
        "refresh": 1,
    }


def _model() -> Body:
    """The routers' worker gauge is there at zero replicas too."""
    query = f"label_values({where(names.ROUTER_WORKERS)}, {names.MODEL_LABEL})"
    return {
        "type": "query",
        "name": "model",
        "label": "Model",
        "datasource": dict(DATASOURCE),
        "query": query,
        "definition": query,
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "current": {"text": "All", "value": "$__all"},
    }
