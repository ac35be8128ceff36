"""Warm spares of a model: nodes that Karpenter keeps empty, and the image on them."""

from __future__ import annotations

from typing import Final

from specs.engine_pod import placement
from specs.labels import labels, selector
from specs.serving import metadata
from specs.settings.model import Model
from specs.settings.stack import Settings

PULLER_USER: Final = 65534
IDLE: Final = "trap 'exit 0' TERM; sleep infinity & wait"
"""As process 1 a bare sleep would ignore SIGTERM."""


def capacity_buffer(model: Model) -> dict[str, object] | None:
    """Room for `warmSpares` replicas beyond the running ones; None without spares.

    The shape of a spare is the Deployment's own pod, so the two can't drift apart. `replicas` is always
    stated: a buffer of limits alone fills them all while its Deployment is at zero (Karpenter v1.15
    capacitybuffer/controller.go computeReplicas). Needs Karpenter's feature gate CapacityBuffer.
    """
    if not model.scaling.warm_spares:
        return None
    return {
        "apiVersion": "autoscaling.x-k8s.io/v1beta1",
        "kind": "CapacityBuffer",
        "metadata": metadata(model, model.name, "engine"),
        "spec": {
            "provisioningStrategy": "buffer.x-k8s.io/active-capacity",
            "scalableRef": {"apiGroup": "apps", "kind": "Deployment", "name": model.name},
            "replicas": model.scaling.warm_spares,
        },
    }


def image_puller(settings: Settings, model: Model) -> dict[str, object] | None:
    """A DaemonSet that runs the engine's image idle on the nodes the model may use; None without spares.

    A buffer warms the node but not the image; a running container also keeps the kubelet from removing it.
    It asks for no GPU and sees none: the image sets NVIDIA_VISIBLE_DEVICES=all, which the runtime obeys.
    """
    if not model.scaling.warm_spares:
        return None
    name = f"{model.name}-image"
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        # Nodes come and go: there is no moment at which it is complete.
        "metadata": metadata(model, name, "image-puller", waits=False),
        "spec": {
            "selector": {"matchLabels": selector(model, "image-puller")},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}},
            "template": {
                "metadata": {"labels": labels(model, "image-puller")},
                "spec": {
                    "automountServiceAccountToken": False,
                    "enableServiceLinks": False,
                    "terminationGracePeriodSeconds": 15,
                    **placement(settings, model),
                    "securityContext": {
                        "runAsNonRoot": True,
                        "runAsUser": PULLER_USER,
                        "runAsGroup": PULLER_USER,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [
                        {
                            "name": "image",
                            "image": model.image,
                            "command": ["sh", "-c", IDLE],
                            # Nothing is in flight; the policy graceful-drain reads the image's name alone.
                            "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
                            "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}],
                            "resources": {
                                "requests": {"cpu": "10m", "memory": "16Mi"},
                                "limits": {"memory": "64Mi"},
                            },
                            "securityContext": {
                                "allowPrivilegeEscalation": False,
                                "readOnlyRootFilesystem": True,
                                "capabilities": {"drop": ["ALL"]},
                            },
                        }
                    ],
                },
            },
        },
    }
