"""Reads PromQL, just enough of it to tell the shape of a query (`policies.series`).

KEDA's Prometheus scaler takes one element: none or NaN counts as null, two are an error, and a scalar does
not decode (KEDA v2.21 prometheus_scaler.go). The grammar is that of Prometheus 3.
"""

import re
from dataclasses import replace

from policies.series import COMPARISONS, Matching, aggregate, binary, function, read
from policies.shape import NUMBER, PromQLError, Shape

_TOKEN = re.compile(
    r"""\s+|\#[^\n]*
    |(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)
    |(?P<duration>[0-9]+(?:ms|[smhdwy])(?:[0-9]+(?:ms|[smhdwy]))*)
    |(?P<number>0[xX][0-9a-fA-F]+|[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+\.)
    |(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)
    |(?P<symbol>=~|!~|!=|==|<=|>=|[-+*/%^(){}\[\],<>=@:])""",
    re.VERBOSE,
)
_TOTALS = frozenset(("sum", "avg", "min", "max", "count", "group", "stddev", "stdvar", "quantile"))
_AGGREGATIONS = _TOTALS | {"topk", "bottomk", "limitk", "limit_ratio", "count_values"}
_LEVELS: tuple[frozenset[str], ...] = (
    frozenset(("or",)),
    frozenset(("and", "unless")),
    COMPARISONS,
    frozenset("+-"),
    frozenset(("*", "/", "%", "atan2")),
)
_WORDS = frozenset(("inf", "nan"))
_DEEPEST = 60


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
            left = binary(left, operator, matching, self.expression(level + 1, depth + 1))
        return left

    def _power(self, depth: int) -> Shape:
        if self.peek() in ("-", "+"):
            self._next()
            return self._power(depth + 1) if depth < _DEEPEST else self.expression(0, depth + 1)
        left = self._postfix(depth)
        if self.peek() == "^":
            self._next()
            matching = self._matching("^")
            return binary(left, "^", matching, self._power(depth + 1))
        return left

    def _matching(self, operator: str) -> Matching:
        """`bool`, then on/ignoring with its labels, then group_left/right."""
        matching: Matching = None
        if self.peek().lower() == "bool" and operator in COMPARISONS:
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
            return replace(NUMBER, positive=text.strip("0.") != "")
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
            return function(lowered, self._arguments(depth))
        if lowered in _WORDS and self.peek() != "{":
            return replace(NUMBER, nan=lowered == "nan", positive=lowered == "inf")
        if self.peek() == "{":
            self._next()
            return self._selector(text)
        return read(text, frozenset())

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
        return read(name, frozenset(matched))

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
        return aggregate(name, arguments[-1], grouping, first)

    def _grouping(self) -> Matching:
        if self.peek().lower() not in ("by", "without"):
            return None
        return self._next().lower(), self._labels()
