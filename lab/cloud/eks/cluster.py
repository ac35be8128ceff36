"""`eks:index:Cluster`: what the component registers, in the plugin's order."""

import json
from typing import Any, cast

from lab.cloud.eks import access, addons, control_plane, security
from lab.cloud.eks.kubeconfig import kubeconfig
from lab.cloud.eks.monitor import Monitor, Registered
from lab.cloud.eks.roles import service_role
from lab.cloud.eks.values import derived, opened
from lab.cloud.wire import Properties, bare


class UnrecordedError(ValueError):
    """The component was asked for something that the recorded cloud does not know."""


_UNRECORDED = {
    "autoMode": "EKS Auto Mode",
    "fargate": "Fargate profiles",
    "roleMappings": "the aws-auth ConfigMap",
    "userMappings": "the aws-auth ConfigMap",
    "storageClasses": "storage classes",
    "creationRoleProvider": "a creation role",
}

_SHAPES = frozenset(
    {
        "accessEntries",
        "authenticationMode",
        "clusterSecurityGroup",
        "corednsAddonOptions",
        "createOidcProvider",
        "kubeProxyAddonOptions",
        "providerCredentialOpts",
        "serviceRole",
        "skipDefaultNodeGroup",
        "skipDefaultSecurityGroups",
        "useDefaultVpcCni",
        "vpcCniOptions",
    }
)
"""Arguments that decide which children there are: they are plain values even when the program passes
Outputs."""


def refuse_unrecorded(args: Properties) -> None:
    """Raises UnrecordedError with every argument that has no recording, all at once."""
    problems = [
        f"{key}: given {what}; allowed none in the recorded cloud; leave it out"
        for key, what in _UNRECORDED.items()
        if bare(args.get(key))
    ]
    if not bare(args.get("skipDefaultNodeGroup")):
        problems.append(
            "skipDefaultNodeGroup: given false; allowed true: the plugin's own node group is not recorded;"
            " declare aws.eks.NodeGroup"
        )
    if bare(args.get("authenticationMode")) != "API":
        problems.append(
            "authenticationMode: given no access entries; allowed API; set AuthenticationMode.API"
        )
    if args.get("vpcId") is None:
        problems.append(
            "vpcId: given none; allowed a VPC of the program: the account's default is not asked for; set it"
        )
    if problems:
        raise UnrecordedError("; ".join(problems))


def construct(monitor: Monitor, component: Registered, name: str, args: Properties) -> Properties:
    """Registers every child and returns the component's outputs."""
    refuse_unrecorded(args)
    args = {key: opened(value) if key in _SHAPES else value for key, value in args.items()}
    parent = component.urn
    role, ready = _role(monitor, name, args, parent)
    group = _group(monitor, name, args, parent)
    control = control_plane.control_plane(
        monitor, name, args, role.get("arn"), None if group is None else group.get("id"), ready, parent
    )
    proxy: Properties = args.get("kubeProxyAddonOptions") or {}
    if proxy.get("enabled", True):
        addons.addon(monitor, name, "kube-proxy", proxy, control, args.get("tags"), parent)
    config = _config(control, args, with_profile=False)
    provider = monitor.resource(
        "pulumi:providers:kubernetes",
        f"{name}-eks-k8s",
        {"kubeconfig": derived(_dump, _config(control, args, with_profile=True))},
        parent=parent,
        provider="",
    )
    entered = access.entries(monitor, name, args.get("accessEntries") or {}, control, parent)
    cni = None
    if not args.get("useDefaultVpcCni"):
        cni = addons.vpc_cni(
            monitor,
            f"{name}-vpc-cni",
            args.get("vpcCniOptions") or {},
            control,
            args.get("tags"),
            parent,
            entered,
        )
    coredns: Properties = args.get("corednsAddonOptions") or {}
    if coredns.get("enabled") is True or coredns.get("configurationValues"):
        addons.addon(monitor, name, "coredns", coredns, control, args.get("tags"), parent)
    oidc = _oidc(monitor, name, control, parent) if args.get("createOidcProvider") else None
    nodes = back = None
    if group is not None and not args.get("skipDefaultSecurityGroups"):
        nodes, back = security.node_group(monitor, name, args, control, group.get("id"), parent)
    return _outputs(args, control, config, provider, role, group, nodes, back, oidc, cni)


