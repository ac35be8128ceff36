"""No input makes a rule raise, and nothing unrelated hides a violation."""

from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pulumi_policy import Secret

from tests.unit.policies.programs import RULES, UNKNOWN, Program, Props, good, judged, pod, replaced, spoilt

SETTINGS = settings(
    derandomize=True,
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TYPES = [kind for kind, _ in good().values()] + [
    "kubernetes:apps/v1:DeploymentPatch",
    "kubernetes:apps/v1:DeploymentList",
    "kubernetes:apps/v1:StatefulSet",
    "kubernetes:apps/v1:DaemonSet",
    "kubernetes:core/v1:Pod",
    "kubernetes:core/v1:PodTemplate",
    "kubernetes:batch/v1:Job",
    "kubernetes:batch/v1:CronJob",
    "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet",
    "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet",
    "kubernetes:keda.sh/v1alpha1:ScaledJob",
    "kubernetes:autoscaling/v2:HorizontalPodAutoscaler",
    "kubernetes:autoscaling.x-k8s.io/v1beta1:CapacityBuffer",
    "kubernetes:helm.sh/v3:Release",
    "kubernetes:storage.k8s.io/v1:StorageClass",
    "kubernetes:ray.io/v1:RayCluster",
    "aws:s3/bucketV2:BucketV2",
    "aws:ec2/launchTemplate:LaunchTemplate",
    "aws:ec2/instance:Instance",
    "aws:ebs/volume:Volume",
    "aws:efs/fileSystem:FileSystem",
    "eks:index:Cluster",
    "pulumi:pulumi:Stack",
    "odd",
    "",
]
WORDS = [
    UNKNOWN,
    f"x{UNKNOWN}",
    "[secret]",
    "8000m",
    "100%",
    "-5%",
    "1h",
    "Never",
    "NaN",
    "vllm/vllm-openai:latest",
    "sum(",
    "sleep 5",
    "0.0.0.0/0",
    "ünïcode \u0000 \ud7ff 🚀",
    "",
    "a" * 3000,
]
KEYS = [
    *(
        "metadata",
        "name",
        "namespace",
        "labels",
        "annotations",
        "spec",
        "template",
        "containers",
        "initContainers",
    ),
    *(
        "resources",
        "limits",
        "requests",
        "nvidia.com/gpu",
        "replicas",
        "strategy",
        "rollingUpdate",
        "maxSurge",
    ),
    *(
        "triggers",
        "fallback",
        "scaleTargetRef",
        "query",
        "threshold",
        "selector",
        "matchLabels",
        "matchExpressions",
    ),
    *("key", "operator", "values", "minAvailable", "maxUnavailable", "requirements", "taints", "disruption"),
    *(
        "items",
        "kind",
        "apiVersion",
        "policy",
        "Statement",
        "rules",
        "lifecycle",
        "preStop",
        "exec",
        "command",
    ),
    *("args", "image"),
]
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**40, max_value=10**4400),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(WORDS),
    st.text(max_size=20),
    st.just(b"bytes"),
)
values: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text(max_size=5)), inner, max_size=5),
    ),
    max_leaves=25,
)


@pytest.mark.parametrize("name", RULES)
@SETTINGS
@given(resources=st.lists(st.tuples(st.sampled_from(TYPES), values), max_size=4), config=values)
def test_no_input_of_any_shape_makes_a_rule_raise(
    name: str, resources: list[tuple[str, Any]], config: Any
) -> None:
    program = {f"r{index}": resource for index, resource in enumerate(resources)}
    judged(name, program)
    judged(name, program, cast("Props", config) if isinstance(config, dict) else {})


def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside nested dicts and lists."""
    entries: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        entries = list(cast("dict[Any, Any]", value).items())
    elif isinstance(value, list):
        entries = list(enumerate(cast("list[Any]", value)))
    found = [prefix] if prefix else []
    return found + [place for key, inner in entries for place in paths(inner, (*prefix, key))]


PLACES = [(name, path) for name, (_, props) in good().items() for path in paths(props)]


@pytest.mark.parametrize("name", RULES)
@SETTINGS
@given(place=st.sampled_from(PLACES), value=values)
def test_no_value_in_any_place_of_the_good_program_makes_a_rule_raise(
    name: str, place: Any, value: Any
) -> None:
    resource, path = place
    program = good()
    kind, props = program[resource]
    program[resource] = (kind, replaced(props, path, value))
    judged(name, program)


@pytest.mark.parametrize("name", RULES)
def test_each_rule_refuses_its_own_violation_and_only_that(name: str) -> None:
    found = {
        rule for rule in RULES if any(at for at, _ in judged(rule, spoilt()[name])) or _reported(rule, name)
    }
    assert found == {name}


def _reported(rule: str, name: str) -> bool:
    return [entry for entry in judged(rule, spoilt()[name]) if entry != ("", "not applicable")] != []


UNRELATED = [
    "kubernetes:core/v1:ConfigMap",
    "kubernetes:core/v1:Namespace",
    "kubernetes:core/v1:Service",
    "aws:ec2/vpc:Vpc",
    "aws:iam/role:Role",
    "pulumi:providers:aws",
    "command:local:Command",
]


@pytest.mark.parametrize("name", RULES)
@SETTINGS
@given(
    extra=st.lists(st.tuples(st.sampled_from(UNRELATED), st.one_of(st.just(UNKNOWN), values)), max_size=4),
    order=st.randoms(use_true_random=False),
)
def test_a_violation_stays_found_among_unrelated_resources_in_any_order(
    name: str, extra: list[Any], order: Any
) -> None:
    program = spoilt()[name]
    before = set(judged(name, program))
    entries = [*program.items(), *((f"extra{index}", resource) for index, resource in enumerate(extra))]
    order.shuffle(entries)
    assert before <= set(judged(name, dict(entries)))


OTHER: Props = {"metadata": {"name": "web", "namespace": "web"}, "spec": {"replicas": 2, "template": pod(0)}}
OTHER["spec"]["template"]["spec"]["containers"][0] = {
    "name": "web",
    "image": "web:1",
    "env": UNKNOWN,
    "ports": UNKNOWN,
}


@pytest.mark.parametrize("name", RULES)
def test_a_violation_stays_found_beside_a_workload_with_unknown_fields(name: str) -> None:
    program = spoilt()[name]
    before = set(judged(name, program))
    other: Program = {"web": ("kubernetes:apps/v1:Deployment", OTHER)}
    assert before <= set(judged(name, other | program))


def test_secrets_are_judged_and_never_shown() -> None:
    hidden = "corp.example/secret-name:latest"
    kind, props = good()["model"]
    props["spec"]["template"]["spec"]["containers"][0]["image"] = Secret(hidden)
    found = judged("pinned-images", {"m": (kind, props)})
    assert len(found) == 1
    assert hidden not in found[0][1]
    assert "[secret]" in found[0][1]
