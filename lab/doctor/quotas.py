"""The account's vCPU quotas, asked as `headroom preflight` asks them."""

from concurrent.futures import ThreadPoolExecutor

from planner.aws.cloud import MISUNDERSTOOD, Cloud, SessionFactory
from planner.aws.unanswered import misunderstood
from planner.plan import caps
from planner.preflight.check import Check
from planner.preflight.quotas import check_quota
from specs.names import Names
from specs.settings.stack import Settings

THREADS = 6


def ask(settings: Settings, stack: str, session: SessionFactory | None = None) -> list[Check]:
    """One check a quota; without credentials, network or permission it is unknown with the reason."""
    cloud, names = Cloud(session, settings.region), Names(stack)

    def one(quota: caps.Quota) -> Check:
        try:
            return check_quota(cloud, quota, names)
        except MISUNDERSTOOD as error:
            name = f"quota:{quota.name.key}"
            return Check(
                name, "unknown", misunderstood(error), f"{quota.vcpu} vCPU", "check AWS_ENDPOINT_URL"
            )

    with ThreadPoolExecutor(THREADS, "quotas") as pool:
        return list(pool.map(one, caps.quotas(settings)))
