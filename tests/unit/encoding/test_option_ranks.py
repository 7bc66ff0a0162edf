"""Ranks ascend with the options, and an option keeps its own if the new order allows it."""

from itertools import combinations, pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gridview.encoding import option_ranks
from tests.support.depth import one_of

property_test = settings(max_examples=one_of(100, thorough=300))

CAPACITY = 36**4


def rank(number: int) -> str:
    """The rank of a number, written without the module under test."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    return "".join(digits[number // 36**power % 36] for power in (3, 2, 1, 0))


def assert_ascending(found: list[str]) -> None:
    assert all(len(one) == 4 and set(one) <= set("0123456789abcdefghijklmnopqrstuvwxyz") for one in found)
    assert all(a < b for a, b in pairwise(found))


def kept(before: list[str | None], after: list[str]) -> int:
    return sum(a == b for a, b in zip(before, after, strict=True))


def most_that_can_stay(before: list[str | None], taken: frozenset[str] = frozenset()) -> int:
    """The most options that can stay, by trying every subset: they must ascend with room for all
    options between them, beside the taken ranks.
    """
    fixed = [(place, int(one, 36)) for place, one in enumerate(before) if one is not None]
    barred = [int(one, 36) for one in taken]
    for size in range(len(fixed), 0, -1):
        for subset in combinations(fixed, size):
            ends = [(-1, -1), *subset, (len(before), CAPACITY)]
            if all(
                b[1] - a[1] - sum(a[1] < one < b[1] for one in barred) >= b[0] - a[0]
                for a, b in pairwise(ends)
            ):
                return size
    return 0


@pytest.mark.parametrize("count", [0, 1, 2, 3, 40, 200, 1000])
def test_first_ranks_ascend_and_are_evenly_spaced(count: int) -> None:
    found = option_ranks.reorder([None] * count)
    assert len(found) == count
    assert_ascending(found)
    gaps = [b - a for a, b in pairwise([-1, *(int(one, 36) for one in found), CAPACITY])]
    assert max(gaps) - min(gaps) <= 1


def test_every_rank_can_be_taken() -> None:
    assert option_ranks.reorder([None] * CAPACITY)[:: CAPACITY - 1] == ["0000", "zzzz"]
    with pytest.raises(ValueError, match="more options than ranks"):
        option_ranks.reorder([None] * (CAPACITY + 1))
    with pytest.raises(ValueError, match="more options than ranks"):
        option_ranks.reorder([None] * CAPACITY, {"i000"})


crowded = st.sampled_from([*map(rank, range(8)), *map(rank, range(CAPACITY - 8, CAPACITY))])
anywhere = st.integers(0, CAPACITY - 1).map(rank)


@property_test
@example(["0000", None, "0001"])
@example([None, "0000"])
@example(["zzzz", None])
@example(["zzzy", "zzzz", None])
@example([None, "0000", "0001"])
@example(["zzzz", "0000"])
@example(["i000", "i000"])
@given(st.lists(st.none() | crowded | anywhere, max_size=8))
def test_the_most_possible_ranks_stay(before: list[str | None]) -> None:
    after = option_ranks.reorder(before)
    assert len(after) == len(before)
    assert_ascending(after)
    assert kept(before, after) == most_that_can_stay(before)


@property_test
@example(["0000", None], frozenset(["0001"]))
@example([None, "0001"], frozenset(["0000"]))
@example(["0000", None, "0002"], frozenset(["0001"]))
@example([None, "zzzz"], frozenset(["zzzz"]))
@given(st.lists(st.none() | crowded | anywhere, max_size=6), st.frozensets(crowded | anywhere, max_size=12))
def test_no_option_gets_a_taken_rank(before: list[str | None], taken: frozenset[str]) -> None:
    after = option_ranks.reorder(before, taken)
    assert len(after) == len(before)
    assert_ascending(after)
    # Only an option that has such a rank may keep it.
    assert taken.isdisjoint(set(after).difference(before))
    assert kept(before, after) == most_that_can_stay(before, taken.difference(one for one in before if one))


@property_test
@given(st.permutations(range(60)), st.integers(0, 20))
def test_any_permutation_with_new_options_among_them_ascends(order: list[int], new: int) -> None:
    present = option_ranks.reorder([None] * 60)
    before: list[str | None] = [present[place] for place in order]
    for place in range(new):
        before.insert(place * 3, None)
    assert_ascending(option_ranks.reorder(before))


def test_an_order_that_did_not_change_changes_no_rank() -> None:
    present = option_ranks.reorder([None] * 200)
    assert option_ranks.reorder(present) == present


@pytest.mark.parametrize(("start", "end"), [(0, 199), (199, 0), (3, 100), (100, 99)])
def test_moving_one_option_changes_only_its_rank(start: int, end: int) -> None:
    before = option_ranks.reorder([None] * 200)
    before.insert(end, before.pop(start))
    after = option_ranks.reorder(before)
    assert_ascending(after)
    assert kept([*before], after) == 199


def test_dropping_options_changes_no_rank() -> None:
    left = option_ranks.reorder([None] * 200)[::3]
    assert option_ranks.reorder(left) == left


@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize("present", [0, 1, 3])
def test_200_options_added_one_at_a_time_at_an_end_change_no_rank(place: str, present: int) -> None:
    found = option_ranks.reorder([None] * present)
    while len(found) < 200:
        before: list[str | None] = [None, *found] if place == "first" else [*found, None]
        found = option_ranks.reorder(before)
        assert_ascending(found)
        assert kept(before, found) == len(found) - 1


def test_an_option_at_an_end_takes_a_step_and_leaves_the_room_beyond_it() -> None:
    assert option_ranks.reorder(["i000", None]) == ["i000", rank(int("i000", 36) + 2_048)]
    assert option_ranks.reorder([None, "i000"]) == [rank(int("i000", 36) - 2_048), "i000"]


def test_adding_in_one_place_for_ever_moves_no_more_than_a_neighbour() -> None:
    """When a gap is used up, only the options in the way move, into the nearest room."""
    found = option_ranks.reorder([None] * 2)
    moved = []
    while len(found) < 200:
        before: list[str | None] = [found[0], None, *found[1:]]
        found = option_ranks.reorder(before)
        assert_ascending(found)
        moved.append(len(before) - 1 - kept(before, found))
    assert moved[:18] == [0] * 18
    assert max(moved) == 1


@pytest.mark.parametrize("wrong", ["", "i00", "i0000", "I000", "i 00", "i00\n", "٠٠٠٠"])
def test_a_malformed_rank_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="malformed rank"):
        option_ranks.reorder(["0000", wrong])
