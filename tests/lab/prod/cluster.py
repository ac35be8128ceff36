"""Any object of a cluster by the words of the program: a Pulumi type and an id, or a version and a kind."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import httpx2
import yaml

Body = Mapping[str, Any]


class Cluster:
    """An API server asked in plain HTTP."""

    def __init__(self, kubeconfig: Path) -> None:
        config = cast(dict[str, Any], yaml.safe_load(kubeconfig.read_text()))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        trust = ssl.create_default_context(cafile=cluster["certificate-authority"])
        headers = {"Authorization": f"Bearer {user['token']}"}
        self._http = httpx2.Client(base_url=cluster["server"], headers=headers, verify=trust, trust_env=False)
        self._plurals: dict[str, dict[str, str]] = {}

    def close(self) -> None:
        """Ends the connections."""
        self._http.close()

    def items(self, version: str, kind: str, namespace: str = "") -> list[Body]:
        """All objects of a kind, everywhere or in one namespace."""
        return self._http.get(self._path(version, kind, namespace)).raise_for_status().json()["items"]

    def get(self, version: str, kind: str, name: str, namespace: str = "") -> Body:
        """One object that must be there."""
        return self._http.get(f"{self._path(version, kind, namespace)}/{name}").raise_for_status().json()

    def has(self, token: str, identity: str) -> bool:
        """Whether the object of a Pulumi type such as `kubernetes:apps/v1:Deployment` is there; ids as Pulumi's."""
        _, version, kind = token.split(":")
        namespace, _, name = identity.rpartition("/")
        version = version.removeprefix("core/")
        return self._http.get(f"{self._path(version, kind, namespace)}/{name}").is_success

    def create(self, body: Body) -> None:
        """Writes a new object; an unknown field is an error."""
        path = self._path(body["apiVersion"], body["kind"], body["metadata"].get("namespace", ""))
        self._http.post(path, json=body, params={"fieldValidation": "Strict"}).raise_for_status()

    def delete(self, version: str, kind: str, name: str, namespace: str = "") -> None:
        """Asks for an end."""
        self._http.delete(f"{self._path(version, kind, namespace)}/{name}").raise_for_status()

    def _path(self, version: str, kind: str, namespace: str) -> str:
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if root not in self._plurals:
            found = self._http.get(root).raise_for_status().json()["resources"]
            self._plurals[root] = {one["kind"]: one["name"] for one in found if "/" not in one["name"]}
        place = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{place}/{self._plurals[root][kind]}"


def condition(body: Body, kind: str) -> str:
    """The status of a condition, empty when it is not there."""
    found: list[Body] = body.get("status", {}).get("conditions") or []
    return next((one["status"] for one in found if one["type"] == kind), "")


def labels(body: Body) -> Mapping[str, str]:
    """An object's labels."""
    return body["metadata"].get("labels") or {}
