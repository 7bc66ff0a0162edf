"""The places of a condition's issues: every operator over nasty values of every type, against its own test of each
document.
"""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from gridview.chains.directory import WHOLE, Range
from gridview.derive import sort_entries
from gridview.derive.families import INDEX_TOKEN_WIDTH, NUMBERS
from gridview.encoding import option_ranks
from gridview.encoding.sort_strings import SEPARATOR, SPEC_VERSION, TEXT_WIDTH, number_of
from gridview.encoding.tokenizer import inner_words, words
from gridview.encoding.values import parse_number
from gridview.query import key_ranges
from gridview.query.group_blocks import options_by_rank
from gridview.query.key_ranges import EVERYTHING, Access, Both, Doubt, Either, Within, Without, leaves
from gridview.query.operators import OPERATORS, Operand
from gridview.query.predicates import NUMBER, Predicate
from gridview.schema import documents, options
from gridview.schema.catalog import Catalog
from gridview.schema.fields import NUM, Field, FieldType, Option
from gridview.schema.generations import Index, Indexes, IndexState
from tests.support import chains, nasty

WITH_WORDS = Indexes((Index(1, IndexState.READY, 0, SPEC_VERSION, words=True),), 2)


def options_of(values: Iterable[str]) -> tuple[Option, ...]:
    named = list(values)
    return tuple(
        Option(f"o{at}", value, rank)
        for at, (value, rank) in enumerate(
            zip(named, option_ranks.reorder([None] * len(named)), strict=True), 1
        )
    )


def field_of(at: int, given: dict[str, Any], indexes: Indexes) -> Field:
    kind = FieldType(given["type"])
    return Field(
        given["id"], f"a{at}", given["name"], kind, options_of(given.get("options", ())), indexes=indexes
    )


def catalog_of(indexes: Indexes) -> Catalog:
    fields = tuple(field_of(at, given, indexes) for at, given in enumerate(nasty.ATTRIBUTES, 1))
    return Catalog("0807", "35e9", 1, options_of(nasty.STATES), fields, len(fields) + 1)


CATALOG = catalog_of(WITH_WORDS)


def made(count: int = 150) -> list[dict[str, Any]]:
    return [
        documents.new_document(
            CATALOG, num, documents.parse_create(CATALOG, body), user="ann", now="2023-05-01T12:00:00.000000Z"
        )
        for num, body in enumerate(nasty.issues(count, seed=4), start=1)
    ]


DOCUMENTS = made()


class Keys:
    """The keys of all documents, as an index has them."""

    def __init__(self, catalog: Catalog, found: Iterable[dict[str, Any]]) -> None:
        self.keys = chains.keys_by_family(catalog, found)

    def judged(self, found: Access) -> tuple[set[int], set[int]]:
        """The issues that certainly match, and the ones that may."""
        every = {number_of(key) for key in self.keys[NUMBERS]}
        match found:
            case Within(family, ranges, doubt):
                inside = {
                    number_of(key)
                    for key in self.keys.get(family, ())
                    if any(one.covers(key) for one in ranges)
                }
                return (set() if doubt else inside), inside
            case Both(parts):
                each = [self.judged(part) for part in parts]
                return set.intersection(*(one for one, _ in each)), set.intersection(
                    *(two for _, two in each)
                )
            case Either(parts):
                each = [self.judged(part) for part in parts]
                return set().union(*(one for one, _ in each)), set().union(*(two for _, two in each))
            case Without(part):
                sure, maybe = self.judged(part)
                return every - maybe, every - sure


def check(keys: Keys, condition: Predicate, found: Iterable[dict[str, Any]]) -> Access:
    """Check that the places agree with the operator's test of each document."""
    place = condition.operator.accessed(condition.field, condition.operand)
    sure, maybe = keys.judged(place)
    truth = {document["num"] for document in found if condition.matches(document)}
    assert sure <= truth <= maybe, condition
    for leaf in leaves(place):
        assert not any(one.empty for one in leaf.ranges)
        assert list(leaf.ranges) == sorted(leaf.ranges)
        # A string that UTF-8 cannot encode cannot be sent to DynamoDB.
        assert all((one.lower + (one.upper or "")).encode() for one in leaf.ranges)
    if not any(leaf.doubt for leaf in leaves(place)):
        assert sure == maybe
    return place


