"""What a soak does to a lab: one action, its moment and its target."""

from dataclasses import dataclass
from typing import Any, Final, Literal

Kind = Literal[
    "burst",
    "spot-notice",
    "node-death",
    "engine-crash",
    "router-crash",
    "component-crash",
    "rolling-update",
    "unchanged-update",
]

COMPONENTS: Final = (
    "apiserver",
    "aws",
    "controller-manager",
    "scheduler",
    "kwok",
    "karpenter",
    "keda-operator",
    "keda-adapter",
    "prometheus",
)
"""Components that are killed. etcd, the memory of all others, is left alone, as EKS runs three."""


@dataclass(frozen=True, kw_only=True)
class Action:
    """One action, ``at`` seconds after the begin. ``target`` is a model or a component.

    ``clients`` and ``seconds`` are a burst's. ``pick``, from 0 to below 1, chooses one of a model's pods at that
    moment, in the order of their names.
    """

    at: float
    kind: Kind
    target: str
    clients: int = 0
    seconds: float = 0.0
    pick: float = 0.0

    @property
    def words(self) -> str:
        """For people."""
        match self.kind:
            case "burst":
                return f"burst of {self.clients} clients at {self.target} for {self.seconds:g} s"
            case "spot-notice":
                return f"spot notice for a node of {self.target}"
            case "node-death":
                return f"a node of {self.target} loses its power"
            case "engine-crash":
                return f"an engine of {self.target} crashes"
            case "router-crash":
                return f"a router of {self.target} crashes"
            case "component-crash":
                return f"kill -9 of {self.target}"
            case "rolling-update":
                return f"pulumi up with another argument for the engines of {self.target}"
            case "unchanged-update":
                return "pulumi up without a change"

    def as_json(self) -> dict[str, Any]:
        """What the plan says, without what does not apply."""
        said: dict[str, Any] = {"atSeconds": self.at, "kind": self.kind, "target": self.target}
        if self.kind == "burst":
            said |= {"clients": self.clients, "seconds": self.seconds}
        if self.kind in ("spot-notice", "node-death", "engine-crash", "router-crash"):
            said["pick"] = self.pick
        return said
