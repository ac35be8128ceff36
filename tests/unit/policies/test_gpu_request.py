"""gpu-request: the scheduler, the engine and the reviewer count the same GPUs (VL10, PO4)."""

import pytest

from tests.unit.policies.programs import (
    UNKNOWN,
    Program,
    Props,
    container,
    deployment,
    edited,
    judged,
    messages,
    pod,
)


def of(**fields: object) -> Program:
    return edited({"model": deployment()}, "model", lambda props: container(props).update(fields))


def test_equal_request_and_limit_pass() -> None:
    assert messages("gpu-request", {"model": deployment(4)}) == []


@pytest.mark.parametrize(
    "resources", [{"limits": {"nvidia.com/gpu": "1"}}, {"limits": {"nvidia.com/gpu": "1000m"}}]
)
def test_a_limit_alone_passes(resources: Props) -> None:
    assert messages("gpu-request", of(resources=resources)) == []


@pytest.mark.parametrize(
    "resources",
    [
        {"requests": {"nvidia.com/gpu": 1}},
        {"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 2}},
        {"requests": {"nvidia.com/gpu": 1}, "limits": {"cpu": 1}},
    ],
)
def test_a_request_that_is_not_its_limit_is_refused(resources: Props) -> None:
    assert "request = limit" in messages("gpu-request", of(resources=resources))[0]


def test_equal_numbers_written_differently_pass() -> None:
    resources = {"requests": {"nvidia.com/gpu": 1.0}, "limits": {"nvidia.com/gpu": "1"}}
    assert messages("gpu-request", of(resources=resources)) == []


def test_half_a_gpu_is_refused() -> None:
    found = messages(
        "gpu-request", of(resources={"limits": {"nvidia.com/gpu": "500m"}}, image="x:1", args=[])
    )
    assert "whole GPUs" in found[0]


@pytest.mark.parametrize(
    "args",
    [
        ["m", "--tensor-parallel-size", "4"],
        ["m", "--tensor-parallel-size=4"],
        ["m", "--tensor_parallel_size=4"],
        ["m", "-tp", "4"],
        ["m", "-tp", "2", "-pp", "2"],
        ["m", "--tensor-parallel-size", "1", "--tensor-parallel-size", "4"],
        ["m", "-tp", "2", "--data-parallel-size", "2"],
    ],
)
def test_parallelism_that_uses_every_gpu_passes(args: list[str]) -> None:
    program = edited({"model": deployment(4)}, "model", lambda props: container(props).update(args=args))
    assert messages("gpu-request", program) == []


@pytest.mark.parametrize(
    "args",
    [
        ["m"],
        ["m", "--tensor-parallel-size", "2"],
        ["m", "--tensor-parallel-size", "8"],
        ["m", "--tensor-parallel-size", "4", "--tensor-parallel-size", "2"],
        ["m", "--tensor-parallel-size", "$(TP)"],
        ["m", "-tp", "4", "-pp", "2"],
    ],
)
def test_parallelism_that_differs_from_the_gpus_is_refused(args: list[str]) -> None:
    program = edited({"model": deployment(4)}, "model", lambda props: container(props).update(args=args))
    (message,) = messages("gpu-request", program)
    assert "4 GPUs for TP" in message


def test_parallelism_inside_a_shell_line_is_read() -> None:
    line = "exec vllm serve m --tensor-parallel-size 2 --port 8000"
    program = edited(
        {"model": deployment(4)},
        "model",
        lambda props: container(props).update(args=None, command=["sh", "-c", line]),
    )
    assert "TP 2" in messages("gpu-request", program)[0]


def test_gpus_across_the_pods_of_one_group_count_together() -> None:
    template = pod(8)
    template["spec"]["containers"][0]["args"] = ["m", "-tp", "8", "-pp", "2"]
    spec = {"leaderWorkerTemplate": {"size": 2, "workerTemplate": template}}
    group = (
        "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet",
        {"metadata": {"name": "l"}, "spec": spec},
    )
    assert messages("gpu-request", {"group": group}) == []


def test_a_container_that_is_no_engine_may_use_its_gpus_as_it_likes() -> None:
    assert messages("gpu-request", of(image="corp/train:1", args=["train"], command=None)) == []


def test_the_router_is_no_engine() -> None:
    assert (
        messages(
            "gpu-request", of(image="vllm/vllm-router:v1", resources={}, args=["--policy", "cache_aware"])
        )
        == []
    )


@pytest.mark.parametrize("fields", [{"resources": UNKNOWN}, {"args": UNKNOWN}, {"args": ["m", UNKNOWN]}])
def test_an_unknown_that_the_rule_needs_is_reported(fields: Props) -> None:
    assert "known in preview" in messages("gpu-request", of(**fields))[0]


def release(values: object) -> Program:
    return {"chart": ("kubernetes:helm.sh/v3:Release", {"chart": "vllm-stack", "values": values})}


@pytest.mark.parametrize(
    "values",
    [
        {"engine": {"resources": {"limits": {"nvidia.com/gpu": 1}}}},
        {"models": [{"requestGPU": 1, "resources": {"requests": {"nvidia.com/gpu": "2"}}}]},
        {"engine": {"resources": UNKNOWN}},
        UNKNOWN,
    ],
)
def test_a_release_whose_values_ask_for_gpus_is_refused(values: object) -> None:
    assert len(messages("gpu-request", release(values))) == 1


@pytest.mark.parametrize(
    "values",
    [
        {"engine": {"resources": {"limits": {"nvidia.com/gpu": 0}}}},
        {"nodeSelector": {"nvidia.com/gpu": "1"}, "settings": {"clusterName": UNKNOWN}},
        {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]},
        {"affinity": {"nvidia.com/gpu.present": "true"}},
        None,
    ],
)
def test_a_release_that_only_tolerates_gpu_nodes_passes(values: object) -> None:
    assert messages("gpu-request", release(values)) == []


def test_a_values_file_in_the_release_is_read() -> None:
    text = 'engine:\n  limits:\n    "nvidia.com/gpu": 2\n'
    asset = {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": text}
    program: Program = {"chart": ("kubernetes:helm.sh/v3:Release", {"valueYamlFiles": [asset]})}
    assert "2 of nvidia.com/gpu" in messages("gpu-request", program)[0]


def test_a_program_without_pods_or_releases_is_not_applicable_to_stack_rules() -> None:
    assert judged("gpu-demand", {"b": ("aws:s3/bucket:Bucket", {})}) == [("", "not applicable")]
