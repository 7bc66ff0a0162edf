"""Filters: every operator for every type, from the registry; refusals, and their places."""

from typing import Any, NamedTuple

import pytest

from gridview.encoding import option_ranks
from gridview.encoding.json_codec import dumps
from gridview.encoding.tokenizer import words
from gridview.query.operators import MAX_VALUES, OPERATORS, Operand
from gridview.query.predicates import MAX_CONDITIONS, MAX_DEPTH, parse_filter
from gridview.schema.catalog import Catalog
from gridview.schema.documents import parse_value
from gridview.schema.fields import Field, FieldType, Option
from gridview.support.errors import InvalidRequest
from infra.openapi.document import document as openapi_document
from tests.support import schemas

VALUES = ("low", "medium", "high")
OPTIONS = tuple(
    Option(f"o{at}", value, rank)
    for at, (value, rank) in enumerate(zip(VALUES, option_ranks.reorder([None] * 3), strict=True), 1)
)
FIELDS = {
    kind: Field(f"the_{kind}", f"a{at}", kind, kind, OPTIONS if kind.has_options else ())
    for at, kind in enumerate(FieldType, start=1)
}
CATALOG = Catalog("0807", "35e9", 1, OPTIONS, tuple(FIELDS.values()), len(FIELDS) + 1)


class Sample(NamedTuple):
    """Values of a type in their order: one, others that are equal to it, one before and one after it."""

    value: Any
    equal: tuple[Any, ...]
    before: Any
    after: Any


SAMPLES = {
    FieldType.TEXT: Sample("Träger 2", ("TRAGER 2", "tra\u0308ger 2"), "Straße", "trager 20"),
    FieldType.NUMBER: Sample("0.1", ("1e-1", "0.10"), "0.09999999999999999999999999999999999999", "0.2"),
    FieldType.DATE: Sample("2023-05-01", ("2023-05-01",), "2023-04-30", "2023-05-02"),
    FieldType.DATETIME: Sample(
        "2023-05-01T00:00:00Z",
        ("2023-05-01T02:00:00+02:00",),
        "2023-04-30T23:59:59.999999Z",
        "2023-05-01T00:00:00.000001Z",
    ),
    FieldType.BOOL: Sample(True, (True,), False, None),
    FieldType.ENUM: Sample("medium", ("medium",), "low", "high"),
    FieldType.MULTI_ENUM: Sample(["low", "high"], (["high", "low"],), ["low", "medium"], ["medium"]),
    FieldType.USER: Sample("Ann", ("ann", "ANN"), "amy", "annA"),
}


def passes(kind: FieldType, op: str, held: Any, **value: Any) -> bool:
    field = FIELDS[kind]
    stored = parse_value(field, held)
    document = {"num": 7, "fields": {} if stored is None else {field.key: stored}}
    return parse_filter(CATALOG, {"field": field.id, "op": op, **value}).matches(document)


def refused(document: Any) -> dict[str, str]:
    with pytest.raises(InvalidRequest) as error:
        parse_filter(CATALOG, document)
    assert error.value.errors
    return dict(error.value.errors)


COMBINATIONS = [
    (operator.name, kind) for operator in OPERATORS.values() for kind in FieldType if kind in operator.types
]


def operand(op: str, kind: FieldType) -> dict[str, Any]:
    """A value of this type for the operator."""
    sample = SAMPLES[kind].value
    return {
        Operand.NOTHING: {},
        Operand.SEVERAL: {"value": [sample]},
        Operand.TWO: {"value": [sample, sample]},
    }.get(OPERATORS[op].operand, {"value": sample})


@pytest.mark.parametrize(("op", "kind"), COMBINATIONS)
def test_no_value_matches_what_is_not_asked_for_and_nothing_else(op: str, kind: FieldType) -> None:
    assert passes(kind, op, None, **operand(op, kind)) == (op in {"ne", "not_in", "has_none", "is_empty"})


@pytest.mark.parametrize(("op", "kind"), COMBINATIONS)
def test_the_value_itself_however_it_is_written(op: str, kind: FieldType) -> None:
    expected = op not in {"ne", "not_in", "lt", "gt", "has_none", "is_empty"}
    for held in SAMPLES[kind].equal:
        assert passes(kind, op, held, **operand(op, kind)) == expected


