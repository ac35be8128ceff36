"""One look at a stack, with either source there or away."""

from collections.abc import Mapping

import promql_parser
import pytest

from lab.watch.figures import Sample
from lab.watch.queries import of_model, query
from tests.unit.lab.fleet.bodies import local
from tests.unit.lab.watch.answers import (
    PATHS,
    QUERY,
    Body,
    claim,
    condition,
    deployment,
    items,
    pod,
    sampler,
    serving,
    vector,
)

WELL: Mapping[str, Body | int | str] = {
    QUERY: vector(
        {
            "llama3-8b/rate": "6.5",
            "llama3-8b/waiting": "37",
            "llama3-8b/demand": "4.4",
            "llama3-8b/ttft_p95": "NaN",
            "mistral-7b/held": "0",
        }
    ),
    PATHS["deployments"]: items(deployment("llama3-8b", 9), deployment("mistral-7b", 0)),
    PATHS["autoscalers"]: items(
        {
            "metadata": {"name": "llama3-8b"},
            "status": {"conditions": [condition("ScalingActive", "False", "FailedGetExternalMetric")]},
        },
        {
            "metadata": {"name": "mistral-7b"},
            "status": {"conditions": [condition("ScalingActive", "False", "ScalingDisabled")]},
        },
    ),
    PATHS["pods"]: items(
        pod("a", "llama3-8b"),
        pod("b", "llama3-8b", ready=False),
        pod("c", "llama3-8b", ready=False, phase="Pending"),
        pod("d", "llama3-8b", leaving=True),
        pod("e", "mistral-7b"),
    ),
    PATHS["claims"]: items(
        claim("n1", "Launched", "Registered", "Initialized"),
        claim("n2", "Launched"),
        claim("n3"),
        claim("n4", "Launched", pool="another"),
        claim("n5", "Launched", "Registered", kind="z9.huge"),
        claim("n6", "Launched", "Registered", "Initialized", deletionTimestamp="2026-12-01T04:41:00Z"),
    ),
}


def looked(answers: Mapping[str, Body | int | str]) -> Sample:
    with serving(answers) as url, sampler(url, url) as made:
        return made.sample()


def test_a_sample_has_the_figures_of_both_sources() -> None:
    found = looked(WELL)
    llama, mistral = found.models
    assert (found.at, found.problems) == (100.0, {})
    assert (llama.rate, llama.waiting, llama.demand, llama.held) == (6.5, 37.0, 4.4, None)
    assert (llama.desired, llama.ready, llama.pending, llama.leaving) == (9, 1, 1, 1)
    assert (mistral.held, mistral.desired, mistral.ready) == (0.0, 0, 1)


def test_a_value_that_is_no_number_is_not_known() -> None:
    assert looked(WELL).models[0].ttft_p95 is None


def test_an_autoscaler_that_can_not_read_is_told_and_one_at_zero_is_not() -> None:
    assert [model.trouble for model in looked(WELL).models] == ["FailedGetExternalMetric", None]


def test_nodes_are_those_of_the_pool_with_their_state_and_price_from_launch_on() -> None:
    found = looked(WELL)
    (pool,) = found.pools
    assert pool.nodes is not None
    shown = [(node.name, node.state, node.usd_per_hour) for node in pool.nodes]
    spot = 0.96354
    assert shown == [
        ("n1", "ready", spot),
        ("n2", "launching", spot),
        ("n3", "asked", None),
        ("n5", "joined", None),
        ("n6", "leaving", spot),
    ]
    assert found.usd_per_hour == pytest.approx(3 * spot)
    assert found.gpus == 3


def test_without_prometheus_the_replicas_are_still_known() -> None:
    with serving(WELL) as api, sampler("http://127.0.0.1:9", api) as made:
        found = made.sample()
    assert set(found.problems) == {"prometheus"}
    assert (found.models[0].rate, found.models[0].desired) == (None, 9)


@pytest.mark.parametrize(
    "answer",
    [
        "<html>a proxy</html>",
        500,
        {"status": "error", "error": "too many samples"},
        {"status": "success", "data": {}},
    ],
    ids=["text", "status", "error", "shape"],
)
def test_an_answer_that_is_no_result_is_a_problem(answer: Body | int | str) -> None:
    found = looked({**WELL, QUERY: answer})
    assert set(found.problems) == {"prometheus"}
    assert found.models[0].rate is None


@pytest.mark.parametrize("answer", [403, 503, "<html>"], ids=["forbidden", "busy", "text"])
def test_without_the_api_server_the_rates_are_still_known(answer: int | str) -> None:
    found = looked({**WELL, **dict.fromkeys(PATHS.values(), answer)})
    assert set(found.problems) == {"kubernetes"}
    assert (found.models[0].rate, found.models[0].desired) == (6.5, None)
    assert found.nodes is None
    assert found.usd_per_hour is None


def test_a_cluster_without_karpenter_shows_its_replicas() -> None:
    found = looked({**WELL, PATHS["claims"]: 404})
    assert (found.models[0].desired, found.nodes, found.problems) == (9, None, {})


def test_the_query_of_all_models_is_promql_and_each_figure_is_one_element() -> None:
    settings = local()
    promql_parser.parse(query(settings, settings.active_models))
    for model in settings.active_models:
        for figure, expression in of_model(settings, model).items():
            kind = promql_parser.parse(expression)
            assert isinstance(
                kind, promql_parser.AggregateExpr | promql_parser.BinaryExpr | promql_parser.Call
            ), figure


def test_a_model_without_a_capacity_has_no_demand() -> None:
    model = local().models[0].model_copy(update={"capacity": None})
    assert not {"demand", "forecast"} & set(of_model(local(), model))


def test_a_sample_survives_its_json() -> None:
    found = looked(WELL)
    assert Sample.model_validate_json(found.model_dump_json(by_alias=True)) == found
