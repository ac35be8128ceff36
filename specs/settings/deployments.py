"""The optional section `headroom:deployments`: what Pulumi Cloud runs, when, and as whom."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from specs.settings.types import Section

StackName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$"), Field(examples=["dev"])
]
Organization = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$"), Field(examples=["acme"])
]
Repository = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+){1,4}$", max_length=255),
    Field(examples=["acme/serving"]),
]
# git check-ref-format's rules for what a shell, a URL and a branch filter would trip over.
Branch = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_+#@-]*([./][A-Za-z0-9_+#@-]+)*$", max_length=200),
    Field(examples=["main"]),
]
PathFilter = Annotated[
    str,
    StringConstraints(pattern=r"^!?[A-Za-z0-9_.*{}-][A-Za-z0-9_.*{},/-]*$", max_length=255),
    Field(examples=["specs/**"]),
]
Folder = Annotated[
    str,
    StringConstraints(pattern=r"^(\.|[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*)$"),
    Field(examples=["serving"]),
]
RoleArn = Annotated[
    str,
    StringConstraints(pattern=r"^arn:aws[a-z-]*:iam::\d{12}:role/[A-Za-z0-9_+=,.@/-]{1,512}$"),
    Field(examples=["arn:aws:iam::111122223333:role/headroom-deploy"]),
]
PolicyArn = Annotated[
    str,
    StringConstraints(pattern=r"^arn:aws[a-z-]*:iam::(aws|\d{12}):policy/[A-Za-z0-9_+=,.@/-]{1,512}$"),
    Field(examples=["arn:aws:iam::aws:policy/ReadOnlyAccess"]),
]
Cron = Annotated[str, StringConstraints(min_length=9, max_length=100), Field(examples=["0 4 * * *"])]
Moment = Annotated[
    str,
    StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$"),
    Field(examples=["2027-01-31T18:00:00Z"]),
]


class AwsAccess(Section):
    """The IAM role that a deployment assumes with Pulumi Cloud's OIDC token; no key is stored anywhere."""

    role_arn: RoleArn
    """Role to assume; it trusts the issuer api.pulumi.com/oidc for this stack alone."""
    session_name: Annotated[
        str, StringConstraints(pattern=r"^[A-Za-z0-9_=,.@-]{2,64}$"), Field(examples=["headroom-dev"])
    ] = "headroom-deployments"
    """Name of the session in CloudTrail."""
    duration_seconds: Annotated[int, Field(ge=900, le=43_200)] = 3600
    """Life of the credentials; an EKS cluster takes up to half an hour."""
    policy_arns: Annotated[tuple[PolicyArn, ...], Field(max_length=10)] = ()
    """IAM policies that narrow the session further."""


class Drift(Section):
    """When Pulumi Cloud compares the state with AWS."""

    cron: Cron = "0 4 * * *"
    """Five fields, UTC."""
    auto_remediate: bool = False
    """Bring the stack back by an update; off, a change by hand is told and stays."""


class Night(Section):
    """A stack that is destroyed every night and, if wanted, comes back in the morning."""

    destroy: Cron
    """When it is destroyed: five fields, UTC."""
    up: Cron | None = None
    """When it is brought up again: five fields, UTC; null leaves that to the next commit."""


class Ttl(Section):
    """A stack that ends once."""

    at: Moment
    """When it is destroyed, UTC."""
    delete_stack: bool = False
    """Remove the empty stack with its history too."""


class DeployedStack(Section):
    """One stack of this project as Pulumi Cloud runs it."""

    name: StackName
    """The stack."""
    branch: Branch = "main"
    """A push to this branch deploys the stack."""
    paths: Annotated[tuple[PathFilter, ...], Field(max_length=100)] | None = None
    """Only changes of these paths deploy or preview; null takes the program, its pins and this stack's own file."""
    deploy_commits: bool = True
    """Run `pulumi up` on a push to the branch."""
    preview_pull_requests: bool = True
    """Run `pulumi preview` on a pull request against the branch."""
    aws: AwsAccess
    """How it reaches AWS."""
    drift: Drift | None = None
    """Drift detection; null never."""
    night: Night | None = None
    """Nightly destroy; only in a section that another stack holds."""
    ttl: Ttl | None = None
    """One-time destroy."""
    policies: bool = True
    """Judge every update by the pack in blocking mode, with the numbers of policies/<stack>.json."""


class Deployments(Section):
    """Pulumi Deployments and policy groups, declared by the stack that holds this section; needs Pulumi Cloud."""

    organization: Organization
    """Organization in Pulumi Cloud."""
    provider: Literal["github", "gitlab", "bitbucket", "azure_devops"] = "github"
    """Where the repository is; its integration with Pulumi Cloud is set up beforehand."""
    repository: Repository
    """Repository, as the provider spells it."""
    directory: Folder = "."
    """Folder of Pulumi.yaml in the repository."""
    agent_pool: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,64}$")] | None = None
    """Id of a pool of self-hosted agents; null runs on Pulumi's."""
    stacks: Annotated[tuple[DeployedStack, ...], Field(max_length=50)]
    """The stacks to run; one section can hold all of a project."""
