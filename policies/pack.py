"""The pack: only the list of its rules, and how it is served."""

from pulumi_policy import EnforcementLevel, Policy, PolicyPack
from pulumi_policy import policy as sdk

from policies.analyzer import Analyzer
from policies.rules import (
    gpu_demand,
    gpu_limit,
    gpu_pool_disruption,
    gpu_request,
    graceful_drain,
    pdb_drainable,
    pdb_present,
    pinned_images,
    private_by_default,
    retain_data,
    scaling_works,
)

POLICIES: list[Policy] = [
    gpu_limit.POLICY,
    gpu_demand.POLICY,
    gpu_request.POLICY,
    pdb_present.POLICY,
    pdb_drainable.POLICY,
    graceful_drain.POLICY,
    gpu_pool_disruption.POLICY,
    scaling_works.POLICY,
    pinned_images.POLICY,
    private_by_default.POLICY,
    retain_data.POLICY,
]


def pack() -> PolicyPack:
    """Serve the pack to the engine that started this process; does not return while the engine runs."""
    sdk._PolicyAnalyzerServicer = Analyzer  # pyright: ignore[reportPrivateUsage] - see policies/analyzer.py
    return PolicyPack("headroom", POLICIES, enforcement_level=EnforcementLevel.MANDATORY)
