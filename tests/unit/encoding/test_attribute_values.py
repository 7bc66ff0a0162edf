"""Plain Python to DynamoDB's typed JSON and back, and how large an item is."""

import base64
from decimal import Decimal
from typing import Any

import pytest
from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from hypothesis import given, settings
from hypothesis import strategies as st

from gridview.encoding.attribute_values import from_wire, item_from_wire, item_size, item_to_wire, to_wire
from gridview.encoding.json_codec import dumps
from tests.support.depth import one_of

scalars = (
    st.none()
    | st.booleans()
    | st.text(max_size=8)
    | st.binary(max_size=8)
    | st.integers(-(10**38) + 1, 10**38 - 1)
    | st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**20), max_value=10**20)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(values)
@settings(max_examples=one_of(70, thorough=200))
def test_a_value_comes_back_as_it_went(value: Any) -> None:
    assert from_wire(to_wire(value)) == value


@given(values)
@settings(max_examples=one_of(70, thorough=200))
def test_the_wire_form_is_the_one_of_the_sdk(value: Any) -> None:
    wire: Any = to_wire(value)
    theirs: Any = TypeSerializer().serialize(value)
    assert TypeDeserializer().deserialize(wire) == from_wire(theirs) == value


@pytest.mark.parametrize(
    "text",
    [
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775809",
        "12345678901234567890123456789012345678",
        "-99999999999999999999999999999999999999",
    ],
)
def test_a_large_integer_that_dynamodb_returns_can_be_answered_with_all_its_digits(text: str) -> None:
    found = from_wire({"N": text})
    assert isinstance(found, Decimal)
    assert Decimal(dumps(found).decode()) == Decimal(text)


@pytest.mark.parametrize("value", [1.5, {"a": 1.5}, [object()], {1, 2}])
def test_a_value_that_no_item_contains_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        to_wire(value)


def test_a_string_set_is_refused() -> None:
    with pytest.raises(TypeError, match="SS"):
        from_wire({"SS": ["a"]})


def test_binary_comes_as_bytes_or_as_base64_text() -> None:
    assert (
        from_wire({"B": b"\x00\xff"})
        == from_wire({"B": base64.b64encode(b"\x00\xff").decode()})
        == b"\x00\xff"
    )


def test_a_whole_item_goes_attribute_by_attribute() -> None:
    item = {"PK": "issue-1", "num": 1, "fields": {"a1": Decimal("1.5"), "a2": ["o1"]}}
    wire: Any = {
        "PK": {"S": "issue-1"},
        "num": {"N": "1"},
        "fields": {"M": {"a1": {"N": "1.5"}, "a2": {"L": [{"S": "o1"}]}}},
    }
    assert item_to_wire(item) == wire
    assert item_from_wire(wire) == item


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("abc", 3),
        ("\u00e4\U0001f600", 6),
        (b"\x00\x01", 2),
        (True, 1),
        (None, 1),
        ([], 3),
        ({}, 3),
        (["a", "b"], 3 + 2 * (1 + 1)),
        ({"ab": "c"}, 3 + 1 + 2 + 1),
    ],
)
def test_the_size_of_a_value_is_what_the_documentation_says(value: Any, size: int) -> None:
    assert item_size(value) == size


@pytest.mark.parametrize(
    ("number", "significant"),
    [(0, 0), (42, 2), (Decimal("-1.5"), 2), (Decimal("9" * 38), 38), (-(10**37), 1)],
)
def test_the_size_of_a_number_is_never_underestimated(number: Any, significant: int) -> None:
    assert item_size(number) >= (significant + 1) // 2 + 1 + (number < 0)
