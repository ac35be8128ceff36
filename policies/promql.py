"""Just enough PromQL to tell how many series a query returns, whether it can be empty, and what it reads.

KEDA's Prometheus scaler takes one element: none or NaN counts as null, two are an error, and a scalar does
not decode (KEDA v2.21 prometheus_scaler.go). The grammar is that of Prometheus 3.
"""

import re
from dataclasses import dataclass, replace

_TOKEN = re.compile(
    r"""\s+|\#[^\n]*
    |(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)
    |(?P<duration>[0-9]+(?:ms|[smhdwy])(?:[0-9]+(?:ms|[smhdwy]))*)
    |(?P<number>0[xX][0-9a-fA-F]+|[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+\.)
    |(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)
    |(?P<symbol>=~|!~|!=|==|<=|>=|[-+*/%^(){}\[\],<>=@:])""",
    re.VERBOSE,
)
_AGGREGATIONS = frozenset(
    [
        "sum",
        "avg",
        "min",
        "max",
        "count",
        "group",
        "stddev",
        "stdvar",
        "quantile",
        "topk",
        "bottomk",
        "limitk",
        "limit_ratio",
        "count_values",
    ]
)
_RANKS = frozenset(("topk", "bottomk", "limitk"))
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_LEVELS: tuple[frozenset[str], ...] = (
    frozenset(("or",)),
    frozenset(("and", "unless")),
    _COMPARISONS,
    frozenset("+-"),
    frozenset(("*", "/", "%", "atan2")),
)
_CLOCKS = frozenset(
    ["day_of_month", "day_of_week", "day_of_year", "days_in_month", "hour", "minute", "month", "year"]
)
_NUMBERS = frozenset(("inf", "nan"))
ENGINE = "vllm:"
_ALIVE = (
    "num_incoming_requests",
    "current_qps",
    "healthy_pods",
)  # of the production-stack router, under vllm:
_DEEPEST = 60


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
    metrics: frozenset[tuple[str, frozenset[str]]] = frozenset()
    """Names read, each with the labels matched on."""

    @property
    def one(self) -> bool:
        """At most one element."""
        return self.single or self.labels == frozenset()


_NUMBER = Shape(kind="scalar", filled=True)


def analyze(query: str) -> Shape:
    """The shape of a query; `PromQLError` when it can't be read."""
    if len(query) > 20_000:
        raise PromQLError("it is longer than 20000 characters")
    parser = _Parser(_tokens(query))
    shape = parser.expression(0, 0)
    if parser.peek() != "":
        raise PromQLError(f'unexpected "{parser.peek()[:40]}"')
    return shape


