"""Directories from listings: of one moment, of several, with gaps. And the keys of a block in a range."""

from itertools import pairwise
from random import Random

import pytest
from pyroaring import BitMap

from gridview.chains.blocks import FIRST, HEAD, Entry, entry_of
from gridview.chains.directory import WHOLE, Directory, Range, chained, keys_in, members_in, range_of
from gridview.encoding.fences import after, before
from gridview.encoding.sort_strings import sort_string
from tests.support import chains

FAMILY = "a1.1"


def entry(block_id: str, lower: str, upper: str | None, following: str | None, size: int = 10) -> Entry:
    return Entry(block_id, lower, upper, following, "d1", size)


def gaps(listing: list[Entry], reread: dict[str, Entry | None] | None = None) -> set[str]:
    """The blocks that must be read again."""
    found = chained(FAMILY, listing, reread)
    assert not isinstance(found, Directory)
    return set(found)


A = entry(HEAD, FIRST, "g", "b")
B = entry("b", "g", "p", "c", 20)
C = entry("c", "p", None, None, 5)


def complete(listing: list[Entry], reread: dict[str, Entry | None] | None = None) -> Directory:
    found = chained(FAMILY, listing, reread)
    assert isinstance(found, Directory)
    return found


def test_a_listing_without_gaps_is_taken_as_it_is() -> None:
    directory = complete([C, A, B])
    assert directory.entries == (A, B, C)
    assert (directory.total, directory.starts) == (35, (0, 10, 30, 35))
    assert directory.age == 0.0


def test_a_family_without_blocks_has_no_entries() -> None:
    directory = complete([])
    assert (directory.entries, directory.total, directory.starts) == ((), 0, (0,))
    assert list(directory.overlapping(WHOLE)) == []


def test_an_entry_is_found_by_a_key_or_a_fence() -> None:
    directory = complete([A, B, C])
    assert [directory.index_of(key) for key in (FIRST, "a", "g", "gg", "p", "z")] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("between", "entries", "whole"),
    [
        (WHOLE, [A, B, C], [A, B, C]),
        (Range("g", "p"), [B], [B]),
        (Range("g", "pp"), [B, C], [B]),
        (Range("f", "p"), [A, B], [B]),
        (Range("h", "i"), [B], []),
        (Range("z", None), [C], []),
        (Range("p", None), [C], [C]),
        (Range(FIRST, "g"), [A], [A]),
        (Range("h", "h"), [], []),
        (Range("h", "a"), [], []),
    ],
)
def test_a_range_overlaps_the_blocks_that_have_keys_of_it(
    between: Range, entries: list[Entry], whole: list[Entry]
) -> None:
    directory = complete([A, B, C])
    assert list(directory.overlapping(between)) == entries
    assert [one for one in directory.overlapping(between) if directory.whole(between, one)] == whole


def test_a_block_covered_by_the_one_on_its_left_is_left_out() -> None:
    """The right half of a split beside the block as it was, or a block that was merged into the one before it."""
    wide = entry(HEAD, FIRST, "p", "c")
    assert complete([wide, B, C]).entries == (wide, C)
    widest = entry(HEAD, FIRST, None, None)
    assert complete([widest, B, C]).entries == (widest,)


def test_of_two_blocks_at_one_place_the_linked_one_is_taken() -> None:
    gone = entry("x", "g", "k", "y")
    assert complete([A, gone, B, C]).entries == (A, B, C)
    assert complete([A, B, gone, C]).entries == (A, B, C)


def test_a_gap_asks_for_the_block_that_begins_there_and_for_the_one_before_it() -> None:
    assert gaps([A, C]) == {HEAD, "b"}
    assert gaps([A, B]) == {"b", "c"}
    assert gaps([B, C]) == {HEAD}
    assert gaps([B]) == {HEAD, "b", "c"}
    assert complete([A, C], {HEAD: A, "b": B}).entries == (A, B, C)


def test_a_gap_where_a_block_was_merged_is_closed_by_the_one_that_took_it_in() -> None:
    """The index shows that B is gone, but not yet that A reaches further."""
    wide = entry(HEAD, FIRST, "p", "c")
    assert complete([A, C], {"b": None, HEAD: wide}).entries == (wide, C)


