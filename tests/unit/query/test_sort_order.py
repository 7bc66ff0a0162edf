"""Orders of one to three keys: sorting in memory, comparing places and finding a cursor's spot are one order."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gridview.encoding.sort_strings import SPEC_VERSION
from gridview.query.sort_order import OrderKey, Place, Spot, in_order, place_of, rows_before
from gridview.schema.fields import Field, FieldOrder, FieldType
from gridview.schema.generations import Index, IndexState

DAY = FieldOrder(
    "a1.1", Field("day", "a1", "Day", FieldType.DATE), Index(1, IndexState.READY, 1, SPEC_VERSION)
)

ORDERS = st.lists(
    st.builds(OrderKey, st.just(DAY), st.booleans(), st.booleans()), min_size=1, max_size=3
).map(tuple)
PARTS = st.tuples(*[st.sampled_from((None, "", "a", "ab", "b"))] * 3)


@given(ORDERS, st.lists(PARTS, max_size=12))
def test_spots_before_and_after_a_row_are_around_it(keys: Any, parts: Any) -> None:
    places = [Place(some[: len(keys)], num) for num, some in enumerate(parts, start=1)]
    ordered = in_order(keys, places)
    assert sorted(ordered, key=lambda place: place.num) == places
    for at, place in enumerate(ordered):
        assert rows_before(keys, ordered, Spot(place, after=False)) == at
        assert rows_before(keys, ordered, Spot(place, after=True)) == at + 1


@given(ORDERS, st.lists(PARTS, max_size=12))
def test_an_order_turned_round_in_everything_is_itself_reversed(keys: Any, parts: Any) -> None:
    places = [Place(some[: len(keys)], num) for num, some in enumerate(parts, start=1)]
    turned = tuple(OrderKey(key.order, not key.descending, not key.nulls_first) for key in keys)
    assert in_order(turned, places) == in_order(keys, places)[::-1]


@given(st.booleans(), st.lists(PARTS, max_size=12))
def test_ties_go_by_number_in_the_direction_of_the_last_key(descending: bool, parts: Any) -> None:
    keys = (OrderKey(DAY), OrderKey(DAY, descending))
    places = [Place(some[:2], num) for num, some in enumerate(parts, start=1)]
    for one, other in pairwise(in_order(keys, places)):
        assert one.parts != other.parts or (one.num > other.num) == descending


def test_the_place_of_an_issue() -> None:
    issue = {"num": 7, "fields": {"a1": "2023-05-01"}}
    assert place_of((OrderKey(DAY), OrderKey(None)), issue) == Place(("2023-05-01", "00000007"), 7)
    assert place_of((OrderKey(DAY),), {"num": 7, "fields": {}}) == Place((None,), 7)
