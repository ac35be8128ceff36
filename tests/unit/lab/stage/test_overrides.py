"""A rehearsal's overrides change what they name and nothing else."""

from pathlib import Path

from lab.stage import project
from lab.stage.aws import aws_settings
from lab.stage.overrides import merged
from lab.stage.stage import PROJECT, launch_seconds
from specs import checks

STACK = {
    "headroom:models": [{"name": "a", "replicas": {"min": 1, "max": 9}}, {"name": "b"}],
    "aws:region": "x",
}


def test_a_named_member_is_changed_and_its_neighbours_stay() -> None:
    found = merged(STACK, {"headroom:models": [{"name": "a", "replicas": {"max": 3}}]})
    assert found["headroom:models"] == [{"name": "a", "replicas": {"min": 1, "max": 3}}, {"name": "b"}]
    assert found["aws:region"] == "x"


def test_a_new_name_is_appended() -> None:
    found = merged(STACK, {"headroom:models": [{"name": "c"}]})
    assert [one["name"] for one in found["headroom:models"]] == ["a", "b", "c"]


def test_a_plain_list_is_replaced() -> None:
    assert merged({"families": ["g5", "g6"]}, {"families": ["g6e"]}) == {"families": ["g6e"]}


def test_the_written_stack_file_reads_back_as_the_same_configuration(tmp_path: Path) -> None:
    config = project.configuration(PROJECT, "local", {"headroom:gpuBudget": {"maxGpus": 20}})
    project.write(PROJECT, "local", config, tmp_path)
    assert project.configuration(tmp_path, "local", {}) == config
    assert config["headroom:gpuBudget"] == {"maxGpus": 20}


def test_the_labs_account_has_the_names_that_the_program_gives() -> None:
    settings, _ = checks.examine(project.configuration(PROJECT, "prod", {}))
    assert settings is not None
    account = aws_settings(settings, "prod")
    assert (account.cluster, account.node_role) == ("headroom-prod", "headroom-prod-node")
    assert (account.queue, account.vpc_cidr) == ("headroom-prod-interruption", settings.network.cidr)
    assert account.zones == settings.zones


def test_a_node_takes_as_long_to_join_as_the_plan_says() -> None:
    settings, _ = checks.examine(project.configuration(PROJECT, "local", {}))
    assert settings is not None
    assert launch_seconds(settings) == 45.0
