"""All questions of a preflight, asked at the same time and told in a stable order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from planner.aws.cloud import ATTEMPTS, MISUNDERSTOOD, Cloud, SessionFactory
from planner.aws.unanswered import CREDENTIALS, UnansweredError, misunderstood
from planner.plan.caps import quotas
from planner.preflight.capacity import check_offering, check_spot_role, check_spot_score
from planner.preflight.check import Check, unknown
from planner.preflight.control_plane import check_addon, check_ami, check_version
from planner.preflight.images import check_image
from planner.preflight.network import check_addresses
from planner.preflight.quotas import check_quota
from planner.preflight.registry import Registry
from planner.preflight.weights import check_weights
from specs.control_plane import pinned_addons
from specs.names import Names
from specs.settings.stack import Settings

THREADS = 12


@dataclass(frozen=True)
class Question:
    """What is asked, and the names of the checks it makes."""

    names: tuple[str, ...]
    ask: Callable[[], Iterable[Check]]


def run(
    settings: Settings,
    stack: str,
    session: SessionFactory | None = None,
    *,
    bucket: str | None = None,
    registry: Registry | None = None,
    attempts: int = ATTEMPTS,
) -> list[Check]:
    """Every check of an accepted configuration, in a stable order. Nothing is changed in the account.

    `session` makes the boto3 session (default: the usual chain of credentials; AWS_ENDPOINT_URL is honoured).
    Never raises for what AWS answers or does not answer: that is `unknown`.
    """
    cloud = Cloud(session, settings.region, attempts)
    return _asked(_questions(settings, stack, cloud, registry or Registry(), bucket, session))


def run_quotas(settings: Settings, stack: str, session: SessionFactory | None = None) -> list[Check]:
    """The quotas alone, asked and told as `run` does."""
    return _asked(_quotas(settings, Cloud(session, settings.region), Names(stack)))


def _asked(questions: Iterable[Question]) -> list[Check]:
    with ThreadPoolExecutor(THREADS, "preflight") as pool:
        pending = [pool.submit(_answer, question) for question in questions]
        return [check for future in pending for check in future.result()]


def _answer(question: Question) -> list[Check]:
    """The checks; unknown where AWS answers in another shape than its own."""
    try:
        return list(question.ask())
    except MISUNDERSTOOD as error:
        reason, fix = misunderstood(error), "check proxy and AWS_ENDPOINT_URL"
        return [Check(name, "unknown", reason, "an answer of AWS", fix) for name in question.names]


def _identity(cloud: Cloud) -> list[Check]:
    """Who asks: without credentials everything else is unknown for the same reason."""
    try:
        answer = cloud.ask("sts", "get_caller_identity")
    except UnansweredError as error:
        return [unknown("identity", error, "credentials of the account to deploy to")]
    if answer is None:
        return [Check("identity", "unknown", "no answer", "credentials", CREDENTIALS)]
    return [Check("identity", "pass", f"{answer['Arn']}", "credentials of the account to deploy to")]


def _quotas(settings: Settings, cloud: Cloud, names: Names) -> list[Question]:
    return [
        Question((f"quota:{quota.name.key}",), lambda quota=quota: [check_quota(cloud, quota, names)])
        for quota in quotas(settings)
    ]


def _questions(
    settings: Settings,
    stack: str,
    cloud: Cloud,
    registry: Registry,
    bucket: str | None,
    session: SessionFactory | None,
) -> list[Question]:
    names = Names(stack)
    active = {model.pool for model in settings.active_models}
    pools = [pool for pool in settings.gpu_pools if pool.name in active]
    found: list[Question] = []

    def add(*names: str, ask: Callable[[], Iterable[Check]]) -> None:
        found.append(Question(names, ask))

    add("identity", ask=lambda: _identity(cloud))
    found += _quotas(settings, cloud, names)
    for pool in pools:
        for zone in pool.zones or settings.zones:
            name = f"offering:{pool.name}/{zone}"
            add(name, ask=lambda pool=pool, zone=zone: [check_offering(cloud, settings, pool, zone)])
    if any("spot" in pool.capacity_types for pool in pools):
        add("spot-role", ask=lambda: check_spot_role(cloud, settings))
    for pool in pools:
        if "spot" in pool.capacity_types:
            add(f"spot-score:{pool.name}", ask=lambda pool=pool: [check_spot_score(cloud, settings, pool)])
    if settings.cluster.mode == "eks":
        zones = [f"addresses:{zone}" for zone in settings.zones]
        add("eks-version", ask=lambda: [check_version(cloud, settings)])
        for addon, version in pinned_addons(settings).items():
            add(
                f"addon:{addon}",
                ask=lambda addon=addon, version=version: [check_addon(cloud, settings, addon, version)],
            )
        add(*zones, ask=lambda: check_addresses(cloud, settings, names))
        for pool in pools:
            add(f"ami:{pool.name}", ask=lambda pool=pool: [check_ami(cloud, settings, pool)])
    for image, users in _images(settings).items():
        add(
            f"image:{image}",
            ask=lambda image=image, users=users: [check_image(cloud, registry, image, users)],
        )
    if settings.weights.backend == "s3":
        for model in settings.active_models:
            add(
                f"weights:{model.name}",
                ask=lambda model=model: [check_weights(settings, stack, model, bucket, session)],
            )
    return found


def _images(settings: Settings) -> dict[str, list[str]]:
    """Each image with who uses it."""
    found: dict[str, list[str]] = {}
    for model in settings.active_models:
        found.setdefault(model.image, []).append(model.name)
    if settings.active_models:
        found.setdefault(settings.platform.router.image, []).append("the routers")
    return found
