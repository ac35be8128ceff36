"""Each policy blocks through the real engine: in preview, in an update without preview, and on existing state."""

import json
from pathlib import Path

import pytest

from tests.engine.policies.engine import UNKNOWN, Engine, Hidden
from tests.unit.policies.programs import (
    CONFIG,
    RULES,
    Program,
    Props,
    container,
    deployment,
    edited,
    good,
    pool,
    replaced,
    scaled_object,
    spoilt,
)

STRICT: Props = {**CONFIG, "retain-data": {"require": True}}
ALONE = {
    "gpu-limit": "pool",
    "gpu-request": "model",
    "pdb-drainable": "budget",
    "graceful-drain": "model",
    "gpu-pool-disruption": "pool",
    "scaling-works": "scaler",
    "pinned-images": "model",
    "retain-data": "weights",
}
"""Violations that one resource shows by itself: it is then never created, not even without a preview."""
pytestmark = [
    # The Automation API (pulumi 3.272) leaves the event loop and sockets of each inline program open.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def known(program: Program) -> Program:
    """The bucket's policy without its unknown ARN."""
    statement = ("policy", "Statement", 0, "Resource")
    kind, props = program["tls"]
    return program | {"tls": (kind, replaced(props, statement, "arn:aws:s3:::weights/*"))}


def test_the_good_program_passes_preview_update_and_analysis(engine: Engine) -> None:
    assert engine.preview(known(good()), STRICT).code == 0
    assert engine.up(known(good()), STRICT).code == 0
    assert "model" in engine.recorder.created
    assert engine.preview(known(good()), STRICT).code == 0
    assert engine.analyze(known(good()), STRICT).code == 0


@pytest.mark.parametrize("name", RULES)
def test_a_violation_blocks_the_preview_as_mandatory(engine: Engine, name: str) -> None:
    outcome = engine.preview(known(spoilt()[name]), STRICT)
    assert outcome.code != 0
    assert "[mandatory]" in outcome.text
    assert {rule for rule in RULES if f"  {rule}  (" in outcome.text} == {name}
    assert "way out:" in outcome.text


@pytest.mark.parametrize("name", RULES)
def test_a_violation_blocks_an_update_without_preview(engine: Engine, name: str) -> None:
    outcome = engine.up(known(spoilt()[name]), STRICT)
    assert outcome.code != 0
    assert f"  {name}  (" in outcome.text
    assert ALONE.get(name, "") not in engine.recorder.created


@pytest.mark.parametrize("name", RULES)
def test_a_violation_fails_the_analysis_of_existing_state(engine: Engine, name: str) -> None:
    outcome = engine.analyze(known(spoilt()[name]), STRICT)
    assert outcome.code != 0
    assert "mandatory policy violations were found" in outcome.text
    assert f"  {name}  (" in outcome.text


def test_an_unknown_limit_is_a_mandatory_violation_in_preview(engine: Engine) -> None:
    program = known(good()) | {"pool": pool(limits={"nvidia.com/gpu": UNKNOWN})}
    outcome = engine.preview(program, STRICT)
    assert outcome.code != 0
    assert "a value not known yet" in outcome.text
    assert "can't run policy" not in outcome.text


def test_unknowns_elsewhere_do_not_weaken_a_violation(engine: Engine) -> None:
    """PO1: outputs of a cluster that does not exist yet are everywhere in a first preview."""
    program = known(spoilt()["gpu-limit"])
    program["config"] = (
        "kubernetes:core/v1:ConfigMap",
        {"metadata": {"name": "c"}, "data": {"arn": UNKNOWN}},
    )
    program = edited(
        program, "model", lambda props: container(props).update(env=[{"name": "A", "value": UNKNOWN}])
    )
    outcome = engine.preview(program, STRICT)
    assert outcome.code != 0
    assert "[mandatory] [severity: critical]  gpu-limit" in outcome.text


def test_the_servers_default_replicas_are_not_taken_for_the_programs(engine: Engine) -> None:
    program = known(good())
    assert engine.up(program, STRICT).code == 0
    assert engine.preview(program, STRICT).code == 0
    stated = program | {"model": deployment(replicas=2)}
    assert "spec.replicas" in engine.preview(stated, STRICT).text


def test_lowering_the_cap_below_the_demand_blocks(engine: Engine) -> None:
    assert engine.preview(known(good()), {**STRICT, "gpu-demand": {"maxGpus": 11}}).code == 0
    outcome = engine.preview(known(good()), {**STRICT, "gpu-demand": {"maxGpus": 10}})
    assert outcome.code != 0
    assert "demand may reach 11 GPUs" in outcome.text


def test_a_secret_is_judged_and_not_printed(engine: Engine) -> None:
    hidden = Hidden("corp.example/hidden-name:latest")
    program = edited(known(good()), "model", lambda props: container(props).update(image=hidden))
    outcome = engine.preview(program, STRICT)
    assert outcome.code != 0
    assert "pinned-images" in outcome.text
    assert "hidden-name" not in outcome.text


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"gpu-limt": "mandatory"}, 'did you mean "gpu-limit"?'),
        ({"gpu-limt": {"maxGpus": 8}}, "invalid enforcement level"),
        ({"gpu-limit": {"maxGPUs": 8}}, 'did you mean "maxGpus"?'),
        ({"gpu-limit": {"enforcmentLevel": "advisory", "maxGpus": 16}}, 'did you mean "enforcementLevel"?'),
        ({"gpu-limit": {"enforcementLevel": "advisroy"}}, "not a valid enforcement level"),
        ({"gpu-limit": "disable"}, "not a valid enforcement level"),
        ({"all": "advisory"}, "it lowers every policy at once"),
        ({"all": "disabled", **CONFIG}, "it lowers every policy at once"),
        ({"gpu-limit": {"maxGpus": "8"}}, "Expected: integer, given: string"),
        ({"gpu-limit": {"maxGpus": -1}}, "greater than or equal to 0"),
        ({"version": 2, "policies": {"gpu-limt": "mandatory"}}, 'did you mean "gpu-limit"?'),
        ("{", "unexpected end of JSON input"),
    ],
)
def test_a_wrong_configuration_file_is_refused(engine: Engine, config: Props | str, said: str) -> None:
    outcome = engine.analyze(good(), config)
    assert outcome.code != 0
    assert said in outcome.text
    assert "Traceback" not in outcome.text