def operands(field: Field, operand: Operand, found: list[dict[str, Any]]) -> list[Any]:
    """Values of issues and others, in the forms of an operator."""
    held = [value for document in found if (value := field.value_in(document)) is not None]
    distinct = list({repr(value): value for value in held}.values())
    match operand:
        case Operand.NOTHING:
            return [None]
        case Operand.ONE:
            return distinct
        case Operand.SEVERAL:
            return [distinct[at : at + 3] for at in range(0, len(distinct), 2)] + [distinct]
        case Operand.TWO:
            return [[one, two] for one in distinct[::3] for two in distinct[1::4]]
        case Operand.OPTIONS:
            return [*distinct, [option.id for option in field.options], [field.options[0].id]]
        case Operand.WORDS:
            return [value for value in distinct if words(value)]
    parts = [
        value[begin:end] for value in distinct for begin, end in ((0, 1), (0, 3), (1, 4), (0, 245), (2, 99))
    ]
    return [part for part in {*distinct, *parts, "\u0301", "\x00", "\ud7ff", "\U0010ffff"} if part]


FIELDS = {field.id: field for field in (*CATALOG.builtins, *CATALOG.attributes)}
INDEX = Keys(CATALOG, DOCUMENTS)


@pytest.mark.parametrize("field_id", FIELDS)
def test_the_places_of_every_operator_agree_with_its_test(field_id: str) -> None:
    field = FIELDS[field_id]
    doubts = set()
    for operator in OPERATORS.values():
        if field.type in operator.types:
            for operand in operands(field, operator.operand, DOCUMENTS):
                place = check(INDEX, Predicate(field, operator, operand), DOCUMENTS)
                doubts |= {(operator.name, leaf.doubt) for leaf in leaves(place) if leaf.doubt}
    assert {doubt for _, doubt in doubts} <= {Doubt.PART, Doubt.LONG}
    assert {name for name, doubt in doubts if doubt is Doubt.PART} <= {"contains"}
    assert {name for name, doubt in doubts if doubt is Doubt.LONG} <= {
        *("eq", "ne", "in", "not_in", "starts_with", "has_words", "contains")
    }
    assert field.type is FieldType.TEXT or not doubts


