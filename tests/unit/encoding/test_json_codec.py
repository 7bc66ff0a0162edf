"""JSON in and out: exact numbers, and nothing lost silently."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridview.encoding.json_codec import MAX_NESTING, dumps, loads, size_in_response
from gridview.support.errors import MAX_ERRORS, InvalidRequest
from tests.support.depth import one_of


def refusal(text: str | bytes) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        loads(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-0", 0),
        ("1.00", Decimal("1.00")),
        ("1e2", Decimal(100)),
        ("0.1", Decimal("0.1")),
        ("12345678901234567890123456789012345678", 12345678901234567890123456789012345678),
        ("0.12345678901234567890123456789012345678", Decimal("0.12345678901234567890123456789012345678")),
    ],
)
def test_a_number_is_read_exactly(text: str, value: Any) -> None:
    read = loads(text)
    assert read == value
    assert not isinstance(read, float)


@pytest.mark.parametrize("text", ["2", "2.0", "20e-1", "2.00", "0.2e1"])
def test_a_whole_number_is_an_integer_however_it_is_written(text: str) -> None:
    read = loads(text)
    assert (type(read), read) == (int, 2)


@pytest.mark.parametrize("text", ["1" * 1000, "1" * 998 + ".5", "1e999999999999", "-1e-999999999999"])
def test_a_number_beyond_reason_is_read_as_one_that_no_field_takes(text: str) -> None:
    read = loads(f'{{"field": {text}}}')["field"]
    assert isinstance(read, Decimal)
    assert len(read.as_tuple().digits) > 38 or not -130 <= read.adjusted() <= 125


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "",
        "{",
        "nul",
        "01",
        "+1",
        ".5",
        "'a'",
        "[1,]",
        "1 2",
        '"\t"',
        "\ufeff{}",
    ],
)
def test_a_text_that_is_not_json_is_refused(text: str) -> None:
    assert refusal(text).detail.startswith("The JSON is not valid")


def test_bytes_that_are_not_utf8_are_refused() -> None:
    assert refusal(b'"\xff"').detail.startswith("The JSON is not valid")
    assert refusal(b'"\xed\xa0\x80"').detail.startswith("The JSON is not valid")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '{"b": [{"a": 1, "c": 2, "\\u0061": 3}]}'])
def test_a_repeated_property_is_refused(text: str) -> None:
    ((field, message),) = refusal(text).errors
    assert (field, message) == ("b.0" if "b" in text else "body", "repeats a property")


@pytest.mark.parametrize(
    "literal", ["NaN", "Infinity", "-Infinity", "1" * 1001, "0." + "1" * 999, "-1e" + "9" * 998]
)
def test_a_literal_that_is_no_number_is_refused_with_its_place(literal: str) -> None:
    text = f'{{"a": [1, {{"b": {literal}}}], "c": {literal}}}'
    assert [one.field for one in refusal(text).errors] == ["a.1.b", "c"]
    assert refusal(text).detail.startswith("The JSON is not valid: a.1.b ")


@pytest.mark.parametrize("part", ['"\\ud800"', "NaN", '{"a":1,"a":1}'])
def test_of_many_flaws_the_first_are_listed_and_the_others_counted(part: str) -> None:
    depth, count = MAX_NESTING - 1, 20_000
    refused = refusal("[" * depth + ",".join([part] * count) + "]" * depth)
    assert (len(refused.errors), refused.more) == (MAX_ERRORS, count - MAX_ERRORS)
    assert refused.errors[1].field == "0." * (depth - 1) + "1"


def nested(levels: int) -> list[str]:
    arrays = "[" * levels + "]" * levels
    flawed = '{"name": "\\ud800", "fields": ' + arrays[1:-1] + "}"
    return [arrays, '{"a":' * levels + "1" + "}" * levels, flawed]


@pytest.mark.parametrize("levels", [MAX_NESTING + 1, 300, 600, 100_000])
def test_deep_nesting_is_refused(levels: int) -> None:
    for text in nested(levels):
        assert "nested too deeply" in refusal(text).detail


def test_the_deepest_document_can_be_written_within_others() -> None:
    for text in nested(MAX_NESTING)[:2]:
        within = loads(text)
        for _ in range(100):
            within = [within]
        assert text in dumps(within).decode()


def test_brackets_in_texts_are_no_levels() -> None:
    assert loads(dumps("[{" * 1_000)) == "[{" * 1_000


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ('"\\ud800"', ["body"]),
        ('{"name": "a\\uDFFFb"}', ["name"]),
        ('{"fields": {"x": ["ok", "\\ud83d"]}, "name": "\\udc00"}', ["fields.x.1", "name"]),
        ('{"fields": {"\\ud800": 1}}', ["fields.\N{REPLACEMENT CHARACTER}"]),
        ('"\\ude00\\ud83d"', ["body"]),
    ],
)
def test_every_lone_surrogate_is_named(text: str, fields: list[str]) -> None:
    error = refusal(text)
    assert [one.field for one in error.errors] == fields
    json.dumps(error.errors).encode()


def test_a_surrogate_pair_is_one_character() -> None:
    assert loads('"\\ud83d\\ude00"') == "\U0001f600"
    assert loads('"\\\\ud800"') == "\\ud800"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**45), 10**45) | st.text(max_size=6),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=6,
    )
)
@settings(max_examples=one_of(50, thorough=150))
def test_a_document_is_written_as_it_was_read(document: Any) -> None:
    assert loads(dumps(document)) == document


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("1.00"), "1"),
        (Decimal("1E+2"), "100"),
        (Decimal("-0.5"), "-0.5"),
        (Decimal("-0"), "0"),
        (Decimal("1.5E+125"), "1.5E+125"),
        (2**63, "9223372036854775808"),
        (2**64, "18446744073709551616"),
        (-(2**64), "-18446744073709551616"),
        ({"a": (True, [2**64], {"b": 10**39})}, '{"a":[true,[18446744073709551616],{"b":1E+39}]}'),
        (("a", "b"), '["a","b"]'),
        (frozenset({"a"}), '["a"]'),
        ("\u00e4\u2028", '"\u00e4\u2028"'),
    ],
)
def test_the_text_of_a_value(value: Any, text: str) -> None:
    assert dumps(value).decode() == text


def test_a_value_without_a_json_form_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        dumps(object())


@pytest.mark.parametrize("text", ["plain", 'quo"tes', "back\\slash", "line\nfeed", "\u00e4"])
def test_the_size_in_a_response_is_what_lambda_will_count(text: str) -> None:
    encoded = dumps({"name": text})
    as_a_string_in_json = json.dumps(encoded.decode(), ensure_ascii=False)
    assert size_in_response(encoded) == len(as_a_string_in_json.encode()) - 2