@pytest.mark.parametrize("kind", FieldType)
@pytest.mark.parametrize(
    ("op", "before", "following"),
    [
        *(("lt", True, False), ("lte", True, False), ("gt", False, True), ("gte", False, True)),
        *(
            ("eq", False, False),
            ("ne", True, True),
            ("in", False, False),
            ("not_in", True, True),
            ("between", False, False),
        ),
    ],
)
def test_the_values_beside_it(kind: FieldType, op: str, before: bool, following: bool) -> None:
    sample = SAMPLES[kind]
    assert passes(kind, op, sample.before, **operand(op, kind)) == before
    if sample.after is not None:
        assert passes(kind, op, sample.after, **operand(op, kind)) == following


def test_between_holds_both_ends_and_nothing_when_they_are_the_wrong_way_round() -> None:
    for held, expected in ((0, False), (1, True), (2, True), (3, True), (4, False)):
        assert passes(FieldType.NUMBER, "between", held, value=[1, 3]) == expected
        assert not passes(FieldType.NUMBER, "between", held, value=[3, 1])


def test_texts_are_compared_whole_for_equality_and_by_240_characters_for_order() -> None:
    one, other = "é" * 240 + "a", "E" * 240 + "b"
    assert not passes(FieldType.TEXT, "eq", one, value=other)
    assert passes(FieldType.TEXT, "eq", one, value="E" * 240 + "A")
    for op, expected in (("lt", False), ("gt", False), ("lte", True), ("gte", True)):
        assert passes(FieldType.TEXT, op, one, value=other) == expected
    assert passes(FieldType.TEXT, "between", one, value=[other, other])


@pytest.mark.parametrize(
    ("op", "held", "value", "expected"),
    [
        ("starts_with", "Straße 5", "STRASS", True),
        ("starts_with", "Straße 5", "traße", False),
        ("contains", "Straße 5", "ASSE ", True),
        ("contains", "x" * 1000 + "End", "xEND", True),
        ("contains", "ab", "ba", False),
        ("has_words", "Replace the girder, rust.", "RUST replace", True),
        ("has_words", "Replace the girder, rust.", "rust bridge", False),
        ("has_words", "Rusty girder", "rust", False),
        ("has_words", "sign_off co-op", "off op", True),
        ("has_words", "हिन्दी भाषा", "हिन्दी", True),
        ("has_words", "हिन्दी भाषा", "हिन", False),
    ],
)
def test_operators_of_texts(op: str, held: str, value: str, expected: bool) -> None:
    assert passes(FieldType.TEXT, op, held, value=value) == expected


def test_words_are_runs_of_letters_marks_and_digits() -> None:
    assert words("Été-2023: x_y (№5)") == {"ete", "2023", "x", "y", "no5"}
    assert words("-- !") == frozenset()


@pytest.mark.parametrize(
    ("op", "value", "expected"),
    [
        ("has_any", ["low", "medium"], True),
        ("has_any", ["medium"], False),
        ("has_all", ["high", "low"], True),
        ("has_all", ["low", "medium"], False),
        ("has_none", ["medium"], True),
        ("has_none", ["medium", "low"], False),
    ],
)
def test_options_of_a_list(op: str, value: list[str], expected: bool) -> None:
    assert passes(FieldType.MULTI_ENUM, op, ["low", "high"], value=value) == expected


def test_numbers_are_exact() -> None:
    assert not passes(FieldType.NUMBER, "eq", "0.3", value="0.30000000000000004")
    assert passes(FieldType.NUMBER, "lt", "-9.99E+125", value="-1E-130")
    assert passes(
        FieldType.NUMBER,
        "gt",
        "12345678901234567890123456789012345679",
        value="12345678901234567890123456789012345678",
    )


def test_the_number_of_an_issue_and_its_built_in_fields() -> None:
    document = {
        "num": 7,
        "name": "Rust",
        "state": "o1",
        "created": "2023-05-01T00:00:00.000000Z",
        "fields": {},
    }
    cases: tuple[tuple[Any, bool], ...] = (
        ({"field": "num", "op": "in", "value": [6, "7.0"]}, True),
        ({"field": "num", "op": "gt", "value": 7}, False),
        ({"field": "num", "op": "is_empty"}, False),
        ({"field": "name", "op": "eq", "value": "rüst"}, True),
        ({"field": "state", "op": "lt", "value": "medium"}, True),
        ({"field": "created", "op": "eq", "value": "2023-05-01T01:00:00+01:00"}, True),
    )
    for condition, expected in cases:
        assert parse_filter(CATALOG, condition).matches(document) == expected


