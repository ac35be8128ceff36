"""A Prometheus and an API server with recorded answers on one loopback port, and samples made by hand."""

import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lightkube import Client, KubeConfig
from lightkube.config.models import Cluster, User

from lab.load import Failure, LoadResult, Percentiles
from lab.load.ledger import Second
from lab.watch.figures import ModelSample, NodeSample, NodeState, PoolSample, Sample, Source
from lab.watch.sample import Sampler
from tests.unit.lab.fleet.bodies import local

Body = dict[str, Any]
NAMESPACED = "/apis/apps/v1/namespaces/llm-serving"
PATHS = {
    "deployments": f"{NAMESPACED}/deployments",
    "autoscalers": "/apis/autoscaling/v2/namespaces/llm-serving/horizontalpodautoscalers",
    "pods": "/api/v1/namespaces/llm-serving/pods",
    "claims": "/apis/karpenter.sh/v1/nodeclaims",
}
QUERY = "/api/v1/query"


def vector(values: Mapping[str, str]) -> Body:
    """Prometheus' answer to an instant query; values as text, as it writes them."""
    result = [
        {"metric": {"watched": name}, "value": [1796099840.78, value]} for name, value in values.items()
    ]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


def items(*bodies: Body) -> Body:
    """The API server's answer to a list."""
    return {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": list(bodies)}


def condition(kind: str, status: str = "True", reason: str = "Because") -> Body:
    return {"type": kind, "status": status, "reason": reason}


def deployment(name: str, replicas: int) -> Body:
    return {"metadata": {"name": name}, "spec": {"replicas": replicas}}


def pod(name: str, model: str, *, ready: bool = True, phase: str = "Running", leaving: bool = False) -> Body:
    labels = {"headroom-model": model, "app.kubernetes.io/component": "engine"}
    metadata: Body = {"name": name, "labels": labels}
    if leaving:
        metadata["deletionTimestamp"] = "2026-12-01T04:40:00Z"
    return {
        "metadata": metadata,
        "status": {"phase": phase, "conditions": [condition("Ready", "True" if ready else "False")]},
    }


def claim(name: str, *reached: str, pool: str = "inference", kind: str = "g5.2xlarge", **more: Any) -> Body:
    """A NodeClaim that has `reached` Launched, Registered, Initialized."""
    labels = {"karpenter.sh/nodepool": pool}
    if reached:
        labels |= {
            "node.kubernetes.io/instance-type": kind,
            "karpenter.sh/capacity-type": "spot",
            "topology.kubernetes.io/zone": "us-east-1a",
        }
    metadata = {"name": name, "creationTimestamp": "2026-12-01T04:40:00Z", "labels": labels, **more}
    return {"metadata": metadata, "status": {"conditions": [condition(one) for one in reached]}}


@contextmanager
def serving(answers: Mapping[str, Body | int | str]) -> Generator[str]:
    """Answers by path: a document, a bare status, or text. The server's URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answers.get(self.path.partition("?")[0], 404)
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, text = 200, found if isinstance(found, str) else json.dumps(found)
            if isinstance(found, int):
                status, text = (
                    found,
                    json.dumps({"kind": "Status", "code": found, "message": f"no ({found})"}),
                )
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_GET  # noqa: N815 - the name that http.server calls

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's own name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def sampler(prometheus: str, api: str) -> Generator[Sampler]:
    """A sampler of the local stack whose clock stands at 100 s."""
    config = KubeConfig.from_one(cluster=Cluster(server=api), user=User(token="x"))
    with Client(config=config, trust_env=False) as client:
        made = Sampler(prometheus, client, local(), clock=lambda: 100.0)
        try:
            yield made
        finally:
            made.close()


def node(
    name: str, state: NodeState = "ready", usd: float | None = 1.0, created: float | None = None
) -> NodeSample:
    return NodeSample(
        name=name,
        state=state,
        created=created,
        instance_type="g5.2xlarge",
        capacity_type="spot",
        zone="us-east-1a",
        gpus=1,
        usd_per_hour=usd,
    )


def sample(
    at: float,
    *nodes: NodeSample,
    desired: int = 1,
    ready: int = 1,
    waiting: float = 0.0,
    problems: dict[Source, str] | None = None,
) -> Sample:
    """One model in one pool; a source with a problem gives nothing."""
    away = problems or {}
    blind = "kubernetes" in away
    model = ModelSample(
        name="llama3-8b",
        rate=None if "prometheus" in away else 2.5,
        waiting=None if "prometheus" in away else waiting,
        desired=None if blind else desired,
        ready=None if blind else ready,
    )
    pool = PoolSample(name="inference", gpu_limit=14, nodes=None if blind else nodes)
    return Sample(at=at, models=(model,), pools=(pool,), problems=away)


NOTHING = Percentiles(count=0, p50=None, p95=None, p99=None, largest=None)


def load(*seconds: Second, lost: int = 0, model: str = "llama3-8b", detail: str = "") -> LoadResult:
    """A load whose last `lost` requests were reset, the rest complete."""
    sent = sum(second.sent for second in seconds)
    failure = Failure(
        at=3.0,
        after=0.5,
        clock=0.0,
        id="r1",
        target="http://127.0.0.1:8000",
        route="/v1/completions",
        stream=True,
        cause="reset-mid-stream",
        detail=detail,
    )
    return LoadResult(
        model=model,
        profile="50 clients, each after its answer",
        seed=0,
        seconds=float(len(seconds)),
        sent=sent,
        completed=sent - lost,
        lost=lost,
        abandoned=0,
        unsent=0,
        clipped=0,
        by_cause={"reset-mid-stream": lost} if lost else {},
        by_target={},
        by_kind={},
        first_token=NOTHING,
        answer=NOTHING,
        lateness=NOTHING,
        prompt_tokens=0,
        output_tokens=0,
        cpu_seconds=0.0,
        failures=(failure,) if lost else (),
        timeline=seconds,
    )


def burst(*, start: float = 1000.0) -> list[Sample]:
    """One replica; from second 10 on the load of nine: desired at 20, claims at 21, ready at 60, down at 100."""
    found: list[Sample] = []
    for second in range(0, 140, 2):
        desired = 9 if 20 <= second < 100 else 1
        ready = 9 if 60 <= second < 100 else 1
        late = [node(f"n{number}", created=start + 21.0) for number in range(8)] if 22 <= second < 110 else []
        nodes = [node("first", created=start - 500.0), *late]
        waiting = 37.0 if 10 <= second < 60 else 0.0
        found.append(sample(start + second, *nodes, desired=desired, ready=ready, waiting=waiting))
    return found
