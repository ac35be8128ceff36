"""The region's network and the EKS control plane."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from specs import versions
from specs.checks.places import placed, pools
from specs.control_plane import system_ami_type
from specs.problems import Problem, shown
from specs.settings.stack import Settings
from specs.system_load import available, needed

# A VPC is /16 to /28 (EC2 CreateVpc); below /20 a fleet's pods and the control plane's interfaces crowd it.
WIDEST, NARROWEST = 16, 20
EKS_ALLOWED = (*versions.EKS_DEPRECATED, *versions.EKS_SUPPORTED, *versions.EKS_UNCONFIRMED)


def problems(settings: Settings) -> Iterator[Problem]:
    """Only for a cluster of our own: an existing one brings its network and version."""
    yield from _pool_zones(settings)
    if settings.cluster.mode != "eks":
        return
    if settings.cluster.kube_context is not None:
        yield Problem(
            "cluster.kubeContext",
            shown(settings.cluster.kube_context),
            "null with cluster.mode eks: the program makes its own cluster",
            "set cluster.mode to existing, or remove kubeContext",
        )
    yield from _region(settings)
    yield from _network(settings)
    yield from _control_plane(settings)
    yield from _system_nodes(settings)


def _region(settings: Settings) -> Iterator[Problem]:
    if settings.region.startswith(("cn-", "us-gov-", "us-iso")):
        yield Problem(
            "aws:region",
            shown(settings.region),
            "a region of the standard partition: the IAM documents name arn:aws",
            "use a region such as us-east-1",
        )


def _system_nodes(settings: Settings) -> Iterator[Problem]:
    """Nothing enlarges the group by itself, and a release whose pods stay pending fails after twenty minutes."""
    nodes, room = settings.cluster.system_nodes, available(settings)
    whole = len(list(placed(settings))) == len(settings.active_models)  # else a model's pool is missing
    need = needed(settings) if whole else None
    if room is None or need is None or room.holds(need):
        return
    yield Problem(
        "cluster.systemNodes",
        f"{nodes.min} x {nodes.instance_types[0]} with room for {room.cpu_milli}m CPU and {room.memory_mib}Mi, while"
        f" controllers and {len(settings.active_models)} models' routers ask {need.cpu_milli}m and {need.memory_mib}Mi",
        "nodes that hold what is pinned to them",
        "raise systemNodes.min or take a larger type",
    )


def _network(settings: Settings) -> Iterator[Problem]:
    network = ipaddress.IPv4Network(settings.network.cidr)
    if not WIDEST <= network.prefixlen <= NARROWEST:
        yield Problem(
            "network.cidr",
            shown(settings.network.cidr),
            f"a range from /{NARROWEST} to /{WIDEST}: each zone needs room for pods and the control plane",
            "use a /16 such as 10.0.0.0/16",
        )
    private = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
    if not any(network.subnet_of(ipaddress.IPv4Network(range_)) for range_ in private):
        yield Problem(
            "network.cidr",
            shown(settings.network.cidr),
            f"a range inside {', '.join(private)}: others belong to somebody on the internet",
            "use a /16 such as 10.0.0.0/16",
        )
    elif network.overlaps(ipaddress.IPv4Network("172.17.0.0/16")):
        yield Problem(
            "network.cidr",
            shown(settings.network.cidr),
            "a range outside 172.17.0.0/16, which EKS and container runtimes keep for themselves",
            "use a /16 such as 10.0.0.0/16",
        )
    for index, zone in enumerate(settings.network.zones or ()):
        yield from _zone(settings, f"network.zones[{index}]", zone)
    yield from _repeated("network.zones", settings.network.zones or ())


def _zone(settings: Settings, path: str, zone: str) -> Iterator[Problem]:
    if zone[:-1] != settings.region:
        yield Problem(
            path,
            shown(zone),
            f"a zone of region {settings.region}",
            f"use {settings.region}a, or set aws:region to {zone[:-1]}",
        )


def _repeated(path: str, zones: tuple[str, ...]) -> Iterator[Problem]:
    for index, zone in enumerate(zones):
        if zone in zones[:index]:
            yield Problem(f"{path}[{index}]", f"{shown(zone)} twice", "each zone once", "remove one")


def _pool_zones(settings: Settings) -> Iterator[Problem]:
    for path, pool in pools(settings):
        yield from _repeated(f"{path}.zones", pool.zones or ())
        for index, zone in enumerate(pool.zones or ()):
            if zone[:-1] != settings.region:
                yield from _zone(settings, f"{path}.zones[{index}]", zone)
            elif settings.cluster.mode == "eks" and zone not in settings.zones:
                yield Problem(
                    f"{path}.zones[{index}]",
                    shown(zone),
                    f"one of the network's zones: {', '.join(settings.zones)}",
                    "add the zone to network.zones, or remove it here",
                )


def _control_plane(settings: Settings) -> Iterator[Problem]:
    cluster = settings.cluster
    if cluster.version not in EKS_ALLOWED:
        yield Problem(
            "cluster.version",
            shown(cluster.version),
            f"a version EKS offers in standard support: {', '.join(EKS_ALLOWED)}",
            f"use {versions.EKS_SUPPORTED[0]}",
        )
    if not (cluster.endpoint.public or cluster.endpoint.private):
        yield Problem(
            "cluster.endpoint",
            "public false and private false",
            "at least one of them",
            "set private to true",
        )
    if cluster.endpoint.public and not cluster.endpoint.private:
        yield Problem(
            "cluster.endpoint.private",
            "false with a public endpoint",
            "true: the nodes' own addresses are not among publicCidrs, and they could not join",
            "set private to true",
        )
    if cluster.endpoint.public and not cluster.endpoint.public_cidrs:
        yield Problem(
            "cluster.endpoint.publicCidrs",
            "[] with a public endpoint, which AWS reads as the whole internet",
            "the ranges that may reach the API",
            "list your office or VPN range, or set public to false",
        )
    kinds = {system_ami_type((name,)) for name in cluster.system_nodes.instance_types}
    odd = [name for name in cluster.system_nodes.instance_types if name.startswith(("g", "p", "inf", "trn"))]
    if len(kinds) > 1 or odd:
        yield Problem(
            "cluster.systemNodes.instanceTypes",
            shown(cluster.system_nodes.instance_types),
            "types without accelerators, all of one processor architecture",
            "use m7i.large, or m7g.large alone",
        )
    if cluster.system_nodes.min > cluster.system_nodes.max:
        yield Problem(
            "cluster.systemNodes.min",
            shown(cluster.system_nodes.min),
            f"at most systemNodes.max, {cluster.system_nodes.max}",
            "raise max or lower min",
        )


def warnings(settings: Settings) -> Iterator[Problem]:
    """Accepted, and worth a second look."""
    cluster = settings.cluster
    if cluster.mode != "eks":
        return
    if cluster.version in versions.EKS_DEPRECATED:
        yield Problem(
            "cluster.version",
            shown(cluster.version),
            "a version with standard support left: its support ends 2026-12-02 and AWS then upgrades it",
            f"plan the upgrade to {versions.EKS_SUPPORTED[0]}",
        )
    if cluster.version in versions.EKS_UNCONFIRMED:
        yield Problem(
            "cluster.version",
            shown(cluster.version),
            "a version known to be offered by EKS; this one is not confirmed",
            "ask `headroom preflight`",
        )
    if cluster.hpa_sync_seconds < 15:
        yield Problem(
            "cluster.hpaSyncSeconds",
            shown(cluster.hpa_sync_seconds),
            "15 on a standard control plane",
            "below 15 needs EKS Provisioned Control Plane",
        )
    for index, cidr in enumerate(cluster.endpoint.public_cidrs):
        if cluster.endpoint.public and ipaddress.ip_network(cidr).prefixlen == 0:
            yield Problem(
                f"cluster.endpoint.publicCidrs[{index}]", shown(cidr), "a range of your own", "narrow it"
            )
    if settings.network.nat_gateways == "single" and cluster.deletion_protection:
        yield Problem(
            "network.natGateways",
            '"single"',
            "perZone to survive the loss of a zone",
            "use perZone in production",
        )
