"""Types inferred from values."""

from collections.abc import Iterable
from decimal import Decimal

import pytest

from devtools.failure import Failure
from devtools.importer.inference import Profile, profile, to_bool, to_datetime, to_list, to_number
from devtools.importer.source import MAX_COLUMNS, Cell, Row, open_source
from devtools.paths import DATA
from gridview.schema.fields import MAX_OPTIONS, FieldType
from tests.support import needs


def observed(cells: Iterable[Cell], column: str = "c") -> Profile:
    found = Profile(column)
    for cell in cells:
        found.observe(cell)
    return found


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "", "-2.50", "1e3", " 7 ", "  "], FieldType.NUMBER),
        ([1, Decimal("2.5")], FieldType.NUMBER),
        (["0", "1"], FieldType.NUMBER),
        (["2024-02-29", None, "0001-01-01"], FieldType.DATE),
        (["2023-02-29"], FieldType.TEXT),
        (["2024-01-01T00:00:00Z", "2024-01-01 10:00"], FieldType.DATETIME),
        (["2024-01-01", "2024-01-01T00:00:00Z"], FieldType.TEXT),
        (["true", "FALSE"], FieldType.BOOL),
        (["yes", "No", ""], FieldType.BOOL),
        ([True, None], FieldType.BOOL),
        (["true", "1"], FieldType.TEXT),
        (["open", "open", "closed", "open"] * 2, FieldType.ENUM),
        (["a", "b", "c", "a"], FieldType.TEXT),
        (["07302", "11385"], FieldType.TEXT),
        (["11385", "07302"] * 50, FieldType.TEXT),
        (["+1", "1"], FieldType.TEXT),
        (["1,000", "2"], FieldType.TEXT),
        (["NaN", "1"], FieldType.TEXT),
        (["1" * 39], FieldType.TEXT),
        (["a;b", "b", "a", "b;a"] * 4, FieldType.MULTI_ENUM),
        (["a; b", "b", "a", "b;a"] * 4, FieldType.MULTI_ENUM),
        (["a;;b"] * 9, FieldType.ENUM),
        (["a;a"] * 9, FieldType.ENUM),
        ([["a", "b"], ["b"], []] * 4, FieldType.MULTI_ENUM),
        (["; said he", "and; she"], FieldType.TEXT),
        (["None", "", "Low", "None"] * 4, FieldType.ENUM),
        (["x" * 101] * 40, FieldType.TEXT),
        ([], FieldType.TEXT),
    ],
)
def test_type_of_a_column(cells: list[Cell], expected: FieldType) -> None:
    assert observed(cells).type is expected


@pytest.mark.parametrize("column", ["zip", "Zip Code", "postal-code", "home_phone", "ISBN"])
def test_digits_that_are_a_name_are_text(column: str) -> None:
    assert observed(["11385", "10001"] * 20, column).type is FieldType.TEXT


@pytest.mark.parametrize("column", ["zipper", "unzipped", "phones"])
def test_a_name_that_only_resembles_one_is_no_matter(column: str) -> None:
    assert observed(["11385"], column).type is FieldType.NUMBER


def test_literal_none_is_an_option_beside_empty_cells() -> None:
    found = observed(["None", "", "Low", "None", None] * 4)
    assert found.options(FieldType.ENUM) == ("None", "Low")
    assert found.filled == 12


def test_an_enum_has_at_most_as_many_options_as_the_api_takes() -> None:
    fits = [f"v{n}" for n in range(MAX_OPTIONS)]
    assert observed(fits * 4).type is FieldType.ENUM
    assert observed([*fits, "one more"] * 4).type is FieldType.TEXT


def test_values_that_are_the_same_text_in_two_spellings_are_no_options() -> None:
    assert observed(["caf\u00e9", "x"] * 8).type is FieldType.ENUM
    assert observed(["caf\u00e9", "cafe\u0301", "x"] * 8).type is FieldType.TEXT


