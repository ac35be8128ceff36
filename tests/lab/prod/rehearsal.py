"""A stack on a lab of its own, brought up as a user would; and the waiting for what controllers do."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab.cloud.outcome import Outcome
from lab.control import plane
from lab.stage.stage import Stage, open_stage
from tests.lab.prod.cluster import Body, Cluster, condition, labels

NODE_CLASS = ("karpenter.k8s.aws/v1", "EC2NodeClass")
NODE_POOL = ("karpenter.sh/v1", "NodePool")
NODE_CLAIM = ("karpenter.sh/v1", "NodeClaim")
FACTOR = 0.02
"""A cold start of minutes takes seconds."""


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """A stack that is up. `first` is the outcome of the `up` that made it."""

    stage: Stage
    first: Outcome
    cluster: Cluster

    def claims(self, pool: str) -> dict[str, Body]:
        """NodeClaims of a pool that stay, by name."""
        found = self.cluster.items(*NODE_CLAIM)
        return {
            one["metadata"]["name"]: one
            for one in found
            if labels(one).get("karpenter.sh/nodepool") == pool and "deletionTimestamp" not in one["metadata"]
        }

    def pods(self, namespace: str, **wanted: str) -> list[Body]:
        """Pods with all these labels (`_` reads as `-`) that are not leaving."""
        chosen = {key.replace("_", "-"): value for key, value in wanted.items()}.items()
        found = self.cluster.items("v1", "Pod", namespace)
        return [
            one
            for one in found
            if labels(one).items() >= chosen and "deletionTimestamp" not in one["metadata"]
        ]

    def rival(self, model: str, replicas: int) -> str:
        """A Deployment of more pods like the model's own, out of the autoscaler's sight; its label and name."""
        own = self.cluster.get("apps/v1", "Deployment", model, "llm-serving")["spec"]["template"]["spec"]
        name = f"{model}-rival"
        body = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": "llm-serving"},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": {"rival": name}},
                "template": {"metadata": {"labels": {"rival": name}}, "spec": own},
            },
        }
        self.cluster.create(body)
        return name

    def retire(self, name: str) -> None:
        """Ends a rival."""
        self.cluster.delete("apps/v1", "Deployment", name, "llm-serving")


@contextmanager
def rehearsed(folder: Path, stack: str, overrides: Mapping[str, Any]) -> Generator[Rehearsal]:
    """The stack up on a new lab, until the block ends."""
    cluster: Cluster | None = None
    try:
        stage = open_stage(folder, stack, factor=FACTOR, overrides=overrides, hang_share=0.0)
        first = stage.up()
        assert first.ok, first.problems
        cluster = Cluster(stage.plane.kubeconfig)
        yield Rehearsal(stage=stage, first=first, cluster=cluster)
    finally:
        if cluster is not None:
            cluster.close()
        plane.down(folder)


def eventually(holds: Callable[[], Any], seconds: float = 180.0) -> Any:
    """What `holds` returns once it is true; fails the test when it is not within the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = holds()
        if found:
            return found
        time.sleep(0.3)
    pytest.fail(f"not so within {seconds:.0f} s: {holds.__qualname__}")


def ready(pod: Body) -> bool:
    """The pod is ready."""
    return condition(pod, "Ready") == "True"
