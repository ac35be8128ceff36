"""Properties whose change replaces a Kubernetes object (pulumi-kubernetes, provider/pkg/provider/diff.go)."""

from functools import cache

_METADATA = ("metadata.name", "metadata.namespace")
_WORKLOAD = ("spec.selector",)
_JOB = ("spec.completions", "spec.parallelism", "spec.selector", "spec.template")
_STATEFUL = (
    "spec.podManagementPolicy",
    "spec.revisionHistoryLimit",
    "spec.selector",
    "spec.serviceName",
    "spec.volumeClaimTemplates",
)
_VOLUMES = (
    "awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker gcePersistentDisk"
    " glusterfs hostPath iscsi local nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume"
)

_FORCED: dict[str, tuple[str, ...]] = {
    "kubernetes:apps/v1:DaemonSet": _WORKLOAD,
    "kubernetes:apps/v1:Deployment": _WORKLOAD,
    "kubernetes:apps/v1:StatefulSet": _STATEFUL,
    "kubernetes:batch/v1:Job": _JOB,
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": ("roleRef",),
    "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": ("roleRef",),
    "kubernetes:storage.k8s.io/v1:StorageClass": ("parameters", "provisioner"),
    "kubernetes:core/v1:PersistentVolume": tuple(f"spec.{source}" for source in _VOLUMES.split()),
    "kubernetes:core/v1:PersistentVolumeClaim": (
        "spec.accessModes",
        "spec.selector",
        "spec.storageClassName",
        "spec.volumeName",
    ),
    "kubernetes:core/v1:Pod": ("spec",),
    "kubernetes:core/v1:ResourceQuota": ("spec.scopes",),
    "kubernetes:core/v1:Service": ("spec.clusterIP",),
    "kubernetes:core/v1:ConfigMap": ("binaryData", "data"),
    "kubernetes:core/v1:Secret": ("type", "stringData", "data"),
    "kubernetes:helm.sh/v3:Release": (),
}
_MUTABLE = {
    "kubernetes:core/v1:ConfigMap": ("binaryData", "data"),
    "kubernetes:core/v1:Secret": ("stringData", "data"),
}

RELEASE = "kubernetes:helm.sh/v3:Release"


@cache
def forced(type_: str, mutable: frozenset[str] = frozenset()) -> frozenset[str]:
    """Dotted property names. `mutable` names the types whose provider lets data change in place."""
    if type_ == RELEASE:
        return frozenset({"name", "namespace"})
    free = _MUTABLE.get(type_, ()) if type_ in mutable else ()
    return frozenset({*_METADATA, *_FORCED.get(type_, ())} - set(free))