def test_a_wrong_configuration_file_stops_the_preview_before_the_program(engine: Engine) -> None:
    outcome = engine.preview(good(), {"gpu-limt": "mandatory"})
    assert outcome.code != 0
    assert 'did you mean "gpu-limit"?' in outcome.text
    assert "create" not in outcome.text


def test_no_configuration_means_no_gpus(engine: Engine) -> None:
    outcome = engine.preview(known(good()), {})
    assert outcome.code != 0
    assert "at most 0 (maxGpus)" in outcome.text


def test_lowering_one_policy_by_name_is_a_warning_not_a_block(engine: Engine) -> None:
    advisory = {**STRICT, "pdb-drainable": "advisory"}
    outcome = engine.preview(known(spoilt()["pdb-drainable"]), advisory)
    assert outcome.code == 0
    assert "[advisory]" in outcome.text


@pytest.mark.parametrize("stack", ["dev", "prod", "local"])
def test_each_stacks_own_file_is_accepted_by_the_engine(engine: Engine, stack: str) -> None:
    path = Path(__file__).parents[3] / "policies" / f"{stack}.json"
    config: Props = json.loads(path.read_text(encoding="utf-8"))
    web: Program = {"bucket": ("kubernetes:core/v1:Namespace", {"metadata": {"name": "web"}})}
    assert engine.preview(web, config).code == 0


def test_a_program_of_another_kind_is_judged_too(engine: Engine) -> None:
    spec: Props = {"replicas": 40, "template": deployment()[1]["spec"]["template"]}
    program: Program = {
        "pool": pool(),
        "training": ("kubernetes:apps/v1:StatefulSet", {"metadata": {"name": "t"}, "spec": spec}),
        "scaler": scaled_object(scaleTargetRef={"name": "t", "kind": "StatefulSet"}),
    }
    outcome = engine.preview(program, STRICT)
    assert {name for name in ("gpu-demand", "pdb-present") if f"  {name}  (" in outcome.text} == {
        "gpu-demand",
        "pdb-present",
    }


def test_a_bucket_policy_without_the_denial_is_never_put_in_place(engine: Engine) -> None:
    """In the first preview its document waits for the bucket's ARN; the update judges it before it is created."""
    statement = {
        "Effect": "Allow",
        "Principal": "*",
        "Action": "s3:GetObject",
        "Resource": "arn:aws:s3:::weights/*",
    }
    program = edited(known(good()), "tls", lambda props: props.update(policy={"Statement": [statement]}))
    outcome = engine.up(program, STRICT)
    assert outcome.code != 0
    assert "BucketPolicy: tls)" in outcome.text
    assert "tls" not in engine.recorder.created
