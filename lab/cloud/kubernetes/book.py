"""A recorded API server."""

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from lab.cloud.asked import Asked
from lab.cloud.journal import Refusal
from lab.cloud.kubernetes import objects
from lab.cloud.kubernetes.forced import RELEASE, forced
from lab.cloud.kubernetes.rules import problems
from lab.cloud.refuse.account import Account
from lab.cloud.wire import Properties

_AUTONAMED = "pulumi.com/autonamed"
_HELM_TIMEOUT_SECONDS = 300
"""What the provider fills in where a release awaits and states no timeout."""

_DATA = {
    "enableConfigMapMutable": "kubernetes:core/v1:ConfigMap",
    "enableSecretMutable": "kubernetes:core/v1:Secret",
}


class KubernetesBook:
    """One run's API server; `region` only names load balancers."""

    package = "kubernetes"

    def __init__(self, region: str = "us-east-1") -> None:
        self.version = version("pulumi-kubernetes")
        self._region = region
        self._account = Account()
        self._mutable: frozenset[str] = frozenset()

    def region(self) -> str:
        return self._region

    def configure(self, settings: Mapping[str, Any]) -> None:
        free = {type_ for key, type_ in _DATA.items() if str(settings.get(key)).lower() == "true"}
        self._mutable |= free

    def forced(self, type_: str) -> frozenset[str]:
        return forced(type_, self._mutable)

    def deletes_first(self, type_: str, old: Properties, new: Properties) -> bool:
        """An object that keeps the name its author gave it cannot exist twice; a release's replacement is
        made first."""
        if type_ == RELEASE:
            return False
        before: Properties = old.get("metadata") or {}
        after: Properties = new.get("metadata") or {}
        named = bool(after.get("name")) and not _is_autonamed(after)
        return named and all(before.get(key) == after.get(key) for key in ("name", "namespace"))

    def same(self, old: object, new: object) -> bool:
        return old == new

    def check(self, asked: Asked, before: Properties) -> tuple[Properties, list[Refusal]]:
        if asked.type == RELEASE:
            return _release_defaults(asked, before), []
        inputs = _named(asked, before)
        found = problems(replace(asked, inputs=inputs), self._account)
        return inputs, [problem.of(asked) for problem in found]

    def answer(self, asked: Asked) -> tuple[str, Properties]:
        if asked.type == RELEASE:
            identity = f"{asked.text('namespace')}/{asked.text('name')}"
            return identity, objects.release(asked.inputs)
        metadata = asked.object("metadata")
        name = str(metadata.get("name") or f"{metadata.get('generateName', '')}{asked.hex(5, 'generated')}")
        namespace = metadata.get("namespace")
        return f"{namespace}/{name}" if namespace else name, objects.added(asked, name)

    def keeps(self, asked: Asked) -> None:
        del asked

    def known_early(self, type_: str) -> frozenset[str]:
        del type_
        return frozenset()


def _named(asked: Asked, before: Properties) -> Properties:
    """The object with a name: its own, the generated one it had before, or `<logical name>-<8 hex>`."""
    metadata = asked.object("metadata")
    if metadata.get("name") or metadata.get("generateName"):
        return asked.inputs
    was: Properties = before.get("metadata") or {}
    kept = was.get("name") if _is_autonamed(was) else None
    metadata["name"] = kept or f"{asked.name}-{asked.hex(8, 'name')}"
    metadata["annotations"] = {**(metadata.get("annotations") or {}), _AUTONAMED: "true"}
    return {**asked.inputs, "metadata": metadata}


def _is_autonamed(metadata: Properties) -> bool:
    annotations: Properties = metadata.get("annotations") or {}
    return annotations.get(_AUTONAMED) == "true"


def _release_defaults(asked: Asked, before: Properties) -> Properties:
    inputs = dict(asked.inputs)
    if not inputs.get("name"):
        inputs["name"] = before.get("name") or f"{asked.name}-{asked.hex(8, 'name')}"
    if not inputs.get("namespace"):
        inputs["namespace"] = "default"
    if not inputs.get("skipAwait"):
        inputs.setdefault("timeout", _HELM_TIMEOUT_SECONDS)
    return inputs
