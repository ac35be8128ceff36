"""One resource of the stack, as every rule sees it."""

from dataclasses import dataclass, field
from functools import cached_property

from policies.plain import UNKNOWN, Plain, dig


@dataclass(frozen=True)
class Resource:
    """A registered resource.

    `props` are its inputs (what the program says); its outputs where no inputs were seen, in which case
    `declared` is false: server defaults such as `spec.replicas` then say nothing about who owns a field.
    """

    urn: str
    type: str
    name: str
    props: Plain
    declared: bool = True
    protect: bool = False
    ignore_changes: tuple[str, ...] = ()
    provider: Plain = None
    outputs: Plain = None
    sources: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The urns each top-level property was computed from."""

    @cached_property
    def package(self) -> str:
        """`kubernetes`, `aws`, `eks`, ...: the first part of the type token."""
        return self.type.split(":", 1)[0]

    def get(self, *path: str) -> Plain:
        """The value at `path` inside the properties."""
        return dig(self.props, *path)


@dataclass(frozen=True, eq=False)
class KubeObject:
    """One Kubernetes object: a resource, an item of a List, or a Patch laid over its target."""

    resource: Resource
    group: str
    kind: str
    body: Plain
    partial: bool
    """True for a Patch whose target is not in the stack: what it leaves out is not absent."""

    @property
    def urn(self) -> str:
        """The urn that a finding about this object points at."""
        return self.resource.urn

    @cached_property
    def namespace(self) -> Plain:
        """metadata.namespace, else the provider's, else `default`; `UNKNOWN` when it can't be read."""
        stated = dig(self.body, "metadata", "namespace")
        if stated not in (None, ""):
            return stated if isinstance(stated, str) else UNKNOWN
        inherited = dig(self.resource.provider, "namespace")
        if inherited is UNKNOWN:
            return UNKNOWN
        return inherited if isinstance(inherited, str) and inherited else "default"

    def beside(self, other: "KubeObject") -> bool | None:
        """Whether both live in one namespace of one cluster; `None` when that can't be known.

        Two providers are taken for one cluster unless both name different ones.
        """
        for key in ("context", "cluster", "kubeconfig"):
            left, right = dig(self.resource.provider, key), dig(other.resource.provider, key)
            if isinstance(left, str) and isinstance(right, str) and left != right:
                return False
        if UNKNOWN in (self.namespace, other.namespace):
            return None
        return self.namespace == other.namespace

    @cached_property
    def name(self) -> Plain:
        """metadata.name; `UNKNOWN` when the engine or the server makes one up."""
        stated = dig(self.body, "metadata", "name")
        return stated if isinstance(stated, str) and stated else UNKNOWN

    def get(self, *path: str) -> Plain:
        """The value at `path` inside the object."""
        return dig(self.body, *path)

    @cached_property
    def label(self) -> str:
        """How messages name it: `Deployment llm-serving/llama3-8b`; no namespace where none is stated."""
        name = self.name if isinstance(self.name, str) else f"({self.resource.name})"
        inherited = dig(self.resource.provider, "namespace") or dig(self.body, "metadata", "namespace")
        return f"{self.kind} {self.namespace}/{name}" if isinstance(inherited, str) else f"{self.kind} {name}"
