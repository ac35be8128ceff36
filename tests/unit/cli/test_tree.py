"""The tree of a preview on a terminal and in a pipe."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from cli.cloud import UNCUT, short, tree
from lab.cloud.outcome import Outcome, Step

COMPONENT = "urn:headroom:index:Cluster::cluster"
NAMES = [
    f"gpu-node-Amazon{word}Policy" for word in ("EKS_CNI", "EKSWorkerNode", "SSMManagedInstance", "ECRPull")
]


def outcome() -> Outcome:
    steps = [
        Step(op="create", urn=COMPONENT, type="headroom:index:Cluster", name="cluster"),
        *(
            Step(
                op="create",
                urn=f"urn:{name}",
                type="aws:iam/rolePolicyAttachment:RolePolicyAttachment",
                name=name,
                parent=COMPONENT,
            )
            for name in NAMES
        ),
        Step(op="same", urn="urn:kept", type="aws:kms/key:Key", name="kept", parent=COMPONENT),
    ]
    return Outcome(
        operation="preview",
        stack="dev",
        status="succeeded",
        changes={"create": 5},
        steps=tuple(steps),
        violations=(),
        diagnostics=(),
        refusals=(),
        calls=(),
        outputs={},
        seconds=1.0,
    )


def lines(width: int | None) -> list[str]:
    told = io.StringIO()
    Console(file=told, width=width or UNCUT, highlight=False).print(tree(outcome(), width))
    return told.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 200])
def test_every_name_is_told_whole_within_the_terminal(width: int) -> None:
    told = lines(width)
    assert max(map(len, told)) <= width
    for name in NAMES:
        assert any(name in line for line in told)


def test_a_pipe_gets_one_line_a_kind() -> None:
    assert [line for line in lines(None) if NAMES[0] in line and NAMES[-1] in line]


def test_what_stays_is_not_listed() -> None:
    assert not [line for line in lines(80) if "kept" in line]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("aws:iam/role:Role", "aws:iam:Role"),
        ("kubernetes:apps/v1:Deployment", "apps/v1:Deployment"),
        ("headroom:index:Cluster", "headroom:Cluster"),
        ("pulumi:providers:aws", "pulumi:providers:aws"),
    ],
)
def test_a_type_is_told_without_what_it_says_twice(kind: str, told: str) -> None:
    assert short(kind) == told
