"""Every Kubernetes object of the shipped stacks is accepted by a real API server with strict validation."""

from __future__ import annotations

import ssl
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
import yaml

from lab.control.parts.registry import API
from lab.control.plane import down, up
from lab.render import Declared, render
from specs.settings.source import load, stack_path

PROJECT = Path(__file__).resolve().parents[3]


class Server:
    """Writes objects as dry runs in which an unknown field is an error."""

    def __init__(self, kubeconfig: Path) -> None:
        config = cast(dict[str, Any], yaml.safe_load(kubeconfig.read_text()))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        trust = ssl.create_default_context(cafile=cluster["certificate-authority"])
        headers = {"Authorization": f"Bearer {user['token']}"}
        self._http = httpx2.Client(base_url=cluster["server"], headers=headers, verify=trust, trust_env=False)
        self._kinds: dict[str, dict[str, tuple[str, bool]]] = {}

    def _path(self, body: Mapping[str, Any]) -> str:
        version = cast(str, body["apiVersion"])
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if root not in self._kinds:
            found = self._http.get(root).raise_for_status().json()["resources"]
            self._kinds[root] = {
                r["kind"]: (r["name"], r["namespaced"]) for r in found if "/" not in r["name"]
            }
        plural, namespaced = self._kinds[root][body["kind"]]
        return (
            f"{root}/namespaces/{body['metadata']['namespace']}/{plural}"
            if namespaced
            else f"{root}/{plural}"
        )

    def close(self) -> None:
        """Ends the connections."""
        self._http.close()

    def create(self, body: Mapping[str, Any], *, dry: bool = True) -> str:
        """The server's objection, empty when it accepts the object."""
        parameters = {"fieldValidation": "Strict"} | ({"dryRun": "All"} if dry else {})
        answer = self._http.post(self._path(body), json=body, params=parameters)
        return "" if answer.is_success or answer.status_code == 409 else answer.json()["message"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """An API server with the CRDs of Karpenter, KEDA and the Prometheus operator."""
    state = tmp_path_factory.mktemp("objects") / "lab"
    try:
        made = Server(up(state, API).kubeconfig)
        yield made
        made.close()
    finally:
        down(state)


def objects(stack: str) -> list[Declared]:
    config = load(stack_path(PROJECT, stack)).config
    kubernetes = [
        d for d in render(PROJECT / "__main__.py", stack, config) if d.type.startswith("kubernetes:")
    ]
    return [declared for declared in kubernetes if "helm.sh" not in declared.type]


@pytest.mark.parametrize("stack", ["dev", "prod", "local"])
def test_every_object_is_accepted(server: Server, stack: str) -> None:
    declared = objects(stack)
    for namespace in (entry for entry in declared if entry.type.endswith(":Namespace")):
        server.create(namespace.inputs, dry=False)
    objections = {
        f"{entry.type} {entry.name}": found for entry in declared if (found := server.create(entry.inputs))
    }
    assert objections == {}


def test_a_misspelt_field_is_an_objection(server: Server) -> None:
    pool = next(entry for entry in objects("dev") if entry.type.endswith(":NodePool"))
    spec = {**cast(dict[str, Any], pool.inputs["spec"]), "expireAfter": "24h"}
    assert "expireAfter" in server.create({**pool.inputs, "spec": spec})
