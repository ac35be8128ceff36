"""What one cluster, disk, machine or storage class leaves open: lines of (found, allowed, way out)."""

import ipaddress
from collections.abc import Iterator, Sequence

from policies.declared import KubeObject, Resource
from policies.plain import UNKNOWN, Plain, dig, items, shown
from policies.quantity import whole

Problem = tuple[str, str, str]
CLUSTER = "aws:eks/cluster:Cluster"
COMPONENT = "eks:index:Cluster"
VOLUME = "aws:ebs/volume:Volume"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
INSTANCE = "aws:ec2/instance:Instance"
JUDGED = (CLUSTER, COMPONENT, VOLUME, TEMPLATE, INSTANCE)


def exposure(on: Resource | KubeObject, allowed: Sequence[str]) -> Iterator[Problem]:
    """Every exposure of one resource; `allowed` are the networks a public endpoint may open to."""
    if isinstance(on, KubeObject):
        if on.kind == "EC2NodeClass":
            yield from _node_class(on)
        elif on.get("provisioner") == "ebs.csi.aws.com" and not on.partial:
            yield from _encrypted(on.get("parameters", "encrypted"), "parameters.encrypted")
    elif on.type == CLUSTER:
        yield from _endpoint(on.get("vpcConfig"), allowed)
    elif on.type == COMPONENT:
        # The component hands its arguments to a child Cluster, which is judged too; its own may be empty.
        if on.get("endpointPublicAccess") is not None or on.get("publicAccessCidrs") is not None:
            yield from _endpoint(on.props, allowed)
    elif on.type == VOLUME:
        yield from _encrypted(on.get("encrypted"), "encrypted")
    elif on.type == TEMPLATE:
        for mapping in items(on.get("blockDeviceMappings")):
            if mapping is UNKNOWN or dig(mapping, "ebs") is not None:
                yield from _encrypted(dig(mapping, "ebs", "encrypted"), "blockDeviceMappings ebs.encrypted")
        yield from _metadata(on.get("metadataOptions"), tokens="optional")
    elif on.type == INSTANCE:
        yield from _encrypted(on.get("rootBlockDevice", "encrypted"), "rootBlockDevice.encrypted")
        for device in items(on.get("ebsBlockDevices")):
            yield from _encrypted(dig(device, "encrypted"), "ebsBlockDevices encrypted")
        if on.get("launchTemplate") is None:
            yield from _metadata(on.get("metadataOptions"), tokens="optional")


def _endpoint(config: Plain, allowed: Sequence[str]) -> Iterator[Problem]:
    public = dig(config, "endpointPublicAccess")
    if public is False:
        return
    fix = "set endpointPublicAccess: false, or publicAccessCidrs within allowPublicEndpointCidrs"
    permitted = f"private, or public to {', '.join(allowed)}" if allowed else "private"
    stated = dig(config, "publicAccessCidrs")
    networks = ["0.0.0.0/0"] if stated is None or stated == [] else items(stated)
    outside = [network for network in networks if not _within(network, allowed)]
    if public is UNKNOWN or outside:
        yield f"its endpoint is public to {', '.join(shown(network) for network in outside)}", permitted, fix


def _within(network: Plain, allowed: Sequence[str]) -> bool:
    inner = _network(network)
    outer = [found for text in allowed if (found := _network(text)) is not None]
    if inner is None:
        return False
    return any(
        inner.subnet_of(found)
        for found in outer
        if isinstance(inner, ipaddress.IPv4Network) and isinstance(found, ipaddress.IPv4Network)
    ) or any(
        inner.subnet_of(found)
        for found in outer
        if isinstance(inner, ipaddress.IPv6Network) and isinstance(found, ipaddress.IPv6Network)
    )


def _network(text: Plain) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False) if isinstance(text, str) else None
    except ValueError:
        return None


def _encrypted(value: Plain, where: str) -> Iterator[Problem]:
    if value is not True and value != "true":
        yield f"{where} is {shown(value)}", "true", "encrypt the disk"


def _metadata(options: Plain, *, tokens: str) -> Iterator[Problem]:
    """Instance metadata: EC2's own default for tokens differs from Karpenter's, so it is given."""
    if dig(options, "httpEndpoint") == "disabled":
        return
    stated, hops = dig(options, "httpTokens"), dig(options, "httpPutResponseHopLimit")
    if (tokens if stated is None else stated) != "required":
        yield (
            f"metadataOptions.httpTokens is {shown(tokens if stated is None else stated)}",
            "required",
            "use IMDSv2",
        )
    if hops is not None and whole(hops) != 1:
        fix = "use Pod Identity: pods then need no node credentials"
        yield f"metadataOptions.httpPutResponseHopLimit is {shown(hops)}", "1", fix


def _node_class(on: KubeObject) -> Iterator[Problem]:
    yield from _metadata(on.get("spec", "metadataOptions"), tokens="required")
    for mapping in items(on.get("spec", "blockDeviceMappings")):
        if mapping is UNKNOWN or dig(mapping, "ebs") is not None:
            yield from _encrypted(dig(mapping, "ebs", "encrypted"), "blockDeviceMappings ebs.encrypted")
