"""The end: `pulumi destroy` and `lab down` leave no object, no process, no port."""

import socket
from dataclasses import dataclass
from typing import Any

import psutil
import pytest
from lightkube import Client

from lab.cloud.outcome import Outcome
from lab.doctor.kinds import BUDGET, EC2_CLASS, NODE_POOL, POD_MONITOR, RULE
from lab.scenario.kinds import DEPLOYMENT, HPA, NODE, NODE_CLAIM, POD, SCALED_OBJECT, Body, Kind
from tests.lab.scenarios.theatre import Theatre

MODELS = ()
POOLS = ()
POOL = "karpenter.sh/nodepool"
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
_KINDS = (
    DEPLOYMENT,
    POD,
    HPA,
    SCALED_OBJECT,
    NODE_CLAIM,
    BUDGET,
    POD_MONITOR,
    RULE,
    NODE_POOL,
    EC2_CLASS,
)


@dataclass(frozen=True)
class End:
    """What was left after the destroy, and after the lab."""

    outcome: Outcome
    objects: list[str]
    gpu_nodes: list[str]
    namespaces: list[str]
    ended: list[str]
    processes: list[str]
    ports: list[int]
    folder_is_there: bool


def play(theatre: Theatre) -> None:
    """Nothing: its turn is the end."""


def final(theatre: Theatre) -> End:
    """Destroys the stack and ends the lab."""
    plane = theatre.stage.plane
    outcome = theatre.stage.destroy()
    with plane.client() as client:
        objects = [f"{kind.name} {one['name']}" for kind in _KINDS for one in _all(client, kind)]
        gpu = [node["name"] for node in _all(client, NODE) if POOL in node.get("labels", {})]
        namespaces = [one["name"] for one in _all(client, NAMESPACE)]
    ended = theatre.stage.close()
    return End(
        outcome=outcome,
        objects=objects,
        gpu_nodes=gpu,
        namespaces=namespaces,
        ended=ended,
        processes=_processes(str(plane.state_dir)),
        ports=[port for port in plane.ports.values() if _listens(port)],
        folder_is_there=plane.state_dir.exists(),
    )


def _all(client: Client, kind: Kind) -> list[Body]:
    """Metadata of every object of a kind."""
    where: dict[str, Any] = {"namespace": "*"} if kind.namespaced else {}
    return [one["metadata"] for one in client.list(kind.resource, **where)]


def _processes(folder: str) -> list[str]:
    found: list[str] = []
    for process in psutil.process_iter():
        try:
            said = " ".join(process.cmdline())
            kubeconfig = process.environ().get("KUBECONFIG", "")
        except psutil.Error:
            continue
        if folder in said or kubeconfig.startswith(folder):
            found.append(said)
    return found


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def end(played: End) -> End:
    """What was left."""
    return played


def test_destroy_leaves_no_object(end: End) -> None:
    assert end.outcome.ok, end.outcome.problems
    assert end.objects == []
    assert end.gpu_nodes == []
    assert "llm-serving" not in end.namespaces


def test_the_end_of_the_lab_leaves_no_process_and_no_port(end: End) -> None:
    assert "etcd" in end.ended
    assert end.processes == []
    assert end.ports == []
    assert not end.folder_is_there
