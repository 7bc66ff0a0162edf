"""The edits of bulk changes: texts that are replaced, and values that are copied into a field of another type."""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridview.encoding.tokenizer import words
from gridview.encoding.values import TEXT_LIMIT
from gridview.maintenance.bulk_edits import Copied, Replacement
from gridview.schema import documents
from gridview.schema.documents import Changes
from gridview.schema.field_conversion import NotConvertible, converted
from gridview.schema.fields import BUILTINS, Field, FieldType, Option
from gridview.schema.formats import value_json
from gridview.support.errors import InvalidRequest

NAME = BUILTINS["name"]
NOTE = Field("note", "a1", "Note", FieldType.TEXT)
OPTIONS = (Option("o1", "low", "a"), Option("o2", "High", "b"), Option("o3", "gone", "c", retired=True))


ACUTE = "\N{COMBINING ACUTE ACCENT}"


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
        ("cat_cat cat1 cat", "cat", "dog", {"match": "word"}, "dog_dog cat1 dog"),
        ("कि क", "क", "x", {"match": "word"}, "कि x"),
        ("aa a a", "a a", "b", {"match": "word"}, "aa b"),
        ("x- - -", "- -", "b", {"match": "word"}, "x- b"),
        ("x- - - -", "- -", "b", {"match": "word"}, "x- b -"),
        (f"cafe{ACUTE} cafe", "cafe", "tea", {"match": "word"}, f"cafe{ACUTE} tea"),
        (f"cafe{ACUTE} cafe", "cafe", "tea", {}, f"cafe{ACUTE} tea"),
        (f"cafe{ACUTE}", f"cafe{ACUTE}", "tea", {}, "tea"),
        (f"cafe{ACUTE}", ACUTE, "", {}, "cafe"),
        (f"cafe{ACUTE}", "cafe", "tea", {"match": "whole"}, None),
        (f"aaa{ACUTE}", "aa", "b", {}, f"ba{ACUTE}"),
    ],
)
def test_a_text_is_replaced(
    value: str, find: str, text: str, options: dict[str, Any], after: str | None
) -> None:
    found = replaced(value, find, text, **options)
    assert found == ({} if after is None else {"a1": after or None})


@given(
    st.text(alphabet="aBक१_- \N{DEVANAGARI VOWEL SIGN I}", max_size=12),
    st.sampled_from(["a", "ab", "क", "१"]),
)
def test_a_word_is_found_where_a_filter_finds_it(value: str, word: str) -> None:
    found = replaced(value, word, "", "word")
    assert bool(found) == (word in words(value))
    if found:
        assert word not in words(found["a1"] or "")


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


def test_a_value_is_copied_into_a_built_in_field_or_into_an_attribute() -> None:
    document = {"name": "Paint", "state": "o1", "fields": {"a1": "closed"}}
    states = replace(BUILTINS["state"], options=(Option("o1", "open", "a"), Option("o2", "closed", "b")))
    for source, target, changes in (
        (NOTE, NAME, Changes({"name": "closed"}, {})),
        (NOTE, states, Changes({"state": "o2"}, {})),
        (NAME, NOTE, Changes({}, {"a1": "Paint"})),
    ):
        assert Copied(source, target).changes(document) == changes


COMMA = ("Paint, red", "Paint", "red", " Paint ", "a", "A")


def choosing(kind: str, values: Iterable[str]) -> Field:
    options = tuple(Option(f"o{at}", value, f"{at}") for at, value in enumerate(values))
    return Field("chosen", "a4", "Chosen", FieldType(kind), options)


@pytest.mark.parametrize(
    ("kind", "chosen", "target", "values", "after"),
    [
        ("multi_enum", ["Paint, red"], "multi_enum", COMMA, ["Paint, red"]),
        ("multi_enum", ["red", "Paint"], "multi_enum", COMMA, ["Paint", "red"]),
        ("multi_enum", ["Paint, red"], "multi_enum", ["Paint", "red"], None),
        ("multi_enum", ["Paint, red"], "multi_enum", ["Paint, red"], ["Paint, red"]),
        ("multi_enum", ["Paint, red"], "enum", COMMA, "Paint, red"),
        ("multi_enum", ["Paint", "red"], "enum", COMMA, None),
        ("multi_enum", ["Paint", "red"], "user", [], None),
        ("multi_enum", ["Paint", "red"], "text", [], "Paint, red"),
        ("multi_enum", [" Paint "], "enum", COMMA, " Paint "),
        ("multi_enum", [" Paint "], "enum", ["paint"], "paint"),
        ("multi_enum", ["red"], "user", [], "red"),
        ("multi_enum", ["a", "A"], "multi_enum", ["a"], ["a"]),
        ("multi_enum", ["a", "A"], "multi_enum", COMMA, ["a", "A"]),
        ("multi_enum", ["a", "A"], "enum", ["a"], None),
        ("enum", "Paint, red", "multi_enum", COMMA, ["Paint, red"]),
        ("enum", " Paint ", "enum", COMMA, " Paint "),
        ("enum", " Paint ", "multi_enum", COMMA, [" Paint "]),
        ("enum", "PAINT, RED", "enum", COMMA, "Paint, red"),
        ("text", "Paint, red", "multi_enum", COMMA, ["Paint, red"]),
        ("text", "red, Paint", "multi_enum", COMMA, ["Paint", "red"]),
        ("text", " Paint ", "enum", COMMA, " Paint "),
        ("text", "paint , red", "multi_enum", [" Paint ", "red"], [" Paint ", "red"]),
    ],
)
def test_options_are_copied_by_their_names_whatever_these_contain(
    kind: str, chosen: Any, target: str, values: Iterable[str], after: Any
) -> None:
    source, to = choosing(kind, (*COMMA, "PAINT, RED")), choosing(target, values)
    stored = documents.parse_value(source, chosen)
    if after is None:
        with pytest.raises(NotConvertible):
            converted(source, to, stored)
    else:
        assert value_json(to, converted(source, to, stored)) == after


@pytest.mark.parametrize("kind", ["enum", "multi_enum"])
@given(names=st.lists(st.text(alphabet="ab, A", min_size=1, max_size=5), min_size=1, max_size=5, unique=True))
def test_equal_fields_copy_every_option(kind: str, names: list[str]) -> None:
    source, target = choosing(kind, names), choosing(kind, reversed(names))
    chosen: Any = names if kind == "multi_enum" else names[0]
    stored = documents.parse_value(source, chosen)
    after = value_json(target, converted(source, target, stored))
    assert sorted(after) == sorted(chosen)


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
