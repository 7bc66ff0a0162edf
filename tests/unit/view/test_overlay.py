"""The overlay: an issue is removed from wherever the index shows it, put in its place, and counted once."""

from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from gridview.chains.blocks import FIRST, Block, Entry, entry_of
from gridview.chains.directory import Directory, Range
from gridview.derive.ledger import Ledger
from gridview.dynamodb.expressions import Bound, Item
from gridview.encoding import keys
from gridview.encoding.sort_strings import issue_number, sort_string
from gridview.view.moves import FamilyMove, JournalStep, Move
from gridview.view.overlay import NOTHING, Overlay
from gridview.view.reads import (
    Documents,
    Listed,
    ReadDocuments,
    ReadEpoch,
    ReadLedger,
    ReadRange,
    ReadRanges,
)

FAMILY = "a1.1"


def key(body: str, num: int) -> str:
    return sort_string(body, num)


def move(num: int, leaves: Iterable[str], takes: str | None, document: Item | None = None) -> Move:
    strings = tuple(key(body, num) for body in leaves)
    return Move(num, {FAMILY: FamilyMove(strings, None if takes is None else key(takes, num))}, document)


def detailed(sets: Mapping[str, Iterable[int]], lower: str = FIRST, upper: str | None = None) -> Block:
    bitmaps = {body: BitMap(numbers) for body, numbers in sets.items()}
    return Block(FAMILY, "b", lower, upper, None if upper is None else "c", "d1", bitmaps)


def plain(numbers: Iterable[int], lower: str = FIRST, upper: str | None = None) -> Block:
    return Block(FAMILY, "c", lower, upper, None, "p1", None, BitMap(numbers))


def item(num: int, **fields: str) -> Item:
    return {keys.SORT: issue_number(num), "num": num, "version": 1, "fields": fields}


STATES = {
    "not begun": {"open": [1, 7], "closed": [2]},
    "half done": {"open": [1, 7], "closed": [2, 7]},
    "the other half": {"open": [1], "closed": [2]},
    "done": {"open": [1], "closed": [2, 7]},
}
"""The possible states of a block while issue 7 moves from open to closed."""


@pytest.mark.parametrize("state", STATES)
def test_an_issue_is_where_it_belongs_whatever_the_block_shows(state: str) -> None:
    over = Overlay([move(7, ["open"], "closed")]).family(FAMILY)
    found = over.block(detailed(STATES[state]))
    assert found.sets == {"closed": BitMap([2, 7]), "open": BitMap([1])}
    assert (found.size, found.members) == (3, BitMap([1, 2, 7]))


def test_a_block_keeps_its_form_and_its_fences() -> None:
    over = Overlay([move(7, ["open"], "closed"), move(8, ["a"], "z"), move(9, [], "b")]).family(FAMILY)
    first, second = plain([7, 8], upper="m\x01"), plain([1, 2], lower="m\x01")
    overlaid = over.block(first), over.block(second)
    assert [one.rest for one in overlaid] == [BitMap([7, 9]), BitMap([1, 2, 8])]
    assert [(one.lower, one.upper, one.write_id, one.detailed) for one in overlaid] == [
        (one.lower, one.upper, one.write_id, one.detailed) for one in (first, second)
    ]


def test_a_deleted_issue_is_nowhere() -> None:
    over = Overlay([move(7, ["open"], None)]).family(FAMILY)
    assert over.block(detailed({"open": [7], "closed": [2]})).sets == {"closed": BitMap([2])}


def test_a_block_that_has_nothing_of_it_is_the_same() -> None:
    block = detailed({"open": [1]}, upper="p\x01")
    assert Overlay([move(7, ["x"], "y")]).family(FAMILY).block(block) is block
    assert NOTHING.family(FAMILY).block(block) is block


def test_sort_strings_of_a_range_are_those_that_belong_in_it() -> None:
    over = Overlay([move(7, ["open"], "closed"), move(8, [], "new")]).family(FAMILY)
    found = [key("closed", 2), key("open", 1), key("open", 7)]
    assert over.keys(found, Range(FIRST, None)) == [
        key("closed", 2),
        key("closed", 7),
        key("new", 8),
        key("open", 1),
    ]
    assert over.keys(found[1:], Range("n\x01", None)) == [key("new", 8), key("open", 1)]


# Directories


