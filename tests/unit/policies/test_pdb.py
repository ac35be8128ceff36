"""pdb-present and pdb-drainable: budgets exist, select the pods, and let a node go (DR5)."""

import math

import pytest

from tests.unit.policies.programs import (
    UNKNOWN,
    Program,
    Props,
    budget,
    deployment,
    judged,
    messages,
    pod,
    scaled_object,
)


def with_budget(selector: object, labels: Props | None = None, namespace: str = "serving") -> Program:
    template = pod()
    template["metadata"]["labels"] = {"app": "vllm", "tier": "gpu"} if labels is None else labels
    kind, props = budget()
    props["metadata"]["namespace"] = namespace
    props["spec"]["selector"] = selector
    return {"model": deployment(template=template), "budget": (kind, props)}


EXPRESSIONS = {
    "in": {"key": "app", "operator": "In", "values": ["vllm", "sglang"]},
    "not in": {"key": "app", "operator": "NotIn", "values": ["router"]},
    "exists": {"key": "tier", "operator": "Exists"},
    "does not exist": {"key": "canary", "operator": "DoesNotExist"},
}


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_a_selector_by_expression_that_takes_the_pods_passes(expression: Props) -> None:
    assert messages("pdb-present", with_budget({"matchExpressions": [expression]})) == []


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_a_selector_by_expression_that_misses_the_pods_is_refused(expression: Props) -> None:
    labels = {"app": "router", "canary": "yes"} if expression["operator"] != "In" else {"app": "x"}
    assert (
        "selects its pods"
        in messages("pdb-present", with_budget({"matchExpressions": [expression]}, labels))[0]
    )


def test_labels_and_expressions_must_both_hold() -> None:
    selector = {"matchLabels": {"app": "vllm"}, "matchExpressions": [EXPRESSIONS["exists"]]}
    assert messages("pdb-present", with_budget(selector)) == []
    assert len(messages("pdb-present", with_budget(selector, {"app": "vllm"}))) == 1


def test_an_empty_selector_takes_every_pod_and_an_absent_one_none() -> None:
    assert messages("pdb-present", with_budget({})) == []
    assert len(messages("pdb-present", with_budget(None))) == 1


def test_a_budget_in_another_namespace_does_not_count() -> None:
    (message,) = messages("pdb-present", with_budget({"matchLabels": {"app": "vllm"}}, namespace="other"))
    assert "app=vllm" in message


def test_the_providers_namespace_holds_where_none_is_stated() -> None:
    program = with_budget({"matchLabels": {"app": "vllm"}})
    for _, props in program.values():
        del props["metadata"]["namespace"]
    assert judged("pdb-present", program, namespace="serving") == []
    program["budget"][1]["metadata"]["namespace"] = "default"
    assert len(judged("pdb-present", program, namespace="serving")) == 1


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("apps/v1:StatefulSet", {"template": pod()}),
        ("core/v1:Pod", pod()["spec"]),
        ("batch/v1:Job", {"template": pod()}),
        (
            "jobset.x-k8s.io/v1alpha2:JobSet",
            {"replicatedJobs": [{"template": {"spec": {"template": pod()}}}]},
        ),
        (
            "leaderworkerset.x-k8s.io/v1:LeaderWorkerSet",
            {"leaderWorkerTemplate": {"size": 2, "workerTemplate": pod()}},
        ),
    ],
)
def test_each_kind_of_gpu_workload_needs_a_budget(kind: str, spec: Props) -> None:
    program: Program = {
        "w": (f"kubernetes:{kind}", {"metadata": {"name": "w", "namespace": "serving"}, "spec": spec})
    }
    assert "no PodDisruptionBudget" in messages("pdb-present", program)[0]


def test_a_workload_that_never_has_a_replica_needs_none() -> None:
    assert judged("pdb-present", {"model": deployment(replicas=0)}) == [("", "not applicable")]
    assert len(messages("pdb-present", {"model": deployment(replicas=0), "scaler": scaled_object()})) == 1


def test_a_workload_without_gpus_needs_none() -> None:
    assert judged("pdb-present", {"web": deployment(0)}) == [("", "not applicable")]


@pytest.mark.parametrize(
    ("selector", "labels"),
    [(UNKNOWN, None), ({"matchLabels": {"app": UNKNOWN}}, None), ({"matchLabels": {"app": "x"}}, UNKNOWN)],
)
def test_an_unknown_selector_or_label_is_reported(selector: object, labels: object) -> None:
    program = with_budget(selector, labels)  # type: ignore[arg-type] - an unknown stands where labels are expected
    assert "not known yet" in messages("pdb-present", program)[0]


def test_a_budget_that_surely_matches_settles_an_unknown_one() -> None:
    program = with_budget({"matchLabels": {"app": "vllm"}})
    kind, props = budget()
    props["metadata"]["name"] = "second"
    props["spec"]["selector"] = UNKNOWN
    program["second"] = (kind, props)
    assert messages("pdb-present", program) == []


def drainable(field: str, value: object, floor: int) -> list[str]:
    program: Program = {
        "model": deployment(),
        "scaler": scaled_object(minReplicaCount=floor),
        "budget": budget(**{field: value}),
    }
    return messages("pdb-drainable", program)


