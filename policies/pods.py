"""What one pod asks for and runs: its containers, GPUs and command lines."""

import math
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from policies.plain import UNKNOWN, Plain, Unknown, dig, fields, items, shown
from policies.quantity import quantity

GPU = "nvidia.com/gpu"
_LISTS = ("initContainers", "containers", "ephemeralContainers")


@dataclass(frozen=True)
class Container:
    """A container of a pod template; `body` is `UNKNOWN` where the template can't be read."""

    body: Plain
    role: str  # one of initContainers, containers, ephemeralContainers

    @property
    def name(self) -> str:
        """How messages name it."""
        name = dig(self.body, "name") if isinstance(self.body, dict) else None
        return name if isinstance(name, str) else "(unnamed)"

    @property
    def sidecar(self) -> bool:
        """An init container that keeps running beside the pod's containers (Kubernetes 1.28+)."""
        return self.role == "initContainers" and dig(self.body, "restartPolicy") == "Always"

    def gpus(self) -> Fraction | Unknown:
        """GPUs it holds: the request, else the limit (the API server copies the limit into the request)."""
        asked = [amount for amount in (self.gpu("requests"), self.gpu("limits")) if amount is not None]
        known = [amount for amount in asked if not isinstance(amount, Unknown)]
        return UNKNOWN if len(known) < len(asked) else max(known, default=Fraction(0))

    def gpu(self, side: str) -> Fraction | Unknown | None:
        """GPUs under `resources.requests` or `resources.limits`; `None` when that side names none."""
        stated = dig(self.body, "resources", side, GPU)
        if stated is None:
            return None
        amount = quantity(stated)
        return UNKNOWN if amount is None or amount < 0 else amount


def containers(pod: Plain) -> Iterator[Container]:
    """All containers of a pod (template): init, main, ephemeral."""
    spec = dig(pod, "spec")
    if spec is UNKNOWN or (spec is not None and not isinstance(spec, dict)):
        yield Container(UNKNOWN, "containers")
        return
    for role in _LISTS:
        for body in items(dig(spec, role)):
            yield Container(body if isinstance(body, dict) else UNKNOWN, role)


def pod_gpus(pod: Plain) -> int | Unknown:
    """GPUs one pod occupies on its node, as the scheduler adds them up.

    max(main containers + sidecars, each other init container + the sidecars started before it); a fraction
    is rounded up. k8s.io/component-helpers `resource.PodRequests`.
    """
    running = Fraction(0)
    peak = Fraction(0)
    for container in containers(pod):
        if container.role == "ephemeralContainers":
            continue
        amount = container.gpus()
        if isinstance(amount, Unknown):
            return UNKNOWN
        if container.role == "containers" or container.sidecar:
            running += amount
            peak = max(peak, running)
        else:
            peak = max(peak, running + amount)
    return math.ceil(peak)


def labels(pod: Plain) -> dict[str, Plain] | None:
    """The pod template's labels; `None` when they can't be read."""
    return fields(dig(pod, "metadata", "labels"))


@dataclass(frozen=True)
class CommandLine:
    """A container's command and arguments as words; `known` is false where a part can't be read."""

    words: tuple[str, ...]
    known: bool

    def option(self, *names: str) -> str | None:
        """The value of the last occurrence of an option, as argparse takes it; `None` when absent."""
        value: str | None = None
        for index, word in enumerate(self.words):
            head, equals, tail = word.partition("=")
            if head.replace("_", "-") in names:
                following = self.words[index + 1] if index + 1 < len(self.words) else ""
                value = tail if equals else following
        return value


def command_line(container: Container) -> CommandLine:
    """The words of `command` and `args`, shell strings split as a shell would."""
    words: list[str] = []
    known = True
    for part in (*items(dig(container.body, "command")), *items(dig(container.body, "args"))):
        if not isinstance(part, str):
            known = known and part is not UNKNOWN
            words.append("" if part is UNKNOWN else shown(part))
        elif len(part) <= 20_000 and re.search(r"\s", part):
            words.extend(_split(part))
        else:
            words.append(part)
    return CommandLine(tuple(words), known)


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=False)
    except ValueError:
        return line.split()


def is_vllm(container: Container) -> bool:
    """Whether a main container runs a vLLM engine: by its command, else by the image's entrypoint."""
    if container.role != "containers":
        return False
    if not dig(container.body, "command") and _engine_image(dig(container.body, "image")):
        return True
    words = command_line(container).words
    return any(word.split("/")[-1] == "vllm" or word.startswith("vllm.entrypoints") for word in words)


def _engine_image(image: Plain) -> bool:
    """Whether an image starts a vLLM engine: `vllm/vllm-openai`, a mirror of it, not the router."""
    repository = image.split("@")[0].lower() if isinstance(image, str) else ""
    name = repository.rsplit("/", 1)[-1].split(":")[0]
    return "vllm" in repository and "router" not in repository and ("vllm" in name or "openai" in name)


def vllm_version(image: Plain) -> tuple[int, int] | None:
    """(major, minor) from a tag such as `v0.33.0`; `None` for digests only, nightlies and other schemes."""
    if not isinstance(image, str):
        return None
    tag = image.split("@")[0].rsplit("/", 1)[-1].partition(":")[2]
    found = re.match(r"v?([0-9]{1,4})\.([0-9]{1,4})(?:[.\-+]|$)", tag)
    return (int(found[1]), int(found[2])) if found else None
