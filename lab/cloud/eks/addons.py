"""The add-ons that the plugin manages: vpc-cni, kube-proxy and coredns."""

import json
from typing import Any

from lab.cloud.eks.monitor import Monitor, Registered
from lab.cloud.eks.values import derived

_ADDON = "aws:eks/addon:Addon"

_ENVIRONMENT: tuple[tuple[str, str, str | None], ...] = (
    ("nodePortSupport", "AWS_VPC_CNI_NODE_PORT_SUPPORT", None),
    ("customNetworkConfig", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", None),
    ("warmEniTarget", "WARM_ENI_TARGET", "1"),
    ("warmIpTarget", "WARM_IP_TARGET", None),
    ("warmPrefixTarget", "WARM_PREFIX_TARGET", None),
    ("enablePrefixDelegation", "ENABLE_PREFIX_DELEGATION", None),
    ("logLevel", "AWS_VPC_K8S_CNI_LOGLEVEL", "DEBUG"),
    ("logFile", "AWS_VPC_K8S_CNI_LOG_FILE", "/host/var/log/aws-routed-eni/ipamd.log"),
    ("vethPrefix", "AWS_VPC_K8S_CNI_VETHPREFIX", "eni"),
    ("eniMtu", "AWS_VPC_ENI_MTU", "9001"),
    ("eniConfigLabelDef", "ENI_CONFIG_LABEL_DEF", None),
    ("pluginLogLevel", "AWS_VPC_K8S_PLUGIN_LOG_LEVEL", "DEBUG"),
    ("pluginLogFile", "AWS_VPC_K8S_PLUGIN_LOG_FILE", "/var/log/aws-routed-eni/plugin.log"),
    ("enablePodEni", "ENABLE_POD_ENI", "false"),
    ("cniConfigureRpfilter", "AWS_VPC_K8S_CNI_CONFIGURE_RPFILTER", None),
    ("cniCustomNetworkCfg", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "false"),
    ("externalSnat", "AWS_VPC_K8S_CNI_EXTERNALSNAT", None),
    ("cniExternalSnat", "AWS_VPC_K8S_CNI_EXTERNALSNAT", "false"),
)
"""Option, variable, and the plugin's default where it always sets one."""

_NEWEST = {"vpc-cni": "v1.21.1-eksbuild.1", "coredns": "v1.13.1-eksbuild.1"}
"""Stands for "the most recent version for this cluster": which one that is, only AWS can say."""


def addon(
    monitor: Monitor,
    name: str,
    which: str,
    options: dict[str, Any],
    cluster: Registered,
    tags: Any,
    parent: str,
) -> Registered:
    """kube-proxy or coredns with the options of the component."""
    return monitor.resource(
        _ADDON,
        f"{name}-{which}",
        {
            "clusterName": cluster.get("name"),
            "addonName": which,
            "preserve": True,
            "tags": tags,
            "addonVersion": options.get("version") or _newest(which, cluster),
            "resolveConflictsOnCreate": options.get("resolveConflictsOnCreate", "OVERWRITE"),
            "resolveConflictsOnUpdate": options.get("resolveConflictsOnUpdate", "OVERWRITE"),
            "configurationValues": _json(options.get("configurationValues")),
        },
        parent=parent,
    )


def vpc_cni(
    monitor: Monitor,
    name: str,
    options: dict[str, Any],
    cluster: Registered,
    tags: Any,
    parent: str,
    depends: list[str],
) -> Registered:
    """The component around the VPC CNI add-on, returned as the component."""
    component = monitor.component("eks:index:VpcCniAddon", name, parent, depends)
    made = monitor.resource(
        _ADDON,
        name,
        {
            "clusterName": cluster.get("name"),
            "addonName": "vpc-cni",
            "addonVersion": options.get("addonVersion") or _newest("vpc-cni", cluster),
            "resolveConflictsOnCreate": options.get("resolveConflictsOnCreate", "OVERWRITE"),
            "resolveConflictsOnUpdate": options.get("resolveConflictsOnUpdate", "OVERWRITE"),
            "preserve": True,
            "configurationValues": derived(_cni_values, options),
            "serviceAccountRoleArn": options.get("serviceAccountRoleArn"),
            "tags": tags,
        },
        parent=component.urn,
        depends=depends,
    )
    monitor.outputs(component, {"addon": made.reference})
    return component


def _cni_values(options: dict[str, Any]) -> str:
    variables: dict[str, str] = {}
    for key, variable, default in _ENVIRONMENT:
        if options.get(key):
            variables[variable] = _text(options[key])
        elif default is not None:
            variables.setdefault(variable, default)
    values: dict[str, Any] = dict(options.get("configurationValues") or {})
    if options.get("enableNetworkPolicy") is not None:
        values.setdefault("enableNetworkPolicy", _text(options["enableNetworkPolicy"]))
    early = {"DISABLE_TCP_EARLY_DEMUX": _text(options.get("disableTcpEarlyDemux") or False)}
    init: dict[str, Any] = dict(values.get("init") or {})
    values["env"] = {**variables, **(values.get("env") or {})}
    values["init"] = {**init, "env": {**early, **(init.get("env") or {})}}
    return _dump(values)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json(values: Any) -> Any:
    return None if values is None else derived(_dump, values)


def _dump(values: Any) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"))


def _newest(which: str, cluster: Registered) -> Any:
    if which in _NEWEST:
        return _NEWEST[which]
    return derived("v{}.0-eksbuild.2".format, cluster.get("version"))
