"""How long a pod takes to stop: preStop, the engine's own drain, and the grace that bounds both (seconds)."""

import re
from fractions import Fraction

from policies.plain import UNKNOWN, Plain, Unknown, dig, items
from policies.pods import Container, command_line, containers, is_vllm
from policies.quantity import quantity

DEFAULT_GRACE = 30  # Kubernetes core/v1 PodSpec.terminationGracePeriodSeconds
_SLEEP = re.compile(r"\bsleep\s+(\S+)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def grace(pod: Plain) -> Fraction | Unknown:
    """terminationGracePeriodSeconds of a pod."""
    stated = dig(pod, "spec", "terminationGracePeriodSeconds")
    if stated is None:
        return Fraction(DEFAULT_GRACE)
    number = quantity(stated)
    return UNKNOWN if number is None or number < 0 else number


def pre_stop(container: Container) -> Fraction | Unknown:
    """Seconds a container's preStop hook sleeps; hooks that only call something count as none."""
    hook = dig(container.body, "lifecycle", "preStop")
    if hook is None:
        return Fraction(0)
    if dig(hook, "sleep") is not None:
        number = quantity(dig(hook, "sleep", "seconds"))
        return UNKNOWN if number is None or number < 0 else number
    words = items(dig(hook, "exec", "command")) if dig(hook, "exec") is not None else []
    if not isinstance(hook, dict) or any(not isinstance(word, str) for word in words):
        return UNKNOWN
    line = " ".join(word for word in words if isinstance(word, str))[:20_000]
    total = Fraction(0)
    for argument in _SLEEP.findall(line):
        found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)([smh]?)[;&|)\"']*", argument)
        if found is None:
            return UNKNOWN
        total += Fraction(found[1]) * _UNITS[found[2]]
    return total


def shutdown(container: Container) -> Fraction | Unknown:
    """`--shutdown-timeout` of a vLLM engine, 0 by default (requests in flight are aborted), 0 for others."""
    if not is_vllm(container):
        return Fraction(0)
    line = command_line(container)
    stated = line.option("--shutdown-timeout")
    if stated is None:
        return Fraction(0) if line.known else UNKNOWN
    number = quantity(stated)
    return UNKNOWN if number is None or number < 0 else number


def longest(pod: Plain) -> Fraction | Unknown:
    """preStop + drain of the slowest container; containers stop side by side."""
    worst = Fraction(0)
    for container in containers(pod):
        if container.role == "initContainers" and not container.sidecar:
            continue
        before, after = pre_stop(container), shutdown(container)
        if isinstance(before, Unknown) or isinstance(after, Unknown):
            return UNKNOWN
        worst = max(worst, before + after)
    return worst