def directory(*blocks: Block) -> Directory:
    return Directory(FAMILY, tuple(map(entry_of, blocks)))


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("listed", STATES)
def test_an_issue_is_counted_once_though_listing_and_blocks_differ_in_time(state: str, listed: str) -> None:
    """The listing is of one moment, and the blocks that settle it are of another."""
    overlay = Overlay([move(7, ["open"], "closed")])

    def cut(sets: Mapping[str, Iterable[int]]) -> tuple[Block, Block]:
        left, right = ({body: sets[body]} for body in ("closed", "open"))
        return detailed(left, upper="m\x01"), detailed(right, lower="m\x01")

    read = directory(*cut(STATES[listed]))
    unsettled = list(overlay.unsettled(read))
    assert unsettled == list(read.entries)
    found = overlay.directory(read, dict(zip(unsettled, cut(STATES[state]), strict=True)))
    assert [one.size for one in found.entries] == [2, 1]
    assert found.total == 3


def test_a_block_in_which_the_issue_cannot_be_counted_needs_no_reading() -> None:
    read = directory(detailed({"a": [1]}, upper="m\x01"), detailed({"open": [7]}, lower="m\x01"))
    overlay = Overlay([move(7, ["open"], "p")])
    assert list(overlay.unsettled(read)) == [read.entries[1]]
    assert list(NOTHING.unsettled(read)) == []
    assert NOTHING.directory(read, {}) is read


def test_sizes_that_are_not_settled_are_great_enough() -> None:
    empty = Entry("b", FIRST, None, None, "d1", 0)
    found = Overlay([move(7, [], "open")]).directory(Directory(FAMILY, (empty,)), {})
    assert found.entries[0].size == 1


def test_a_family_without_blocks_gets_a_first_one() -> None:
    nothing = Directory(FAMILY, ())
    overlay = Overlay([move(7, [], "open")])
    assert list(overlay.unsettled(nothing)) == []
    (entry,) = overlay.directory(nothing, {}).entries
    assert (entry.lower, entry.upper, entry.size, entry.detailed) == (FIRST, None, 1, True)
    assert overlay.family(FAMILY).block(Block.head(FAMILY)).sets == {"open": BitMap([7])}
    assert Overlay([move(7, ["open"], None)]).directory(nothing, {}).entries == ()


@given(st.data())
def test_sizes_are_exact_by_only_steps_and_positions(data: st.DataObject) -> None:
    """Each block is folded up to a position of its own; no block is read."""
    bodies, numbers = st.sampled_from("abcdef"), range(1, 6)
    had: dict[int, str | None] = {num: data.draw(bodies | st.none(), f"body of {num}") for num in numbers}
    states = [dict(had)]
    steps: dict[int, list[JournalStep]] = {}
    for number in range(1, data.draw(st.integers(0, 12), "items") + 1):
        num, body = data.draw(st.sampled_from(numbers)), data.draw(bodies | st.none())
        keys_then = [None if one is None else key(one, num) for one in (had[num], body)]
        steps.setdefault(num, []).append(JournalStep(number, *keys_then))
        had[num] = body
        states.append(dict(had))
    overlay = Overlay(
        Move(
            num,
            {FAMILY: FamilyMove(tuple(one.had for one in some if one.had), some[-1].takes, tuple(some))},
            None,
        )
        for num, some in steps.items()
    )
    fences = [FIRST, "c\x01", "e\x01", None]

    def listed(place: int, state: Mapping[int, str | None], position: int) -> Entry:
        lower, upper = str(fences[place]), fences[place + 1]
        held = [num for num, body in state.items() if body and Range(lower, upper).covers(key(body, num))]
        return Entry(f"b{place}", lower, upper, None, f"d1@{position}" if position else "d1", len(held))

    positions = [data.draw(st.integers(0, len(states) - 1), f"position {place}") for place in range(3)]
    read = Directory(FAMILY, tuple(listed(place, states[at], at) for place, at in enumerate(positions)))
    assert list(overlay.unsettled(read)) == []
    sizes = [one.size for one in overlay.directory(read, {}).entries]
    assert sizes == [listed(place, had, 0).size for place in range(3)]


def test_where_steps_are_not_enough_the_block_is_read() -> None:
    """Two issues are in one block: for one it is known whether the size counts it, for the other it is not."""
    sure = Move(
        1,
        {FAMILY: FamilyMove((key("a", 1),), key("b", 1), (JournalStep(5, key("a", 1), key("b", 1)),))},
        None,
    )
    block = detailed({"a": [1], "b": [2]})
    read = Directory(FAMILY, (entry_of(block)._replace(size=9),))
    both = Overlay([sure, move(2, ["b"], None)])
    assert list(both.unsettled(read)) == [read.entries[0]]
    assert [one.size for one in both.directory(read, {read.entries[0]: block}).entries] == [1]
    assert list(Overlay([sure]).unsettled(read)) == []


# Documents and sort entries


