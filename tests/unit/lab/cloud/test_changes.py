"""What counts as a change, and which change replaces."""

import json
from collections.abc import Mapping

import pytest

from lab.cloud.aws.book import same
from lab.cloud.changes import Change, compare
from lab.cloud.wire import UNKNOWN

_FORCED = frozenset({"cidrBlock", "vpcConfig.vpcId", "-encryptionConfig"})


def _changes(old: Mapping[str, object], new: Mapping[str, object]) -> list[tuple[str, str, bool]]:
    return [(change.path, change.kind, change.replaces) for change in compare(old, new, _FORCED, same)]


def test_equal_inputs_are_no_change() -> None:
    assert compare({"a": {"b": [1]}}, {"a": {"b": [1]}}, _FORCED, same) == []


def test_a_forced_property_replaces_and_another_does_not() -> None:
    old, new = (
        {"cidrBlock": "10.0.0.0/16", "tags": {"a": "1"}},
        {"cidrBlock": "10.1.0.0/16", "tags": {"a": "2"}},
    )
    assert _changes(old, new) == [("cidrBlock", "update", True), ("tags.a", "update", False)]


def test_a_forced_property_inside_an_added_object_replaces() -> None:
    assert _changes({}, {"vpcConfig": {"vpcId": "vpc-1", "other": 1}}) == [
        ("vpcConfig.other", "add", False),
        ("vpcConfig.vpcId", "add", True),
    ]


def test_a_value_that_is_not_known_yet_counts_as_changed() -> None:
    """A preview must show the subnets that move because their VPC does."""
    assert _changes({"cidrBlock": "10.0.0.0/16"}, {"cidrBlock": UNKNOWN}) == [("cidrBlock", "update", True)]


def test_encryption_can_be_added_but_not_taken_away() -> None:
    config = {"encryptionConfig": {"provider": {"keyArn": "k"}}}
    assert [change[2] for change in _changes({}, config)] == [False]
    assert [change[2] for change in _changes(config, {})] == [True]


def test_the_order_of_json_keys_and_of_sets_is_no_change() -> None:
    old = {"policy": json.dumps({"a": 1, "b": 2}), "subnetIds": ["a", "b"]}
    new = {"policy": json.dumps({"b": 2, "a": 1}), "subnetIds": ["b", "a"]}
    assert _changes(old, new) == []


@pytest.mark.parametrize(("old", "new"), [("{", "{ "), ("{}", '{"a": 1}'), ("plain", "other")])
def test_other_text_is_a_change(old: str, new: str) -> None:
    assert _changes({"policy": old}, {"policy": new}) == [("policy", "update", False)]


def test_a_key_with_dots_is_quoted_in_its_path() -> None:
    (change,) = compare({}, {"tags": {"kubernetes.io/role/elb": "1"}}, _FORCED, same)
    assert change == Change(path='tags["kubernetes.io/role/elb"]', kind="add", replaces=False)


def test_items_of_a_list_are_compared_in_place() -> None:
    old, new = {"rules": [{"port": 1}, {"port": 2}]}, {"rules": [{"port": 1}, {"port": 3}, {"port": 4}]}
    assert _changes(old, new) == [("rules[1].port", "update", False), ("rules[2].port", "add", False)]
