"""The images the stack names exist: in ECR through its API, elsewhere by the registry protocol."""

from __future__ import annotations

import re

from planner.aws.cloud import Cloud, UnansweredError
from planner.preflight.check import Check, unknown
from planner.preflight.registry import Reference, Registry, RegistryError, reference

_ECR = re.compile(r"(?P<account>\d{12})\.dkr\.ecr(-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?")
ABSENT = ("ImageNotFoundException", "RepositoryNotFoundException")


def check_image(cloud: Cloud, registry: Registry, image: str, users: list[str]) -> Check:
    """One image and who uses it."""
    where = reference(image)
    name, needed = f"image:{image}", f"the image of {', '.join(users)}"
    fix = "correct the tag or digest, or push the image"
    try:
        present = _in_ecr(cloud, where) if _ECR.fullmatch(where.host) else registry.has(where)
    except UnansweredError as error:
        return unknown(name, error, needed)
    except RegistryError as error:
        return Check(name, "unknown", str(error), needed, f"check by hand: docker manifest inspect {image}")
    if present:
        return Check(name, "pass", f"there, at {where.host}", needed)
    return Check(name, "fail", f"{where.host} has no {where.repository} {where.version}", needed, fix)


def _in_ecr(cloud: Cloud, where: Reference) -> bool:
    found = _ECR.fullmatch(where.host)
    if found is None:
        raise ValueError(f"{where.host} is no ECR registry")
    key = "imageDigest" if where.version.startswith("sha256:") else "imageTag"
    answer = cloud.ask(
        "ecr",
        "describe_images",
        absent=ABSENT,
        region=found["region"],
        registryId=found["account"],
        repositoryName=where.repository,
        imageIds=[{key: where.version}],
    )
    return answer is not None and bool(answer["imageDetails"])
