"""The objects that the doctor reads beyond those that a rehearsal follows."""

from typing import Final

from lab.scenario.kinds import DEPLOYMENT, EVENT, HPA, NODE, NODE_CLAIM, POD, SCALED_OBJECT, Kind
from specs.nodes import EC2_NODE_CLASS, KWOK_NODE_CLASS

__all__ = ["DEPLOYMENT", "EVENT", "HPA", "NODE", "NODE_CLAIM", "POD", "SCALED_OBJECT", "Kind"]

BUDGET: Final = Kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets")
DAEMON_SET: Final = Kind("apps", "v1", "DaemonSet", "daemonsets")
POD_MONITOR: Final = Kind("monitoring.coreos.com", "v1", "PodMonitor", "podmonitors")
RULE: Final = Kind("monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules")
NODE_POOL: Final = Kind("karpenter.sh", "v1", "NodePool", "nodepools", namespaced=False)
API_SERVICE: Final = Kind("apiregistration.k8s.io", "v1", "APIService", "apiservices", namespaced=False)


def _class(api: str, name: str, plural: str) -> Kind:
    group, _, version = api.partition("/")
    return Kind(group, version, name, plural, namespaced=False)


EC2_CLASS: Final = _class(*EC2_NODE_CLASS, "ec2nodeclasses")
KWOK_CLASS: Final = _class(*KWOK_NODE_CLASS, "kwoknodeclasses")

LEASE: Final = Kind("coordination.k8s.io", "v1", "Lease", "leases")
CONTROL_PLANE: Final = "kube-system"
"""Where the control plane keeps its leases."""

OF_MODELS: Final = (DEPLOYMENT, DAEMON_SET, POD, HPA, SCALED_OBJECT, BUDGET, POD_MONITOR, RULE)
"""Read in the namespaces of the models."""
OF_CLUSTER: Final = (NODE, NODE_CLAIM, NODE_POOL, EC2_CLASS, KWOK_CLASS, API_SERVICE)
