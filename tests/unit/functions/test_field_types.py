"""The values of each type: accepted, answered, refused. Through the API, on one project with all types."""

import json
from decimal import Decimal
from typing import Any

import pytest

from gridview.schema.fields import FieldType
from tests.support.cloud import Cloud
from tests.support.http import Client

PATH = "/v1/projects/types"
OPTIONS = ["low", "medium", "high"]
FACE = "\U0001f600"


@pytest.fixture(scope="module")
def api(shared_account: Cloud) -> Client:
    """An admin of a tenant whose project has one attribute of each type, named as the type."""
    api = shared_account.api(tenant="types")
    api.made("/v1/projects", {"id": "types", "name": "Types"})
    for kind in FieldType:
        options = {"options": OPTIONS} if kind.has_options else {}
        api.made(f"{PATH}/attributes", {"id": kind.value, "name": kind.value, "type": kind.value, **options})
    return api


def sent(kind: str, literal: str) -> str:
    return f'{{"name": "x", "fields": {{"{kind}": {literal}}}}}'


TAKEN: dict[str, list[tuple[str, Any]]] = {
    "text": [
        ('"a"', "a"),
        ('" "', " "),
        ('"\\u0000\\u0001\\u001f"', "\x00\x01\x1f"),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        (f'"{"x" * 1024}"', "x" * 1024),
        (f'"{FACE * 1024}"', FACE * 1024),
        ('"\\u00e9"', "\u00e9"),
        ('"e\\u0301"', "e\u0301"),
    ],
    "number": [
        ("0", 0),
        ("-0", 0),
        ("-0.0", 0),
        ("1", 1),
        ("1.00", 1),
        ("1.50", Decimal("1.5")),
        ("100", 100),
        ("1e2", 100),
        ("1E+2", 100),
        ("-1.5e-3", Decimal("-0.0015")),
        ("0.1", Decimal("0.1")),
        ("9007199254740993", 9007199254740993),
        ("18446744073709551616", 18446744073709551616),
        ("12345678901234567890123456789012345678", Decimal("12345678901234567890123456789012345678")),
        ("0.12345678901234567890123456789012345678", Decimal("0.12345678901234567890123456789012345678")),
        (
            "-9.9999999999999999999999999999999999999e125",
            Decimal("-9.9999999999999999999999999999999999999E+125"),
        ),
        ("1e-130", Decimal("1E-130")),
        ("10000000000000000000000000000000000000000", Decimal("1E+40")),
        ('"1.50"', Decimal("1.5")),
        ('"-12"', -12),
        ('"1e3"', 1000),
        ('"12345678901234567890123456789012345678"', Decimal("12345678901234567890123456789012345678")),
    ],
    "date": [
        ('"2023-05-01"', "2023-05-01"),
        ('"0001-01-01"', "0001-01-01"),
        ('"9999-12-31"', "9999-12-31"),
        ('"2024-02-29"', "2024-02-29"),
    ],
    "datetime": [
        ('"2023-05-01T12:34:56Z"', "2023-05-01T12:34:56Z"),
        ('"2023-05-01t12:34:56z"', "2023-05-01T12:34:56Z"),
        ('"2023-05-01T12:34:56+00:00"', "2023-05-01T12:34:56Z"),
        ('"2023-05-01T12:34:56-00:00"', "2023-05-01T12:34:56Z"),
        ('"2023-05-01T00:30:00+05:45"', "2023-04-30T18:45:00Z"),
        ('"2023-12-31T23:30:00-01:00"', "2024-01-01T00:30:00Z"),
        ('"2023-05-01T12:34:56.123456Z"', "2023-05-01T12:34:56.123456Z"),
        ('"2023-05-01T12:34:56.100000Z"', "2023-05-01T12:34:56.1Z"),
        ('"2023-05-01T12:34:50.000Z"', "2023-05-01T12:34:50Z"),
        ('"0001-01-01T00:00:00Z"', "0001-01-01T00:00:00Z"),
        ('"9999-12-31T23:59:59.999999Z"', "9999-12-31T23:59:59.999999Z"),
        ('"0000-12-31T23:00:00-01:00"', "0001-01-01T00:00:00Z"),
    ],
    "bool": [("true", True), ("false", False)],
    "enum": [('"low"', "low"), ('"high"', "high")],
    "multi_enum": [
        ('["low"]', ["low"]),
        ('["high", "low"]', ["low", "high"]),
        ('["medium", "high", "low"]', ["low", "medium", "high"]),
    ],
    "user": [('"ann"', "ann"), ('"Ann@Example.com"', "Ann@Example.com"), (f'"{"u" * 256}"', "u" * 256)],
}

