"""Proxies, unknowns and secrets become plain values, once and for all rules."""

from typing import Any

import pytest
from pulumi_policy import Secret
from pulumi_policy.proxy import (
    UNKNOWN_NUMBER_VALUE,
    UNKNOWN_OBJECT_VALUE,
    UNKNOWN_STRING_VALUE,
    unknown_checking_proxy,
)

from policies.plain import SECRET_SIGNATURE, SIGNATURE, UNKNOWN, dig, items, plain, shown


def test_a_proxy_becomes_a_dict_and_its_unknown_leaf_is_marked() -> None:
    proxy = unknown_checking_proxy(
        {"spec": {"replicas": UNKNOWN_NUMBER_VALUE, "paused": False}, "list": [1, {"a": 2}]}
    )
    assert plain(proxy) == {"spec": {"replicas": UNKNOWN, "paused": False}, "list": [1, {"a": 2}]}


def test_a_sentinel_inside_a_longer_string_is_unknown_too() -> None:
    assert plain(f"arn:aws:s3:::{UNKNOWN_STRING_VALUE}/*") is UNKNOWN


def test_a_secret_is_read_through_and_remembered() -> None:
    secrets: set[str] = set()
    assert plain({"env": Secret({"token": "hf_abcdef"})}, secrets) == {"env": {"token": "hf_abcdef"}}
    assert secrets == {"hf_abcdef"}


def test_a_secret_on_the_wire_is_read_through_and_remembered() -> None:
    secrets: set[str] = set()
    assert plain({SIGNATURE: SECRET_SIGNATURE, "value": ["hf_abcdef"]}, secrets) == ["hf_abcdef"]
    assert secrets == {"hf_abcdef"}


def test_what_analyze_redacted_is_unknown_not_a_string() -> None:
    assert plain({"spec": "[secret]"}) == {"spec": UNKNOWN}


@pytest.mark.parametrize("value", [b"bytes", object(), {1, 2}, print])
def test_what_is_not_json_is_unknown(value: object) -> None:
    assert plain(value) is UNKNOWN


def test_nesting_without_end_is_cut_and_not_followed() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    assert isinstance(plain(loop), dict)


def test_digging_tells_absent_from_unreadable() -> None:
    body = plain({"spec": {"limits": None, "template": UNKNOWN_OBJECT_VALUE, "wrong": "text"}})
    assert dig(body, "spec", "limits", "gpu") is None
    assert dig(body, "spec", "template", "spec") is UNKNOWN
    assert dig(body, "spec", "wrong", "deeper") is UNKNOWN
    assert dig(body, "spec", "nowhere", "deeper") is None


def test_a_list_that_is_no_list_has_one_unreadable_entry() -> None:
    assert (items(None), items([1]), items("text")) == ([], [1], [UNKNOWN])


def test_long_values_are_cut_in_messages() -> None:
    assert len(shown("x" * 5000)) < 200
    assert len(shown(10**5000)) < 60