@pytest.mark.parametrize(
    ("indexes", "doubt"),
    [
        (Indexes(), Doubt.UNINDEXED),
        (Indexes((Index(1, IndexState.BUILDING, 0, SPEC_VERSION),), 2), Doubt.BUILDING),
        (Indexes((Index(1, IndexState.READY, 0, 0, words=True),), 2), Doubt.BUILDING),
        (Indexes.complete(), Doubt.UNSEARCHED),
    ],
)
def test_without_a_complete_index_in_the_present_form_the_rest_is_left_to_documents(
    indexes: Indexes, doubt: Doubt, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = sort_entries.SPECS[SPEC_VERSION]
    backwards = {
        kind: (lambda field, value, body=body: body(field, value)[::-1]) for kind, body in present.items()
    }
    monkeypatch.setitem(sort_entries.SPECS, 0, backwards)
    catalog = catalog_of(indexes)
    index = Keys(catalog, DOCUMENTS)
    seen = set()
    for field in catalog.attributes:
        for operator in OPERATORS.values():
            if field.type in operator.types:
                for operand in operands(field, operator.operand, DOCUMENTS)[:12]:
                    place = check(index, Predicate(field, operator, operand), DOCUMENTS)
                    seen |= {leaf.doubt for leaf in leaves(place)}
    assert doubt in seen


# Numbers of issues

_NUMBERS = [
    *("-1", "0", "1", "1.5", "7", "7.000000000000000000000000001", "149.5", "150", "151"),
    *("99999999", "99999999.5", "100000000", "1E+125", "-1E+125", "1E-130", "-1E-130"),
]


@pytest.mark.parametrize("name", [one.name for one in OPERATORS.values() if FieldType.NUMBER in one.types])
def test_issue_numbers_are_compared_as_the_numbers_that_they_are(name: str) -> None:
    operator = OPERATORS[name]
    values = [parse_number(one) for one in _NUMBERS]
    by_operand: dict[Operand, list[Any]] = {
        Operand.NOTHING: [None],
        Operand.ONE: values,
        Operand.SEVERAL: [values[at : at + 4] for at in range(len(values))],
        Operand.TWO: [[one, two] for one in values for two in values],
    }
    for operand in by_operand[operator.operand]:
        place = check(INDEX, Predicate(NUMBER, operator, operand), DOCUMENTS)
        assert {leaf.family for leaf in leaves(place)} == {NUMBERS}
        assert not any(leaf.doubt for leaf in leaves(place))


# Options that are being moved


def moving(field: Field) -> Field:
    """A field whose first option has moved after the others, whose last one took its place, and whose second is
    retired.
    """
    first, second, *others, last = field.options
    options = (
        first.moved_to("zzzz", 5),
        replace(second, retired=True),
        *others,
        last.moved_to(first.rank, 6),
    )
    return replace(field, options=options)


@pytest.mark.parametrize("field_id", ["level", "labels"])
def test_issues_may_be_under_former_ranks_of_options(field_id: str) -> None:
    before = FIELDS[field_id]
    after = moving(before)
    attributes = tuple(after if one.id == field_id else one for one in CATALOG.attributes)
    catalog = replace(CATALOG, attributes=attributes)
    followed = [document for document in DOCUMENTS if document["num"] % 2]
    lagging = [document for document in DOCUMENTS if not document["num"] % 2]
    index = Keys(catalog, followed)
    for family, found in Keys(CATALOG, lagging).keys.items():
        index.keys[family] = sorted([*index.keys.get(family, []), *found])
    decided = 0
    for operator in OPERATORS.values():
        if after.type in operator.types:
            for operand in operands(after, operator.operand, DOCUMENTS):
                place = check(index, Predicate(after, operator, operand), DOCUMENTS)
                decided += not any(leaf.doubt for leaf in leaves(place))
    assert decided
    left, taken = (option.id for option in (after.options[0], after.options[-1]))
    if after.type is FieldType.ENUM:
        place = OPERATORS["eq"].accessed(after, after.options[2].id)
        assert isinstance(place, Within)
        assert place.doubt is None
        assert {leaf.doubt for leaf in leaves(OPERATORS["eq"].accessed(after, left))} == {None, Doubt.MOVING}
        assert {leaf.doubt for leaf in leaves(OPERATORS["in"].accessed(after, [left, taken]))} == {None}


def test_the_index_decides_about_an_option_in_the_place_of_a_dropped_one() -> None:
    field = next(one for one in CATALOG.attributes if one.type is FieldType.ENUM)
    first, second, *others = (option.value for option in field.options)
    for at, values in enumerate([[first, *others], [first, "new", *others], [first, second, *others]]):
        requested = [options.OptionInput(value=value) for value in values]
        change = options.change("options", field.options, 50 + at, requested, moved_at=5)
        field = replace(field, options=change.options)
    assert not field.moving
    for option in field.live_options:
        assert {leaf.doubt for leaf in leaves(OPERATORS["eq"].accessed(field, option.id))} == {None}
    assert all(len(found) == 1 for found in options_by_rank(field).values())


# Borders


def text(index: Indexes = WITH_WORDS) -> Field:
    return Field("title", "a1", "Title", FieldType.TEXT, indexes=index)


def agree(field: Field, name: str, operand: Any, *values: Any) -> Access:
    """Check one condition against issues with these values."""
    catalog = Catalog("0807", "35e9", 1, (), (field,), 2)
    found = [
        {
            "num": num,
            "name": "n",
            "created": nothing,
            "updated": nothing,
            "state": None,
            "fields": {field.key: one},
        }
        for num, one in enumerate(values, start=1)
        for nothing in ("2023-05-01T12:00:00.000000Z",)
    ]
    return check(Keys(catalog, found), Predicate(field, OPERATORS[name], operand), found)


def doubts(place: Access) -> set[Doubt | None]:
    return {leaf.doubt for leaf in leaves(place)}


def test_a_text_is_known_up_to_240_folded_characters() -> None:
    held = [
        "x" * (TEXT_WIDTH - 1),
        "x" * TEXT_WIDTH,
        "X" * (TEXT_WIDTH + 1),
        "x" * TEXT_WIDTH + "y",
        "ß" * 120,
        "ss" * 120,
    ]
    assert doubts(agree(text(), "eq", "x" * (TEXT_WIDTH - 1), *held)) == {None}
    assert doubts(agree(text(), "eq", "x" * TEXT_WIDTH, *held)) == {Doubt.LONG}
    assert doubts(agree(text(), "eq", "ß" * 120, *held)) == {Doubt.LONG}
    assert doubts(agree(text(), "ne", "x" * (TEXT_WIDTH + 1), *held)) == {Doubt.LONG}
    assert doubts(agree(text(), "in", ["a", "x" * TEXT_WIDTH], *held)) == {None, Doubt.LONG}
    assert doubts(agree(text(), "starts_with", "x" * TEXT_WIDTH, *held)) == {None}
    assert doubts(agree(text(), "starts_with", "x" * TEXT_WIDTH + "y", *held)) == {Doubt.LONG}
    assert doubts(agree(text(), "starts_with", "ß" * 121, *held)) == {Doubt.LONG}
    assert doubts(agree(text(), "lt", "x" * 300, *held)) == {None}


@pytest.mark.parametrize(
    "prefix",
    [
        "a",
        "\x00",
        "a\x1f",
        "\x02",
        "\ud7ff",
        "\U0010ffff",
        "a\U0010ffff",
        "\u0301",
        "a\u0301",
        "~",
        "\x7f",
        "ß",
    ],
)
def test_a_prefix_ends_before_the_next_one(prefix: str) -> None:
    held = [
        *(
            "a",
            "ab",
            "b",
            "\x00",
            "\x01",
            "\x00b",
            "a\x1f",
            "a\x1fx",
            "a ",
            "\x02",
            "\x02A",
            "\x03",
            "\u0301",
        ),
        *("\ud7ff", "\ud7ffx", "\ue000", "\U0010ffff", "\U0010ffffx", "a\U0010ffff", "a\U0010ffff\U0010ffff"),
        *("~", "~~", "\x7f", "\x80", "s", "ss", "SSx", "st"),
    ]
    for name in ("starts_with", "eq", "lt", "gte"):
        assert doubts(agree(text(), name, prefix, *held)) == {None}


def test_a_prefix_of_nothing_but_marks_is_that_of_every_text() -> None:
    place = agree(text(), "starts_with", "\u0301", "a", "\u0301")
    assert place == Within("a1.1", (Range(WHOLE.lower, None),))
    assert agree(text(), "contains", "\u0301", "a", "\u0301") == Within("a1.1")


def test_words_are_known_up_to_their_width() -> None:
    short, full, longer = (
        "w" * (INDEX_TOKEN_WIDTH - 1),
        "w" * INDEX_TOKEN_WIDTH,
        "w" * (INDEX_TOKEN_WIDTH + 1),
    )
    assert doubts(agree(text(), "has_words", short, short, full, longer)) == {None}
    assert doubts(agree(text(), "has_words", full, short, full, longer)) == {Doubt.LONG}
    assert doubts(agree(text(), "has_words", longer + " a", full + " a", longer, longer + " A")) == {
        None,
        Doubt.LONG,
    }


@pytest.mark.parametrize(
    ("given", "inner"),
    [
        ("rust on girder", {"on"}),
        ("rust", set()),
        (" rust ", {"rust"}),
        ("rust girder", set()),
        ("-rust-girder", {"rust"}),
        ("--", set()),
        ("x Träger-ﬁne y", {"trager", "fine"}),
        ("", set()),
    ],
)
def test_only_whole_words_inside_a_part_are_words_of_every_text_with_that_part(
    given: str, inner: set[str]
) -> None:
    assert inner_words(given) == inner


def test_a_part_of_a_text_is_narrowed_by_the_words_inside_it() -> None:
    held = ["a rust on girders", "rust girder", "trust on gird", "Rust ON Girder", "on"]
    place = agree(text(), "contains", "rust on gird", *held)
    assert {(leaf.family, leaf.doubt) for leaf in leaves(place)} == {("a1.1", Doubt.PART), ("a1.1.has", None)}
    place = agree(text(Indexes.complete()), "contains", "rust on gird", *held)
    assert place == Within("a1.1", doubt=Doubt.PART)


def test_ranges_that_meet_become_one() -> None:
    number = Field("n", "a1", "N", FieldType.NUMBER)
    (leaf,) = leaves(OPERATORS["in"].accessed(NUMBER, [Decimal(3), Decimal(4), Decimal(9)]))
    assert len(leaf.ranges) == 2
    (leaf,) = leaves(OPERATORS["in"].accessed(number, [Decimal(2), Decimal("2.0"), Decimal(1)]))
    assert [one.lower for one in leaf.ranges] == [f">5001{SEPARATOR}", f">5002{SEPARATOR}"]
    (leaf,) = leaves(OPERATORS["between"].accessed(number, [Decimal(2), Decimal(1)]))
    assert leaf.ranges == ()


def test_all_issues_have_a_number() -> None:
    assert OPERATORS["is_not_empty"].accessed(NUMBER, None) == EVERYTHING
    assert OPERATORS["is_empty"].accessed(NUMBER, None) == Without(EVERYTHING)
    assert key_ranges.without(Without(EVERYTHING)) == EVERYTHING
    assert NUMBER.key == NUM
