"""Journal items and heads: stored and read back, cut if a batch is large, and a head's knowledge of a number."""

import zlib
from collections.abc import Iterator
from dataclasses import replace

import orjson
import pytest
from pyroaring import BitMap

from gridview.derive.issue_changes import FamilyChange, IssueChange
from gridview.derive.ledger import HELD_SECONDS, SHOWN_SECONDS
from gridview.encoding import keys
from gridview.journal.items import FEW_ENTRIES, TRAIL_SECONDS, Head, JournalItem, cut, encoded_size, new_head

MOVES = {
    "a1.1": FamilyChange(("2023\x0100000007",), "2024\x0100000007"),
    "num": FamilyChange((), None),
    "a2.1.has": FamilyChange(("é\x0100000007", "x"), "y", thorough=True),
}
CHANGE = IssueChange(7, 3, removed=False, revision=2, moves=MOVES)
SEEN = IssueChange(8, 2, removed=True, revision=0, moves={})


def test_an_item_is_read_back_as_it_was_stored() -> None:
    record = JournalItem(57, 1_700_000_000.25, (CHANGE, SEEN))
    item = record.to_item("acme", "bridge")
    assert (item[keys.PK], item[keys.SK]) == ("journal-acme.bridge", "000000000057")
    assert keys.SORT not in item
    assert item[keys.TTL_ATTRIBUTE] == 1_700_000_000 + 30 * 86_400
    assert JournalItem.from_item(item) == record


def test_an_item_contains_the_version_before_of_each_issue() -> None:
    changes = CHANGE._replace(before=1), SEEN, CHANGE._replace(num=9, before=3)
    item = JournalItem(57, 1_700_000_000.25, changes).to_item("acme", "bridge")
    assert JournalItem.from_item(item).changes == changes


def test_an_older_version_of_this_code_reads_the_changes_as_it_did() -> None:
    changes = CHANGE._replace(before=1), SEEN._replace(before=1)
    item = JournalItem(57, 1_700_000_000.25, changes).to_item("acme", "bridge")
    plain = JournalItem(57, 1_700_000_000.25, (CHANGE, SEEN)).to_item("acme", "bridge")
    assert item["changes"] == plain["changes"]
    assert all(len(change) == 5 for change in orjson.loads(zlib.decompress(item["changes"])))


def test_an_empty_item_has_no_changes() -> None:
    item = JournalItem(58, 1_700_000_000.0).to_item("acme", "bridge")
    assert "changes" not in item
    assert JournalItem.from_item(item).changes == ()


def test_only_many_sort_entries_need_a_mark() -> None:
    in_blocks_alone = CHANGE._replace(moves={"num": FamilyChange((), "x"), "a2.1.has": FamilyChange((), "y")})
    one = JournalItem(1, 0.0, (CHANGE,)).entries
    assert 0 < one < FEW_ENTRIES
    most = (CHANGE,) * (FEW_ENTRIES // one)
    assert not JournalItem(1, 0.0, most).needs_mark
    assert JournalItem(1, 0.0, (*most, CHANGE)).needs_mark
    without = JournalItem(1, 0.0, (in_blocks_alone, SEEN) * FEW_ENTRIES)
    assert (without.entries, without.needs_mark) == (0, False)


def test_a_hundred_new_issues_take_a_few_kilobytes() -> None:
    moves = {f"a{field}.1": FamilyChange((), f"2023-05-{field:02}T10:00:00Z\x01") for field in range(15)}
    changes = [IssueChange(num, 1, removed=False, revision=1, moves=moves) for num in range(100)]
    assert encoded_size(changes) < 8_000


def test_a_large_batch_is_cut_and_nothing_is_lost() -> None:
    changes = [CHANGE._replace(num=num) for num in range(10)]
    groups = list(cut(changes, limit=3 * CHANGE.size))
    assert [len(group) for group in groups] == [3, 3, 3, 1]
    assert [change for group in groups for change in group] == changes
    assert list(cut([CHANGE], limit=1)) == [[CHANGE]]  # one issue is never cut


@pytest.mark.parametrize(("number", "known"), [(4, True), (5, False), (6, True), (7, None)])
def test_a_head_knows_numbers_up_to_the_watermark(number: int, known: bool | None) -> None:
    assert Head(last=9, folded=6, emptied=BitMap((5,))).committed(number) is known


def test_a_new_head_knows_nothing_and_is_not_due() -> None:
    assert Head.from_item(new_head("acme", "bridge")) == Head()


def test_readers_get_a_watermark_that_is_old_enough() -> None:
    head, shown = Head(), []
    for number, now in ((10, 100.0), (20, 120.0), (30, 140.0), (40, 165.0), (50, 220.0)):
        head = replace(head, folded=number, trail=tuple(head_trail(head, number, now)))
        shown.append((head.shown(now), head.shown(now + SHOWN_SECONDS)))
    assert shown == [(0, 10), (0, 20), (10, 30), (20, 40), (40, 50)]


def test_the_trail_goes_back_as_far_as_readers_may_be_held_back_and_stays_short() -> None:
    head = Head()
    for number in range(1, 3_001):
        head = replace(head, folded=number, trail=tuple(head_trail(head, number, float(number))))
    assert len(head.trail) <= (HELD_SECONDS + SHOWN_SECONDS) / (TRAIL_SECONDS - 1) + 4
    for held in range(0, HELD_SECONDS - SHOWN_SECONDS, 7):
        now = 3_000.0 - held
        assert 0 <= now - SHOWN_SECONDS - head.shown(now) <= TRAIL_SECONDS + 1
    assert head.trail[0][0] < 3_000 - HELD_SECONDS - SHOWN_SECONDS, (
        "so none reads the journal from its beginning"
    )
    assert head.trail[0][0] > 3_000 - HELD_SECONDS - SHOWN_SECONDS - 2 * TRAIL_SECONDS, (
        "unneeded entries are dropped"
    )


def test_the_trail_keeps_the_watermark_that_readers_get_and_leaves_out_what_is_close_to_another() -> None:
    now = 10_000.0
    shown = now - HELD_SECONDS - SHOWN_SECONDS
    trail = tuple((number, shown + at) for number, at in enumerate((-60.0, -30.0, 0.25, 5.0, 10.0, 40.0), 1))
    stored = Head(trail=trail).trail_to(7, now)
    assert stored == [[one, round(at * 1_000)] for one, at in (*trail[1:3], *trail[4:], (7, now))]


def head_trail(head: Head, number: int, now: float) -> Iterator[tuple[int, float]]:
    return ((one, at / 1_000) for one, at in head.trail_to(number, now))
