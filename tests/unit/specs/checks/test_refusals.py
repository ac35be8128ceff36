"""Each refusal of the configuration beside its near twin that is accepted."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from specs.checks import Findings, examine

Config = dict[str, Any]


def base() -> Config:
    """A sound stack: one 8B model on a pool of one-GPU types."""
    return {
        "aws:region": "us-east-1",
        "headroom:network": {"cidr": "10.0.0.0/16", "zones": ["us-east-1a", "us-east-1b"]},
        "headroom:gpuPools": [{"name": "inference", "families": ["g6", "g5"], "gpuLimit": 16}],
        "headroom:gpuBudget": {"maxGpus": 16},
        "headroom:models": [
            {
                "name": "llama3-8b",
                "pool": "inference",
                "model": "meta-llama/Meta-Llama-3-8B-Instruct",
                "weightsGiB": 15,
                "parameters": {"layers": 32, "kvHeads": 8, "headDim": 128, "heads": 32},
                "replicas": {"min": 1, "max": 10},
                "capacity": {"requestsPerSecond": 1.65, "promptTokens": 1155, "outputTokens": 211},
            }
        ],
    }


def examined(config: Config) -> Findings:
    return examine(config)[1]


def put(*path: str | int, value: Any) -> Callable[[Config], None]:
    def change(config: Config) -> None:
        place: Any = config
        for part in path[:-1]:
            place = place[part] if isinstance(part, int) else place.setdefault(part, {})
        place[path[-1]] = value

    return change


def model(*path: str | int, value: Any) -> Callable[[Config], None]:
    return put("headroom:models", 0, *path, value=value)


def pool(*path: str | int, value: Any) -> Callable[[Config], None]:
    return put("headroom:gpuPools", 0, *path, value=value)


def both(*changes: Callable[[Config], None]) -> Callable[[Config], None]:
    def change(config: Config) -> None:
        for one in changes:
            one(config)

    return change


def another_model(**fields: Any) -> Callable[[Config], None]:
    def change(config: Config) -> None:
        config["headroom:models"].append(copy.deepcopy(config["headroom:models"][0]) | fields)
        config["headroom:gpuPools"][0]["gpuLimit"] = 40
        config["headroom:gpuBudget"]["maxGpus"] = 40

    return change


class Pair(NamedTuple):
    refused: Callable[[Config], None]
    path: str
    accepted: Callable[[Config], None]


A10G_TYPES = ["g5.2xlarge"]
PAIRS = {
    "two models with one name": Pair(
        another_model(), "models[1].name", another_model(name="other", servedName="o")
    ),
    "two models served under one name": Pair(
        both(another_model(name="other", servedName="llama3-8b")),
        "models[1].servedName",
        another_model(name="other", servedName="llama3-8b", namespace="elsewhere"),
    ),
    "a pool that does not exist": Pair(
        model("pool", value="inferences"), "models[0].pool", model("pool", value="inference")
    ),
    "a disabled model may name any pool": Pair(
        both(model("pool", value="gone"), model("enabled", value=True)),
        "models[0].pool",
        both(model("pool", value="gone"), model("enabled", value=False)),
    ),
    "a name Kubernetes refuses": Pair(
        model("name", value="Llama_3"), "models[0].name", model("name", value="llama-3")
    ),
    "a name too long for its HPA": Pair(
        model("name", value="m" * 55), "models[0].name", model("name", value="m" * 54)
    ),
    "a name in another script": Pair(
        model("name", value="模型"), "models[0].name", model("name", value="moxing")
    ),
    "a name that starts with a digit": Pair(
        model("name", value="70b-llama"), "models[0].name", model("name", value="llama-70b")
    ),
    "an image without the streamer for weights in a bucket": Pair(
        model("image", value="vllm/vllm-openai:v0.10.2"),
        "models[0].image",
        both(
            model("image", value="vllm/vllm-openai:v0.10.2"), put("headroom:weights", "backend", value="hub")
        ),
    ),
    "a reserved namespace": Pair(
        model("namespace", value="kube-system"),
        "models[0].namespace",
        model("namespace", value="kube-serving"),
    ),
    "an image without a tag": Pair(
        model("image", value="vllm/vllm-openai"),
        "models[0].image",
        model("image", value="registry.example.com:5000/vllm/vllm-openai@sha256:" + "a" * 64),
    ),
    "a latest image": Pair(
        model("image", value="vllm/vllm-openai:latest"),
        "models[0].image",
        model("image", value="vllm/vllm-openai:v0.20.0"),
    ),
    "a zone of another region": Pair(
        put("headroom:network", "zones", value=["us-east-1a", "us-west-2b"]),
        "network.zones[1]",
        both(
            put("aws:region", value="us-west-2"),
            put("headroom:network", "zones", value=["us-west-2a", "us-west-2b"]),
        ),
    ),
    "a pool's zone outside the network": Pair(
        pool("zones", value=["us-east-1c"]), "gpuPools[0].zones[0]", pool("zones", value=["us-east-1b"])
    ),
    "a CIDR too small": Pair(
        put("headroom:network", "cidr", value="10.0.0.0/24"),
        "network.cidr",
        put("headroom:network", "cidr", value="10.0.0.0/20"),
    ),
    "a public CIDR": Pair(
        put("headroom:network", "cidr", value="8.8.0.0/16"),
        "network.cidr",
        put("headroom:network", "cidr", value="100.64.0.0/16"),
    ),
    "an endpoint nobody can reach": Pair(
        put("headroom:cluster", "endpoint", value={"public": False, "private": False}),
        "cluster.endpoint",
        put("headroom:cluster", "endpoint", value={"public": False, "private": True}),
    ),
    "a public endpoint alone": Pair(
        put(
            "headroom:cluster",
            "endpoint",
            value={"public": True, "publicCidrs": ["203.0.113.0/24"], "private": False},
        ),
        "cluster.endpoint.private",
        put(
            "headroom:cluster",
            "endpoint",
            value={"public": True, "publicCidrs": ["203.0.113.0/24"], "private": True},
        ),
    ),
    "another partition of AWS": Pair(
        both(
            put("aws:region", value="cn-north-1"),
            put("headroom:network", "zones", value=["cn-north-1a", "cn-north-1b"]),
        ),
        "aws:region",
        both(
            put("aws:region", value="eu-north-1"),
            put("headroom:network", "zones", value=["eu-north-1a", "eu-north-1b"]),
        ),
    ),
    "a public endpoint for everybody": Pair(
        put("headroom:cluster", "endpoint", value={"public": True}),
        "cluster.endpoint.publicCidrs",
        put("headroom:cluster", "endpoint", value={"public": True, "publicCidrs": ["203.0.113.0/24"]}),
    ),
    "a Kubernetes version EKS no longer has": Pair(
        put("headroom:cluster", "version", value="1.31"),
        "cluster.version",
        put("headroom:cluster", "version", value="1.36"),
    ),
    "a version written as a number": Pair(
        put("headroom:cluster", "version", value=1.35),
        "cluster.version",
        put("headroom:cluster", "version", value="1.35"),
    ),
    "AL2 on EKS 1.33 and later (KP23)": Pair(
        pool("ami", value="al2@v20260101"), "gpuPools[0].ami", pool("ami", value="al2023@v20261101")
    ),
    "a floating machine image": Pair(
        pool("ami", value="bottlerocket@latest"), "gpuPools[0].ami", pool("ami", value="bottlerocket@v1.60.0")
    ),
    "a pool limit below its models' demand (KP1)": Pair(
        both(pool("gpuLimit", value=10), model("scaling", value={"warmSpares": 1})),
        "gpuPools[0].gpuLimit",
        both(pool("gpuLimit", value=11), model("scaling", value={"warmSpares": 1})),
    ),
    "a budget below the demand": Pair(
        both(pool("gpuLimit", value=9), put("headroom:gpuBudget", "maxGpus", value=9)),
        "gpuBudget.maxGpus",
        both(
            pool("gpuLimit", value=9),
            put("headroom:gpuBudget", "maxGpus", value=9),
            model("replicas", value={"min": 1, "max": 9}),
        ),
    ),
    "a GPU count no type has (KP4)": Pair(
        both(model("gpusPerReplica", value=2), model("replicas", value={"min": 1, "max": 2})),
        "models[0].gpusPerReplica",
        both(model("gpusPerReplica", value=4), model("replicas", value={"min": 1, "max": 2})),
    ),
    "heads the GPUs don't divide": Pair(
        both(
            model("gpusPerReplica", value=8),
            model("parameters", "heads", value=28),
            model("replicas", "max", value=1),
        ),
        "models[0].gpusPerReplica",
        both(
            model("gpusPerReplica", value=4),
            model("parameters", "heads", value=28),
            model("replicas", "max", value=1),
        ),
    ),
    "weights larger than the GPUs": Pair(
        both(
            model("weightsGiB", value=131),
            model("gpusPerReplica", value=4),
            model("parameters", value=None),
            model("replicas", "max", value=2),
        ),
        "models[0].weightsGiB",
        both(
            model("weightsGiB", value=37),
            model("gpusPerReplica", value=4),
            model("parameters", value=None),
            model("replicas", "max", value=2),
        ),
    ),
    "a context that leaves no room in 24 GB (VL8)": Pair(
        model("maxModelLen", value=131072),
        "models[0].maxModelLen",
        both(model("maxModelLen", value=131072), pool("families", value=["g6e"])),
    ),
    "requests larger than a small type's allocatable": Pair(
        both(
            pool("families", value=None),
            pool("instanceTypes", value=["g5.xlarge"]),
            model("resources", value={"cpu": "4", "memory": "12Gi"}),
        ),
        "models[0].resources.cpu",
        both(
            pool("families", value=None),
            pool("instanceTypes", value=["g5.xlarge"]),
            model("resources", value={"cpu": "3500m", "memory": "12Gi"}),
        ),
    ),
    "an instance family nobody knows": Pair(
        pool("families", value=["g99"]), "gpuPools[0].families", pool("families", value=["g6e"])
    ),
    "families and instance types at once": Pair(
        pool("instanceTypes", value=A10G_TYPES),
        "gpuPools[0]",
        both(pool("families", value=None), pool("instanceTypes", value=A10G_TYPES)),
    ),
    "a disk the image does not fit on (KP20)": Pair(
        pool("disk", value={"sizeGiB": 40}), "gpuPools[0].disk.sizeGiB", pool("disk", value={"sizeGiB": 60})
    ),
    "throughput the volume cannot have": Pair(
        pool("disk", value={"iops": 3000, "throughput": 1000}),
        "gpuPools[0].disk.throughput",
        pool("disk", value={"iops": 4000, "throughput": 1000}),
    ),
    "an expiry without a deadline (DR2)": Pair(
        pool("terminationGraceSeconds", value=None),
        "gpuPools[0].terminationGraceSeconds",
        both(pool("terminationGraceSeconds", value=None), pool("expireAfterHours", value=None)),
    ),
    "a deadline shorter than the pods' grace": Pair(
        both(pool("terminationGraceSeconds", value=60), pool("capacityTypes", value=["on-demand"])),
        "gpuPools[0].terminationGraceSeconds",
        both(pool("terminationGraceSeconds", value=100), pool("capacityTypes", value=["on-demand"])),
    ),
    "a drain longer than a spot notice (DR8)": Pair(
        model("drain", value={"preStopSeconds": 20, "shutdownSeconds": 120}),
        "models[0].drain",
        both(
            model("drain", value={"preStopSeconds": 20, "shutdownSeconds": 120}),
            pool("capacityTypes", value=["on-demand", "reserved"]),
        ),
    ),
    "a balancer that hangs up first (LB3)": Pair(
        model("ingress", value={"idleTimeoutSeconds": 59}),
        "models[0].ingress.idleTimeoutSeconds",
        model("ingress", value={"idleTimeoutSeconds": 60}),
    ),
    "a balancer that gives up before a model wakes": Pair(
        both(model("replicas", "min", value=0), model("ingress", value={"idleTimeoutSeconds": 90})),
        "models[0].ingress.idleTimeoutSeconds",
        both(model("replicas", "min", value=1), model("ingress", value={"idleTimeoutSeconds": 90})),
    ),
    "tensor parallelism that contradicts the GPUs (VL10)": Pair(
        model("extraArgs", value=["--tensor-parallel-size", "2"]),
        "models[0].extraArgs",
        model("extraArgs", value=["--tensor-parallel-size=1"]),
    ),
    "pipeline times tensor parallelism (VL10)": Pair(
        both(
            model("gpusPerReplica", value=4),
            model("replicas", "max", value=2),
            model("extraArgs", value=["-tp", "2", "--pipeline_parallel_size=4"]),
        ),
        "models[0].extraArgs",
        both(
            model("gpusPerReplica", value=4),
            model("replicas", "max", value=2),
            model("extraArgs", value=["-tp", "2", "--pipeline_parallel_size=2"]),
        ),
    ),
    "a parallel size joined to its short name": Pair(
        model("extraArgs", value=["-tp2"]), "models[0].extraArgs", model("extraArgs", value=["-tp1"])
    ),
    "weights on a network mapped page by page after all (ST6)": Pair(
        both(
            put("headroom:weights", "backend", value="efs"),
            model("extraArgs", value=["--safetensors-load-strategy", "lazy"]),
        ),
        "models[0].extraArgs",
        both(
            put("headroom:weights", "backend", value="hub"),
            model("extraArgs", value=["--safetensors-load-strategy", "lazy"]),
        ),
    ),
    "a stream of its own settings": Pair(
        model("extraArgs", value=['--model-loader-extra-config={"concurrency": 1}']),
        "models[0].extraArgs",
        both(
            put("headroom:weights", "backend", value="fsx"),
            model("extraArgs", value=['--model-loader-extra-config={"concurrency": 1}']),
        ),
    ),
    "an abbreviated argument the program sets": Pair(
        model("extraArgs", value=["--max-model-le", "99"]),
        "models[0].extraArgs",
        model("extraArgs", value=["--max-logprobs", "5"]),
    ),
    "metrics switched off under the autoscaler": Pair(
        model("extraArgs", value=["--disable-log-stats"]),
        "models[0].extraArgs",
        model("extraArgs", value=["--disable-log-requests"]),
    ),
    "two words in one argument": Pair(
        model("extraArgs", value=["--seed 7"]),
        "models[0].extraArgs",
        model("extraArgs", value=["--seed", "7"]),
    ),
    "a token among the arguments": Pair(
        model("extraArgs", value=["--hf-token", "hunter2"]),
        "models[0].extraArgs",
        model("secretName", value="hf-token"),
    ),
    "a truth value for a number": Pair(
        model("weightsGiB", value=True), "models[0].weightsGiB", model("weightsGiB", value=15.5)
    ),
    "a bill above the cap": Pair(
        put("headroom:gpuBudget", "maxMonthlyUsd", value=7000),
        "gpuBudget.maxMonthlyUsd",
        put("headroom:gpuBudget", "maxMonthlyUsd", value=7200),
    ),
    "AL2023 without a device plugin (KP7)": Pair(
        both(
            pool("ami", value="al2023@v20261101"),
            put("headroom:platform", "gpuPlugin", value={"install": False}),
        ),
        "gpuPools[0].ami",
        put("headroom:platform", "gpuPlugin", value={"install": False}),
    ),
    "the lab's node class on EKS": Pair(
        pool("nodeClass", value="kwok"),
        "gpuPools[0].nodeClass",
        both(
            pool("nodeClass", value="kwok"),
            put("headroom:cluster", value={"mode": "existing"}),
            put("headroom:weights", value={"backend": "hub"}),
        ),
    ),
    "system nodes of two architectures": Pair(
        put("headroom:cluster", "systemNodes", value={"instanceTypes": ["m7g.large", "m7i.large"]}),
        "cluster.systemNodes.instanceTypes",
        put("headroom:cluster", "systemNodes", value={"instanceTypes": ["m7g.large", "m8g.large"]}),
    ),
    "two labelled elements in one query (KD1)": Pair(
        model(
            "scaling",
            value={"triggers": [{"name": "q", "query": 'sum(b) or absent(a{pod="x"})', "threshold": 2}]},
        ),
        "models[0].scaling.triggers[0].query",
        model(
            "scaling",
            value={"triggers": [{"name": "q", "query": 'max(sum(b) or absent(a{pod="x"}))', "threshold": 2}]},
        ),
    ),
    "an argument the program sets": Pair(
        model("extraArgs", value=["--max_model_len=4096"]),
        "models[0].extraArgs",
        model("extraArgs", value=["--enable-prefix-caching"]),
    ),
    "a secret among the arguments": Pair(
        model("extraArgs", value=["--api-key", "hunter2"]),
        "models[0].extraArgs",
        model("extraArgs", value=["--enable-log-requests"]),
    ),
    "shared memory beyond the memory limit (VL12)": Pair(
        both(
            model("gpusPerReplica", value=4),
            model("replicas", "max", value=2),
            model("resources", value={"memory": "8Gi"}),
        ),
        "models[0].resources.memory",
        both(
            model("gpusPerReplica", value=4),
            model("replicas", "max", value=2),
            model("resources", value={"memory": "9Gi"}),
        ),
    ),
    "a floor above the ceiling": Pair(
        model("replicas", value={"min": 3, "max": 2}),
        "models[0].replicas.min",
        model("replicas", value={"min": 2, "max": 2}),
    ),
    "no Prometheus at all": Pair(
        put("headroom:platform", "prometheus", value={"install": False}),
        "platform.prometheus.address",
        put(
            "headroom:platform",
            "prometheus",
            value={"install": False, "address": "http://prometheus.monitoring:9090"},
        ),
    ),
    "a Karpenter that stores v1beta1 (KP22)": Pair(
        put("headroom:platform", "karpenter", value={"version": "0.37.0"}),
        "platform.karpenter.version",
        put("headroom:platform", "karpenter", value={"version": "1.14.1"}),
    ),
    "a trigger with one series a pod (KD1)": Pair(
        model(
            "scaling",
            value={"triggers": [{"name": "q", "query": "vllm:num_requests_waiting", "threshold": 2}]},
        ),
        "models[0].scaling.triggers[0].query",
        model(
            "scaling",
            value={"triggers": [{"name": "q", "query": "sum(vllm:num_requests_waiting)", "threshold": 2}]},
        ),
    ),
    "a threshold that rounds to nothing (KD16)": Pair(
        model("scaling", value={"triggers": [{"name": "q", "query": "sum(x)", "threshold": 0.0001}]}),
        "models[0].scaling.triggers[0].threshold",
        model("scaling", value={"triggers": [{"name": "q", "query": "sum(x)", "threshold": 0.001}]}),
    ),
    "a password in the address of Prometheus": Pair(
        put(
            "headroom:platform",
            "prometheus",
            value={"install": False, "address": "http://me:hunter2@prometheus.example.com:9090"},
        ),
        "platform.prometheus.address",
        put(
            "headroom:platform",
            "prometheus",
            value={"install": False, "address": "http://prometheus.example.com:9090/@me"},
        ),
    ),
    "strategy rate without a capacity": Pair(
        model("capacity", value=None),
        "models[0].capacity",
        both(model("capacity", value=None), model("scaling", value={"strategy": "concurrency"})),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_fault_is_refused_at_its_path(name: str) -> None:
    config = base()
    PAIRS[name].refused(config)
    assert PAIRS[name].path in [problem.path for problem in examined(config).problems]


@pytest.mark.parametrize("name", PAIRS)
def test_the_near_twin_is_accepted(name: str) -> None:
    config = base()
    PAIRS[name].accepted(config)
    assert examined(config).problems == []


@pytest.mark.parametrize("name", PAIRS)
def test_a_refusal_says_what_was_given_what_is_allowed_and_the_way_out(name: str) -> None:
    config = base()
    PAIRS[name].refused(config)
    for problem in examined(config).problems:
        assert all((problem.path, problem.given, problem.allowed, problem.fix))
        assert "hunter2" not in str(problem)


def test_every_mistake_is_told_at_once() -> None:
    config = base()
    for pair in ("a zone of another region", "a latest image", "a drain longer than a spot notice (DR8)"):
        PAIRS[pair].refused(config)
    config["headroom:network"]["natGatway"] = "single"
    paths = {problem.path for problem in examined(config).problems}
    assert paths == {"network.zones[1]", "models[0].image", "models[0].drain", "network.natGatway"}


def test_the_largest_context_that_fits_is_named() -> None:
    config = base()
    PAIRS["a context that leaves no room in 24 GB (VL8)"].refused(config)
    [problem] = examined(config).problems
    assert "at most 33712 tokens" in problem.allowed
    config["headroom:models"][0]["maxModelLen"] = 33712
    assert examined(config).problems == []


def many_models(count: int, nodes: int) -> Config:
    config = base()
    config["headroom:gpuPools"][0]["gpuLimit"] = config["headroom:gpuBudget"]["maxGpus"] = 2 * count
    config["headroom:cluster"] = {
        "systemNodes": {"instanceTypes": ["m7i.4xlarge"], "min": nodes, "max": nodes}
    }
    one = config["headroom:models"][0] | {"replicas": {"min": 1, "max": 2}}
    config["headroom:models"] = [copy.deepcopy(one) | {"name": f"model-{index}"} for index in range(count)]
    return config


def test_200_models_are_read_and_judged() -> None:
    assert examined(many_models(200, 10)).problems == []


def test_system_nodes_too_small_for_the_routers_are_refused() -> None:
    assert [problem.path for problem in examined(many_models(200, 2)).problems] == ["cluster.systemNodes"]


def test_a_floor_of_one_without_room_to_roll_is_not_called_zero_downtime() -> None:
    config = base()
    pool("gpuLimit", value=10)(config)
    assert any("not zero-downtime" in warning.allowed for warning in examined(config).warnings)
    pool("gpuLimit", value=11)(config)
    assert not any("not zero-downtime" in warning.allowed for warning in examined(config).warnings)


def test_a_new_cluster_without_an_autoscaler_is_warned_about() -> None:
    config = base()
    put("headroom:platform", "keda", value={"install": False})(config)
    assert "platform.keda.install" in [warning.path for warning in examined(config).warnings]
    put("headroom:cluster", value={"mode": "existing"})(config)
    assert "platform.keda.install" not in [warning.path for warning in examined(config).warnings]


@pytest.mark.parametrize(
    ("given", "warned"),
    [
        ({"ingress": {"scheme": "internet-facing"}}, True),
        ({"ingress": {"scheme": "internet-facing"}, "secretName": "callers"}, False),
        ({"ingress": {"scheme": "internal"}}, False),
        ({"ingress": {"scheme": "internet-facing", "enabled": False}}, False),
    ],
)
def test_a_model_on_the_internet_that_asks_no_key_is_warned_about(given: Config, warned: bool) -> None:
    config = base()
    config["headroom:models"][0] |= given
    assert ("models[0].secretName" in [warning.path for warning in examined(config).warnings]) == warned