def test_documents_are_those_of_the_issues() -> None:
    old, new = item(7, day="old"), item(7, day="new")
    overlay = Overlay([move(7, [], "x", new), move(8, ["x"], None)])
    found = overlay.over(ReadDocuments((7, 8, 9), None), Documents({7: old, 8: item(8), 9: item(9)}))
    assert found.found == {7: new, 9: item(9)}
    assert overlay.over(ReadDocuments((9,), None), Documents({9: item(9)})).found == {9: item(9)}


OVERLAY = Overlay([move(3, ["b"], "d", item(3, day="x")), move(5, ["a"], None), move(9, [], "c", item(9))])
ENTRIES = [key("a", 5), key("b", 3), key("c", 1), key("e", 2)]


def sorts(listed: Listed) -> list[str]:
    return [one[keys.SORT] for one in listed.items]


@pytest.mark.parametrize(
    ("found", "last", "bound", "forward", "expected"),
    [
        (ENTRIES, None, None, True, [key("c", 1), key("c", 9), key("d", 3), key("e", 2)]),
        (ENTRIES[:3], ENTRIES[2], None, True, [key("c", 1)]),
        (
            ENTRIES[:1:-1],
            None,
            Bound(">", key("b", 3)),
            False,
            [key("e", 2), key("d", 3), key("c", 9), key("c", 1)],
        ),
        (ENTRIES[3:], ENTRIES[3], Bound(">=", key("d", 3)), True, [key("d", 3), key("e", 2)]),
        (ENTRIES[3:], None, Bound(">", key("d", 3)), True, [key("e", 2)]),
        (ENTRIES[3:2:-1], ENTRIES[3], None, False, [key("e", 2)]),
    ],
)
def test_entries_are_overlaid_as_far_as_was_read(
    found: list[str], last: str | None, bound: Bound | None, forward: bool, expected: list[str]
) -> None:
    read = ReadRange(FAMILY, bound, forward, 10, ())
    answer = Listed([{keys.SORT: one} for one in found], last)
    overlaid = OVERLAY.over(read, answer)
    assert (sorts(overlaid), overlaid.last) == (expected, last)


def test_no_more_entries_come_than_were_asked_for() -> None:
    """The read continues after the last of them."""
    overlaid = OVERLAY.over(
        ReadRange(FAMILY, None, True, 2, ()), Listed([{keys.SORT: one} for one in ENTRIES], None)
    )
    assert (sorts(overlaid), overlaid.last) == ([key("c", 1), key("c", 9)], key("c", 9))


def test_documents_in_number_order_are_those_of_the_issues() -> None:
    listed = Listed([item(1), item(3, day="old"), item(5)], None)
    overlaid = OVERLAY.over(ReadRange(None, None, True, 10, None), listed)
    assert overlaid.items == [item(1), item(3, day="x"), item(9)]
    lacking = OVERLAY.over(ReadRange(None, None, True, 10, None, ("fields", "day")), Listed([item(1)], None))
    assert lacking.items == [item(1), item(9)]


def test_each_range_of_numbers_gets_its_own() -> None:
    read = ReadRanges(
        (
            Bound("between", issue_number(1), issue_number(4)),
            Bound("between", issue_number(5), issue_number(9)),
        ),
        None,
    )
    answer = [Listed([item(1)], None), Listed([item(5), item(6)], issue_number(6))]
    assert [one.items for one in OVERLAY.over(read, answer)] == [[item(1), item(3, day="x")], [item(6)]]


def test_a_ledger_says_what_the_index_is_taken_to_have() -> None:
    known = Ledger(1, False, 1, 1, {FAMILY: key("b", 3), "other": "stays"})
    assert OVERLAY.over(ReadLedger(3), known).applied == {FAMILY: key("d", 3), "other": "stays"}
    assert OVERLAY.over(ReadLedger(5), known).applied == {"other": "stays"}
    assert OVERLAY.over(ReadLedger(4), known) is known
    assert OVERLAY.over(ReadEpoch(), "whatever else") == "whatever else"


def test_documents_that_the_journal_lacks_stay_as_they_were_read() -> None:
    overlay = Overlay([move(7, ["open"], "closed")._replace(known=False)])
    seven = item(7)
    read, fetched = ReadDocuments((7,), None), Documents({7: seven}, frozenset())
    assert overlay.over(read, fetched) == fetched
    listed = Listed([seven], None)
    assert overlay.over(ReadRange(None, None, True, 10, None), listed) == listed
    block = overlay.family(FAMILY).block(detailed({"open": [1, 7], "closed": [2]}))
    assert {body: list(numbers) for body, numbers in (block.sets or {}).items()} == {
        "open": [1],
        "closed": [2, 7],
    }
