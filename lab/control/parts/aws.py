"""The AWS account: moto behind the answers that it lacks, seeded with what Karpenter looks up."""

import sys
from pathlib import Path

from lab.control.component import Component, Health
from lab.control.parts.context import Context

PROJECT = Path(__file__).parents[3]


def aws(lab: Context) -> Component:
    """Its memory is its process's own. Seeding is part of its start and gives the same ids each time; what was made
    since lies in a journal.
    """
    seed = lab.settings.aws.model_dump_json()
    prices = lab.tools["karpenter-files"] / "zz_generated.pricing_aws.go"
    journal = lab.layout.data("aws") / "journal"
    argv = (sys.executable, "-m", "lab.control.aws", str(lab.ports["aws"]), str(prices), str(journal), seed)
    environment = {
        "AWS_ACCESS_KEY_ID": "lab",
        "AWS_SECRET_ACCESS_KEY": "lab",
        "AWS_DEFAULT_REGION": lab.settings.aws.region,
        "AWS_EC2_METADATA_DISABLED": "true",
        "PYTHONPATH": str(PROJECT),
        "PYTHONUNBUFFERED": "1",
    }
    health = Health(url=f"{lab.url('aws')}/headroom/ready")
    return Component(name="aws", argv=argv, environment=environment, health=health, grace=2.0)
