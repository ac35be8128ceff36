"""Access to the lab's API server: the kubeconfig, a client, and server-side apply of plain mappings."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from lightkube import Client, KubeConfig, generic_resource
from lightkube.types import PatchType

# Its functions are partly untyped (lightkube 1.0.1).
generic: Any = generic_resource
MANAGER = "headroom-lab"
NAMESPACE = "headroom-lab"
"""The lab's own objects: the program makes and deletes its namespaces, `keda` among them."""

# Plain mappings on purpose: typed classes drop the fields that they do not know (x-kubernetes-* in schemas).
_GLOBAL = {
    "CustomResourceDefinition": ("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
    "APIService": ("apiregistration.k8s.io", "v1", "apiservices"),
}


def write_kubeconfig(path: Path, url: str, ca: Path, token: str) -> None:
    """Writes a kubeconfig with one context, readable by its owner only."""
    content: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "headroom-lab",
        "clusters": [{"name": "headroom-lab", "cluster": {"server": url, "certificate-authority": str(ca)}}],
        "users": [{"name": "headroom-lab", "user": {"token": token}}],
        "contexts": [
            {"name": "headroom-lab", "context": {"cluster": "headroom-lab", "user": "headroom-lab"}}
        ],
    }
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(content))


def client(kubeconfig: Path) -> Client:
    """A client of the lab; its writes are owned by ``headroom-lab``."""
    return Client(config=KubeConfig.from_file(kubeconfig), field_manager=MANAGER, trust_env=False)


def resource(group: str, version: str, kind: str, plural: str, *, namespaced: bool = True) -> Any:
    """The class of a resource whose objects are plain mappings, made on first use; any group, any kind."""
    found: Any = generic.get_generic_resource(f"{group}/{version}" if group else version, kind)
    make: Any = generic.create_namespaced_resource if namespaced else generic.create_global_resource
    return found or make(group, version, kind, plural)


def apply(to: Client, body: Mapping[str, Any]) -> None:
    """Server-side apply of a CustomResourceDefinition or an APIService; takes over fields of other owners."""
    group, version, plural = _GLOBAL[body["kind"]]
    kind = resource(group, version, body["kind"], plural, namespaced=False)
    name = body["metadata"]["name"]
    to.patch(kind, name, kind(body), patch_type=PatchType.APPLY, force=True, field_manager=MANAGER)


def documents(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """All YAML documents of files, in order."""
    return [body for path in paths for body in yaml.load_all(path.read_text(), _LOADER) if body]


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
