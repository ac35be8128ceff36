"""A whole stack through the real engine: preview, up, again, a change, a removal, the end."""

import pytest

from tests.engine.cloud.conftest import Make
from tests.engine.cloud.projects import SERVING, Project, steps


def test_the_first_preview_of_an_empty_stack_needs_no_cluster(serving: Project) -> None:
    """PU8: no kubeconfig of the user is read, and what the cloud will know is not made up."""
    outcome = serving.preview()
    assert outcome.ok, outcome.problems
    assert outcome.changes == {"create": 26}
    assert outcome.outputs["clusterName"] == "headroom-dev"
    assert outcome.outputs["vpcId"] is None
    assert outcome.outputs["uid"] is None
    assert outcome.calls == ()


def test_up_answers_as_aws_would(serving: Project) -> None:
    outputs = serving.up().outputs
    assert outputs["clusterArn"] == "arn:aws:eks:us-east-1:111122223333:cluster/headroom-dev"
    assert outputs["vpcId"].startswith("vpc-0")
    assert len(outputs["vpcId"]) == len("vpc-") + 17
    assert outputs["queueUrl"].startswith("https://sqs.us-east-1.amazonaws.com/111122223333/interruption-")
    assert outputs["bucketArn"].startswith("arn:aws:s3:::weights-")
    assert outputs["oidcIssuer"].startswith("oidc.eks.us-east-1.amazonaws.com/id/")
    assert outputs["release"] == "deployed"


def test_a_second_up_changes_nothing(serving: Project) -> None:
    first = serving.up()
    again = serving.up()
    assert again.changed == 0
    assert again.changes == {"same": 26}
    assert again.outputs == first.outputs


def test_ids_are_the_same_in_every_state(make: Make) -> None:
    assert make(SERVING).up().outputs == make(SERVING).up().outputs


def test_a_changed_image_updates_its_deployment_and_nothing_else(serving: Project) -> None:
    serving.up()
    serving.configure(image="vllm/vllm-openai:v0.33.1")
    preview = serving.preview()
    assert steps(preview, "update") == ["Deployment llama3-8b"]
    assert preview.changed == 1
    (step,) = [step for step in preview.steps if step.op == "update"]
    assert [change.path for change in step.diff] == ["spec.template.spec.containers[0].image"]
    assert serving.up().changes == {"same": 25, "update": 1}


def test_a_changed_setting_reaches_the_cluster_inside_the_component(serving: Project) -> None:
    serving.up()
    serving.configure(syncSeconds=10)
    (step,) = [step for step in serving.up().steps if step.op == "update"]
    assert step.type == "aws:eks/cluster:Cluster"
    assert [change.path for change in step.diff] == [
        "kubeControllerManagerConfig.horizontalPodAutoscalerControllerConfig.horizontalPodAutoscalerSyncPeriod"
    ]


def test_a_removed_model_takes_its_own_objects_with_it(serving: Project) -> None:
    serving.configure(models=["llama3-8b", "mistral-7b"])
    serving.up()
    serving.configure(models=["llama3-8b"])
    outcome = serving.up()
    assert steps(outcome, "delete") == ["Deployment mistral-7b"]
    assert outcome.changed == 1


def test_another_network_replaces_the_vpc_and_what_cannot_move(serving: Project) -> None:
    serving.up()
    serving.configure(cidr="10.0.0.0/17")
    replaced = steps(serving.preview(), "create-replacement")
    assert "Vpc network" in replaced
    assert "Subnet private-a" in replaced
    assert "NodeGroup system" in replaced
    assert "Bucket weights" not in replaced
    assert "Deployment llama3-8b" not in replaced


def test_destroy_goes_backwards_through_the_graph(serving: Project) -> None:
    """PU1: what runs in the cluster goes before what runs it."""
    created = [call.urn for call in serving.up().calls if call.verb == "create"]
    outcome = serving.cloud.destroy("dev")
    assert outcome.ok, outcome.problems
    deleted = [f"{call.type.rpartition(':')[2]} {call.name}" for call in outcome.calls]
    order = [
        "Deployment llama3-8b",
        "NodePool inference",
        "Release karpenter",
        "NodeGroup system",
        "Cluster cluster-eksCluster",
        "Subnet private-a",
        "Vpc network",
    ]
    assert [entry for entry in deleted if entry in order] == order
    assert sorted(call.urn for call in outcome.calls) == sorted(created)
    assert serving.preview().changes == {"create": 26}


def test_refresh_finds_what_the_state_holds(serving: Project) -> None:
    serving.up()
    outcome = serving.cloud.refresh("dev")
    assert outcome.ok, outcome.problems
    assert outcome.changed == 0


@pytest.mark.parametrize("name", ["prod", "../dev", ""])
def test_a_stack_without_a_file_is_named_with_those_there_are(serving: Project, name: str) -> None:
    with pytest.raises(ValueError, match=r"stack: given .*; allowed dev; "):
        serving.cloud.preview(name)


def test_the_users_stack_file_is_never_written(serving: Project) -> None:
    before = {path.name: path.read_bytes() for path in serving.folder.iterdir() if path.is_file()}
    serving.up()
    assert {path.name: path.read_bytes() for path in serving.folder.iterdir() if path.is_file()} == before
