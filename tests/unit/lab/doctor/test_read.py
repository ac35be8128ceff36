"""Reading: what the two sources answer, and every way in which they do not."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from lightkube import Client, KubeConfig
from lightkube.config.models import Cluster, User

from lab.doctor import cluster, selectors
from lab.doctor.gather import gather
from lab.doctor.kinds import DEPLOYMENT, NODE_POOL, POD, SCALED_OBJECT
from lab.doctor.prometheus import Prometheus
from lab.doctor.seen import Unread
from specs.promql_shape import parse
from tests.unit.lab.doctor.well import AWAKE, LOCAL, SPACE, WELL
from tests.unit.lab.watch.answers import serving

Body = dict[str, Any]
V1 = "/api/v1"
EXTERNAL = f"/apis/external.metrics.k8s.io/v1beta1/namespaces/{SPACE}"


@contextmanager
def prometheus(answers: Mapping[str, Any]) -> Generator[Prometheus]:
    with serving(answers) as url:
        made = Prometheus(url + "/")
        try:
            yield made
        finally:
            made.close()


@contextmanager
def client(answers: Mapping[str, Any]) -> Generator[Client]:
    with serving(answers) as url:
        config = KubeConfig.from_one(cluster=Cluster(server=url), user=User(token="x"))
        with Client(config=config, trust_env=False) as made:
            yield made


def vector(*elements: tuple[Mapping[str, str], str], kind: str = "vector") -> Body:
    result = [{"metric": metric, "value": [1.5, value]} for metric, value in elements]
    return {"status": "success", "data": {"resultType": kind, "result": result}}


def items(*bodies: Body) -> Body:
    return {"metadata": {}, "items": list(bodies)}


def test_an_instant_query_gives_elements() -> None:
    with prometheus({f"{V1}/query": vector(({"a": "b"}, "NaN"), ({}, "3"))}) as one:
        found = one.vector("x")
    assert not isinstance(found, Unread)
    assert [element.labels for element in found] == [{"a": "b"}, {}]
    assert found[1].value == 3.0


NO_VECTORS: list[tuple[Any, str, str]] = [
    (vector(kind="scalar"), "refused", "scalar"),
    ({"status": "error", "error": "parse error"}, "refused", "parse error"),
    ({"status": "success", "data": {"resultType": "vector", "result": [{}]}}, "refused", "no Prometheus"),
    ({"hello": "world"}, "away", "no answer of Prometheus"),
    ("<html>", "away", "HTTP 200"),
    (404, "absent", "HTTP 404"),
    ([], "away", "no answer of Prometheus"),
]


@pytest.mark.parametrize(("answer", "why", "said"), NO_VECTORS)
def test_what_is_no_vector_is_told(answer: Any, why: str, said: str) -> None:
    with prometheus({f"{V1}/query": json.dumps(answer) if isinstance(answer, list) else answer}) as one:
        found = one.vector("x")
    assert isinstance(found, Unread)
    assert found.why == why
    assert said in found.reason


def test_a_prometheus_that_is_not_there_is_told() -> None:
    for url in ("http://127.0.0.1:9", "http://[", "nonsense"):
        one = Prometheus(url)
        assert isinstance(one.now(), Unread)
        assert isinstance(one.targets(), Unread)
        assert isinstance(one.signals(selectors.of_model(LOCAL, LOCAL.active_models[0])), Unread)
        one.close()


def test_the_ages_of_all_series_are_one_query_that_prometheus_parses() -> None:
    wanted = selectors.of_model(LOCAL, LOCAL.active_models[0])
    asked: list[str] = []
    with prometheus({f"{V1}/query": vector(({"of": "0"}, "2.5"), ({"of": "1"}, "+Inf"))}) as one:
        ask = one.vector

        def spied(query: str) -> Any:
            asked.append(query)
            return ask(query)

        one.vector = spied
        found = one.signals(wanted)
    assert not isinstance(found, Unread)
    assert [found[selector].age for selector in wanted[:2]] == [2.5, None]
    assert not isinstance(parse(asked[0]), str)
    assert len(asked) == len(
        wanted
    )  # and one each for those that are not there: under which labels are they?


def test_ages_without_their_labels_are_of_no_prometheus() -> None:
    with prometheus({f"{V1}/query": vector(({}, "7"))}) as one:
        assert isinstance(one.signals(selectors.of_model(LOCAL, LOCAL.active_models[0])), Unread)


def test_presence_looks_back_an_hour() -> None:
    with prometheus({f"{V1}/query": vector()}) as one:
        assert one.presence("keda_build_info") == "never"
    with prometheus({f"{V1}/query": vector(({}, "1"))}) as one:
        assert one.presence("keda_build_info") == "now"


def test_selectors_of_a_query_leave_offset_and_range_out() -> None:
    found = selectors.read_by('sum(rate(a:b{x="1",y=~"2|3"}[5m] offset 1h)) + sum(a:b{x="1",y=~"2|3"})')
    assert [(one.text, one.name, one.labels) for one in found] == [
        ('a:b{x="1",y=~"2|3"}', "a:b", (("x", "1"),))
    ]
    assert selectors.read_by("sum(") == []


@pytest.mark.parametrize(("told", "value"), [("420m", 0.42), ("-3", -3.0), ("1250u", 0.00125)])
def test_a_trigger_is_read_as_the_hpa_reads_it(told: str, value: float) -> None:
    with client({f"{EXTERNAL}/s0-prometheus": items({"value": told})}) as to:
        assert cluster.external(to, SPACE, AWAKE, "s0-prometheus") == value


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (500, "no (500)"),
        (items(), "0 values"),
        (items({"value": "much"}), "'much' is no value"),
        ("<html>", ""),
    ],
)
def test_a_trigger_that_can_not_be_read_says_why(answer: Any, said: str) -> None:
    with client({f"{EXTERNAL}/s1-prometheus": answer}) as to:
        found = cluster.external(to, SPACE, AWAKE, "s1-prometheus")
    assert isinstance(found, Unread)
    assert said in found.reason


@pytest.mark.parametrize(
    ("status", "why"), [(404, "absent"), (403, "denied"), (401, "away"), (503, "refused")]
)
def test_a_list_that_is_refused_is_data(status: int, why: str) -> None:
    with client({"/apis/karpenter.sh/v1/nodepools": status}) as to:
        found = cluster.listed(to, NODE_POOL)
    assert isinstance(found, Unread)
    assert found.why == why


def test_all_is_read_and_what_is_missing_is_told() -> None:
    namespaced = f"/apis/apps/v1/namespaces/{SPACE}"
    engines = WELL.objects[(DEPLOYMENT.name, SPACE)]
    scaled = WELL.objects[(SCALED_OBJECT.name, SPACE)]
    pending: Body = {
        "metadata": {"name": "p", "namespace": SPACE, "uid": "7", "labels": {"headroom-model": AWAKE}},
        "status": {},
    }
    assert not isinstance(engines, Unread)
    assert not isinstance(scaled, Unread)
    answers = {
        f"{V1}/query": vector(({}, "7")),
        f"{V1}/targets": {"status": "success", "data": {"activeTargets": [{"health": "up"}]}},
        f"{V1}/rules": 404,
        f"{namespaced}/deployments": items(*map(dict, engines)),
        f"/apis/keda.sh/v1alpha1/namespaces/{SPACE}/scaledobjects": items(*map(dict, scaled)),
        f"{V1}/namespaces/{SPACE}/pods": items(pending),
        f"{V1}/namespaces/{SPACE}/events": items({"reason": "FailedScheduling"}),
        f"{EXTERNAL}/s0-prometheus": items({"value": "3"}),
    }
    with client(answers) as to, prometheus(answers) as one:
        seen = gather(LOCAL, "local", to, one, clock=lambda: 5.0)
    assert (seen.at, seen.now, seen.quotas) == (5.0, 7.0, None)
    assert seen.external[(SPACE, AWAKE, "s0-prometheus")] == 3.0
    assert isinstance(seen.external[(SPACE, AWAKE, "s1-prometheus")], Unread)
    assert seen.events["7"] == [{"reason": "FailedScheduling"}]
    assert seen.targets == [{"health": "up"}]
    assert isinstance(seen.groups, Unread)
    assert isinstance(seen.every(NODE_POOL), Unread)
    assert seen.every(POD, SPACE) == [pending]
    assert len(seen.answers) == sum(len(selectors.queries(LOCAL, model)) for model in LOCAL.active_models)
