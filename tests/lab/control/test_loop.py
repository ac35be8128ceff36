"""The whole loop: nodes from Karpenter, numbers through Prometheus, KEDA and the aggregation layer, replicas."""

import http.server
import json
import threading
import urllib.request
from collections.abc import Callable, Generator
from typing import Any, cast

import boto3
import pytest
from lightkube import Client
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace
from lightkube.types import PatchType

from lab.control import kubernetes, launches
from lab.control.plane import Plane

DISCOVERY = [{"tags": {"karpenter.sh/discovery": "headroom"}}]
NODE_CLASS: dict[str, Any] = {
    "metadata": {"name": "inference"},
    "spec": {
        "amiSelectorTerms": [{"alias": "al2023@v20261101"}],
        "role": "headroom-node",
        "subnetSelectorTerms": DISCOVERY,
        "securityGroupSelectorTerms": DISCOVERY,
    },
}
NODE_POOL: dict[str, Any] = {
    "metadata": {"name": "inference"},
    "spec": {
        "limits": {"nvidia.com/gpu": "8"},
        "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "5s"},
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "inference"},
                "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
                "requirements": [
                    {"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["g6", "g5"]},
                    {"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "In", "values": ["1"]},
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
                ],
            }
        },
    },
}
Eventually = Callable[..., Any]
Deploy = Callable[..., None]


def _kind(group: str, version: str, kind: str, namespaced: bool = True) -> Any:
    plural = {"EC2NodeClass": "ec2nodeclasses"}.get(kind, f"{kind.lower()}s")
    return kubernetes.resource(group, version, kind, plural, namespaced=namespaced)


CLAIM = _kind("karpenter.sh", "v1", "NodeClaim", namespaced=False)
POD = _kind("", "v1", "Pod")


@pytest.fixture(scope="module")
def pool(full: Plane) -> None:
    """A pool of single-GPU spot nodes."""
    with full.client() as client:
        client.create(_kind("karpenter.k8s.aws", "v1", "EC2NodeClass", namespaced=False)(NODE_CLASS))
        client.create(_kind("karpenter.sh", "v1", "NodePool", namespaced=False)(NODE_POOL))


@pytest.fixture
def namespace(client: Client, request: pytest.FixtureRequest) -> Generator[str]:
    """A namespace of the test's own."""
    test = cast(pytest.Item, request.node)  # pytest leaves it untyped
    name = test.name.replace("_", "-")[5:60].strip("-")
    client.create(Namespace(metadata=ObjectMeta(name=name)))
    yield name
    client.delete(Namespace, name)


