"""The inputs of `aws:eks/cluster:Cluster` out of the arguments of the component."""

from typing import Any

from lab.cloud.eks.monitor import Monitor, Registered
from lab.cloud.eks.values import derived, merged
from lab.cloud.wire import bare

CREATION_ONLY = ("accessConfig.bootstrapClusterCreatorAdminPermissions", "bootstrapSelfManagedAddons")


def control_plane(
    monitor: Monitor, name: str, args: dict[str, Any], role: Any, group: Any, depends: list[str], parent: str
) -> Registered:
    """Registers the cluster itself. `role` is the ARN of its role, `group` the id of its own security group
    or None."""
    return monitor.resource(
        "aws:eks/cluster:Cluster",
        f"{name}-eksCluster",
        {
            "name": args.get("name"),
            "roleArn": role,
            "bootstrapSelfManagedAddons": args.get("bootstrapSelfManagedAddons", True),
            "kubernetesNetworkConfig": _network(args),
            "vpcConfig": _vpc(args, group),
            "version": args.get("version"),
            "enabledClusterLogTypes": args.get("enabledClusterLogTypes"),
            "tags": merged({"Name": f"{name}-eksCluster"}, args.get("clusterTags"), args.get("tags")),
            "encryptionConfig": _encryption(args.get("encryptionConfigKeyArn")),
            "accessConfig": _access(args.get("authenticationMode")),
            "upgradePolicy": args.get("upgradePolicy"),
            "deletionProtection": args.get("deletionProtection"),
        },
        parent=parent,
        depends=depends,
        ignore=CREATION_ONLY,
    )


def subnets(args: dict[str, Any]) -> Any:
    """All of the cluster's subnets: those given as such, or public and private ones together."""
    if args.get("subnetIds") is not None:
        return args["subnetIds"]
    return derived(_joined, args.get("publicSubnetIds"), args.get("privateSubnetIds"))


def _joined(public: list[str] | None, private: list[str] | None) -> list[str]:
    return [*(public or []), *(private or [])]


def _vpc(args: dict[str, Any], group: Any) -> dict[str, Any]:
    config = {
        "securityGroupIds": None if group is None else [group],
        "subnetIds": subnets(args),
        "endpointPrivateAccess": args.get("endpointPrivateAccess"),
        "endpointPublicAccess": args.get("endpointPublicAccess"),
        "publicAccessCidrs": args.get("publicAccessCidrs"),
    }
    return {key: value for key, value in config.items() if value is not None}


def _network(args: dict[str, Any]) -> dict[str, Any] | None:
    services, family = args.get("kubernetesServiceIpAddressRange"), args.get("ipFamily")
    if not services and not family:
        return None
    config: dict[str, Any] = {"ipFamily": family or "ipv4"}
    if services and bare(config["ipFamily"]) == "ipv4":
        config["serviceIpv4Cidr"] = services
    return config


def _encryption(key: Any) -> dict[str, Any] | None:
    return None if key is None else {"provider": {"keyArn": key}, "resources": ["secrets"]}


def _access(mode: Any) -> dict[str, Any] | None:
    if mode is None:
        return None
    return {"authenticationMode": mode, "bootstrapClusterCreatorAdminPermissions": True}
