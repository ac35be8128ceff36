"""EKS: the form of a Kubernetes version, and the endpoint that must be reachable at all."""

import re
from collections.abc import Iterator

from lab.cloud.asked import Asked
from lab.cloud.refuse.account import Account
from lab.cloud.refuse.problem import Problem, short
from lab.cloud.wire import has_unknown


def version(asked: Asked, account: Account) -> Iterator[Problem]:
    """EKS takes minor versions such as 1.35, never patch versions (EKS CreateCluster)."""
    del account
    if asked.type not in ("aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup"):
        return
    given = asked.inputs.get("version")
    if given is not None and not has_unknown(given) and not re.fullmatch(r"1\.\d{2}", str(given)):
        yield Problem(
            path="version", given=short(given), allowed="a minor version such as 1.35", fix="drop the rest"
        )


def endpoint(asked: Asked, account: Account) -> Iterator[Problem]:
    """A cluster must have a private or a public endpoint; CIDRs belong to the public one."""
    del account
    config = asked.object("vpcConfig")
    if asked.type != "aws:eks/cluster:Cluster":
        return
    public, private = config.get("endpointPublicAccess", True), config.get("endpointPrivateAccess", False)
    if public is False and private is False:
        yield Problem(
            path="vpcConfig",
            given="neither a public nor a private endpoint",
            allowed="at least one",
            fix="set cluster.endpoint.private",
        )
