"""The weights are staged, complete and unchanged."""

from __future__ import annotations

from planner.aws.cloud import SessionFactory
from planner.preflight.check import Check
from planner.staging.errors import StagingError
from planner.staging.verify import verify
from specs.settings.model import Model
from specs.settings.stack import Settings

SHOWN = 3
NO_BUCKET = "no such bucket"


def check_weights(
    settings: Settings, stack: str, model: Model, bucket: str | None, session: SessionFactory | None
) -> Check:
    """One model's version in the bucket against its manifest, by S3's checksums."""
    name = f"weights:{model.name}"
    needed = f"version {model.weights_version}, complete"
    push = f"headroom weights push FOLDER --stack STACK --model {model.name}"
    try:
        found = verify(settings, stack, model.name, bucket=bucket, session=session)
    except StagingError as error:
        problem = error.problems[0]
        if problem.given == NO_BUCKET:
            fix = f"`pulumi up` makes it in its first minutes; then, while the cluster is built: {push}"
            return Check(name, "fail", f"{problem.path}: {NO_BUCKET}", needed, fix)
        return Check(name, "unknown", f"{problem.path}: {problem.given}", needed, problem.fix)
    where = f"s3://{found.bucket}/{found.prefix}"
    if found.ok:
        return Check(name, "pass", f"{found.files} files, {found.size / 2**30:.1f} GiB in {where}", needed)
    faults = "; ".join(f"{entry.path} {entry.fault}" for entry in found.findings[:SHOWN])
    more = f" and {len(found.findings) - SHOWN} more" if len(found.findings) > SHOWN else ""
    return Check(
        name, "fail", f"{where}: {faults}{more}", needed, f"{push}, under a new weightsVersion if it is live"
    )
