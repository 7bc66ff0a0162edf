"""The limit of a fold, the resulting blocks, and the keys of a block's members as of its position."""

import pytest
from pyroaring import BitMap

from gridview.chains.blocks import FIRST, HEAD, Block
from gridview.derive.issue_changes import FamilyChange, IssueChange
from gridview.derive.ledger import Intent, Ledger
from gridview.encoding.sort_strings import joined, sort_string
from gridview.journal.items import FEW_ENTRIES, PATIENCE, Head, JournalItem
from gridview.journal.replay import Next, keys_at, last_words, next_step

NOW = 1_000.0
LATELY, LONG_AGO = NOW - PATIENCE / 2, NOW - PATIENCE
ORDER, TOKENS = "a1.1", "a1.1.has"
PARTITION = "journal-acme.bridge"


def key(body: str, num: int = 1) -> str:
    return sort_string(body, num)


def change(num: int, family: str, left: str | None, to: str | None, *, thorough: bool = False) -> IssueChange:
    move = FamilyChange(() if left is None else (left,), to, thorough)
    return IssueChange(num, 1, removed=to is None, revision=1, moves={family: move})


def record(number: int, *changes: IssueChange, made: float = LONG_AGO) -> JournalItem:
    return JournalItem(number, made, changes)


MOVED = change(1, ORDER, None, key("a"))
MANY = tuple(change(num, ORDER, None, key("a", num)) for num in range(1, FEW_ENTRIES + 2))


@pytest.mark.parametrize(
    ("records", "marked", "head", "expected"),
    [
        ([record(5, MOVED)], {5}, Head(last=5), Next.PASS),
        ([record(5)], set(), Head(last=5), Next.PASS),
        ([record(5, *MANY, made=LATELY)], set(), Head(last=5), Next.WAIT),
        ([record(5, *MANY)], set(), Head(last=5), Next.COMPLETE),
        ([record(5, MOVED, made=LATELY)], set(), Head(last=5), Next.COMPLETE),
        ([record(6, made=LATELY), record(7, made=NOW)], set(), Head(last=7), Next.WAIT),
        ([record(6), record(7, made=NOW)], set(), Head(last=7), Next.CLOSE),
        ([record(4)], set(), Head(last=5), Next.WAIT),
        ([], set(), Head(last=5, seen=5, seen_at=LATELY), Next.WAIT),
        ([], set(), Head(last=5, seen=4, seen_at=LONG_AGO), Next.WAIT),
        ([], set(), Head(last=5, seen=5, seen_at=LONG_AGO), Next.CLOSE),
    ],
    ids=[
        "marked", "empty", "not marked yet", "never marked", "never to be marked", "a later one just came",
        "a later one came long ago", "only an earlier one", "seen lately", "not seen before", "seen long ago",
    ],
)  # fmt: skip
def test_a_number_is_passed_when_its_item_and_mark_are_there(
    records: list[JournalItem], marked: set[int], head: Head, expected: Next
) -> None:
    assert next_step(5, head, {one.number: one for one in records}, marked, NOW) is expected


def test_the_last_word_on_each_key_counts() -> None:
    words = last_words(
        PARTITION,
        [
            record(1, change(1, ORDER, None, key("a"))),
            record(2, move("a", "b"), change(2, ORDER, None, key("a", 2))),
            record(3, change(1, ORDER, key("b"), key("a"))),
        ],
        {ORDER},
    )
    last = {(one.key, one.present, one.number) for one in words[ORDER]}
    assert last == {(key("a"), True, 3), (key("b"), False, 3), (key("a", 2), True, 2)}
    assert {one.issue for one in words[ORDER]} == {"issue-acme.bridge.00000001", "issue-acme.bridge.00000002"}


def test_a_family_that_is_not_written_is_left_out() -> None:
    assert last_words(PARTITION, [record(1, MOVED)], {"a2.1"}) == {}


def test_a_string_that_is_no_key_of_the_issue_is_in_no_block() -> None:
    assert last_words(PARTITION, [record(1, change(1, ORDER, "edited by hand", None))], {ORDER}) == {}


@pytest.mark.parametrize(("thorough", "stays"), [(False, []), (True, [True])])
def test_unchanged_tokens_are_written_only_after_an_unfinished_write(
    thorough: bool, stays: list[bool]
) -> None:
    left, to = (sort_string(joined(words), 1) for words in (("x", "y"), ("y", "z")))
    words = last_words(PARTITION, [record(1, change(1, TOKENS, left, to, thorough=thorough))], {TOKENS})
    last = {(one.key, one.present) for one in words[TOKENS]}
    assert last - {(key("y"), True)} == {(key("x"), False), (key("z"), True)}
    assert [present for one, present in last if one == key("y")] == stays


def block(position: int, *members: int) -> Block:
    return Block(ORDER, HEAD, FIRST, None, None, f"p1@{position}", None, BitMap(members))


def move(left: str, to: str) -> IssueChange:
    return change(1, ORDER, key(left), key(to))


def ledger(number: int = 0, *, applied: str | None = None, to: str | None = None) -> dict[str, object]:
    had = {} if applied is None else {ORDER: applied}
    intent = {ORDER: Intent(to)} if number else None
    stored = Ledger(version=1, epoch=1, revision=1, applied=had, intent=intent, number=number)
    return stored.to_item("issue-1")


@pytest.mark.parametrize(
    ("stored", "records", "expected"),
    [
        # After the position, the first item has the issue's former key.
        (ledger(7, applied=key("b"), to=key("c")), [record(6, move("a", "b")), record(7, move("b", "c"))], "a"),
        # Up to the position, the intent of the ledger counts if the item exists.
        (ledger(5, applied=key("a"), to=key("b")), [record(5, move("a", "b"))], "b"),
        (ledger(5, applied=key("a"), to=key("b")), [record(5)], "a"),
        (ledger(5, applied=key("a"), to=key("b")), [], "a"),
        # Up to the watermark, the head proves it.
        (ledger(3, applied=key("a"), to=key("b")), [], "b"),
        (ledger(2, applied=key("a"), to=key("b")), [], "a"),
        # Finished before there was a journal.
        (ledger(applied=key("a")), [], "a"),
    ],
    ids=["moved since", "here", "emptied", "nowhere yet", "folded", "emptied before", "old form"],
)  # fmt: skip
def test_a_member_is_split_off_by_its_key_as_of_the_position(
    stored: dict[str, object], records: list[JournalItem], expected: str
) -> None:
    head = Head(last=9, folded=4, emptied=BitMap((2,)))
    assert list(keys_at(block(5, 1), {1: stored}, records, head)) == [key(expected)]


def test_a_member_without_a_ledger_is_no_more() -> None:
    assert list(keys_at(block(5, 1), {}, [], Head())) == []
