"""Names: length, characters, and one owner each."""

import re
from collections.abc import Iterator

from lab.cloud.asked import Asked
from lab.cloud.refuse.account import Account
from lab.cloud.refuse.problem import Problem, short
from lab.cloud.wire import has_unknown

_SHAPES: dict[str, tuple[str, str, str]] = {
    "aws:s3/bucket:Bucket": (
        "bucket",
        r"(?!xn--|sthree-|amzn-s3-demo-)(?!.*\.\.)(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]",
        "3 to 63 lower-case letters, digits, dots and hyphens, first and last a letter or digit",
    ),
    "aws:sqs/queue:Queue": ("name", r"[A-Za-z0-9_-]{1,80}(?:\.fifo)?", "1 to 80 letters, digits, _ and -"),
    "aws:eks/cluster:Cluster": (
        "name",
        r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}",
        "1 to 100 letters, digits, _ and -, the first a letter or digit",
    ),
    "aws:eks/nodeGroup:NodeGroup": (
        "nodeGroupName",
        r"[0-9A-Za-z][0-9A-Za-z_-]{0,62}",
        "1 to 63 letters, digits, _ and -, the first a letter or digit",
    ),
    "aws:iam/role:Role": ("name", r"[\w+=,.@-]{1,64}", "1 to 64 letters, digits and +=,.@_-"),
    "aws:iam/policy:Policy": ("name", r"[\w+=,.@-]{1,128}", "1 to 128 letters, digits and +=,.@_-"),
    "aws:iam/rolePolicy:RolePolicy": ("name", r"[\w+=,.@-]{1,128}", "1 to 128 letters, digits and +=,.@_-"),
    "aws:iam/instanceProfile:InstanceProfile": (
        "name",
        r"[\w+=,.@-]{1,128}",
        "1 to 128 letters, digits and +=,.@_-",
    ),
    "aws:cloudwatch/eventRule:EventRule": ("name", r"[.\w-]{1,64}", "1 to 64 letters, digits, dots, _ and -"),
    "aws:cloudwatch/logGroup:LogGroup": ("name", r"[.\w/#-]{1,512}", "1 to 512 letters, digits and ._-/#"),
    "aws:kms/alias:Alias": (
        "name",
        r"alias/(?!aws/)[\w/-]{1,250}",
        "alias/ and 1 to 250 letters, digits, / _ and -, but not alias/aws/",
    ),
    "aws:ec2/securityGroup:SecurityGroup": (
        "name",
        r"(?!sg-)[\w .:/()#,@\[\]+=&;{}!$*-]{1,255}",
        "1 to 255 characters of a-z A-Z 0-9 ._-:/()#,@[]+=&;{}!$*, not starting with sg-",
    ),
}
"""Property, pattern and the pattern in words (IAM, EKS, SQS, EventBridge, KMS and EC2 API references; S3
bucket rules)."""

_UNIQUE: dict[str, tuple[str, ...]] = {
    "aws:s3/bucket:Bucket": ("bucket",),
    "aws:sqs/queue:Queue": ("name",),
    "aws:eks/cluster:Cluster": ("name",),
    "aws:eks/nodeGroup:NodeGroup": ("clusterName", "nodeGroupName"),
    "aws:eks/addon:Addon": ("clusterName", "addonName"),
    "aws:eks/accessEntry:AccessEntry": ("clusterName", "principalArn"),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": ("clusterName", "namespace", "serviceAccount"),
    "aws:iam/role:Role": ("name",),
    "aws:iam/policy:Policy": ("name",),
    "aws:iam/instanceProfile:InstanceProfile": ("name",),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": ("url",),
    "aws:cloudwatch/eventRule:EventRule": ("name",),
    "aws:cloudwatch/logGroup:LogGroup": ("name",),
    "aws:kms/alias:Alias": ("name",),
    "aws:ec2/launchTemplate:LaunchTemplate": ("name",),
    "aws:ec2/securityGroup:SecurityGroup": ("vpcId", "name"),
    "aws:ec2/route:Route": ("routeTableId", "destinationCidrBlock"),
}
"""What may exist once. IAM compares names without regard to case."""


def shape(asked: Asked, account: Account) -> Iterator[Problem]:
    """A name of the wrong length or with characters that the service does not take."""
    del account
    if asked.type not in _SHAPES:
        return
    key, pattern, words = _SHAPES[asked.type]
    name = asked.inputs.get(key)
    if isinstance(name, str) and not has_unknown(name) and not re.fullmatch(pattern, name, re.ASCII):
        size = f" ({len(name)} characters)" if len(name) > 40 else ""
        yield Problem(path=key, given=f"{short(name)}{size}", allowed=words, fix="shorten or rename it")


def unique(asked: Asked, account: Account) -> Iterator[Problem]:
    """The name that another resource of the same run has."""
    keys = _UNIQUE.get(asked.type)
    if keys is None:
        return
    values = [asked.inputs.get(key) for key in keys]
    if any(value is None or has_unknown(value) for value in values):
        return
    region = "" if asked.type.startswith(("aws:iam/", "aws:s3/")) else asked.region
    owner = account.claim((asked.type, region, *(str(value).lower() for value in values)), asked.urn)
    if owner:
        yield Problem(
            path=keys[-1],
            given=f"{short(values[-1])}, which {owner.rpartition('::')[2]} has",
            allowed="a name that nothing else of this kind has",
            fix="rename one of the two",
        )
