"""What a run costs grows with its resources, not with their square."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterable
from typing import Any

import pytest

from lab.cloud.language import COLLECTED_OBJECTS
from tests.engine.cloud.conftest import Make

RESOURCES = 60
_CHAIN = f"""
import pulumi_aws as aws

name = "first"
for index in range({RESOURCES}):
    name = aws.sqs.Queue(f"queue-{{index}}", name=name).name
"""


def test_outputs_are_not_all_waited_for_again_at_each_that_comes(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[int] = []
    wait = asyncio.wait

    async def counted(tasks: Iterable[Any], **options: Any) -> Any:
        pending = list(tasks)
        waited.append(len(pending))
        return await wait(pending, **options)

    monkeypatch.setattr("asyncio.wait", counted)
    outcome = make(_CHAIN).preview()
    assert outcome.changes == {"create": RESOURCES + 1}  # and the stack
    assert sum(waited) < 10 * RESOURCES


def test_garbage_is_looked_for_less_often_while_a_program_runs(make: Make) -> None:
    before = gc.get_threshold()
    (said,) = make("import gc\nprint(gc.get_threshold()[0])\n").preview().diagnostics
    assert said.message == str(COLLECTED_OBJECTS)
    assert gc.get_threshold() == before
