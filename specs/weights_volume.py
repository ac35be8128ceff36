"""Weights on a file system that exists already (EFS, FSx for Lustre): a static volume and its claim.

Static, because dynamic provisioning would make an empty folder for each claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from specs.engine_pod import claim_name
from specs.labels import labels
from specs.serving import metadata
from specs.settings.model import Model
from specs.settings.stack import Settings

DRIVERS: Final = {"efs": "efs.csi.aws.com", "fsx": "fsx.csi.aws.com"}
SIZE: Final = "1Ti"
"""Kubernetes wants a number; neither driver reads it."""


def mounted(settings: Settings) -> bool:
    """Whether the weights come from a mounted file system."""
    return settings.weights.backend in DRIVERS


def volume_name(model: Model) -> str:
    """PersistentVolumes have no namespace of their own."""
    return f"{model.namespace}-{model.name}-weights"


def persistent_volume(settings: Settings, model: Model, handles: Mapping[str, object]) -> dict[str, object]:
    """The volume. `handles` comes from the file system: `volumeHandle` (fs-...), for FSx also `dnsname` and
    `mountname`; `zone` pins the pods to the one zone a file system lives in.
    """
    source: dict[str, object] = {
        "driver": DRIVERS[settings.weights.backend],
        "volumeHandle": handles["volumeHandle"],
        "readOnly": True,
    }
    attributes = {key: handles[key] for key in ("dnsname", "mountname") if key in handles}
    if attributes:
        source["volumeAttributes"] = attributes
    spec: dict[str, object] = {
        "capacity": {"storage": SIZE},
        "accessModes": ["ReadOnlyMany"],
        "storageClassName": "",
        # The weights outlive the model's objects.
        "persistentVolumeReclaimPolicy": "Retain",
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": model.namespace,
            "name": claim_name(model),
        },
        "csi": source,
    }
    if "zone" in handles:
        here = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [handles["zone"]]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": volume_name(model), "labels": labels(model, "engine")},
        "spec": spec,
    }


def persistent_volume_claim(model: Model) -> dict[str, object]:
    """The claim that the engines mount."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(model, claim_name(model), "engine"),
        "spec": {
            "accessModes": ["ReadOnlyMany"],
            "storageClassName": "",
            "volumeName": volume_name(model),
            "resources": {"requests": {"storage": SIZE}},
        },
    }
