"""Scrape jobs from PodMonitors and ServiceMonitors, with the labels that prometheus-operator gives them.

The labels and their order follow prometheus-operator v0.85 pkg/prometheus/promcfg.go (generatePodMonitorConfig,
generateServiceMonitorConfig). A ServiceMonitor is resolved to the pods of the Services that it selects: the
endpoints of pods on loopback addresses would be refused by the API server.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lab.control.monitors.selectors import Relabeling, chooses, keep_pods, label_name

Job = dict[str, Any]

# Fields of an endpoint that mean the same, under another name, in a scrape job.
_SAME = {
    "path": "metrics_path",
    "scheme": "scheme",
    "interval": "scrape_interval",
    "scrapeTimeout": "scrape_timeout",
    "params": "params",
    "honorLabels": "honor_labels",
    "honorTimestamps": "honor_timestamps",
    "trackTimestampsStaleness": "track_timestamps_staleness",
    "followRedirects": "follow_redirects",
    "enableHttp2": "enable_http2",
}
_LIMITS = {
    "sampleLimit": "sample_limit",
    "targetLimit": "target_limit",
    "labelLimit": "label_limit",
    "labelNameLengthLimit": "label_name_length_limit",
    "labelValueLengthLimit": "label_value_length_limit",
    "fallbackScrapeProtocol": "fallback_scrape_protocol",
}
_RELABELING = {
    "sourceLabels": "source_labels",
    "targetLabel": "target_label",
    "regex": "regex",
    "modulus": "modulus",
    "replacement": "replacement",
    "action": "action",
    "separator": "separator",
}


def pod_jobs(monitor: Mapping[str, Any], discovery: Mapping[str, Any]) -> list[Job]:
    """One job for each endpoint of a PodMonitor."""
    spec, name, namespace = monitor["spec"], monitor["metadata"]["name"], monitor["metadata"]["namespace"]
    jobs: list[Job] = []
    for number, endpoint in enumerate(spec.get("podMetricsEndpoints", [])):
        relabelings = _namespaces(spec, namespace) + keep_pods(spec.get("selector", {}))
        relabelings += _ports(endpoint.get("port"), endpoint.get("portNumber") or endpoint.get("targetPort"))
        relabelings += _identity() + _copied(spec.get("podTargetLabels", []))
        relabelings.append({"target_label": "job", "replacement": f"{namespace}/{name}"})
        if spec.get("jobLabel"):
            relabelings.append(_copy(f"__meta_kubernetes_pod_label_{label_name(spec['jobLabel'])}", "job"))
        relabelings += _endpoint(endpoint)
        jobs.append(_job(f"podMonitor/{namespace}/{name}/{number}", spec, endpoint, relabelings, discovery))
    return jobs


def service_jobs(
    monitor: Mapping[str, Any], services: Iterable[Mapping[str, Any]], discovery: Mapping[str, Any]
) -> list[Job]:
    """One job for each endpoint of a ServiceMonitor and each Service that it selects."""
    spec, name, namespace = monitor["spec"], monitor["metadata"]["name"], monitor["metadata"]["namespace"]
    within = spec.get("namespaceSelector", {})
    jobs: list[Job] = []
    for service in services:
        meta, pods = service["metadata"], service.get("spec", {}).get("selector")
        labels: dict[str, str] = meta.get("labels") or {}
        near = within.get("any") or meta["namespace"] in (within.get("matchNames") or [namespace])
        if not pods or not near or not chooses(spec.get("selector", {}), labels):
            continue
        for number, endpoint in enumerate(spec.get("endpoints", [])):
            port, number_of_port = _target(endpoint, service["spec"].get("ports", []))
            if port is None and number_of_port is None:
                continue
            relabelings = _keep_namespaces([meta["namespace"]]) + keep_pods({"matchLabels": pods})
            relabelings += _ports(port, number_of_port) + _identity()
            relabelings.append({"target_label": "service", "replacement": meta["name"]})
            relabelings += [
                {"target_label": label_name(label), "replacement": labels[label]}
                for label in spec.get("targetLabels", [])
                if label in labels
            ]
            relabelings += _copied(spec.get("podTargetLabels", []))
            job = labels.get(spec.get("jobLabel", "")) or meta["name"]
            relabelings.append({"target_label": "job", "replacement": job})
            relabelings += _endpoint(endpoint)
            title = f"serviceMonitor/{namespace}/{name}/{number}/{meta['namespace']}/{meta['name']}"
            jobs.append(_job(title, spec, endpoint, relabelings, discovery))
    return jobs


def _job(
    title: str,
    spec: Mapping[str, Any],
    endpoint: Mapping[str, Any],
    relabelings: list[Relabeling],
    discovery: Mapping[str, Any],
) -> Job:
    job: Job = {"job_name": title, "kubernetes_sd_configs": [dict(discovery)]}
    job |= {theirs: endpoint[ours] for ours, theirs in _SAME.items() if ours in endpoint}
    job |= {theirs: spec[ours] for ours, theirs in _LIMITS.items() if ours in spec}
    ended: list[Relabeling] = []
    if endpoint.get("filterRunning", True):
        ended = [
            {
                "action": "drop",
                "source_labels": ["__meta_kubernetes_pod_phase"],
                "regex": "(Failed|Succeeded)",
            }
        ]
    job["relabel_configs"] = ended + relabelings + _own(endpoint.get("relabelings", []))
    metric = _own(endpoint.get("metricRelabelings", []))
    return job | ({"metric_relabel_configs": metric} if metric else {})


def _own(given: Iterable[Mapping[str, Any]]) -> list[Relabeling]:
    return [
        {
            theirs: one[ours].lower() if ours == "action" else one[ours]
            for ours, theirs in _RELABELING.items()
            if ours in one
        }
        for one in given
    ]


def _namespaces(spec: Mapping[str, Any], own: str) -> list[Relabeling]:
    within = spec.get("namespaceSelector", {})
    return [] if within.get("any") else _keep_namespaces(within.get("matchNames") or [own])


def _keep_namespaces(names: Sequence[str]) -> list[Relabeling]:
    return [
        {"action": "keep", "source_labels": ["__meta_kubernetes_namespace"], "regex": f"({'|'.join(names)})"}
    ]


def _ports(name: str | None, number: int | str | None) -> list[Relabeling]:
    if isinstance(number, str) and not number.isdigit():
        name, number = number, None
    part, value = ("name", name) if name else ("number", number)
    if value is None:
        return []
    return [
        {
            "action": "keep",
            "source_labels": [f"__meta_kubernetes_pod_container_port_{part}"],
            "regex": str(value),
        }
    ]


def _target(endpoint: Mapping[str, Any], ports: Sequence[Mapping[str, Any]]) -> tuple[str | None, int | None]:
    """The container port, by name or number, behind a Service's port or a target port."""
    target: int | str | None = endpoint.get("targetPort")
    if "port" in endpoint:
        found = next((port for port in ports if port.get("name") == endpoint["port"]), None)
        target = None if found is None else found.get("targetPort", found["port"])
    if target is None:
        return None, None
    return (None, int(target)) if str(target).isdigit() else (str(target), None)


def _identity() -> list[Relabeling]:
    return [
        _copy("__meta_kubernetes_namespace", "namespace"),
        _copy("__meta_kubernetes_pod_container_name", "container"),
        _copy("__meta_kubernetes_pod_name", "pod"),
    ]


def _copied(labels: Iterable[str]) -> list[Relabeling]:
    return [_copy(f"__meta_kubernetes_pod_label_{label_name(label)}", label_name(label)) for label in labels]


def _copy(source: str, target: str) -> Relabeling:
    return {"source_labels": [source], "target_label": target, "regex": "(.+)", "replacement": "${1}"}


def _endpoint(endpoint: Mapping[str, Any]) -> list[Relabeling]:
    name = endpoint.get("port") or endpoint.get("targetPort") or endpoint.get("portNumber")
    return [] if name is None else [{"target_label": "endpoint", "replacement": str(name)}]
