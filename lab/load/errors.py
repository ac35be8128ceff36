"""The error of a load that can't be run."""

from collections.abc import Iterable

from specs.problems import Problem


class LoadError(Exception):
    """The load is refused; `problems` holds every reason."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(map(str, self.problems)))
