"""Pods of the tests: those that the program declares, as the API server would show them."""

from pathlib import Path
from typing import Any

from specs.engine_pod import engine_pod
from specs.router import router_args
from specs.settings.read import read
from specs.settings.source import load
from specs.settings.stack import Settings

__all__ = ["declared", "local", "router_args"]
PROJECT = Path(__file__).parents[4]


def local() -> Settings:
    """The settings of the local stack."""
    return read(load(PROJECT / "Pulumi.local.yaml").config)


def declared(**metadata: Any) -> dict[str, Any]:
    """A scheduled pod of the local stack's first model, with an address."""
    settings = local()
    template: dict[str, Any] = engine_pod(settings, settings.active_models[0])
    template["spec"]["nodeName"] = "node"
    named = {"name": "pod", "namespace": "llm-serving", "uid": "1", **metadata}
    return {
        "metadata": {**template["metadata"], **named},
        "spec": template["spec"],
        "status": {"phase": "Pending", "podIP": "127.0.0.1"},
    }
