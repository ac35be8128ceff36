"""The account that the lab's Karpenter sees: the names that the program gives what it makes in AWS."""

from lab.control.settings import AwsSettings
from specs.names import Names
from specs.settings.stack import Settings


def aws_settings(settings: Settings, stack: str) -> AwsSettings:
    """The account of a stack, with the names and tags that its EC2NodeClasses look things up by."""
    names = Names(stack)
    return AwsSettings(
        cluster=names.cluster,
        region=settings.region,
        zones=settings.zones,
        vpc_cidr=settings.network.cidr,
        node_role=names.node_role,
        queue=names.queue,
    )
