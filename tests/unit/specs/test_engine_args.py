"""What an engine is started with."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specs.engine_args import engine_args, environment
from specs.settings import Settings
from tests.unit.specs.stack import LARGE, only, option, settings


def args(found: Settings) -> list[str]:
    return engine_args(found, only(found))


def env(found: Settings) -> dict[str, Any]:
    return {str(entry["name"]): entry.get("value") for entry in environment(found, only(found), "bucket")}


def test_limits_come_from_the_settings() -> None:
    found = args(settings({"maxModelLen": 4096, "maxNumSeqs": 32, "gpuMemoryUtilization": 0.85}))
    assert option(found, "--max-model-len") == "4096"
    assert option(found, "--max-num-seqs") == "32"
    assert option(found, "--gpu-memory-utilization") == "0.85"


def test_callers_name_the_model_by_its_served_name() -> None:
    assert option(args(settings({"servedName": "meta/llama"})), "--served-model-name") == "meta/llama"
    assert option(args(settings()), "--served-model-name") == "llama3-8b"


def test_the_drain_flag_is_absent_for_an_image_that_does_not_know_it() -> None:
    assert "--shutdown-timeout" not in args(settings({"image": "vllm/vllm-openai:v0.17.0"}))
    assert option(args(settings({"image": "vllm/vllm-openai:v0.18.0"})), "--shutdown-timeout") == "60"


def test_tensor_parallel_equals_the_gpus_of_the_pod() -> None:
    assert option(args(settings(LARGE)), "--tensor-parallel-size") == "4"


@pytest.mark.parametrize(
    "extra",
    [
        ["--tensor-parallel-size", "2", "--pipeline-parallel-size", "2"],
        ["--tensor_parallel_size=4"],
        ["-tp", "4"],
    ],
)
def test_parallel_sizes_of_the_user_are_not_given_twice(extra: list[str]) -> None:
    found = args(settings(LARGE | {"extraArgs": extra}))
    assert sum("tensor" in word or word == "-tp" for word in found) == 1
    assert found[-len(extra) :] == extra


def test_extra_arguments_come_last_so_that_they_win() -> None:
    assert args(settings({"extraArgs": ["--enable-prefix-caching"]}))[-1] == "--enable-prefix-caching"


def test_weights_are_streamed_from_the_bucket_by_name_known_only_to_the_kubelet() -> None:
    found = args(settings())
    assert found[0] == "s3://$(WEIGHTS_BUCKET)/models/llama3-8b/v1"
    assert option(found, "--load-format") == "runai_streamer"
    assert env(settings())["WEIGHTS_BUCKET"] == "bucket"


@pytest.mark.parametrize(("image", "distributed"), [("v0.33.0", True), ("v0.11.2", False)])
def test_gpus_of_one_replica_share_the_reading_where_the_image_can(image: str, distributed: bool) -> None:
    found = args(settings(LARGE | {"image": f"vllm/vllm-openai:{image}"}))
    extra = json.loads(option(found, "--model-loader-extra-config"))
    assert ("distributed" in extra) is distributed


def test_a_single_gpu_does_not_share() -> None:
    assert "distributed" not in option(args(settings()), "--model-loader-extra-config")


@pytest.mark.parametrize("backend", ["efs", "fsx"])
def test_mounted_network_weights_are_read_ahead(backend: str) -> None:
    """ST6: page-wise mapped reads over a network are slow."""
    found = args(settings({}, weights={"backend": backend}))
    assert found[0] == "/weights/models/llama3-8b/v1"
    assert option(found, "--safetensors-load-strategy") == "eager"


def test_an_image_without_eager_loading_streams_mounted_weights() -> None:
    found = args(settings({"image": "vllm/vllm-openai:v0.10.2"}, weights={"backend": "efs"}))
    assert "--safetensors-load-strategy" not in found
    assert option(found, "--load-format") == "runai_streamer"


def test_weights_in_the_image_are_mapped_from_the_local_disk() -> None:
    found = args(settings({}, weights={"backend": "image"}))
    assert found[0] == "/weights/models/llama3-8b/v1"
    assert "--load-format" not in found
    assert "--safetensors-load-strategy" not in found


@pytest.mark.parametrize("backend", ["s3", "efs", "fsx", "image"])
def test_the_hub_is_not_asked_where_the_weights_are_elsewhere(backend: str) -> None:
    assert env(settings({}, weights={"backend": backend}))["HF_HUB_OFFLINE"] == "1"


def test_weights_from_the_hub_are_named_as_the_hub_does() -> None:
    found = settings({}, weights={"backend": "hub"})
    assert args(found)[0] == "meta-llama/Meta-Llama-3-8B-Instruct"
    assert "HF_HUB_OFFLINE" not in env(found)
    assert "AWS_REGION" not in env(found)


def test_the_engine_keeps_idle_connections_longer_than_router_and_balancer() -> None:
    found = env(settings({"ingress": {"idleTimeoutSeconds": 600}}))
    assert int(found["VLLM_HTTP_TIMEOUT_KEEP_ALIVE"]) > 600
    assert int(env(settings({"ingress": {"enabled": False}}))["VLLM_HTTP_TIMEOUT_KEEP_ALIVE"]) > 90


def test_secrets_are_only_referred_to() -> None:
    found = settings({"secretName": "hf-token"})
    entries = {entry["name"]: entry for entry in environment(found, only(found), "bucket")}
    for key in ("HF_TOKEN", "VLLM_API_KEY"):
        assert entries[key] == {
            "name": key,
            "valueFrom": {"secretKeyRef": {"name": "hf-token", "key": key, "optional": True}},
        }
    assert not any("hf-token" in word or "HF_TOKEN" in word for word in args(found))


def test_without_a_secret_none_is_referred_to() -> None:
    assert not {"HF_TOKEN", "VLLM_API_KEY"} & env(settings()).keys()