def _tokens(query: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(query):
        found = _TOKEN.match(query, position)
        if found is None or found.end() == position:
            raise PromQLError(f'unexpected "{query[position : position + 20]}"')
        if found.lastgroup is not None:
            tokens.append((found.lastgroup, found[0]))
        position = found.end()
    return tokens


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0

    def peek(self, ahead: int = 0) -> str:
        index = self._at + ahead
        return self._tokens[index][1] if index < len(self._tokens) else ""

    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        text = self.peek()
        if text == "":
            raise PromQLError("it ends too early")
        self._at += 1
        return text

    def _expect(self, text: str) -> None:
        found = self._next()
        if found != text:
            raise PromQLError(f'"{found[:40]}" where "{text}" is expected')

    def expression(self, level: int, depth: int) -> Shape:
        if depth > _DEEPEST:
            raise PromQLError("it is nested too deeply")
        if level == len(_LEVELS):
            return self._power(depth)
        left = self.expression(level + 1, depth + 1) if level == 0 else self.expression(level + 1, depth)
        while self.peek().lower() in _LEVELS[level] and self._kind() != "string":
            operator = self._next().lower()
            matching = self._matching(operator)
            left = _binary(left, operator, matching, self.expression(level + 1, depth + 1))
        return left

    def _power(self, depth: int) -> Shape:
        if self.peek() in ("-", "+"):
            self._next()
            return self._power(depth + 1) if depth < _DEEPEST else self.expression(0, depth + 1)
        left = self._postfix(depth)
        if self.peek() == "^":
            self._next()
            matching = self._matching("^")
            return _binary(left, "^", matching, self._power(depth + 1))
        return left

    def _matching(self, operator: str) -> tuple[str, frozenset[str]] | None:
        """`bool`, then on/ignoring with its labels, then group_left/right."""
        matching: tuple[str, frozenset[str]] | None = None
        if self.peek().lower() == "bool" and operator in _COMPARISONS:
            self._next()
            matching = ("bool", frozenset())
        if self.peek().lower() in ("on", "ignoring"):
            how = self._next().lower()
            matching = (how + ("-bool" if matching else ""), self._labels())
        if self.peek().lower() in ("group_left", "group_right"):
            side = self._next().lower()
            added = self._labels() if self.peek() == "(" else frozenset[str]()
            matching = (side, added)
        return matching

    def _labels(self) -> frozenset[str]:
        self._expect("(")
        names: set[str] = set()
        while self.peek() != ")":
            names.add(self._next().strip("\"'"))
            if self.peek() == ",":
                self._next()
        self._expect(")")
        return frozenset(names)

    def _postfix(self, depth: int) -> Shape:
        shape = self._primary(depth)
        while True:
            following = self.peek().lower()
            if following == "[":
                shape = self._range(shape)
            elif following == "offset":
                self._next()
                if self.peek() in ("-", "+"):
                    self._next()
                self._next()
            elif following == "@":
                self._next()
                if self.peek() in ("-", "+"):
                    self._next()
                if self._next().lower() in ("start", "end"):
                    self._expect("(")
                    self._expect(")")
            else:
                return shape

    def _range(self, shape: Shape) -> Shape:
        self._expect("[")
        while self.peek() != "]":
            self._next()
        self._expect("]")
        return replace(shape, kind="matrix", filled=False)

    def _primary(self, depth: int) -> Shape:
        kind, text = self._kind(), self._next()
        if kind in ("number", "duration"):
            return replace(_NUMBER, positive=text.strip("0.") != "")
        if kind == "string":
            return Shape(kind="string", filled=True)
        if text == "(":
            inner = self.expression(0, depth + 1)
            self._expect(")")
            return inner
        if text == "{":
            return self._selector("")
        if kind != "name":
            raise PromQLError(f'unexpected "{text[:40]}"')
        lowered = text.lower()
        if lowered in _AGGREGATIONS and self.peek().lower() in ("(", "by", "without"):
            return self._aggregation(lowered, depth)
        if self.peek() == "(":
            return _function(lowered, self._arguments(depth))
        if lowered in _NUMBERS and self.peek() != "{":
            return replace(_NUMBER, nan=lowered == "nan", positive=lowered == "inf")
        if self.peek() == "{":
            self._next()
            return self._selector(text)
        return _read(text, frozenset())

    def _selector(self, name: str) -> Shape:
        """The inside of braces, the opening one already read."""
        matched: set[str] = set()
        while self.peek() != "}":
            quoted = self._kind() == "string"
            label = self._next().strip("\"'")
            if self.peek() in ("=", "=~", "!=", "!~"):
                operator, value = self._next(), self._next().strip("\"'")
                matched.add(label)
                if label == "__name__" and operator == "=":
                    name = value
            elif quoted:
                name = label
            else:
                raise PromQLError(f'"{label[:40]}" without a matcher')
            if self.peek() == ",":
                self._next()
        self._expect("}")
        return _read(name, frozenset(matched))

    def _arguments(self, depth: int) -> list[Shape]:
        self._expect("(")
        found: list[Shape] = []
        while self.peek() != ")":
            found.append(self.expression(0, depth + 1))
            if self.peek() == ",":
                self._next()
            elif self.peek() != ")":
                raise PromQLError(f'"{self.peek()[:40]}" where "," or ")" is expected')
        self._expect(")")
        return found

    def _aggregation(self, name: str, depth: int) -> Shape:
        grouping = self._grouping()
        before = self._at
        arguments = self._arguments(depth)
        first = self._tokens[before + 1][1] if before + 1 < len(self._tokens) else ""
        grouping = grouping or self._grouping()
        if not arguments or arguments[-1].kind != "vector":
            raise PromQLError(f"{name} needs an instant vector")
        return _aggregate(name, arguments[-1], grouping, first)

    def _grouping(self) -> tuple[str, frozenset[str]] | None:
        if self.peek().lower() not in ("by", "without"):
            return None
        return self._next().lower(), self._labels()


def _read(name: str, matched: frozenset[str]) -> Shape:
    bare = name.removeprefix(ENGINE)
    engine = name.startswith(ENGINE) and not bare.startswith(_ALIVE)
    return Shape(metrics=frozenset({(name, matched)}), alive=not engine)


def _aggregate(name: str, inner: Shape, grouping: tuple[str, frozenset[str]] | None, first: str) -> Shape:
    how, named = grouping or ("by", frozenset[str]())
    mean = name in ("avg", "quantile") or inner.mean
    counted = name == "count" or inner.counted
    result = replace(inner, kind="vector", mean=mean, positive=False, counted=counted)
    if name in _RANKS:
        return replace(result, single=inner.one or (first == "1" and not named))
    if name == "count_values":
        return replace(result, labels=None, single=False)
    if how == "by":
        kept = named if inner.labels is None else named & inner.labels
        return replace(result, labels=kept, single=inner.one or not kept)
    kept = None if inner.labels is None else inner.labels - named
    return replace(result, labels=kept, single=inner.one)


def _function(name: str, arguments: list[Shape]) -> Shape:
    if name in ("time", "pi", "scalar"):
        metrics = frozenset[tuple[str, frozenset[str]]]().union(*(item.metrics for item in arguments))
        return replace(_NUMBER, metrics=metrics, nan=name == "scalar")
    if name == "vector":
        return Shape(
            labels=frozenset(), single=True, filled=True, positive=any(item.positive for item in arguments)
        )
    if name in _CLOCKS and not arguments:
        return Shape(labels=frozenset(), single=True, filled=True)
    judged = next((item for item in arguments if item.kind in ("vector", "matrix")), None)
    if judged is None:
        raise PromQLError(f"{name} needs a vector")
    result = replace(judged, kind="vector", positive=False)
    if name in ("absent", "absent_over_time"):
        return replace(result, labels=None, single=True, filled=False, alive=True, nan=False)
    if name == "histogram_quantile":
        kept = None if judged.labels is None else judged.labels - {"le"}
        return replace(result, labels=kept, single=judged.single or kept == frozenset(), nan=True, mean=True)
    if name in ("label_replace", "label_join"):
        return replace(result, labels=None, single=judged.one)
    if name == "clamp_min":
        return replace(result, positive=any(item.kind == "scalar" and item.positive for item in arguments))
    if name in ("sqrt", "ln", "log2", "log10", "deriv", "double_exponential_smoothing"):
        return replace(result, nan=True)
    return result


def _binary(left: Shape, operator: str, matching: tuple[str, frozenset[str]] | None, right: Shape) -> Shape:
    metrics = left.metrics | right.metrics
    how, named = matching or ("", frozenset[str]())
    if operator in ("or", "and", "unless"):
        if "scalar" in (left.kind, right.kind):
            raise PromQLError(f'"{operator}" needs vectors on both sides')
        if operator != "or":
            return replace(left, metrics=metrics, filled=False)
        same = (left.labels, right.labels) == (frozenset(), frozenset()) or (how == "on" and not named)
        return Shape(
            labels=left.labels if left.labels == right.labels else None,
            single=same and left.one and right.one,
            filled=right.filled or left.filled,
            nan=left.nan or right.nan,
            alive=left.alive or right.alive,
            mean=left.mean or right.mean,
            counted=left.counted or right.counted,
            metrics=metrics,
        )
    comparing = operator in _COMPARISONS
    keeps = not comparing or how.endswith("bool")
    if left.kind == "scalar" and right.kind == "scalar":
        return replace(_NUMBER, metrics=metrics, nan=left.nan or right.nan or not right.positive)
    divides = operator in ("/", "%") and not right.positive
    nan = (left.nan or right.nan or divides) if keeps else False
    above = (
        operator in (">", ">=")
        and not keeps
        and right.kind == "scalar"
        and (operator == ">" or right.positive)
    )
    if "scalar" in (left.kind, right.kind):
        vector = right if left.kind == "scalar" else left
        filled = vector.filled and keeps
        return replace(vector, metrics=metrics, nan=nan, filled=filled, positive=above)
    labels, single = _matched(left, right, how, named)
    per_pod = operator == "/" and _counts_pods(right)
    return Shape(
        labels=labels,
        single=single,
        filled=left.filled and right.filled and keeps and labels == frozenset(),
        nan=nan,
        alive=(left.alive and (right.alive or right.filled)) or (right.alive and left.filled),
        mean=left.mean or per_pod,
        metrics=metrics,
    )


def _matched(
    left: Shape, right: Shape, how: str, named: frozenset[str]
) -> tuple[frozenset[str] | None, bool]:
    """Labels and width of one-to-one and grouped matching; the many side decides when grouped."""
    if how == "group_left":
        return left.labels, left.one
    if how == "group_right":
        return right.labels, right.one
    if how.startswith("on"):
        return named, not named or left.one or right.one
    return left.labels, left.one or right.one


def _counts_pods(shape: Shape) -> bool:
    names = [name for name, _ in shape.metrics]
    return shape.counted or any(
        word in name for name in names for word in ("replicas", "kube_pod", "workers")
    )
