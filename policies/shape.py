"""What a PromQL expression evaluates to."""

from dataclasses import dataclass

ENGINE = "vllm:"
_ROUTER = ("num_incoming_requests", "current_qps", "healthy_pods")  # production-stack router, same prefix


def of_engine(name: str) -> bool:
    """A series of a vLLM engine, and so of one pod."""
    return name.startswith(ENGINE) and not name.removeprefix(ENGINE).startswith(_ROUTER)


class PromQLError(ValueError):
    """The text is not a query; the message says where reading stopped."""


@dataclass(frozen=True)
class Shape:
    """What an expression evaluates to."""

    kind: str = "vector"  # vector, scalar, matrix, string
    labels: frozenset[str] | None = None
    """Every label an element can carry; `None` when unbounded. Empty means at most one element."""
    single: bool = False
    """At most one element, whatever its labels."""
    filled: bool = False
    """Never empty."""
    nan: bool = False
    """May be NaN, which KEDA reads as null."""
    alive: bool = False
    """Carries a signal while no engine runs."""
    positive: bool = False
    """Filtered or clamped above zero: safe to divide by."""
    mean: bool = False
    """An average over pods rather than a total."""
    counted: bool = False
    """A number of pods or series: dividing by it makes a mean."""
    additive: bool = False
    """Surely elements whose sum is a total of the fleet."""
    total: bool = False
    """Surely a total of the fleet: Value would multiply it by the replicas."""
    grouped: bool = False
    """Something in it is aggregated: an element may stand for more than one pod."""
    metrics: frozenset[tuple[str, frozenset[str]]] = frozenset()
    """Names read, each with the labels matched on."""

    @property
    def one(self) -> bool:
        """At most one element."""
        return self.single or self.labels == frozenset()

    @property
    def engines_only(self) -> bool:
        """Every series is one of a vLLM engine, and so of one pod."""
        return bool(self.metrics) and all(of_engine(name) for name, _ in self.metrics)


NUMBER = Shape(kind="scalar", filled=True)