REFUSED: dict[str, list[str]] = {
    "text": ["1", "true", '["a"]', "{}", f'"{"x" * 1025}"'],
    "number": [
        "true",
        "false",
        "[1]",
        "{}",
        '"one"',
        '"1 "',
        '"+1"',
        '"01"',
        '".5"',
        '"1."',
        '"0x10"',
        '"1_000"',
        '"1,5"',
        '"NaN"',
        '"Infinity"',
        '"\\u0661"',
        '"1\\n"',
        "1e126",
        "-1e126",
        "1e-131",
        "123456789012345678901234567890123456789",
        "1.23456789012345678901234567890123456789",
        "1e999999999999",
        "1e-999999999999",
        '"1e999999999999"',
    ],
    "date": [
        "20230501",
        "true",
        '"2023-5-1"',
        '"2023-02-29"',
        '"2023-13-01"',
        '"2023-05-32"',
        '"0000-01-01"',
        '"10000-01-01"',
        '"20230501"',
        '"2023-05-01T00:00:00Z"',
        '" 2023-05-01"',
        '"2023-05-01\\n"',
        '"\\u0662023-05-01"',
        '"2023-W18-1"',
    ],
    "datetime": [
        "1682935200",
        '"2023-05-01"',
        '"2023-05-01T12:34:56"',
        '"2023-05-01T12:34Z"',
        '"2023-05-01 12:34:56Z"',
        '"2023-05-01T12:34:56.1234567Z"',
        '"2023-05-01T12:34:56.Z"',
        '"2023-05-01T12:34:60Z"',
        '"2023-05-01T24:00:00Z"',
        '"2023-05-01T12:60:00Z"',
        '"2023-02-29T00:00:00Z"',
        '"2023-05-01T12:34:56+24:00"',
        '"2023-05-01T12:34:56+01:60"',
        '"2023-05-01T12:34:56+0100"',
        '"0001-01-01T00:00:00+00:01"',
        '"9999-12-31T23:59:59-00:01"',
        '"2023-05-01T12:34:56Z\\n"',
    ],
    "bool": ["0", "1", '"true"', "[true]", "{}"],
    "enum": ["1", "true", '"Low"', '"low "', '"o1"', '["low"]', "{}"],
    "multi_enum": [
        '"low"',
        "1",
        "{}",
        '["low", "low"]',
        '["low", "none"]',
        '["low", null]',
        '[["low"]]',
        '[""]',
    ],
    "user": ["1", "true", '["ann"]', "{}", f'"{"u" * 257}"'],
}


def cases(table: dict[str, list[Any]]) -> list[Any]:
    return [(kind, one) for kind, found in table.items() for one in found]


@pytest.mark.parametrize("kind", sorted(TAKEN))
def test_every_type_has_values_that_are_taken_and_some_that_are_not(kind: str) -> None:
    assert TAKEN.keys() == REFUSED.keys() == {one.value for one in FieldType}
    assert TAKEN[kind]
    assert REFUSED[kind]


@pytest.mark.parametrize(("kind", "case"), cases(TAKEN), ids=lambda value: str(value)[:40])
def test_a_value_is_taken_and_answered_in_its_one_form(api: Client, kind: str, case: tuple[str, Any]) -> None:
    literal, value = case
    made = api.post(f"{PATH}/issues", sent(kind, literal))
    assert made.status == 201, made.text
    assert made.body["fields"] == {kind: value}
    read = api.get(made.headers["location"])
    assert read.body["fields"] == {kind: value}
    again = api.patch(made.headers["location"], json.dumps({"fields": read.body["fields"]}, default=str))
    assert again.body["fields"] == {kind: value}, "what was answered can be sent back"


@pytest.mark.parametrize("kind", sorted(REFUSED))
def test_a_value_that_is_not_one_is_refused_with_the_name_of_its_field(
    api: Client, shared_account: Cloud, kind: str
) -> None:
    before = shared_account.items()
    operations = ", ".join(f'{{"create": {sent(kind, literal)}}}' for literal in REFUSED[kind])
    results = api.post(f"{PATH}/issues/batch", f'{{"operations": [{operations}]}}').body["results"]
    for literal, result in zip(REFUSED[kind], results, strict=True):
        assert result["status"] == 400, literal
        assert [error["field"] for error in result["problem"]["errors"]] == [f"fields.{kind}"], literal
    assert api.post(f"{PATH}/issues", sent(kind, REFUSED[kind][0])).errors.keys() == {f"fields.{kind}"}
    assert shared_account.items() == before


@pytest.mark.parametrize("kind", ["text", "user", "date", "enum"])
def test_a_lone_surrogate_is_refused_with_the_name_of_its_field(api: Client, kind: str) -> None:
    for literal in ('"\\ud800"', '"\\udc00a"', '"a\\ud83d"'):
        assert api.post(f"{PATH}/issues", sent(kind, literal)).errors.keys() == {f"fields.{kind}"}


@pytest.mark.parametrize("nothing", ["null", '""', "[]"])
@pytest.mark.parametrize("kind", sorted(TAKEN))
def test_null_and_what_is_empty_mean_no_value(api: Client, kind: str, nothing: str) -> None:
    assert api.post(f"{PATH}/issues", sent(kind, nothing)).body["fields"] == {}
    made = api.post(f"{PATH}/issues", sent(kind, TAKEN[kind][0][0]))
    assert api.patch(made.headers["location"], f'{{"fields": {{"{kind}": {nothing}}}}}').body["fields"] == {}


def test_a_number_is_answered_as_a_number_with_all_its_digits(api: Client) -> None:
    def answered(literal: str) -> str:
        location = api.post(f"{PATH}/issues", sent("number", literal)).headers["location"]
        return api.get(location).text.partition('"number":')[2].partition("}")[0]

    assert answered("1.00") == "1"
    assert answered('"0.10"') == "0.1"
    assert answered("1e5") == "100000"
    assert answered("-1e-130") == "-1E-130"
    assert answered("0.12345678901234567890123456789012345678") == "0.12345678901234567890123456789012345678"
    assert (
        Decimal(answered("12345678901234567890123456789012345678")) == 12345678901234567890123456789012345678
    )


def test_a_number_that_dynamodb_returns_in_full_is_answered(api: Client, shared_account: Cloud) -> None:
    """The real engine writes integers out where moto repeats the given exponent."""
    location = api.post(f"{PATH}/issues", sent("number", "12345678901234567890")).headers["location"]
    (item,) = (
        one for one in shared_account.items() if one.get("num", {}).get("N") == location.rpartition("/")[2]
    )
    (key,) = item["fields"]["M"]
    item["fields"]["M"][key] = {"N": "12345678901234567890123456789012345678"}
    shared_account.put([item])
    fields = api.get(location).body["fields"]
    assert fields == {"number": Decimal("12345678901234567890123456789012345678")}
