"""Chart values of Prometheus, the GPU exporter and KEDA; the stack's own values are merged over them.

Value paths: kube-prometheus-stack 88.5.3, dcgm-exporter 4.8.2, keda 2.20.2 and later.
"""

from __future__ import annotations

from typing import Final

from specs.charts import gpu_tolerations
from specs.labels import system_nodes
from specs.settings.stack import Settings

CLUSTER_SCRAPE_SECONDS: Final = 30
"""Cluster metrics need no faster look; engines and routers state their own interval."""
RETENTION_DAYS: Final = 15
"""The forecast looks back a week and a lead time; one week more shows it to people."""
RETENTION_GIB: Final = 16
"""About 3,000 samples a second at 1.5 bytes are 400 MB a day."""
DISK_GIB: Final = 20


def _resources(cpu: str, memory: str, limit: str) -> dict[str, object]:
    return {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": limit}}


def prometheus_values(settings: Settings) -> dict[str, object]:
    """kube-prometheus-stack: every monitor and rule of every namespace counts, whatever its labels.

    The chart's own selectors want the label `release` (prometheus-operator issue 3636); `false` and an empty
    selector select all.
    """
    place: dict[str, object] = {"nodeSelector": system_nodes(settings)}
    return {
        "crds": {"enabled": True},
        "prometheus": {
            "prometheusSpec": {
                **place,
                **{f"{kind}SelectorNilUsesHelmValues": False for kind in SELECTED},
                "scrapeInterval": f"{CLUSTER_SCRAPE_SECONDS}s",
                "evaluationInterval": f"{CLUSTER_SCRAPE_SECONDS}s",
                "retention": f"{RETENTION_DAYS}d",
                "retentionSize": f"{RETENTION_GIB}GiB",
                "walCompression": True,
                "resources": _resources("250m", "1Gi", "3Gi"),
                **_disk(settings),
            }
        },
        "prometheusOperator": {
            **place,
            "resources": _resources("50m", "96Mi", "256Mi"),
            "admissionWebhooks": {"enabled": True, "patch": {"enabled": True, **place}},
        },
        "alertmanager": {"alertmanagerSpec": {**place, "resources": _resources("10m", "64Mi", "128Mi")}},
        "grafana": {**place, "resources": _resources("50m", "192Mi", "512Mi")},
        "kube-state-metrics": {**place, "resources": _resources("20m", "96Mi", "256Mi")},
        "prometheus-node-exporter": {
            # The chart tolerates NoSchedule alone: a pool's NoExecute taint would leave its nodes unmeasured.
            "tolerations": [{"effect": effect, "operator": "Exists"} for effect in _EVERY_NODE],
            "resources": _resources("20m", "32Mi", "128Mi"),
        },
        **_control_plane(settings),
    }


_EVERY_NODE: Final = ("NoSchedule", "NoExecute")
SELECTED: Final = ("podMonitor", "serviceMonitor", "rule", "probe", "scrapeConfig")
_HIDDEN: Final = ("kubeControllerManager", "kubeScheduler", "kubeEtcd", "kubeProxy")


def _disk(settings: Settings) -> dict[str, object]:
    """A volume of the default storage class on a cluster of the program's own: the forecast needs its past.

    It goes with the stack. An existing cluster may have no class; there the history lasts as long as the pod.
    """
    if settings.cluster.mode != "eks":
        return {}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": f"{DISK_GIB}Gi"}}}
    return {
        "storageSpec": {"volumeClaimTemplate": {"spec": claim}},
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"},
    }


def _control_plane(settings: Settings) -> dict[str, object]:
    """EKS shows neither scheduler, controller manager nor etcd, and kube-proxy listens on the node alone:
    monitors and alerts for them would always be firing."""
    if settings.cluster.mode != "eks":
        return {}
    rules = ("etcd", "kubeControllerManager", "kubeSchedulerAlerting", "kubeSchedulerRecording", "kubeProxy")
    return {
        **{part: {"enabled": False} for part in _HIDDEN},
        "defaultRules": {"rules": dict.fromkeys(rules, False)},
    }


def gpu_metrics_values(settings: Settings) -> dict[str, object]:
    """dcgm-exporter on GPU nodes only, tolerating every pool's taints."""
    return {
        "nodeSelector": {"nvidia.com/gpu.present": "true"},
        "tolerations": gpu_tolerations(settings),
        "resources": _resources("100m", "128Mi", "512Mi"),
        "serviceMonitor": {"enabled": True, "interval": "15s", "scrapeTimeout": "10s"},
    }


def keda_values(settings: Settings) -> dict[str, object]:
    """KEDA with a second operator and metrics server in waiting, on the nodes that stay.

    One replica of each is active at a time; the other takes over while a node is drained.
    """
    one_at_a_time = {"maxUnavailable": 1}
    spread = {
        part: [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": app}},
            }
        ]
        for part, app in (("operator", "keda-operator"), ("metricsServer", "keda-operator-metrics-apiserver"))
    }
    return {
        "crds": {"install": True},
        "nodeSelector": system_nodes(settings),
        "operator": {"replicaCount": 2},
        "metricsServer": {"replicaCount": 2},
        "podDisruptionBudget": {"operator": one_at_a_time, "metricServer": one_at_a_time},
        "topologySpreadConstraints": spread,
        "image": {"pullPolicy": "IfNotPresent"},
        "resources": {
            "operator": _resources("100m", "128Mi", "1000Mi"),
            "metricServer": _resources("50m", "96Mi", "512Mi"),
            "webhooks": _resources("20m", "64Mi", "256Mi"),
        },
        "prometheus": {"operator": {"enabled": True}, "metricServer": {"enabled": True}},
    }
