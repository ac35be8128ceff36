"""Container image references: where every one of them is written, and how firmly it is pinned."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from policies.plain import Plain, dig, items
from policies.pods import containers

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")


@dataclass(frozen=True)
class Image:
    """An image reference taken apart; `tag` and `digest` are empty when absent."""

    repository: str
    tag: str
    digest: str


def parse(reference: str) -> Image:
    """Repository, tag and digest; a port in the registry is no tag."""
    name, _, digest = reference.partition("@")
    head, slash, last = name.rpartition("/")
    base, _, tag = last.partition(":")
    return Image(head + slash + base, tag, digest)


def loose(reference: str, *, digest: bool) -> str | None:
    """What is loose about a reference; `None` when it is pinned firmly enough."""
    image = parse(reference)
    if image.digest and not _DIGEST.fullmatch(image.digest):
        return "a malformed digest"
    if image.tag.lower() == "latest":
        return "the tag latest"
    if digest and not image.digest:
        return "no digest"
    if not image.tag and not image.digest:
        return "no tag"
    return None


def of_pod(pod: Plain) -> Iterator[tuple[str, Plain]]:
    """(where, reference) of every container and image volume of a pod."""
    for container in containers(pod):
        yield f"container {container.name}", dig(container.body, "image")
    spec = dig(pod, "spec")
    for volume in items(dig(spec, "volumes") if isinstance(spec, dict) else None):
        reference = dig(volume, "image", "reference") if isinstance(volume, dict) else None
        if reference is not None:
            yield f"volume {dig(volume, 'name')}", reference
