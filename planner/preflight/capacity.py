"""Is the capacity to be had: offerings per zone, the spot role, the spot placement score."""

from __future__ import annotations

from collections.abc import Iterator

from planner.aws.cloud import Cloud, UnansweredError
from planner.plan.caps import ON_DEMAND
from planner.plan.machines import fitting
from planner.plan.prices import prices
from planner.preflight.check import Check, unknown
from specs.gpus import demands
from specs.settings.stack import GpuPool, Settings

SPOT_ROLE = "AWSServiceRoleForEC2Spot"
LEAST_SCORE = 3
"""Placement scores run from 1 to 10; 1 and 2 mean that a request is unlikely to be filled."""
LEAST_TYPES = 3
"""Fewer types always score low (EC2 user guide, spot placement score)."""
MOST_TYPES = 200
"""Most types GetSpotPlacementScores and one filter take."""


def types_of(settings: Settings, pool: GpuPool) -> list[str]:
    """Names of the pool's types that can run at least one of its models."""
    models = [model for model in settings.active_models if model.pool == pool.name]
    return sorted({entry.type for model in models for entry in fitting(model, pool)})


def check_offering(cloud: Cloud, settings: Settings, pool: GpuPool, zone: str) -> Check:
    """Pass when each model of the pool has a type that fits in the zone."""
    name = f"offering:{pool.name}/{zone}"
    models = [model for model in settings.active_models if model.pool == pool.name]
    wanted = types_of(settings, pool)
    needed = f"a type for each of {', '.join(model.name for model in models)}, one of {', '.join(wanted)}"
    try:
        offered = {
            str(entry["InstanceType"])
            for entry in cloud.pages(
                "ec2",
                "describe_instance_type_offerings",
                "InstanceTypeOfferings",
                LocationType="availability-zone",
                Filters=[
                    {"Name": "location", "Values": [zone]},
                    {"Name": "instance-type", "Values": wanted[:MOST_TYPES]},
                ],
            )
        }
    except UnansweredError as error:
        return unknown(name, error, needed)
    without = [model.name for model in models if not offered & {entry.type for entry in fitting(model, pool)}]
    found = ", ".join(sorted(offered)) or "none of them"
    if not without:
        return Check(name, "pass", found, needed)
    fix = f"add families that {zone} offers, or leave the zone out of gpuPools[].zones; without: {', '.join(without)}"
    return Check(name, "fail", found, needed, fix)


def check_spot_role(cloud: Cloud, settings: Settings) -> Iterator[Check]:
    """The service-linked role that spot needs once an account; nothing where no pool uses spot.

    Without it Karpenter takes the refusal for missing capacity and buys on-demand (karpenter-provider-aws 7998).
    """
    pools = [pool.name for pool in settings.gpu_pools if "spot" in pool.capacity_types]
    if not pools:
        return
    name, needed = "spot-role", f"role {SPOT_ROLE}, for pools {', '.join(pools)}"
    try:
        answer = cloud.ask(
            "iam", "get_role", absent=("NoSuchEntity", "NoSuchEntityException"), RoleName=SPOT_ROLE
        )
    except UnansweredError as error:
        yield unknown(name, error, needed)
        return
    if answer is not None:
        yield Check(name, "pass", str(answer["Role"]["Arn"]), needed)
        return
    dearer = 1 / prices().spot_share - 1
    yield Check(
        name,
        "fail",
        "no such role",
        needed,
        "aws iam create-service-linked-role --aws-service-name spot.amazonaws.com (an answer that it exists is"
        f" fine); until then on-demand is bought quietly, about {dearer:.0%} dearer",
    )


def check_spot_score(cloud: Cloud, settings: Settings, pool: GpuPool) -> Check:
    """How likely a request for the pool's worst case is filled; low is a failure where nothing else may be bought."""
    nodes = sum(
        demand.gpus // demand.model.gpus_per_replica
        for demand in demands(settings)
        if demand.model.pool == pool.name
    )
    types = types_of(settings, pool)
    fallback = ON_DEMAND in pool.capacity_types or "reserved" in pool.capacity_types
    name = f"spot-score:{pool.name}"
    needed = f"{LEAST_SCORE} of 10 for {nodes} nodes of {', '.join(types)}"
    if len(types) < LEAST_TYPES:
        return Check(
            name,
            "unknown",
            f"{len(types)} types, for which AWS always gives a low score",
            needed,
            f"offer at least {LEAST_TYPES} types that fit: add families, or lower the requests",
        )
    try:
        answers = cloud.pages(
            "ec2",
            "get_spot_placement_scores",
            "SpotPlacementScores",
            InstanceTypes=types[:MOST_TYPES],
            TargetCapacity=max(1, nodes),
            TargetCapacityUnitType="units",
            SingleAvailabilityZone=False,
            RegionNames=[settings.region],
        )
        scores = [int(entry["Score"]) for entry in answers if entry.get("Region") == settings.region]
    except UnansweredError as error:
        return unknown(name, error, needed)
    if not scores:
        return Check(name, "unknown", f"no score for {settings.region}", needed, "ask for another region")
    best = max(scores)
    found = f"{best} of 10" + (", with on-demand behind it" if fallback else "")
    if best >= LEAST_SCORE or fallback:
        fix = "" if best >= LEAST_SCORE else "expect on-demand prices, or add families"
        return Check(name, "pass", found, needed, fix)
    return Check(name, "fail", found, needed, "add on-demand to capacityTypes, or more families")
