"""The whole configuration of the lab's Prometheus from what the API server holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lab.control.monitors.jobs import Job, pod_jobs, service_jobs

Body = Mapping[str, Any]

# Fields whose meaning needs secrets or files of a cluster; a monitor that sets one is not scraped as it would be.
_NOT_ACTED_ON = (
    "tlsConfig",
    "bearerTokenSecret",
    "bearerTokenFile",
    "basicAuth",
    "oauth2",
    "authorization",
    "proxyUrl",
)
_GROUP = ("name", "interval", "query_offset", "limit", "labels")
_RULE = ("record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations")


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """prometheus.yml, the rule files by name, and what of the monitors the lab does not act on."""

    prometheus: str
    rules: Mapping[str, str]
    problems: tuple[str, ...]


def configuration(
    *,
    pod_monitors: Sequence[Body],
    service_monitors: Sequence[Body],
    rules: Sequence[Body],
    services: Sequence[Body],
    own_jobs: Sequence[Job],
    kubeconfig: Path,
    rules_folder: Path,
    seconds: int,
) -> Configuration:
    """Renders the configuration; the same objects in any order give the same text.

    All monitors and rules of all namespaces count, as with the selectors of kube-prometheus-stack turned off.
    ``seconds`` is the scrape and evaluation interval of what names none.
    """
    # The same for all jobs: Prometheus then watches the pods once (discovery/manager.go shares equal providers).
    discovery = {"role": "pod", "kubeconfig_file": str(kubeconfig)}
    jobs = [job for monitor in sorted(pod_monitors, key=_key) for job in pod_jobs(monitor, discovery)]
    ordered = sorted(services, key=_key)
    jobs += [
        job for one in sorted(service_monitors, key=_key) for job in service_jobs(one, ordered, discovery)
    ]
    files = {f"{'.'.join(_key(rule))}.yml": _rule_file(rule) for rule in sorted(rules, key=_key)}
    content: dict[str, Any] = {
        "global": {"scrape_interval": f"{seconds}s", "evaluation_interval": f"{seconds}s"},
        "rule_files": [str(rules_folder / name) for name in files],
        "scrape_configs": [*jobs, *own_jobs],
    }
    return Configuration(
        prometheus=yaml.safe_dump(content, sort_keys=False),
        rules=files,
        problems=(*_problems("PodMonitor", pod_monitors), *_problems("ServiceMonitor", service_monitors)),
    )


def _key(body: Body) -> tuple[str, str]:
    return body["metadata"]["namespace"], body["metadata"]["name"]


def _rule_file(body: Body) -> str:
    groups = [
        {field: group[field] for field in _GROUP if field in group}
        | {"rules": [_rule(rule) for rule in group.get("rules", [])]}
        for group in body["spec"].get("groups", [])
    ]
    return yaml.safe_dump({"groups": groups}, sort_keys=False, width=1000)


def _rule(rule: Body) -> dict[str, Any]:
    found = {field: rule[field] for field in _RULE if field in rule}
    # IntOrString in the CRD; Prometheus wants text.
    return found | {"expr": str(rule["expr"])}


def _problems(kind: str, monitors: Sequence[Body]) -> list[str]:
    return [
        f"{kind} {'/'.join(_key(monitor))}: {field} is not acted on in the lab"
        for monitor in sorted(monitors, key=_key)
        for endpoint in monitor["spec"].get("podMetricsEndpoints", monitor["spec"].get("endpoints", []))
        for field in _NOT_ACTED_ON
        if field in endpoint
    ]
