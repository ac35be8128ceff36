"""One lab for all scenarios that are asked for; a module's tests assert on what its play gave."""

from collections.abc import Generator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.lab.scenarios.theatre import Theatre, open_theatre


@pytest.fixture(scope="session")
def theatre(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Theatre]:
    """Every play of the modules that were selected, played."""
    modules: dict[str, Any] = {}
    for item in request.session.items:
        parent = item.getparent(pytest.Module)
        if parent is not None and hasattr(parent.obj, "play"):
            modules[parent.obj.__name__] = parent.obj
    with ExitStack() as held:
        made = open_theatre(tmp_path_factory.mktemp("theatre"), list(modules.values()), held)
        made.perform()
        yield made


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest, theatre: Theatre) -> Any:
    """What this module's play gave; raises what ended it."""
    name: str = request.module.__name__  # pyright: ignore[reportUnknownVariableType] - pytest leaves it untyped
    return theatre.results[name].result()