def allowed(field: str, value: object, pods: int) -> int:
    """Evictions that Kubernetes allows, written from its documentation and not from the pack."""
    number = math.ceil(int(str(value)[:-1]) * pods / 100) if str(value).endswith("%") else int(str(value))
    return number if field == "maxUnavailable" else pods - number


@pytest.mark.parametrize("floor", [0, 1, 2, 10])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("minAvailable", 1),
        ("minAvailable", "50%"),
        ("minAvailable", "100%"),
        ("maxUnavailable", 0),
        ("maxUnavailable", 1),
        ("maxUnavailable", "0%"),
        ("maxUnavailable", "50%"),
        ("minAvailable", 0),
        ("minAvailable", 2),
        ("minAvailable", 9),
        ("minAvailable", "90%"),
        ("minAvailable", "91%"),
        ("maxUnavailable", "1%"),
    ],
)
def test_a_budget_passes_exactly_where_kubernetes_allows_an_eviction(
    field: str, value: object, floor: int
) -> None:
    refused = drainable(field, value, floor)
    assert bool(refused) == (allowed(field, value, max(1, floor)) <= 0)


def test_the_refusal_names_value_floor_and_way_out() -> None:
    (message,) = drainable("minAvailable", 2, 2)
    assert "minAvailable 2 over Deployment serving/llama (2 pods at the floor)" in message
    assert "maxUnavailable: 1" in message


def test_both_fields_or_neither_are_refused() -> None:
    both: Program = {"budget": budget(minAvailable=1, maxUnavailable=1)}
    assert "both minAvailable" in messages("pdb-drainable", both)[0]
    neither: Program = {"budget": budget(unhealthyPodEvictionPolicy="AlwaysAllow")}
    assert "neither" in messages("pdb-drainable", neither)[0]


@pytest.mark.parametrize("spec", [{"maxUnavailable": 0}, {"minAvailable": "100%"}, {"maxUnavailable": "0%"}])
def test_a_budget_that_never_allows_an_eviction_is_refused_without_any_workload(spec: Props) -> None:
    assert len(messages("pdb-drainable", {"budget": budget(**spec)})) == 1


@pytest.mark.parametrize("spec", [{"minAvailable": 3}, {"minAvailable": "50%"}, {"maxUnavailable": 1}])
def test_a_budget_over_nothing_in_the_stack_passes(spec: Props) -> None:
    assert messages("pdb-drainable", {"budget": budget(**spec)}) == []


@pytest.mark.parametrize("value", ["half", "1.5", -1, True, UNKNOWN])
def test_a_malformed_or_unknown_field_is_reported(value: object) -> None:
    assert len(messages("pdb-drainable", {"budget": budget(maxUnavailable=value)})) == 1


def test_a_budget_over_two_deployments_counts_the_pods_of_both() -> None:
    kind, second = deployment(replicas=1)
    second["metadata"]["name"] = "second"
    program: Program = {"a": deployment(replicas=1), "b": (kind, second), "budget": budget(minAvailable=1)}
    assert messages("pdb-drainable", program) == []


def test_two_budgets_over_one_pod_are_refused() -> None:
    kind, props = budget()
    props["metadata"]["name"] = "second"
    program: Program = {"model": deployment(replicas=3), "a": budget(), "b": (kind, props)}
    assert "2 budgets select the pods" in messages("pdb-drainable", program)[0]


@pytest.mark.parametrize("kind", ["core/v1:Pod", "batch/v1:Job"])
def test_pods_without_a_scale_need_an_integer_minimum(kind: str) -> None:
    spec = pod()["spec"] if kind.endswith("Pod") else {"parallelism": 2, "template": pod()}
    meta = {"name": "w", "namespace": "serving", "labels": {"app": "vllm"}}
    program: Program = {"w": (f"kubernetes:{kind}", {"metadata": meta, "spec": spec}), "budget": budget()}
    assert "no scale" in messages("pdb-drainable", program)[0]
    program["budget"] = budget(minAvailable=0)
    assert messages("pdb-drainable", program) == []


def test_a_floor_that_is_not_known_is_reported() -> None:
    assert "the floor of" in drainable("minAvailable", 1, UNKNOWN)[0]  # type: ignore[arg-type] - an unknown floor


def test_a_budget_patch_is_judged_over_its_target() -> None:
    patch = (
        "kubernetes:policy/v1:PodDisruptionBudgetPatch",
        {"metadata": {"name": "llama", "namespace": "serving"}, "spec": {"maxUnavailable": 0}},
    )
    assert "blocks every eviction" in messages("pdb-drainable", {"budget": budget(), "patch": patch})[0]


def test_a_budget_in_another_cluster_does_not_count() -> None:
    program = with_budget({"matchLabels": {"app": "vllm"}})
    assert judged("pdb-present", program, contexts={"model": "east", "budget": "east"}) == []
    assert judged("pdb-present", program, contexts={"budget": "west"}) == []
    assert len(judged("pdb-present", program, contexts={"model": "east", "budget": "west"})) == 1