def test_the_block_before_a_gap_may_be_gone_too() -> None:
    """A has merged B and then the one after it; of all three the index shows the former B."""
    widest = entry(HEAD, FIRST, None, None)
    listing = [A, B]
    assert gaps(listing) == {"b", "c"}
    assert gaps(listing, {"b": None, "c": None}) == {HEAD, "b"}
    assert complete(listing, {"b": None, "c": None, HEAD: widest}).entries == (widest,)


def test_blocks_that_overlap_in_part_are_read_again() -> None:
    """B was split at k, and its right half merged with C before the index showed B."""
    half, merged = entry("b", "g", "k", "d"), entry("d", "k", None, None)
    assert gaps([A, B, merged]) == {"b", "c", "d"}
    assert complete([A, B, merged], {"b": half, "c": None, "d": merged}).entries == (A, half, merged)


def test_without_its_first_block_there_is_no_chain() -> None:
    assert complete([B, C], {HEAD: None}).entries == ()


@pytest.mark.parametrize("seed", range(12))
def test_a_listing_of_several_moments_becomes_a_chain(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chains.small_blocks(monkeypatch)
    random = Random(seed)  # noqa: S311  (the same every time)
    written = chains.Written(FAMILY, random)
    moments: list[dict[str, Entry]] = []
    merged = False
    for step in range(600):
        before_step = len(written.blocks)
        written.change(
            lambda: sort_string(f"{random.randint(0, 400):03d}", random.randint(1, 300)),
            shrinking=step % 300 > 170,
        )
        merged |= len(written.blocks) < before_step
        moments = [*moments[-30:], {one.id: entry_of(one) for one in written.blocks}]
        present = moments[-1]
        assert complete(list(present.values())).entries == tuple(map(entry_of, written.blocks))
        listing = [
            shown
            for block_id in {block_id for moment in moments for block_id in moment}
            if (shown := random.choice(moments[-random.choice((1, 2, 10, 30)) :]).get(block_id))
        ]
        if not listing:
            continue
        reread: dict[str, Entry | None] = {}
        # A run of blocks that the listing lacks is followed link by link; every round finds one more.
        while not isinstance(found := chained(FAMILY, listing, reread), Directory):
            assert found - reread.keys()
            reread |= {block_id: present.get(block_id) for block_id in found}
        assert found.entries[0].lower == FIRST
        assert found.entries[-1].upper is None
        assert all(one.upper == two.lower for one, two in pairwise(found.entries))
    assert merged


SETS = {"": BitMap([1, 5]), "a": BitMap([2, 3, 4]), "ab": BitMap([9])}


@pytest.mark.parametrize(
    "between",
    [
        WHOLE,
        Range(before("a"), after("a")),
        Range(after("a"), None),
        Range(FIRST, before("a")),
        Range(sort_string("a", 3), sort_string("a", 4)),
        Range(sort_string("a", 3), None),
        Range(FIRST, sort_string("", 5)),
        Range(sort_string("", 2), sort_string("a", 4)),
        Range("a", "ab"),
        Range("aa", "b"),
        Range("b", None),
        Range(sort_string("a", 99_999_999), after("a")),
        Range(sort_string("a", 3), sort_string("a", 3)),
    ],
)
def test_the_members_of_a_block_in_a_range(between: Range) -> None:
    keys = sorted(sort_string(body, num) for body, numbers in SETS.items() for num in numbers)
    inside = [key for key in keys if between.covers(key)]
    assert list(keys_in(SETS, between)) == inside
    found = dict(members_in(SETS, between))
    assert all(found.values())
    assert sorted(sort_string(body, num) for body, numbers in found.items() for num in numbers) == inside
    assert {"": BitMap([1, 5]), "a": BitMap([2, 3, 4]), "ab": BitMap([9])} == SETS


def test_ranges_overlap_and_contain_each_other() -> None:
    assert Range("b", "d").overlap(Range("c", None)) == Range("c", "d")
    assert Range("b", None).overlap(Range("c", None)) == Range("c", None)
    assert Range("b", "c").overlap(Range("d", None)).empty
    assert Range("b", "c").within(Range("b", "c"))
    assert Range("b", "c").within(Range("a", None))
    assert not Range("b", None).within(Range("a", "z"))
    assert not Range("b", "c").within(Range("bb", "c"))
    assert range_of(A) == Range(FIRST, "g")
