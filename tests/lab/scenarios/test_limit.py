"""The pool's GPUs are used up by another workload: a replica waits, the reason is written, nothing thrashes."""

from dataclasses import dataclass

import pytest

from lab.load import Closed, LoadResult
from lab.scenario.kinds import DEPLOYMENT, Body, condition
from lab.scenario.model import Watched, claims, claims_ever
from tests.lab.scenarios.theatre import Theatre, model

SYNCS_WATCHED = 5
POOLS = (
    {
        "name": "small",
        "families": ["g6", "g5"],
        "gpuLimit": 2,
        "consolidation": {"afterSeconds": 10},
    },
)
MODELS = (model("limited", pool="small", replicas={"min": 1, "max": 2}),)
SQUATTER = "squatter"


@dataclass(frozen=True)
class Limited:
    """``reasons`` are what Karpenter wrote at the pod that waits."""

    limited: Watched
    reasons: list[str]
    pending: list[Body]
    hpa: Body
    most_claims: int
    """NodeClaims that the pool ever had while the replica waited."""
    recovered: int
    result: LoadResult


def play(theatre: Theatre) -> Limited:
    """A batch job takes the second GPU; the model wants it; the job ends."""
    limited = theatre.watched("limited")
    with theatre.stage.plane.client() as client:
        client.create(DEPLOYMENT.resource(_squatter()))
        theatre.until(lambda: len(claims(theatre.timeline, "small")) == 2, "a node for the batch job")
        load = theatre.load("limited", Closed(clients=40, seconds=600), stream=0.1)
        began = theatre.clock()
        theatre.until(lambda: _reasons(limited, began), "Karpenter's word on the replica that waits")
        theatre.pause_syncs(SYNCS_WATCHED)
        pending = [pod for pod in limited.engines() if not pod["spec"].get("nodeName")]
        hpa, most = limited.hpa(), len(claims_ever(theatre.timeline, "small"))
        client.delete(DEPLOYMENT.resource, SQUATTER, namespace="default")
    assert hpa is not None
    theatre.until(lambda: len(limited.engines(ready=True)) == 2, "the replica that waited")
    load.stop()
    recovered = len(limited.engines(ready=True))
    return Limited(limited, _reasons(limited, began), pending, hpa, most, recovered, load.wait(600))


def _reasons(limited: Watched, since: float) -> list[str]:
    told = [one.body["message"] for one in limited.events("FailedScheduling", since)]
    return [message for message in told if "limits" in message]


def _squatter() -> dict[str, object]:
    labels = {"app": SQUATTER}
    room = {"cpu": "6", "memory": "24Gi", "nvidia.com/gpu": "1"}
    return {
        "metadata": {"name": SQUATTER, "namespace": "default"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "nodeSelector": {"karpenter.sh/nodepool": "small"},
                    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
                    "containers": [
                        {
                            "name": "batch",
                            "image": "example.com/batch:1",
                            "resources": {"requests": room, "limits": room},
                        }
                    ],
                },
            },
        },
    }


@pytest.fixture(name="seen")
def seen_fixture(played: Limited) -> Limited:
    """What was seen."""
    return played


def test_at_the_gpu_limit_a_replica_waits_and_the_reason_is_written(seen: Limited) -> None:
    assert len(seen.pending) == 1
    assert condition(seen.pending[0], "PodScheduled") == "False"
    assert any("small" in reason and "limits" in reason for reason in seen.reasons), seen.reasons
    assert seen.hpa["status"]["desiredReplicas"] == 2
    assert condition(seen.hpa, "AbleToScale") == "True"


def test_at_the_gpu_limit_no_node_is_launched_in_vain(seen: Limited) -> None:
    assert seen.most_claims == 2


def test_a_replica_that_waited_starts_once_there_is_room(seen: Limited) -> None:
    assert seen.recovered == 2
    assert (seen.result.lost, seen.result.completed) == (0, seen.result.sent), seen.result.by_cause
