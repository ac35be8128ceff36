"""Values keep their meaning on the way through a protobuf struct."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.cloud.eks.values import derived, merged, output
from lab.cloud.wire import (
    OUTPUT,
    SECRET,
    SIGNATURE,
    UNKNOWN,
    bare,
    dependencies,
    has_unknown,
    to_python,
    to_struct,
)

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), _JSON, max_size=4))
def test_what_goes_in_comes_out(properties: dict[str, object]) -> None:
    assert to_python(to_struct(properties)) == properties


def test_a_value_that_cannot_travel_is_refused() -> None:
    with pytest.raises(TypeError, match="object cannot travel in a Pulumi property"):
        to_struct({"key": object()})


def test_an_unknown_deep_inside_is_found() -> None:
    assert has_unknown({"a": [{"b": f"arn:{UNKNOWN}"}]})
    assert not has_unknown({"a": [{"b": "arn"}], "c": None})


def test_secrets_and_outputs_are_unwrapped_and_their_sources_kept() -> None:
    secret = {SIGNATURE: SECRET, "value": "token"}
    wrapped = {SIGNATURE: OUTPUT, "value": secret, "dependencies": ["urn:a"]}
    assert bare({"key": wrapped}) == {"key": "token"}
    assert list(dependencies({"key": [wrapped]})) == ["urn:a"]


def test_an_output_without_a_value_is_unknown() -> None:
    assert bare({SIGNATURE: OUTPUT, "dependencies": []}) == UNKNOWN


def test_a_derived_value_waits_for_its_sources_and_inherits_their_secrecy() -> None:
    known = output("cluster", ["urn:a"], secret=True)
    made = derived(str.upper, known)
    assert (bare(made), made["secret"], made["dependencies"]) == ("CLUSTER", True, ["urn:a"])
    assert bare(derived(str.upper, output(UNKNOWN, ["urn:a"]))) == UNKNOWN


def test_later_tags_win() -> None:
    assert bare(merged({"Name": "cluster", "team": "ml"}, None, {"team": "serving"})) == {
        "Name": "cluster",
        "team": "serving",
    }
