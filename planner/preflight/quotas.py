"""vCPU quotas against the plan's worst case, less what the account runs already."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from planner.aws.cloud import Answer, Cloud, UnansweredError
from planner.plan.caps import ON_DEMAND, SPOT, STANDARD_ON_DEMAND, Quota, QuotaName, quota_of_family
from planner.plan.prices import prices
from planner.preflight.check import Check, unknown
from specs.catalogue import catalogue
from specs.names import Names

# Series by quota (EC2 user guide, on-demand instance quotas).
STANDARD = frozenset({"a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"})
GPU_SERIES = frozenset({"g", "gr", "vt", "p"})
SERIES = re.compile("[a-z]+")


def check_quota(cloud: Cloud, quota: Quota, names: Names) -> Check:
    """Pass when the free part of the quota holds the worst case."""
    name = f"quota:{quota.name.key}"
    needed = f"{quota.vcpu} vCPU: {quota.nodes} nodes, largest type {quota.largest}"
    if quota.vcpu != quota.least_vcpu and quota.least_vcpu:
        needed += f" ({quota.least_vcpu} while {quota.cheapest} is to be had)"
    try:
        limit = _limit(cloud, quota.name)
        used = _used(cloud, quota.name, names)
    except UnansweredError as error:
        return unknown(name, error, needed)
    free = limit - used
    found = f"{limit:g} vCPU" + (f", {used:g} of them in use" if used else "") + f" ({quota.name.label})"
    if free >= quota.vcpu:
        return Check(name, "pass", found, needed)
    return Check(name, "fail", found, needed, _way_out(quota, limit, used))


def _way_out(quota: Quota, limit: float, used: float) -> str:
    short = quota.without_room(limit - used)
    wanted = quota.vcpu + used
    text = f"short by {short} node{'s' if short != 1 else ''}: request {wanted:g}"
    if quota.name.code:
        text += (
            f" (aws service-quotas request-service-quota-increase --service-code ec2"
            f" --quota-code {quota.name.code} --desired-value {wanted:g})"
        )
    if 0 < quota.least_vcpu <= limit - used:
        return text + f", or offer only {quota.cheapest} and as small types"
    return text + ", or lower replicas.max"


def _limit(cloud: Cloud, name: QuotaName) -> float:
    """The applied quota in vCPU."""
    if name.code is None:
        return _by_label(cloud, name)
    answer = cloud.ask(
        "service-quotas",
        "get_service_quota",
        absent=("NoSuchResourceException", "NoSuchResource"),
        ServiceCode="ec2",
        QuotaCode=name.code,
    )
    if answer is None:
        raise UnansweredError(
            f"AWS knows no quota {name.code} here",
            "look it up in the Service Quotas console under Amazon EC2",
        )
    return float(answer["Quota"]["Value"])


def _by_label(cloud: Cloud, name: QuotaName) -> float:
    word = name.label.split()[0]
    for entry in cloud.pages("service-quotas", "list_service_quotas", "Quotas", ServiceCode="ec2"):
        label = str(entry.get("QuotaName", ""))
        if word in label.replace(",", " ").split() and "Spot" in label:
            return float(entry["Value"])
    raise UnansweredError(
        f"no quota named like {name.label!r}", "look it up in the Service Quotas console under Amazon EC2"
    )


def _used(cloud: Cloud, name: QuotaName, names: Names) -> float:
    """vCPUs that count against the quota now, this stack's own nodes left out."""
    states = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    used: Counter[str] = Counter()
    for reservation in cloud.pages("ec2", "describe_instances", "Reservations", Filters=states):
        for instance in reservation.get("Instances", ()):
            if not _own(instance, names):
                used[_key(instance)] += _vcpus(instance)
    return float(used[name.key])


def _own(instance: Answer, names: Names) -> bool:
    tags: Mapping[str, str] = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", ())}
    return tags.get("eks:eks-cluster-name", tags.get("eks:cluster-name")) == names.cluster


def _key(instance: Answer) -> str:
    """The quota an instance counts against; empty for those the plan never asks about."""
    family = str(instance.get("InstanceType", "")).partition(".")[0]
    found = SERIES.match(family)
    series = found[0] if found else ""
    capacity = SPOT if instance.get("InstanceLifecycle") == "spot" else ON_DEMAND
    if series in GPU_SERIES:
        return quota_of_family(family, capacity).key
    return STANDARD_ON_DEMAND.key if series in STANDARD and capacity == ON_DEMAND else ""


def _vcpus(instance: Answer) -> int:
    """vCPUs of an instance: of its type where the catalogue or the price list knows it, else as it says itself."""
    kind = str(instance.get("InstanceType", ""))
    for entry in catalogue().types:
        if entry.type == kind:
            return entry.vcpu
    if kind in prices().system_types:
        return prices().system_types[kind].vcpu
    options: Mapping[str, int] = instance.get("CpuOptions", {})
    return options.get("CoreCount", 0) * options.get("ThreadsPerCore", 1)
