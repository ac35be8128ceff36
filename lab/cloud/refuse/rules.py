"""The list of rules, and how they are asked."""

from lab.cloud.asked import Asked
from lab.cloud.journal import Refusal
from lab.cloud.refuse import documents, names, networks, tags, versions
from lab.cloud.refuse.account import Account

RULES = (
    names.shape,
    names.unique,
    networks.vpc,
    networks.subnet,
    networks.cluster,
    documents.document,
    documents.size,
    tags.tags,
    versions.version,
    versions.endpoint,
)


def refusals(asked: Asked, account: Account) -> list[Refusal]:
    """Every reason why AWS would not take this resource."""
    return [problem.of(asked) for rule in RULES for problem in rule(asked, account)]
