"""pinned-images: every image says exactly which one it is."""

import pytest

from tests.unit.policies.programs import (
    DIGEST,
    UNKNOWN,
    Program,
    Props,
    container,
    deployment,
    edited,
    judged,
    messages,
)

LOOSE = {"requireDigest": False}


def image(reference: object, config: Props) -> list[str]:
    program = edited({"m": deployment()}, "m", lambda props: container(props).update(image=reference))
    return messages("pinned-images", program, config)


@pytest.mark.parametrize(
    "reference",
    [
        "vllm/vllm-openai:v0.33.0",
        "host:5000/vllm:v1",
        f"vllm/vllm-openai@{DIGEST}",
        "router:nightly-20260809-d2ba586",
    ],
)
def test_a_fixed_tag_or_a_digest_passes(reference: str) -> None:
    assert image(reference, LOOSE) == []


@pytest.mark.parametrize(
    "reference",
    [
        "vllm/vllm-openai",
        "host:5000/vllm",
        "vllm:latest",
        "vllm:LATEST",
        f"vllm:latest@{DIGEST}",
        "vllm@sha256:12",
        "",
    ],
)
def test_a_moving_or_missing_tag_is_refused(reference: str) -> None:
    assert len(image(reference, LOOSE)) == 1


def test_a_digest_is_needed_unless_a_stack_says_otherwise() -> None:
    assert "no digest" in image("vllm/vllm-openai:v0.33.0", {})[0]
    assert image(f"vllm/vllm-openai:v0.33.0@{DIGEST}", {}) == []


def test_an_unknown_image_is_reported() -> None:
    assert "not known yet" in image(UNKNOWN, LOOSE)[0]


@pytest.mark.parametrize("where", ["initContainers", "ephemeralContainers"])
def test_every_kind_of_container_is_judged(where: str) -> None:
    def spoil(props: Props) -> None:
        props["spec"]["template"]["spec"][where] = [{"name": "extra", "image": "busybox"}]

    (message,) = messages("pinned-images", edited({"m": deployment()}, "m", spoil), LOOSE)
    assert "container extra" in message


def test_an_image_volume_is_judged() -> None:
    volume = {"name": "weights", "image": {"reference": "corp/weights:latest"}}
    program = edited(
        {"m": deployment()}, "m", lambda props: props["spec"]["template"]["spec"].update(volumes=[volume])
    )
    assert len(messages("pinned-images", program, LOOSE)) == 1


@pytest.mark.parametrize("kind", ["apps/v1:DaemonSet", "apps/v1:StatefulSet", "batch/v1:Job"])
def test_workloads_without_gpus_are_judged_too(kind: str) -> None:
    spec = {"template": {"spec": {"containers": [{"name": "c", "image": "nginx"}]}}}
    program: Program = {"w": (f"kubernetes:{kind}", {"metadata": {"name": "w"}, "spec": spec})}
    assert len(messages("pinned-images", program, LOOSE)) == 1


@pytest.mark.parametrize(("alias", "passes"), [("al2023@latest", False), ("al2023@v20261101", True)])
def test_a_machine_image_has_a_date(alias: str, passes: bool) -> None:
    node_class = {"metadata": {"name": "gpu"}, "spec": {"amiSelectorTerms": [{"alias": alias}]}}
    program: Program = {"class": ("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", node_class)}
    assert (messages("pinned-images", program, LOOSE) == []) is passes


@pytest.mark.parametrize("values", [{"image": {"tag": "latest"}}, {"a": [{"image": "x:latest"}]}])
def test_latest_in_the_values_of_a_release_is_refused(values: Props) -> None:
    program: Program = {"r": ("kubernetes:helm.sh/v3:Release", {"values": values})}
    assert len(messages("pinned-images", program, LOOSE)) == 1


def test_a_patch_without_images_passes() -> None:
    patch = ("kubernetes:apps/v1:DeploymentPatch", {"metadata": {"name": "x"}, "spec": {"replicas": 2}})
    assert judged("pinned-images", {"patch": patch}, LOOSE) == []
