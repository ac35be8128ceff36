"""What the fleet reads in a pod."""

from typing import Any

import pytest

from lab.fleet.arguments import ArgumentsError, engine_options
from lab.fleet.pods import Pod, own
from tests.unit.lab.fleet.bodies import declared, local


def _own(body: dict[str, Any]) -> Pod:
    pod = own(body, "vllm/")
    assert pod is not None
    return pod


def _container(**fields: Any) -> Pod:
    body = declared()
    body["spec"]["containers"] = [{"name": "c", "image": "vllm/vllm-openai:v0.33.0", **fields}]
    return _own(body)


def test_the_programs_engine_is_understood_in_full() -> None:
    model = local().active_models[0]
    pod = _own(declared())
    options = engine_options(pod.container.words, pod.container.environment)
    assert pod.container.role == "engine"
    assert options.model_name == model.api_name
    assert options.max_model_len == model.max_model_len
    assert options.max_num_seqs == model.max_num_seqs
    assert options.shutdown_timeout == model.drain.shutdown_seconds
    assert options.keep_alive > 300
    assert pod.container.pre_stop == model.drain.pre_stop_seconds
    assert pod.grace > pod.container.pre_stop + options.shutdown_timeout
    assert pod.container.startup is not None
    assert pod.container.startup.port == 8000


def test_a_pod_with_other_images_is_not_the_fleets() -> None:
    assert own(declared(), "example/") is None


def test_a_pod_without_a_node_is_nobodys_yet() -> None:
    body = declared()
    del body["spec"]["nodeName"]
    assert own(body, "vllm/") is None


def test_the_grace_of_a_deletion_wins() -> None:
    pod = _own(declared(deletionTimestamp="2026-12-01T00:00:00Z", deletionGracePeriodSeconds=3))
    assert (pod.deleting, pod.grace) == (True, 3.0)


@pytest.mark.parametrize(
    ("fields", "role"),
    [
        ({}, "engine"),
        ({"command": ["python3", "-m", "vllm.entrypoints.openai.api_server"]}, "engine"),
        ({"command": ["vllm-router"]}, "router"),
        ({"image": "vllm/vllm-router:nightly"}, "router"),
        ({"command": ["sh", "-c", "sleep infinity"]}, "idle"),
    ],
)
def test_the_command_or_the_image_tells_the_role(fields: dict[str, Any], role: str) -> None:
    assert _container(**fields).container.role == role


def test_a_pre_stop_command_that_sleeps_is_waited_for() -> None:
    hook = {"preStop": {"exec": {"command": ["sh", "-c", "sleep 15"]}}}
    assert _container(lifecycle=hook).container.pre_stop == 15


def test_a_container_that_ran_before_is_seen_as_restarted() -> None:
    body = declared()
    body["status"]["containerStatuses"] = [
        {"name": "engine", "restartCount": 2, "state": {"running": {"startedAt": "2026-12-01T00:00:00Z"}}}
    ]
    pod = _own(body)
    assert (pod.ran, pod.restarts) == (True, 2)


def test_underscores_and_equals_signs_are_read_as_vllm_reads_them() -> None:
    options = engine_options(["vllm", "serve", "org/m", "--max_num_seqs=8", "--api-key", "x"], {})
    assert (options.model_name, options.max_num_seqs) == ("org/m", 8)


def test_arguments_that_vllm_refuses_are_refused() -> None:
    with pytest.raises(ArgumentsError, match="--port"):
        engine_options(["org/m", "--port", "http"], {})
    with pytest.raises(ArgumentsError, match="no model named"):
        engine_options([], {})