IS_LOW = {"field": "the_enum", "op": "eq", "value": "low"}


def nested(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = IS_LOW
    for level in range(levels):
        found = {"not": found} if level % 2 else {"and": [found]}
    return found


def test_and_or_and_not() -> None:
    low, empty = IS_LOW, {"field": "the_number", "op": "is_empty"}
    document = {"num": 1, "fields": {FIELDS[FieldType.ENUM].key: "o1", FIELDS[FieldType.NUMBER].key: 5}}
    for tree, expected in (
        ({"and": [low, empty]}, False),
        ({"or": [low, empty]}, True),
        ({"not": {"or": [low, empty]}}, False),
        ({"and": [low, {"not": empty}]}, True),
    ):
        assert parse_filter(CATALOG, tree).matches(document) == expected


def test_five_levels_and_fifty_conditions_are_allowed_and_no_more() -> None:
    parse_filter(CATALOG, nested(MAX_DEPTH))
    (place,) = refused(nested(MAX_DEPTH + 1))
    assert place.count(".") >= MAX_DEPTH
    parse_filter(CATALOG, {"or": [IS_LOW] * MAX_CONDITIONS})
    assert refused({"or": [IS_LOW] * (MAX_CONDITIONS + 1)}).keys() == {"filter.or"}
    several = {"or": [IS_LOW] * (MAX_CONDITIONS // 2 + 1)}
    assert refused({"and": [several, several]}).keys() == {"filter"}


def test_a_filter_that_is_nested_without_end_is_refused() -> None:
    assert refused(nested(400))


WRONG = {
    FieldType.TEXT: (5, True, {}, ["x"], "x" * 1025),
    FieldType.NUMBER: ("five", True, [1], "1e200", "0x1"),
    FieldType.DATE: ("2023-02-29", 20230501, "2023-5-1"),
    FieldType.DATETIME: ("2023-05-01", "2023-05-01T00:00:00", 0),
    FieldType.BOOL: ("true", 0, "x"),
    FieldType.ENUM: ("Low", "none of them", 1, ["low"]),
    FieldType.MULTI_ENUM: ("low", ["low", "low"], ["none of them"], [1]),
    FieldType.USER: (5, "x" * 257, ["x"]),
}


@pytest.mark.parametrize(
    ("op", "kind"), [one for one in COMBINATIONS if OPERATORS[one[0]].operand is not Operand.NOTHING]
)
def test_a_value_of_the_wrong_type_is_named_with_its_field_and_place(op: str, kind: FieldType) -> None:
    field, place = FIELDS[kind], "filter.and.1.value"
    sample = SAMPLES[kind].value
    value: Any
    for wrong in (*WRONG[kind], None, "", []):
        match OPERATORS[op].operand:
            case Operand.SEVERAL:
                value, at = [sample, wrong], f"{place}.1"
            case Operand.TWO:
                value, at = [wrong, sample], f"{place}.0"
            case _:
                value, at = wrong, place
        errors = refused({"and": [IS_LOW, {"field": field.id, "op": op, "value": value}]})
        assert errors.keys() == {at}
        assert errors[at].startswith(f"{field.id}: ")


@pytest.mark.parametrize(
    ("op", "kind"),
    [(one.name, kind) for one in OPERATORS.values() for kind in FieldType if kind not in one.types],
)
def test_an_operator_that_a_type_does_not_have_is_refused(op: str, kind: FieldType) -> None:
    assert refused({"field": FIELDS[kind].id, "op": op, "value": SAMPLES[kind].value}) == {
        "filter.op": f"{FIELDS[kind].id} has the type {kind}, which does not have the operator {op}"
    }


@pytest.mark.parametrize(
    ("document", "places"),
    [
        ([], {"filter"}),
        ("x", {"filter"}),
        ({"and": []}, {"filter.and"}),
        ({"or": IS_LOW}, {"filter.or"}),
        ({"not": [IS_LOW]}, {"filter.not"}),
        ({"field": "nme", "op": "is", "value": 1}, {"filter.field", "filter.op"}),
        ({"op": "eq", "value": 1}, {"filter.field"}),
        ({"field": "name"}, {"filter.op"}),
        ({"field": ["name"], "op": {}}, {"filter.field", "filter.op"}),
        ({**IS_LOW, "case": True, "not": 1}, {"filter.case", "filter.not"}),
        ({"field": "name", "op": "is_empty", "value": "x"}, {"filter.value"}),
        ({"field": "name", "op": "has_words", "value": "-"}, {"filter.value"}),
        ({"field": "name", "op": "in", "value": []}, {"filter.value"}),
        ({"field": "name", "op": "in", "value": ["x"] * (MAX_VALUES + 1)}, {"filter.value"}),
        ({"field": "name", "op": "between", "value": ["x"]}, {"filter.value"}),
        ({"field": "name", "op": "between", "value": "xy"}, {"filter.value"}),
        (
            {
                "or": [
                    {"field": "nme", "op": "eq", "value": 1},
                    {"not": {"field": "num", "op": "lt", "value": "x"}},
                    7,
                ]
            },
            {"filter.or.0.field", "filter.or.1.not.value", "filter.or.2"},
        ),
    ],
)
def test_all_errors_of_a_filter_are_listed_at_once_with_their_places(document: Any, places: set[str]) -> None:
    assert refused(document).keys() == places


@pytest.mark.parametrize(
    "part",
    [{"and": [IS_LOW], "or": [IS_LOW]}, {"not": IS_LOW, "case": True}, {"nand": [IS_LOW]}, {}],
)
def test_a_part_is_a_condition_or_has_only_one_of_and_or_and_not(part: Any) -> None:
    message = "must be a condition (field, op, value) or have one of and, or, not"
    assert refused(part) == {"filter": message}
    assert refused({"not": part}) == {"filter.not": message}


@pytest.mark.parametrize("part", [7, {"and": []}, {"field": "nme", "op": "eq"}, {"not": 7}])
def test_only_the_first_errors_of_a_huge_filter_are_listed(part: Any) -> None:
    assert refused({"or": [part] * 100_000}) == {"filter.or": "must have at most 50 parts"}
    several: Any = [part]
    for _ in range(3):
        several = [{"or": several * (MAX_CONDITIONS // len(several))}]
    assert 50 <= len(refused({"or": several * MAX_CONDITIONS})) < 1000


def test_a_condition_with_properties_without_end_is_one_error() -> None:
    unknown = dict.fromkeys(map(str, range(100_000)))
    assert refused({**IS_LOW, **unknown}) == {"filter": "must have at most 32 properties"}


def test_the_largest_list_of_values_is_taken() -> None:
    assert passes(FieldType.NUMBER, "in", MAX_VALUES - 1, value=list(range(MAX_VALUES)))


def test_the_same_filter_however_it_is_spelled_is_bound_to_the_same_cursors() -> None:
    def canonical(value: Any) -> bytes:
        return dumps(
            parse_filter(CATALOG, {"not": {"value": value, "op": "eq", "field": "the_number"}}).canonical()
        )

    assert canonical(100) == canonical("1e2") == canonical("100.0")
    assert canonical(100) != canonical(101)


def test_a_filter_reads_well() -> None:
    found = parse_filter(
        CATALOG,
        {
            "and": [
                IS_LOW,
                {"not": {"field": "the_date", "op": "is_empty"}},
                {"field": "num", "op": "in", "value": [1, 2]},
            ]
        },
    )
    assert str(found) == (
        "(the_enum is the value given and not (the_date has no value) and num is one of the 2 values given)"
    )


@pytest.mark.parametrize(("op", "kind"), COMBINATIONS)
def test_the_schema_of_a_filter_takes_what_the_api_takes(op: str, kind: FieldType) -> None:
    condition = {"field": FIELDS[kind].id, "op": op, **operand(op, kind)}
    parse_filter(CATALOG, condition)
    assert schemas.violations(schemas.named("Filter"), {"and": [condition, {"not": condition}]}) == []
    assert schemas.violations(schemas.named("Filter"), {**condition, "op": "is"}) != []
    assert schemas.violations(schemas.named("Filter"), {**condition, "more": 1}) != []


def test_the_schemas_name_every_operator_once() -> None:
    parts = openapi_document()["components"]["schemas"]
    named = [
        name for part in parts.values() for name in part.get("properties", {}).get("op", {}).get("enum", ())
    ]
    assert sorted(named) == sorted(OPERATORS)
