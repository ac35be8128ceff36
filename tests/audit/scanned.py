"""What the scanner gets: the objects and documents that the prod stack declares, in forms that it reads.

Kubernetes objects go as they are. IAM documents go word for word into CloudFormation resources, since that is a
form the scanner reads them in; nothing else of AWS is put into another tool's words. What a Helm chart installs is
not declared here and not scanned.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lab.render import Declared, render
from specs import iam
from specs.settings.source import load

PROJECT = Path(__file__).resolve().parents[2]
QUEUE = "arn:aws:sqs:us-east-1:111122223333:headroom-prod-interruption"


def declared() -> list[Declared]:
    """The prod stack with a warm spare, so that every kind of object the program knows for a model is there."""
    file = load(PROJECT / "Pulumi.prod.yaml")
    config: dict[str, Any] = copy.deepcopy(dict(file.config))
    first = config["headroom:models"][0]
    first["scaling"] = {**first.get("scaling", {}), "warmSpares": 1}
    return render(PROJECT / "__main__.py", file.stack, config)


def write(folder: Path) -> None:
    """The scanner's input."""
    found = declared()
    objects = "\n---\n".join(json.dumps(body, sort_keys=True) for body in kubernetes(found))
    (folder / "objects.yaml").write_text(objects + "\n", encoding="utf-8")
    template = {"AWSTemplateFormatVersion": "2010-09-09", "Resources": dict(documents(found))}
    (folder / "documents.json").write_text(json.dumps(template, indent=1), encoding="utf-8")


def kubernetes(found: Iterable[Declared]) -> Iterator[Mapping[str, object]]:
    """Every Kubernetes object; releases are the provider's own, not the cluster's."""
    for entry in found:
        if entry.type.startswith("kubernetes:") and ":helm.sh/" not in f":{entry.type}":
            yield entry.inputs


def documents(found: Iterable[Declared]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Every IAM document as a CloudFormation resource, by a name that CloudFormation takes."""
    for entry in found:
        name = "".join(word.capitalize() for word in entry.name.split("-"))
        match entry.type.rpartition(":")[2]:
            case "Policy" if entry.type.startswith("aws:iam"):
                yield f"Policy{name}", _resource("IAM::ManagedPolicy", PolicyDocument=_of(entry, "policy"))
            case "RolePolicy":
                document = _of(entry, "policy")
                yield (
                    f"Inline{name}",
                    _resource("IAM::Policy", PolicyName=name, Roles=[name], PolicyDocument=document),
                )
            case "Role" if entry.type.startswith("aws:iam"):
                trust = _of(entry, "assumeRolePolicy")
                yield f"Role{name}", _resource("IAM::Role", AssumeRolePolicyDocument=trust)
            case "BucketPolicy":
                document = _of(entry, "policy")
                yield f"Bucket{name}", _resource("S3::BucketPolicy", Bucket=name, PolicyDocument=document)
            case "QueuePolicy":  # names the queue by its ARN, which is not known before the queue is
                document = iam.interruption_queue(QUEUE)
                yield f"Queue{name}", _resource("SQS::QueuePolicy", Queues=[name], PolicyDocument=document)
            case _:
                pass


def _of(entry: Declared, key: str) -> object:
    return json.loads(str(entry.inputs[key]))


def _resource(kind: str, **properties: object) -> Mapping[str, object]:
    return {"Type": f"AWS::{kind}", "Properties": properties}
