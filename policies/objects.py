"""Kubernetes objects out of resources: by group and kind over any version, with Lists and Patches."""

from collections.abc import Iterable
from dataclasses import replace

from policies.declared import KubeObject, Resource
from policies.plain import UNKNOWN, Plain, dig, fields, items

_NOT_OBJECTS = ("helm.sh", "yaml", "kustomize", "pulumi")  # components and releases of the kubernetes package


def kube_objects(resources: Iterable[Resource]) -> list[KubeObject]:
    """Every Kubernetes object of the stack; a Patch is laid over its target when the target is there too."""
    found = [item for resource in resources for item in _of(resource)]
    targets = {_identity(item): item for item in found if not item.partial and isinstance(item.name, str)}
    whole: list[KubeObject] = []
    patched: dict[KubeObject, KubeObject] = {}
    for item in found:
        target = targets.get(_identity(item)) if item.partial else None
        if target is None:
            whole.append(item)
        else:
            current = patched.get(target, target)
            patched[target] = replace(current, body=_merge(current.body, item.body))
    return [patched.get(item, item) for item in whole]


def _of(resource: Resource) -> list[KubeObject]:
    token = _token(resource)
    if token is None:
        return []
    group, kind = token
    if kind.endswith("List") and isinstance(resource.get("items"), list):
        return [
            KubeObject(
                resource, _group_of(item, group), _kind_of(item, kind.removesuffix("List")), item, False
            )
            for item in items(resource.get("items"))
        ]
    partial = kind.endswith("Patch") and kind != "Patch"
    return [
        KubeObject(resource, group, kind.removesuffix("Patch") if partial else kind, resource.props, partial)
    ]


def _token(resource: Resource) -> tuple[str, str] | None:
    """Group and kind from a token such as `kubernetes:karpenter.sh/v1:NodePool`."""
    parts = resource.type.split(":")
    if len(parts) != 3 or parts[0] == "pulumi":
        return None
    package, module, kind = parts
    if package == "kubernetes":
        if module.split("/")[0] in _NOT_OBJECTS:
            return None
        group = module.split("/")[0]
        return ("" if group in ("core", "v1") else group), kind
    # Packages generated from CRDs keep apiVersion and kind among the inputs.
    version, stated = resource.get("apiVersion"), resource.get("kind")
    if isinstance(version, str) and isinstance(stated, str) and stated in (kind, kind.removesuffix("Patch")):
        return (version.split("/")[0] if "/" in version else ""), kind
    return None


def _group_of(item: Plain, fallback: str) -> str:
    version = (fields(item) or {}).get("apiVersion")
    if not isinstance(version, str):
        return fallback
    return version.split("/")[0] if "/" in version else ""


def _kind_of(item: Plain, fallback: str) -> str:
    kind = (fields(item) or {}).get("kind")
    return kind if isinstance(kind, str) else fallback


def _identity(item: KubeObject) -> tuple[str, ...]:
    """Group, kind, namespace and name, in the cluster its provider names."""
    cluster = [str(dig(item.resource.provider, key)) for key in ("context", "cluster", "kubeconfig")]
    return item.group, item.kind, str(item.namespace), str(item.name), *cluster


def _merge(base: Plain, patch: Plain) -> Plain:
    """Server-side apply in small: objects and lists of named entries merge, the rest is replaced."""
    if isinstance(base, dict) and isinstance(patch, dict):
        return base | {key: _merge(base.get(key), value) for key, value in patch.items()}
    if isinstance(base, list) and isinstance(patch, list):
        named = {_entry_name(entry): entry for entry in base}
        if None in named or any(_entry_name(entry) is None for entry in patch):
            return patch
        for entry in patch:
            name = _entry_name(entry)
            named[name] = _merge(named.get(name), entry)
        return list(named.values())
    return base if patch is None else patch


def _entry_name(entry: Plain) -> str | None:
    name = entry.get("name") if isinstance(entry, dict) else None
    return name if isinstance(name, str) else None


def same(left: Plain, right: Plain) -> bool | None:
    """Whether two names are equal; `None` when either is not known."""
    if left is UNKNOWN or right is UNKNOWN:
        return None
    return left == right
