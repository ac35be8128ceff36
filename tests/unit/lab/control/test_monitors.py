"""Monitors and rules of the API server as Prometheus' own configuration."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.control.monitors import Configuration, configuration
from lab.control.monitors.selectors import chooses

LABELS = {"app": "vllm", "tier.example.com/x": "gpu"}


def _monitor(name: str = "engines", **spec: Any) -> dict[str, Any]:
    base: dict[str, Any] = {"selector": {"matchLabels": LABELS}, "podMetricsEndpoints": [{"port": "http"}]}
    return {"metadata": {"name": name, "namespace": "llm"}, "spec": base | spec}


def _configuration(**given: Any) -> Configuration:
    nothing: dict[str, Any] = {
        "pod_monitors": [],
        "service_monitors": [],
        "rules": [],
        "services": [],
        "own_jobs": [],
    }
    return configuration(
        **(nothing | given), kubeconfig=Path("/lab/kubeconfig"), rules_folder=Path("/lab/rules"), seconds=5
    )


def _job(found: Configuration, number: int = 0) -> dict[str, Any]:
    return yaml.safe_load(found.prometheus)["scrape_configs"][number]


def _relabelings(job: dict[str, Any], **match: Any) -> list[dict[str, Any]]:
    return [
        one for one in job["relabel_configs"] if all(one.get(key) == value for key, value in match.items())
    ]


def test_a_pod_monitor_keeps_the_pods_that_it_selects_in_its_own_namespace() -> None:
    job = _job(_configuration(pod_monitors=[_monitor()]))
    assert job["job_name"] == "podMonitor/llm/engines/0"
    assert {tuple(one["source_labels"]): one["regex"] for one in _relabelings(job, action="keep")} == {
        ("__meta_kubernetes_namespace",): "(llm)",
        ("__meta_kubernetes_pod_label_app", "__meta_kubernetes_pod_labelpresent_app"): "(vllm);true",
        (
            "__meta_kubernetes_pod_label_tier_example_com_x",
            "__meta_kubernetes_pod_labelpresent_tier_example_com_x",
        ): "(gpu);true",
        ("__meta_kubernetes_pod_container_port_name",): "http",
    }


def test_targets_get_the_labels_that_the_operator_gives_them() -> None:
    job = _job(
        _configuration(pod_monitors=[_monitor(podTargetLabels=["tier.example.com/x"], jobLabel="app")])
    )
    targets = [one["target_label"] for one in job["relabel_configs"] if "target_label" in one]
    assert targets == ["namespace", "container", "pod", "tier_example_com_x", "job", "job", "endpoint"]
    assert _relabelings(job, target_label="job")[0]["replacement"] == "llm/engines"
    assert _relabelings(job, target_label="endpoint")[0]["replacement"] == "http"


def test_the_interval_and_own_relabelings_of_an_endpoint_are_kept() -> None:
    endpoint = {
        "port": "http",
        "interval": "5s",
        "scrapeTimeout": "4s",
        "path": "/m",
        "relabelings": [{"action": "Replace", "sourceLabels": ["pod"], "targetLabel": "who"}],
        "metricRelabelings": [{"action": "drop", "sourceLabels": ["__name__"], "regex": "go_.*"}],
    }
    job = _job(_configuration(pod_monitors=[_monitor(podMetricsEndpoints=[endpoint])]))
    assert (job["scrape_interval"], job["scrape_timeout"], job["metrics_path"]) == ("5s", "4s", "/m")
    assert job["relabel_configs"][-1] == {
        "action": "replace",
        "source_labels": ["pod"],
        "target_label": "who",
    }
    assert job["metric_relabel_configs"][0]["regex"] == "go_.*"


@pytest.mark.parametrize(
    ("selector", "regex"),
    [({"any": True}, []), ({"matchNames": ["a", "b"]}, ["(a|b)"]), ({}, ["(llm)"])],
)
def test_the_namespace_selector_decides_where_pods_are_looked_for(
    selector: dict[str, Any], regex: list[str]
) -> None:
    job = _job(_configuration(pod_monitors=[_monitor(namespaceSelector=selector)]))
    assert [
        one["regex"]
        for one in _relabelings(job, source_labels=["__meta_kubernetes_namespace"], action="keep")
    ] == regex


def test_ended_pods_are_dropped_unless_the_endpoint_says_otherwise() -> None:
    phase = {"source_labels": ["__meta_kubernetes_pod_phase"]}
    assert _relabelings(_job(_configuration(pod_monitors=[_monitor()])), **phase)
    unfiltered = _monitor(podMetricsEndpoints=[{"port": "http", "filterRunning": False}])
    assert not _relabelings(_job(_configuration(pod_monitors=[unfiltered])), **phase)


def test_all_jobs_share_one_discovery() -> None:
    found = yaml.safe_load(_configuration(pod_monitors=[_monitor("a"), _monitor("b")]).prometheus)
    first, second = (job["kubernetes_sd_configs"] for job in found["scrape_configs"])
    assert first == second == [{"role": "pod", "kubeconfig_file": "/lab/kubeconfig"}]


def _service(target: int | str = "metrics", **meta: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "router", "namespace": "llm", "labels": {"app": "router", "team": "ml"}} | meta,
        "spec": {
            "selector": {"app": "router-pod"},
            "ports": [{"name": "m", "port": 80, "targetPort": target}],
        },
    }


def _service_monitor(**spec: Any) -> dict[str, Any]:
    base: dict[str, Any] = {"selector": {"matchLabels": {"app": "router"}}, "endpoints": [{"port": "m"}]}
    return {"metadata": {"name": "router", "namespace": "llm"}, "spec": base | spec}


@pytest.mark.parametrize(("target", "part"), [("metrics", "name"), (29000, "number")])
def test_a_service_monitor_reaches_the_pods_behind_the_service(target: int | str, part: str) -> None:
    job = _job(
        _configuration(
            service_monitors=[_service_monitor(targetLabels=["team"])], services=[_service(target)]
        )
    )
    kept = {one["source_labels"][0]: one["regex"] for one in _relabelings(job, action="keep")}
    assert kept["__meta_kubernetes_pod_label_app"] == "(router\\-pod);true"
    assert kept[f"__meta_kubernetes_pod_container_port_{part}"] == str(target)
    given = {
        one["target_label"]: one["replacement"] for one in job["relabel_configs"] if "target_label" in one
    }
    assert (given["service"], given["job"], given["team"]) == ("router", "router", "ml")


def test_a_service_in_another_namespace_is_not_scraped() -> None:
    found = _configuration(service_monitors=[_service_monitor()], services=[_service(namespace="other")])
    assert yaml.safe_load(found.prometheus)["scrape_configs"] == []


def test_a_rule_becomes_a_file_with_text_expressions_and_no_thanos_fields() -> None:
    rule = {
        "metadata": {"name": "demand", "namespace": "llm"},
        "spec": {
            "groups": [
                {
                    "name": "g",
                    "interval": "5s",
                    "partial_response_strategy": "warn",
                    "rules": [{"record": "a", "expr": 1}],
                }
            ]
        },
    }
    found = _configuration(rules=[rule])
    assert yaml.safe_load(found.prometheus)["rule_files"] == ["/lab/rules/llm.demand.yml"]
    assert yaml.safe_load(found.rules["llm.demand.yml"]) == {
        "groups": [{"name": "g", "interval": "5s", "rules": [{"record": "a", "expr": "1"}]}]
    }


def test_what_the_lab_does_not_act_on_is_said() -> None:
    monitor = _monitor(podMetricsEndpoints=[{"port": "http", "basicAuth": {}}])
    assert _configuration(pod_monitors=[monitor]).problems == (
        "PodMonitor llm/engines: basicAuth is not acted on in the lab",
    )


def test_the_order_in_which_objects_are_listed_changes_nothing() -> None:
    one, two = _monitor("a"), _monitor("b")
    assert _configuration(pod_monitors=[one, two]) == _configuration(pod_monitors=[two, one])


@pytest.mark.parametrize(
    ("operator", "values", "chosen"),
    [
        ("In", ["vllm"], True),
        ("NotIn", ["vllm"], False),
        ("Exists", None, True),
        ("DoesNotExist", None, False),
    ],
)
def test_expressions_choose_as_in_kubernetes(operator: str, values: list[str] | None, chosen: bool) -> None:
    expression = {"key": "app", "operator": operator, "values": values}
    assert chooses({"matchExpressions": [expression]}, LABELS) is chosen
