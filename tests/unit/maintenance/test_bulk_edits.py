"""The edits of bulk changes: texts that are replaced, and values that are copied into a field of another type."""

from decimal import Decimal
from typing import Any

import pytest

from gridview.encoding.values import TEXT_LIMIT
from gridview.maintenance.bulk_edits import Replacement
from gridview.schema.field_conversion import NotConvertible, converted
from gridview.schema.fields import BUILTINS, Field, FieldType, Option
from gridview.support.errors import InvalidRequest

NAME = BUILTINS["name"]
NOTE = Field("note", "a1", "Note", FieldType.TEXT)
OPTIONS = (Option("o1", "low", "a"), Option("o2", "High", "b"), Option("o3", "gone", "c", retired=True))


def of(kind: FieldType, *, required: bool = False) -> Field:
    return Field("to", "a2", "To", kind, OPTIONS if kind.has_options else (), required)


def replaced(value: str, find: str, text: str, match: str = "part", *, case: bool = False) -> Any:
    edit = Replacement((NOTE,), find, text, match, case)  # type: ignore[arg-type]
    return edit.changes({"name": "x", "fields": {"a1": value}}).fields


@pytest.mark.parametrize(
    ("value", "find", "text", "options", "after"),
    [
        ("a cat, a Cat", "cat", "dog", {}, "a dog, a dog"),
        ("a cat, a Cat", "cat", "dog", {"case": True}, "a dog, a Cat"),
        ("concat cat", "cat", "dog", {"match": "word"}, "concat dog"),
        ("Concat", "cat", "dog", {"match": "word"}, None),
        ("CAT", "cat", "dog", {"match": "whole"}, "dog"),
        ("a cat", "cat", "dog", {"match": "whole"}, None),
        ("aaa", "aa", "b", {}, "ba"),
        ("a", "a", "aa", {}, "aa"),
        ("1+1 (2)", "+1 (", "\\1 [", {}, "1\\1 [2)"),
        ("naïve café", "É", "e", {}, "naïve cafe"),
        ("one\ntwo", "\n", " ", {}, "one two"),
        ("x", "y", "z", {}, None),
        ("gone", "gone", "", {}, ""),
    ],
)
def test_a_text_is_replaced(
    value: str, find: str, text: str, options: dict[str, Any], after: str | None
) -> None:
    found = replaced(value, find, text, **options)
    assert found == ({} if after is None else {"a1": after or None})


def test_only_the_named_fields_with_the_text_change() -> None:
    edit = Replacement((NAME, NOTE), "a", "b", "part", case=True)
    changes = edit.changes({"name": "aa", "fields": {"a2": "a"}})
    assert (changes.builtins, changes.fields) == ({"name": "bb"}, {})


@pytest.mark.parametrize(
    ("field", "value", "text", "where"),
    [
        (NOTE, "ab" * (TEXT_LIMIT // 2), "bb", "fields.note"),
        (NAME, "a", "", "name"),
    ],
)
def test_a_value_that_would_be_too_long_or_is_required_is_refused(
    field: Field, value: str, text: str, where: str
) -> None:
    edit = Replacement((field,), "a", text, "part", case=True)
    with pytest.raises(InvalidRequest) as refused:
        edit.changes({"name": value, "fields": {"a1": value}})
    assert [one.field for one in refused.value.errors] == [where]


INSTANT = "2024-02-29T12:30:00.000000Z"


@pytest.mark.parametrize(
    ("source", "value", "target", "after"),
    [
        ("text", " 12.50 ", "number", Decimal("12.5")),
        ("text", "-1e3", "number", Decimal("-1E+3")),
        ("text", "2024-02-29", "date", "2024-02-29"),
        ("text", "2024-02-29T13:30:00+01:00", "datetime", INSTANT),
        ("text", " Yes", "bool", True),
        ("text", "0", "bool", False),
        ("text", "low", "enum", "o1"),
        ("text", " HIGH ", "enum", "o2"),
        ("text", "High, low,", "multi_enum", ["o2", "o1"]),
        ("text", " ann ", "user", "ann"),
        ("text", " ", "number", None),
        ("text", " ", "bool", None),
        ("text", " ", "enum", None),
        ("text", " ", "text", " "),
        ("number", Decimal("1E+3"), "text", "1000"),
        ("number", Decimal(1), "bool", True),
        ("number", Decimal(2), "bool", "not"),
        ("number", Decimal("0.5"), "date", "not"),
        ("date", "2024-02-29", "datetime", "2024-02-29T00:00:00.000000Z"),
        ("date", "2024-02-29", "text", "2024-02-29"),
        ("datetime", INSTANT, "date", "2024-02-29"),
        ("datetime", INSTANT, "text", "2024-02-29T12:30:00Z"),
        ("bool", True, "text", "true"),
        ("bool", False, "number", "not"),
        ("enum", "o1", "text", "low"),
        ("enum", "o2", "multi_enum", ["o2"]),
        ("multi_enum", ["o2", "o1"], "text", "low, High"),
        ("multi_enum", ["o1"], "enum", "o1"),
        ("multi_enum", ["o1", "o2"], "enum", "not"),
        ("user", "ann", "text", "ann"),
        ("text", "gone", "enum", "not"),
        ("text", "2024-02-30", "date", "not"),
        ("text", "x" * 300, "user", "not"),
    ],
)
def test_a_value_of_one_type_as_one_of_another(source: str, value: Any, target: str, after: Any) -> None:
    own = Field("from", "a3", "From", FieldType(source), OPTIONS if "enum" in source else ())
    if after == "not":
        with pytest.raises(NotConvertible):
            converted(own, of(FieldType(target)), value)
    else:
        assert converted(own, of(FieldType(target)), value) == after


@pytest.mark.parametrize("kind", list(FieldType))
def test_no_value_is_copied_as_none_and_refused_where_one_is_required(kind: FieldType) -> None:
    assert converted(NOTE, of(kind), None) is None
    with pytest.raises(NotConvertible, match="required"):
        converted(NOTE, of(kind, required=True), None)


@pytest.mark.parametrize("kind", list(FieldType))
def test_every_type_has_a_text_and_comes_back_from_it(kind: FieldType) -> None:
    values = {
        FieldType.NUMBER: Decimal("1.5E-100"),
        FieldType.DATE: "0001-01-01",
        FieldType.DATETIME: INSTANT,
        FieldType.BOOL: False,
        FieldType.ENUM: "o2",
        FieldType.MULTI_ENUM: ["o1", "o2"],
    }
    value = values.get(kind, "ann")
    text = converted(of(kind), NOTE, value)
    assert isinstance(text, str)
    assert converted(NOTE, of(kind), text) == value