@pytest.fixture
def deploy(client: Client, namespace: str) -> Generator[Deploy]:
    """Deploys pods called after the deployment; GPU pods tolerate the pool's taint."""
    kind = _kind("apps", "v1", "Deployment")

    def make(name: str, replicas: int, image: str, gpus: int = 0) -> None:
        container: dict[str, Any] = {
            "name": name,
            "image": image,
            "ports": [{"name": "http", "containerPort": 18000}],
        }
        if gpus:
            container["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
        pod = {"containers": [container], "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}
        labels = {"app": name}
        template = {"metadata": {"labels": labels}, "spec": pod}
        spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
        client.create(kind({"metadata": {"name": name, "namespace": namespace}, "spec": spec}))

    yield make
    for deployment in client.list(kind, namespace=namespace):
        client.patch(kind, deployment["metadata"]["name"], {"spec": {"replicas": 0}}, namespace=namespace)


def _pods(client: Client, namespace: str, **status: str) -> list[Any]:
    listed: Any = client.list(POD, namespace=namespace)
    return [pod for pod in listed if all(pod["status"].get(key) == value for key, value in status.items())]


def _claims(client: Client) -> list[Any]:
    return [claim for claim in client.list(CLAIM) if "deletionTimestamp" not in claim["metadata"]]


def _types(client: Client) -> list[str]:
    return [
        claim["metadata"]["labels"].get("node.kubernetes.io/instance-type", "") for claim in _claims(client)
    ]


@pytest.mark.usefixtures("pool")
def test_gpu_pods_get_nodes_from_karpenter_and_empty_nodes_go(
    client: Client, namespace: str, deploy: Deploy, eventually: Eventually
) -> None:
    deploy("gpu", 3, "example.com/gpu:1", gpus=1)
    eventually(lambda: len(_pods(client, namespace, phase="Running")) == 3)
    assert len(_claims(client)) == 3
    client.patch(_kind("apps", "v1", "Deployment"), "gpu", {"spec": {"replicas": 0}}, namespace=namespace)
    eventually(lambda: not _claims(client))


@pytest.mark.usefixtures("pool")
def test_a_pod_of_the_labs_own_gets_an_address_and_is_left_to_it(
    full: Plane, client: Client, namespace: str, deploy: Deploy, eventually: Eventually
) -> None:
    deploy("own", 1, "vllm/vllm-openai:v0.33.0")
    deploy("other", 1, "example.com/other:1")
    eventually(lambda: _pods(client, namespace, phase="Running"))
    (own,) = eventually(
        lambda: [pod for pod in _pods(client, namespace, phase="Pending") if "podIP" in pod["status"]]
    )
    assert own["status"]["podIP"].startswith(full.pods.removesuffix("0.0/16"))
    assert own["spec"]["containers"][0]["name"] == "own"


@pytest.mark.usefixtures("pool")
def test_capacity_that_is_gone_makes_karpenter_take_another_type(
    full: Plane, client: Client, namespace: str, deploy: Deploy, eventually: Eventually
) -> None:
    launches.write(full.state_dir, seconds=1, unavailable=[launches.Offering(instance_type="g6.xlarge")])
    try:
        deploy("gpu", 1, "example.com/gpu:1", gpus=1)
        eventually(lambda: _pods(client, namespace, phase="Running"))
        assert "g6.xlarge" not in _types(client)
    finally:
        launches.write(full.state_dir, seconds=2)


@pytest.mark.usefixtures("pool")
def test_a_spot_notice_on_the_queue_replaces_the_node(
    full: Plane, client: Client, namespace: str, deploy: Deploy, eventually: Eventually
) -> None:
    deploy("gpu", 1, "example.com/gpu:1", gpus=1)
    eventually(lambda: _pods(client, namespace, phase="Running"))
    (before,) = eventually(
        lambda: [claim for claim in _claims(client) if "providerID" in claim.get("status", {})]
    )
    session: Any = boto3.Session("lab", "lab", region_name="us-east-1")
    queue = session.client("sqs", endpoint_url=full.url("aws"))
    notice = {
        "version": "0",
        "source": "aws.ec2",
        "detail-type": "EC2 Spot Instance Interruption Warning",
        "detail": {
            "instance-id": before["status"]["providerID"].rpartition("/")[2],
            "instance-action": "terminate",
        },
    }
    url = queue.get_queue_url(QueueName="headroom-interruptions")["QueueUrl"]
    queue.send_message(QueueUrl=url, MessageBody=json.dumps(notice))
    name = before["metadata"]["name"]
    eventually(
        lambda: _claims(client) and name not in {claim["metadata"]["name"] for claim in _claims(client)}
    )
    eventually(lambda: _pods(client, namespace, phase="Running"))


class _Metrics(http.server.BaseHTTPRequestHandler):
    waiting = 0

    def do_GET(self) -> None:
        """One gauge."""
        body = f"# TYPE queue gauge\nqueue {type(self).waiting}\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the signature of http.server
        """Nothing."""


def _query(full: Plane, expression: str) -> list[Any]:
    url = f"{full.url('prometheus')}/api/v1/query?query={expression}"
    with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - loopback
        return json.load(answer)["data"]["result"]


def _apply(client: Client, kind: Any, body: dict[str, Any]) -> None:
    name, namespace = body["metadata"]["name"], body["metadata"]["namespace"]
    client.patch(kind, name, kind(body), namespace=namespace, patch_type=PatchType.APPLY, force=True)


def test_a_pod_monitor_a_rule_and_a_scaled_object_scale_a_deployment(
    full: Plane, client: Client, namespace: str, deploy: Deploy, eventually: Eventually
) -> None:
    deploy("engine", 1, "example.com/engine:1")
    (pod,) = eventually(lambda: _pods(client, namespace, phase="Running"))
    meta = {"name": "engine", "namespace": namespace}
    with http.server.ThreadingHTTPServer((pod["status"]["podIP"], 18000), _Metrics) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        endpoint = {"port": "http", "interval": "1s"}
        monitor = {"selector": {"matchLabels": {"app": "engine"}}, "podMetricsEndpoints": [endpoint]}
        group = ("monitoring.coreos.com", "v1")
        pod_monitor = {"apiVersion": "/".join(group), "kind": "PodMonitor", "metadata": meta, "spec": monitor}
        _apply(client, _kind(*group, "PodMonitor"), pod_monitor)
        rules = [{"record": "demand", "expr": f'sum(queue{{namespace="{namespace}"}})'}]
        spec = {"groups": [{"name": "demand", "interval": "1s", "rules": rules}]}
        _apply(
            client,
            _kind(*group, "PrometheusRule"),
            {"apiVersion": "/".join(group), "kind": "PrometheusRule", "metadata": meta, "spec": spec},
        )
        _Metrics.waiting = 18
        eventually(lambda: [one for one in _query(full, "demand") if one["value"][1] == "18"])
        trigger = {
            "type": "prometheus",
            "metadata": {"serverAddress": full.url("prometheus"), "query": "demand", "threshold": "2"},
        }
        scaled = {
            "scaleTargetRef": {"name": "engine"},
            "minReplicaCount": 1,
            "maxReplicaCount": 9,
            "triggers": [trigger],
            "advanced": {
                "horizontalPodAutoscalerConfig": {
                    "behavior": {"scaleUp": {"policies": [{"type": "Pods", "value": 9, "periodSeconds": 15}]}}
                }
            },
        }
        _apply(
            client,
            _kind("keda.sh", "v1alpha1", "ScaledObject"),
            {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": meta, "spec": scaled},
        )
        try:
            eventually(lambda: len(_pods(client, namespace, phase="Running")) == 9)
        finally:
            client.delete(_kind("keda.sh", "v1alpha1", "ScaledObject"), "engine", namespace=namespace)
            served.shutdown()
