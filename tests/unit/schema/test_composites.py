"""Orders by several keys: their sort strings, and their use in the catalog."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridview.derive import families
from gridview.derive.sort_entries import (
    UnknownSpec,
    present_sort_strings,
    sort_body,
    sort_string,
    sort_strings_of,
)
from gridview.encoding import option_ranks, sort_strings
from gridview.encoding.sort_strings import KeyPart
from gridview.query.sort_order import Keys, OrderKey, in_order, place_of
from gridview.schema.catalog import Catalog, Composite, CompositeOrder, Part, normal_form
from gridview.schema.fields import NUM, Field, FieldOrder, FieldType, Option
from gridview.schema.generations import Index, Indexes, IndexState
from tests.unit.encoding.test_sort_strings import KINDS, property_test, tricky_characters

READY = Indexes.complete()
INDEX = Index(1, IndexState.READY, 0, sort_strings.SPEC_VERSION)
OPTIONS = tuple(
    Option(f"o{place}", f"option {place}", rank)
    for place, rank in enumerate(option_ranks.reorder([None] * 6))
)


def field(number: int, kind: FieldType) -> Field:
    options = OPTIONS if kind.has_options else ()
    return Field(f"f{number}", f"a{number}", f"F{number}", kind, options, indexes=READY)


def catalog(fields: Sequence[Field], *composites: Composite, epoch: int = 9) -> Catalog:
    return Catalog("0807", "35e9", epoch, OPTIONS, tuple(fields), len(fields) + 1, composites=composites)


def order_of(catalog: Catalog) -> CompositeOrder:
    (order,) = (one for one in catalog.orders if isinstance(one, CompositeOrder))
    return order


# Stored values of each type: few distinct ones, so that the later keys decide too.
short = st.text(tricky_characters, max_size=3)
STORED: dict[FieldType, st.SearchStrategy[Any]] = {
    FieldType.TEXT: short.filter(bool),
    FieldType.USER: short.filter(bool),
    FieldType.NUMBER: st.sampled_from(["-12", "-1.2", "-1", "0", "1", "1.5", "10"]),
    FieldType.DATE: st.sampled_from(["0001-01-01", "2023-05-01", "2023-05-02"]),
    FieldType.DATETIME: st.sampled_from(["2023-05-01T00:00:00.000000Z", "2023-05-01T00:00:00.000001Z"]),
    FieldType.BOOL: st.booleans(),
    FieldType.ENUM: st.sampled_from([option.id for option in OPTIONS]),
    FieldType.MULTI_ENUM: st.lists(
        st.sampled_from([option.id for option in OPTIONS]), unique=True, min_size=1
    ),
}
LONG = {FieldType.TEXT, FieldType.USER}

parts_of_every_kind = st.lists(
    st.tuples(st.sampled_from(list(FieldType)), st.booleans(), st.booleans()), min_size=2, max_size=3
)


@st.composite
def issues(draw: st.DrawFn, fields: Sequence[Field], *, long: bool) -> list[dict[str, Any]]:
    def values(kind: FieldType) -> st.SearchStrategy[Any]:
        if long and kind in LONG:
            filler = st.builds(lambda c, n: c * n, tricky_characters, st.integers(0, 300))
            return st.builds("{}{}".format, filler, STORED[kind]).map(lambda text: text[:256])
        return STORED[kind]

    rows = draw(
        st.lists(st.tuples(*(st.none() | values(one.type) for one in fields)), min_size=2, max_size=8)
    )
    return [
        {"num": num, "fields": {f.key: v for f, v in zip(fields, row, strict=True) if v is not None}}
        for num, row in enumerate(rows, 1)
    ]


def asked(fields: Sequence[Field], parts: Sequence[tuple[Any, bool, bool]]) -> tuple[tuple[Part, ...], Keys]:
    sort = tuple(Part(f.key, desc, first) for f, (_, desc, first) in zip(fields, parts, strict=True))
    keys = tuple(
        OrderKey(FieldOrder(f"{f.key}.1", f, INDEX), part.descending, part.nulls_first)
        for f, part in zip(fields, sort, strict=True)
    )
    return sort, keys


# Against the order of a request


@property_test
@given(data=st.data(), parts=parts_of_every_kind)
def test_the_entries_are_in_the_order_of_the_keys_forwards_or_backwards(
    data: st.DataObject, parts: list[tuple[FieldType, bool, bool]]
) -> None:
    fields = [field(number, kind) for number, (kind, _, _) in enumerate(parts, 1)]
    sort, keys = asked(fields, parts)
    documents = data.draw(issues(fields, long=False))
    found = catalog(fields, Composite("c1", sort, READY)).composite_for(sort)
    assert found is not None
    strings = sorted(
        (str(sort_string(found.order, document)) for document in documents), reverse=found.reversed
    )
    expected = [place.num for place in in_order(keys, (place_of(keys, one) for one in documents))]
    assert [sort_strings.number_of(one) for one in strings] == expected
    by_bytes = sorted((one.encode() for one in strings), reverse=found.reversed)
    assert by_bytes == [one.encode() for one in strings], "DynamoDB agrees"
    as_one = (OrderKey(found.order, found.reversed),)
    in_memory = in_order(as_one, (place_of(as_one, one) for one in documents))
    assert [place.num for place in in_memory] == expected, "what is sorted in memory agrees"


@property_test
@given(data=st.data(), parts=parts_of_every_kind)
def test_the_sort_strings_of_several_keys_are_well_formed_however_long_the_values_are(
    data: st.DataObject, parts: list[tuple[FieldType, bool, bool]]
) -> None:
    fields = [field(number, kind) for number, (kind, _, _) in enumerate(parts, 1)]
    sort, _ = asked(fields, parts)
    order = order_of(catalog(fields, Composite("c1", sort, READY)))
    strings = []
    for document in data.draw(issues(fields, long=True)):
        body, string = str(sort_body(order, document)), str(sort_string(order, document))
        assert len(string.encode()) < 1024
        assert set(filter(lambda c: c < " ", string)) <= {"\x01", "\x02"}
        assert string.count("\x01") == 1
        assert sort_strings.body_of(string) == body
        assert sort_strings.number_of(string) == document["num"]
        assert body + "\x01" < string < body + "\x02"
        strings.append(string)
    bodies = {sort_strings.body_of(one) for one in strings}
    for a, b in product(strings, repeat=2):
        assert a == b or not b.startswith(a)
    for a, b in product(bodies, repeat=2):
        assert (a + "\x02" < b + "\x01") == (a < b), "one body is one range"


# The parts by themselves

every_kind = pytest.mark.parametrize("kind", KINDS)
directions = pytest.mark.parametrize("descending", [False, True], ids=["ascending", "descending"])


def leading(body: str | None, *, descending: bool, size: int | None = None, nulls_first: bool = False) -> str:
    return sort_strings.composite([KeyPart(body, descending, nulls_first, size), KeyPart("x")])


@every_kind
@directions
def test_every_pair_of_nasty_values_compares_as_its_parts(kind: str, descending: bool) -> None:
    bodies = sorted({KINDS[kind].body(value) for value in KINDS[kind].nasty})
    strings = [leading(body, descending=descending) for body in bodies]
    assert sorted(set(strings), reverse=descending) == strings
    assert not any(a != b and b.startswith(a[:-2]) for a, b in product(strings, repeat=2)), "each part ends"


@directions
@property_test
@given(data=st.data())
def test_any_two_bodies_compare_as_their_parts(descending: bool, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(["text", "user"]))
    a, b = (KINDS[kind].body(data.draw(KINDS[kind].some)) for _ in range(2))
    first, second = (leading(body, descending=descending) for body in (a, b))
    assert (first < second) == ((a > b) if descending else (a < b))
    assert (first == second) == (a == b)
    assert (first.encode() < second.encode()) == (first < second)


@directions
@property_test
@given(data=st.data(), size=st.integers(20, 400))
def test_a_part_that_is_cut_never_turns_an_order_around(
    descending: bool, data: st.DataObject, size: int
) -> None:
    kind = data.draw(st.sampled_from(["text", "user"]))
    a, b = (KINDS[kind].body(data.draw(KINDS[kind].some)) for _ in range(2))
    first, second = (leading(body, descending=descending, size=size) for body in (a, b))
    assert len(first[:-2].encode()) <= size
    assert first == second or (first < second) == ((a > b) if descending else (a < b))
    if max(len(leading(body, descending=descending).encode()) for body in (a, b)) <= size - 5:
        assert (first == second) == (a == b), "what fits is not cut"


def test_every_character_has_its_place_when_it_is_turned_around() -> None:
    scalars = [
        2,
        *range(0x20, 0xD800),
        *range(0xE000, 0x12000),
        *range(0x10000, 0x110000, 997),
        0x10FFFF,
    ]
    inverted = [leading(chr(code), descending=True)[1:-3] for code in sorted(set(scalars))]
    assert all(a > b for a, b in pairwise(inverted))
    assert all(len(one.encode()) <= 5 for one in inverted)
    assert all(one.isprintable() or one[0] in '"#!' for one in inverted)
    assert [len(leading(c, descending=True).encode()) for c in " az09"] == [6] * 5, "as long as ascending"


@pytest.mark.parametrize("nulls_first", [False, True])
@directions
def test_nulls_are_where_requested_in_both_directions(descending: bool, nulls_first: bool) -> None:
    bodies = ["", " ", "a", "\U0010ffff", "\x02A"]
    valued = [leading(body, descending=descending, nulls_first=nulls_first) for body in bodies]
    without = leading(None, descending=descending, nulls_first=nulls_first)
    assert all((without < one) is nulls_first for one in valued)


def test_the_last_key_of_a_sort_string_is_ascending_as_the_number_after_it() -> None:
    with pytest.raises(ValueError, match="not ascending"):
        sort_strings.composite([KeyPart("a"), KeyPart("b", True)])


@pytest.mark.parametrize(
    ("kinds", "characters"),
    [
        (["text", "date"], {"x": 240, "я": 240, "漢": 240, "\U0010ffff": 240}),
        (["text", "number", "enum"], {"x": 240, "я": 240, "漢": 240, "\U0010ffff": 238}),
        (["text", "text"], {"x": 240, "я": 240, "漢": 167, "\U0010ffff": 125}),
        (["text", "text", "text"], {"x": 240, "я": 166, "漢": 111, "\U0010ffff": 83}),
    ],
)
def test_the_number_of_characters_of_a_text_in_a_composite(
    kinds: list[str], characters: dict[str, int]
) -> None:
    fields = [field(number, FieldType(kind)) for number, kind in enumerate(kinds, 1)]
    order = order_of(catalog(fields, Composite("c1", tuple(Part(one.key) for one in fields), READY)))
    for character, expected in characters.items():
        body = str(sort_body(order, {"num": 1, "fields": {"a1": character * 1024}}))
        assert body.count(character) == expected


# In the catalog

A, B, C = (field(number, FieldType.DATE) for number in (1, 2, 3))
TWO = (Part("a1"), Part("a2", descending=True))


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ([Part("a1"), Part("a2", True)], True),
        ([Part("a1", True, True), Part("a2", False, True)], False),
        ([Part("a1"), Part("a2")], None),
        ([Part("a2", True), Part("a1")], None),
        ([Part("a1", False, True), Part("a2", True)], None),
        ([Part("a1")], None),
        ([], None),
        ([Part("a1"), Part("a2", True), Part("a3")], None),
        ([Part("a1"), Part("a2", True), Part(NUM, True)], True),
        ([Part("a1"), Part("a2", True), Part(NUM)], None),
        ([Part("a1"), Part(NUM), Part("a2", True)], None),
        ([Part(NUM), Part("a1")], None),
    ],
)
def test_the_index_is_found_that_gives_an_order_or_its_reversal(
    parts: list[Part], found: bool | None
) -> None:
    served = catalog([A, B, C], Composite("c1", TWO, READY)).composite_for(parts)
    assert (served and served.reversed) is found


def test_the_place_of_nulls_does_not_matter_for_a_field_without_nulls() -> None:
    one, other = ((Part("state", False, first), Part("a1")) for first in (False, True))
    assert normal_form(one) == normal_form(other)
    backwards = (Part("state", True, False), Part("a1", True, True))
    assert normal_form(backwards) == (normal_form(one)[0], True)


def test_an_index_being_built_is_found_but_not_served_and_a_deleted_one_is_neither() -> None:
    building = Composite("c1", TWO, Indexes().on(4))
    under_way = catalog([A, B], building)
    assert under_way.composite_for(TWO) is None
    assert under_way.composite_being_built(TWO) is building
    assert "c1.1" in {order.order_id for order in under_way.orders}, "what is built is written"
    deleted = Composite("c1", TWO, READY.off(5), deleted=5)
    gone = catalog([B], deleted)  # its fields may be deleted too
    assert gone.composite_for(TWO) is None
    assert gone.composite_being_built(TWO) is None
    assert (gone.composite("c1"), gone.composites_over("a2")) == (None, [])
    assert gone.leaving.keys() == {"c1.1"}
    assert list(gone.pending()) == [deleted]
    assert "c1.1" not in {order.order_id for order in gone.orders}


def test_definitions_that_were_read_while_they_changed_do_no_harm() -> None:
    composite = Composite("c1", TWO, READY)
    without_its_newest = catalog([A], composite)
    assert without_its_newest.living_composites == ()
    assert "c1.1" not in {order.order_id for order in without_its_newest.orders}
    deleted = replace(B, deleted=8, indexes=READY.off(8))
    with_one_deleted = replace(catalog([A], composite), deleting=(deleted,))
    assert "c1.1" in {order.order_id for order in with_one_deleted.orders}


def test_every_issue_has_an_entry_and_a_place_in_the_blocks() -> None:
    several = catalog([A, B], Composite("c1", TWO, READY))
    document = {"num": 7, "name": "x", "state": "o1", "fields": {}}
    assert set(sort_strings_of(several, document)) == {"name.1", "state.1", "c1.1"}
    assert "c1.1" in families.families_of(several)
    assert "c1.1.has" not in families.families_of(several)
    derived = families.derived_strings(several, document)
    assert families.keys_of("c1.1", derived["c1.1"]) == {sort_string(order_of(several), document)}
    key = OrderKey(order_of(several))
    assert key.binding() == ["c1", False, False]
    assert (key.nullable, key.field_id, key.fields) == (False, "c1", (A, B))


def test_an_index_of_an_unknown_form_is_refused() -> None:
    unknown = Indexes((Index(1, IndexState.READY, 0, 99),), 2)
    order = order_of(catalog([A, B], Composite("c1", TWO, unknown)))
    with pytest.raises(UnknownSpec):
        sort_body(order, {"num": 1, "fields": {}})


def test_while_options_are_moved_an_issue_may_be_where_it_was_before_each_move() -> None:
    def moved(one: Option, *epochs: int) -> Option:
        for place, epoch in enumerate(epochs):
            one = one.moved_to(f"m{epoch}0{place}", epoch)
        return one

    first = Field("f1", "a1", "F1", FieldType.ENUM, (moved(OPTIONS[0], 4, 6), *OPTIONS[1:]), indexes=READY)
    second = Field("f2", "a2", "F2", FieldType.ENUM, (moved(OPTIONS[0], 5), *OPTIONS[1:]), indexes=READY)
    order = order_of(catalog([first, second], Composite("c1", (Part("a1"), Part("a2")), READY)))
    document = {"num": 1, "fields": {"a1": "o0", "a2": "o0"}}
    old = OPTIONS[0].rank
    former = [(old, old), ("m400", old), ("m400", "m500"), ("m601", "m500")]
    assert order.moving
    assert present_sort_strings(order, document) == {
        sort_strings.sort_string(sort_strings.composite([KeyPart(one), KeyPart(other)]), 1)
        for one, other in former
    }
    settled = [one.after_pass(6, 7) for one in (first, second)]
    after = order_of(catalog(settled, Composite("c1", (Part("a1"), Part("a2")), READY)))
    assert not after.moving
    assert present_sort_strings(after, document) == {sort_string(order, document)}
    assert after.arrangement != order.arrangement, "cursors expire when a move is over"