def test_memory_does_not_grow_with_distinct_values() -> None:
    found = observed(f"value {n}" for n in range(10_000))
    assert not found.whole.values
    assert not found.parts.values


def test_a_forced_enum_without_room_for_its_values_is_refused() -> None:
    with pytest.raises(Failure, match="cannot be enum"):
        observed(f"v{n}" for n in range(201)).options(FieldType.ENUM)


def test_columns_are_bounded_over_all_rows() -> None:
    rows = (Row(n, {f"c{n}": "x"}) for n in range(MAX_COLUMNS + 1))
    with pytest.raises(Failure, match="columns in all"):
        profile(rows)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("2024-01-02T03:04:05.123Z", "2024-01-02T03:04:05.123Z"),
        ("2024-01-02 03:04", "2024-01-02T03:04:00Z"),
        ("2024-01-02 03:04:05+0530", "2024-01-02T03:04:05+05:30"),
        ("2024-01-02t03:04:05 -03", "2024-01-02T03:04:05-03:00"),
        ("2024-01-02T24:00:00Z", None),
        ("2024-01-02T03:04:60Z", None),
        ("2024-01-02", None),
        ("٢٠٢٤-01-02 03:04", None),
        (20240102, None),
    ],
)
def test_datetimes_are_brought_into_the_form_that_the_api_takes(cell: Cell, expected: str | None) -> None:
    assert to_datetime(cell) == expected


def test_conversions() -> None:
    assert to_number(" 1.50 ") == "1.50"
    assert to_number(True) is None
    assert to_bool("YES") is True
    assert to_bool("0") is None
    assert to_list("b; a;;b") == ["b", "a"]


def test_a_list_that_was_exported_comes_back_whole() -> None:
    cells = {
        r"oak\; red;beech": ["oak; red", "beech"],
        r"a\\;b": ["a\\", "b"],
        r"\\\;": [r"\;"],
        "C:\\parts;d\\": [r"C:\parts", "d\\"],
    }
    assert {cell: to_list(cell) for cell in cells} == cells


def test_an_escaped_semicolon_makes_a_list() -> None:
    found = observed([r"oak\; red"] * 4)
    assert (found.type, found.options(FieldType.MULTI_ENUM)) == (FieldType.MULTI_ENUM, ("oak; red",))


@needs.data
def test_types_of_the_titanium_issues() -> None:
    count, profiles = profile(open_source(DATA / "titanium_issues.csv").rows())
    types = {column: found.type.value for column, found in profiles.items()}
    assert count == 2501
    assert {column for column, name in types.items() if name == "datetime"} == {
        "created",
        "updated",
        "resolved",
    }
    assert {column for column, name in types.items() if name == "date"} == {"sprint_end"}
    assert {column for column, name in types.items() if name == "multi_enum"} == {"components"}
    assert {column for column, name in types.items() if name == "number"} == {
        "number",
        "comment_count",
        "attachment_count",
        "link_count",
        "subtask_count",
        "description_chars",
    }
    # 533 different labels and 203 sprints are more than an enum holds; parents are named 3.9 times each.
    assert {column for column, name in types.items() if name == "text"} == {
        "key",
        "title",
        "labels",
        "sprint",
        "parent",
        "reporter",
        "environment",
    }
    assert "None" in profiles["priority"].options(FieldType.ENUM)


@needs.data
def test_types_of_the_nyc_cases() -> None:
    _, profiles = profile(open_source(DATA / "nyc_cases.csv.gz").rows(20_000))
    assert {column: found.type.value for column, found in profiles.items()} == {
        "row": "number",
        "unique_key": "text",
        "account": "enum",
        "opendate": "date",
        "closedate": "date",
        "complaint_type": "enum",
        "descriptor": "text",
        "zip": "text",
        "borough": "enum",
        "city": "text",
        "council_dist": "enum",
        "community_board": "enum",
        "days_open": "number",
    }
