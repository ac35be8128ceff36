"""Label selectors over pod labels, with three answers: matches, does not, can't be known."""

from policies.plain import UNKNOWN, Plain, dig, fields, items


def matches(selector: Plain, labels: dict[str, Plain] | None) -> bool | None:
    """Whether a policy/v1 selector takes a pod with these labels; `None` when that can't be known.

    An absent selector takes no pod and an empty one takes every pod (k8s.io/api policy/v1). Every condition
    must hold, so one that surely fails decides even beside an unknown one.
    """
    if selector is None:
        return False
    wanted = fields(selector)
    if wanted is None:
        return None
    expected = fields(wanted.get("matchLabels"))
    conditions: list[bool | None] = [None] if expected is None else []
    for key, value in (expected or {}).items():
        conditions.append(_equal(labels, key, [value]))
    conditions += [_expression(entry, labels) for entry in items(wanted.get("matchExpressions"))]
    if any(condition is False for condition in conditions):
        return False
    return None if None in conditions else True


def _expression(entry: Plain, labels: dict[str, Plain] | None) -> bool | None:
    if not isinstance(entry, dict):
        return None
    key, operator = entry.get("key"), entry.get("operator")
    if not isinstance(key, str):
        return None
    match operator:
        case "In":
            return _equal(labels, key, items(entry.get("values")))
        case "NotIn":
            found = _equal(labels, key, items(entry.get("values")))
            return None if found is None else not found
        case "Exists":
            return None if labels is None else key in labels
        case "DoesNotExist":
            return None if labels is None else key not in labels
        case _:
            return None


def _equal(labels: dict[str, Plain] | None, key: str, values: list[Plain]) -> bool | None:
    if labels is None:
        return None
    if key not in labels:
        return False
    actual = labels[key]
    if actual is UNKNOWN:
        return None
    if actual in [value for value in values if value is not UNKNOWN]:
        return True
    return None if UNKNOWN in values else False


def tolerated(taints: list[Plain], pod: Plain) -> bool | None:
    """Whether a pod may be scheduled onto a node with these taints; `None` when that can't be known."""
    tolerations = items(dig(pod, "spec", "tolerations"))
    verdict: bool | None = True
    for taint in taints:
        effect = dig(taint, "effect")
        if effect == "PreferNoSchedule":
            continue
        answers = [_tolerates(toleration, taint) for toleration in tolerations]
        if True in answers:
            continue
        if None not in answers:
            return False
        verdict = None
    return verdict


def _tolerates(toleration: Plain, taint: Plain) -> bool | None:
    if not isinstance(toleration, dict) or not isinstance(taint, dict):
        return None
    key, operator = toleration.get("key"), toleration.get("operator")
    parts: list[bool | None] = [_agree(toleration.get("effect"), taint.get("effect"))]
    if key not in (None, "") or operator != "Exists":
        parts.append(None if UNKNOWN in (key, taint.get("key")) else key == taint.get("key"))
    if operator not in ("Exists", UNKNOWN):
        left, right = toleration.get("value") or "", taint.get("value") or ""
        parts.append(None if UNKNOWN in (left, right) else left == right)
    elif operator is UNKNOWN:
        parts.append(None)
    if False in parts:
        return False
    return None if None in parts else True


def _agree(stated: Plain, actual: Plain) -> bool | None:
    if stated in (None, ""):
        return True
    return None if UNKNOWN in (stated, actual) else stated == actual
