"""Which GPUs are too old for the engine; a refreshed catalogue knows such types, the shipped one has none."""

from __future__ import annotations

import pytest

from specs import checks
from specs.catalogue import Catalogue, InstanceType, catalogue
from specs.fit import judge
from tests.unit.specs.stack import only, settings


def aged(capability: str) -> InstanceType:
    """The first type that runs the stack's model, were its GPU older."""
    found = only(settings())
    fits = next(entry for entry in catalogue().types if judge(found, entry).ok)
    return fits.model_copy(update={"compute_capability": capability})


@pytest.mark.parametrize(
    ("capability", "arguments", "ok"),
    [
        ("7.0", [], False),
        ("7.5", [], True),
        ("7.5", ["--dtype", "bfloat16"], False),
        ("7.5", ["--dtype=bfloat16"], False),
        ("7.5", ["--dtype", "half"], True),
        ("8.0", ["--dtype", "bfloat16"], True),
    ],
)
def test_a_gpu_below_what_the_engine_needs_is_refused_with_both_figures(
    capability: str, arguments: list[str], ok: bool
) -> None:
    verdict = judge(only(settings({"extraArgs": arguments})), aged(capability))
    assert verdict.ok == ok
    if not ok:
        assert f"compute capability {capability}, the engine needs" in verdict.reason


@pytest.mark.parametrize(
    ("arguments", "path"), [([], "models[0].pool"), (["--dtype", "bfloat16"], "models[0].extraArgs")]
)
def test_the_check_refuses_a_pool_of_gpus_that_are_all_too_old(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], path: str
) -> None:
    old = [
        entry.model_copy(update={"compute_capability": "7.5" if arguments else "7.0"})
        for entry in catalogue().types
    ]
    known = catalogue()
    stale = Catalogue(region=known.region, date=known.date, source=known.source, types=tuple(old))
    sound = settings({"extraArgs": arguments})
    monkeypatch.setattr("specs.fit.catalogue", lambda: stale)
    found = checks.check(sound).problems
    mine = [problem for problem in found if "compute capability" in problem.given]
    assert [problem.path for problem in mine] == [path]
    assert "or more" in mine[0].allowed