def _role(monitor: Monitor, name: str, args: Properties, parent: str) -> tuple[Registered, list[str]]:
    if args.get("serviceRole"):
        role = monitor.find(bare(args["serviceRole"]))
        return role, [role.urn]
    return service_role(
        monitor,
        f"{name}-eksRole",
        "eks.amazonaws.com",
        ["AmazonEKSClusterPolicy"],
        parent=parent,
        actions=("sts:AssumeRole", "sts:TagSession"),
        description="Allows EKS to manage clusters on your behalf.",
        tags=args.get("tags"),
    )


def _group(monitor: Monitor, name: str, args: Properties, parent: str) -> Registered | None:
    if args.get("clusterSecurityGroup"):
        return monitor.find(bare(args["clusterSecurityGroup"]))
    if args.get("skipDefaultSecurityGroups"):
        return None
    return security.cluster_group(monitor, name, args, parent)


def _config(control: Registered, args: Properties, *, with_profile: bool) -> Any:
    options: Properties = args.get("providerCredentialOpts") or {}

    def make(
        name: str, endpoint: str, authority: Properties, arn: str, role: str | None, profile: str | None
    ) -> Any:
        return kubeconfig(name, endpoint, authority["data"], arn, role, profile if with_profile else None)

    known = (control.get(key) for key in ("name", "endpoint", "certificateAuthority", "arn"))
    return derived(make, *known, options.get("roleArn"), options.get("profileName"))


def _oidc(monitor: Monitor, name: str, control: Registered, parent: str) -> Registered:
    return monitor.resource(
        "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
        f"{name}-oidcProvider",
        {
            "clientIdLists": ["sts.amazonaws.com"],
            "url": derived(_issuer, control.get("identities")),
            "thumbprintLists": ["9e99a48a9960b14926bb7f3b02e22da2b0ab7280"],
        },
        parent=parent,
    )


def _issuer(identities: Any) -> str:
    return str(identities[0]["oidcs"][0]["issuer"])


def _own_group(config: Properties) -> str:
    return str(config["clusterSecurityGroupId"])


def _host_and_path(url: str) -> str:
    return url.removeprefix("https://")


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _outputs(
    args: Properties,
    control: Registered,
    config: Any,
    provider: Registered,
    role: Registered,
    group: Registered | None,
    nodes: Registered | None,
    back: Registered | None,
    oidc: Registered | None,
    cni: Registered | None,
) -> Properties:
    own = derived(_own_group, control.get("vpcConfig"))
    issuer = derived(_issuer, control.get("identities"))
    core: Properties = {
        "cluster": control.reference,
        "clusterIamRole": role.reference,
        "vpcId": args.get("vpcId"),
        "subnetIds": control_plane.subnets(args),
        "publicSubnetIds": args.get("publicSubnetIds"),
        "privateSubnetIds": args.get("privateSubnetIds"),
        "endpoint": control.get("endpoint"),
        "kubeconfig": config,
        "provider": provider.reference,
        "instanceRoles": [],
        "nodeGroupOptions": {},
        "tags": args.get("tags"),
        "nodeSecurityGroupTags": args.get("nodeSecurityGroupTags"),
        "clusterSecurityGroup": None if group is None else group.reference,
        "oidcProvider": None if oidc is None else oidc.reference,
        "vpcCni": None if cni is None else cni.reference,
        "accessEntries": list(cast(Properties, args.get("accessEntries") or {}).values()),
        "storageClasses": {},
    }
    state: Properties = {
        "core": {key: value for key, value in core.items() if value is not None},
        "kubeconfig": config,
        "kubeconfigJson": derived(_dump, config),
        "eksCluster": control.reference,
        "instanceRoles": [],
        "clusterSecurityGroup": None if group is None else group.reference,
        "nodeSecurityGroup": None if nodes is None else nodes.reference,
        "eksClusterIngressRule": None if back is None else back.reference,
        "clusterSecurityGroupId": own if group is None else group.get("id"),
        "nodeSecurityGroupId": own if nodes is None else nodes.get("id"),
        "clusterIngressRuleId": "" if back is None else back.get("securityGroupRuleId"),
        "oidcProviderArn": "" if oidc is None else oidc.get("arn"),
        "oidcProviderUrl": issuer,
        "oidcIssuer": derived(_host_and_path, issuer),
        "defaultNodeGroupAsgName": "",
        "fargateProfileId": "",
        "fargateProfileStatus": "",
        "autoModeNodeRoleName": "",
    }
    return {key: value for key, value in state.items() if value is not None}
