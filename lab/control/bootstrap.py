"""What is in a new cluster before anything else: CRDs, the namespaces, system nodes, KEDA's place behind the API."""

import base64
import ssl
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx2
from lightkube import ApiError, Client
from lightkube.models.core_v1 import ServicePort, ServiceSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, Node, Service

from lab.control import kubernetes
from lab.control.errors import LabError
from lab.control.parts import keda
from lab.control.parts.context import Context
from specs.labels import SYSTEM_LABEL

_CRD_TOOLS = ("karpenter-files", "karpenter-core-files", "keda-crds", "monitor-crds")
_KEDA_SERVICE = "keda-metrics-apiserver"
_SERVED_SECONDS = 30.0


def bootstrap(to: Client, lab: Context, parts: Iterable[str]) -> None:
    """Brings the cluster to what the parts need; safe to repeat. Raises ApiError, HTTPError and LabError."""
    names = set(parts)
    with ThreadPoolExecutor(4) as pool:
        crds = kubernetes.documents(
            path for tool in _CRD_TOOLS for path in sorted(lab.tools[tool].glob("*.yaml"))
        )
        list(pool.map(partial(kubernetes.apply, to), crds))
    _until_served(lab, crds)
    _create(to, Namespace(metadata=ObjectMeta(name=kubernetes.NAMESPACE)))
    if "keda-adapter" in names:
        _external_metrics(to, lab)
    if "kwok" in names:
        for number in range(lab.settings.system_nodes):
            zone = lab.settings.aws.zones[number % len(lab.settings.aws.zones)]
            _create(to, Node.from_dict(system_node(number, lab.settings.aws.region, zone)))


def _until_served(lab: Context, crds: Iterable[Mapping[str, Any]]) -> None:
    """Waits until discovery knows every kind. Karpenter asks once: a kind that it misses while it starts is missing for
    good (its indexers fail with "no matches for kind"), and its node classes then never become ready.
    """
    wanted: dict[str, set[str]] = defaultdict(set)
    for crd in crds:
        spec = crd["spec"]
        for version in spec["versions"]:
            if version.get("served"):
                wanted[f"/apis/{spec['group']}/{version['name']}"].add(spec["names"]["kind"])
    trust = ssl.create_default_context(cafile=str(lab.certificates.path("ca.crt")))
    headers = {"Authorization": f"Bearer {lab.certificates.token}"}
    deadline = time.monotonic() + _SERVED_SECONDS
    with httpx2.Client(
        base_url=lab.url("apiserver", "https"), headers=headers, verify=trust, trust_env=False
    ) as http:
        while missing := {path for path, kinds in wanted.items() if not kinds <= _kinds(http, path)}:
            if time.monotonic() > deadline:
                raise LabError(f"The new API server does not serve {', '.join(sorted(missing))}.")
            time.sleep(0.1)


def _kinds(http: httpx2.Client, path: str) -> set[str]:
    answer = http.get(path)
    return {one["kind"] for one in answer.json()["resources"]} if answer.is_success else set()


def system_node(number: int, region: str, zone: str) -> dict[str, Any]:
    """A fake node of the managed node group: room for the routers and system pods of a dozen models."""
    name = f"system-{number + 1}"
    room = {"cpu": "8", "memory": "32Gi", "ephemeral-storage": "100Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": "m7i.2xlarge",
                "topology.kubernetes.io/region": region,
                "topology.kubernetes.io/zone": zone,
                "eks.amazonaws.com/nodegroup": "system",
                **SYSTEM_LABEL,
            },
        },
        "spec": {"providerID": f"aws:///{zone}/i-system{number + 1:09d}"},
        "status": {"allocatable": room, "capacity": room},
    }


def _external_metrics(to: Client, lab: Context) -> None:
    """An ExternalName Service: the aggregator follows it, while endpoints on loopback would be refused."""
    service = Service(
        metadata=ObjectMeta(name=_KEDA_SERVICE, namespace=kubernetes.NAMESPACE),
        spec=ServiceSpec(
            type="ExternalName",
            externalName="localhost",
            ports=[ServicePort(name="https", port=lab.ports["keda-adapter"], protocol="TCP")],
        ),
    )
    to.apply(service, force=True)
    group, _, version = keda.EXTERNAL_METRICS.partition("/")
    authority = base64.b64encode(lab.certificates.path("ca.crt").read_bytes()).decode()
    kubernetes.apply(
        to,
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"{version}.{group}"},
            "spec": {
                "group": group,
                "version": version,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
                "caBundle": authority,
                "service": {
                    "name": _KEDA_SERVICE,
                    "namespace": kubernetes.NAMESPACE,
                    "port": lab.ports["keda-adapter"],
                },
            },
        },
    )


def _create(to: Client, body: Any) -> None:
    try:
        to.create(body)
    except ApiError as error:
        if error.status.reason != "AlreadyExists":
            raise
