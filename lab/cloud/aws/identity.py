"""IAM: roles, policies and what ties them together."""

from lab.cloud.asked import Asked
from lab.cloud.aws.kind import CREATED, Kind, Naming, by
from lab.cloud.wire import Properties


def _path(asked: Asked) -> str:
    return asked.text("path", "/")


def _iam(asked: Asked, kind: str, name: str) -> str:
    return asked.arn("iam", f"{kind}{_path(asked)}{name}", regional=False)


def _role(asked: Asked, identity: str) -> Properties:
    return {
        "arn": _iam(asked, "role", identity),
        "createDate": CREATED,
        "uniqueId": f"AROA{asked.hex(17).upper()}",
        "path": "/",
        "maxSessionDuration": 3600,
        "forceDetachPolicies": False,
        "managedPolicyArns": [],
    }


def _profile(asked: Asked, identity: str) -> Properties:
    return {
        "arn": _iam(asked, "instance-profile", identity),
        "createDate": CREATED,
        "uniqueId": f"AIPA{asked.hex(17).upper()}",
        "path": "/",
    }


def _policy(asked: Asked, identity: str) -> Properties:
    return {"arn": identity, "attachmentCount": 0, "policyId": f"ANPA{asked.hex(17).upper()}", "path": "/"}


def _linked(asked: Asked, identity: str) -> Properties:
    return {
        "arn": identity,
        "createDate": CREATED,
        "name": identity.rpartition("/")[2],
        "path": f"/aws-service-role/{asked.text('awsServiceName')}/",
        "uniqueId": f"AROA{asked.hex(17).upper()}",
    }


def _linked_arn(asked: Asked) -> str:
    service = asked.text("awsServiceName")
    name = f"AWSServiceRoleFor{service.partition('.')[0].upper()}"
    return asked.arn("iam", f"role/aws-service-role/{service}/{name}", regional=False)


KINDS: dict[str, Kind] = {
    "aws:iam/role:Role": Kind(
        identity=by("name"), adds=_role, forced="name namePrefix path", naming=Naming(key="name", limit=64)
    ),
    "aws:iam/policy:Policy": Kind(
        identity=lambda asked: _iam(asked, "policy", asked.text("name")),
        adds=_policy,
        forced="name namePrefix path description",
        naming=Naming(key="name", limit=128),
    ),
    "aws:iam/rolePolicy:RolePolicy": Kind(
        identity=by("role", "name"),
        forced="name namePrefix role",
        naming=Naming(key="name", limit=128),
        tagged=False,
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Kind(
        identity=by("role", "policyArn", between="/"), forced="role policyArn", tagged=False
    ),
    "aws:iam/instanceProfile:InstanceProfile": Kind(
        identity=by("name"),
        adds=_profile,
        forced="name namePrefix path",
        naming=Naming(key="name", limit=128),
    ),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": Kind(
        identity=lambda asked: asked.arn(
            "iam", f"oidc-provider/{asked.text('url').removeprefix('https://')}", regional=False
        ),
        adds=lambda asked, identity: {"arn": identity},  # noqa: ARG005
        forced="url",
    ),
    "aws:iam/serviceLinkedRole:ServiceLinkedRole": Kind(
        identity=_linked_arn, adds=_linked, forced="awsServiceName customSuffix"
    ),
}
