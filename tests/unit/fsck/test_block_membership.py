"""The places of issues in blocks, compared with their ledgers: doubts, faults, and the ones left to other checks."""

from collections.abc import Callable
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted
from gridview.chains import blocks
from gridview.chains.blocks import HEAD, Block, BlockChange, Unreadable
from gridview.chains.fence_cache import Fences
from gridview.derive.families import NUMBERS
from gridview.derive.ledger import Intent
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import sort_string
from gridview.fsck.block_membership import BlockMembership, Misplaced, SuspectKey
from gridview.support.errors import Overloaded
from tests.support import damage
from tests.support.block_truth import assert_chains
from tests.support.damage import PROJECT, TENANT, catalog_of, key_of

pytestmark = pytest.mark.usefixtures("no_pauses")

ISSUES = 4
NAMES, KINDS, WORDS = "name.1", "a2.1b", "name.1.has"
"""Families: plain for the many bodies it may have, detailed by the few options, and of tokens."""

PLACES = [
    SuspectKey(2, NUMBERS, sort_string("", 2)),
    SuspectKey(2, KINDS, sort_string("qzzz", 2)),
    SuspectKey(2, WORDS, sort_string("issue", 2)),
]
"""Places in which issue 2 is."""

STRANGERS = [
    SuspectKey(9, NUMBERS, sort_string("", 9)),
    SuspectKey(2, KINDS, sort_string("8zzz", 2)),
    SuspectKey(2, WORDS, sort_string("bridge", 2)),
]
"""Places in which an issue is not: of no issue, and of issue 2 with another value."""


@pytest.fixture
def table() -> MemoryTable:
    made = MemoryTable()
    damage.make_project(made)
    damage.add_issues(made, ISSUES)
    return made


def membership(table: Table) -> BlockMembership:
    return BlockMembership(table, Fences(), TENANT, PROJECT)


def misplaced(table: MemoryTable, *doubts: SuspectKey, through: Table | None = None) -> list[Misplaced]:
    return list(membership(through or table).judge(doubts, catalog_of(table)).misplaced)


def spoil(table: MemoryTable, doubt: SuspectKey, *, present: bool) -> None:
    """Let the one block of a family be wrong about a key."""
    place = (
        derived_keys.block(TENANT, PROJECT, doubt.family, HEAD),
        derived_keys.directory(TENANT, PROJECT, doubt.family),
    )
    key = frozenset((doubt.key,))
    change = BlockChange(add=key) if present else BlockChange(remove=key)
    table.put(blocks.changed(Block.from_item(table.items[place]), change).to_item(TENANT, PROJECT))


def assert_right(table: MemoryTable) -> None:
    stored = [table.items[key_of(num), keys.project(TENANT, PROJECT)] for num in range(1, ISSUES + 1)]
    assert_chains(table, catalog_of(table), stored)


def test_doubts_without_reason_come_to_nothing(table: MemoryTable) -> None:
    before = table.items
    assert misplaced(table, *PLACES, *STRANGERS) == []
    membership(table).amend([*PLACES, *STRANGERS])
    assert table.items == before
    assert_right(table)


@pytest.mark.parametrize("doubt", PLACES, ids=lambda one: one.family)
def test_an_issue_that_its_block_lacks_is_missing_and_put_in(table: MemoryTable, doubt: SuspectKey) -> None:
    spoil(table, doubt, present=False)
    assert misplaced(table, doubt) == [Misplaced(2, doubt.family, doubt.key, HEAD, missing=True)]
    membership(table).amend([doubt])
    assert misplaced(table, doubt) == []
    assert_right(table)


@pytest.mark.parametrize("doubt", STRANGERS, ids=lambda one: one.family)
def test_an_issue_that_is_none_of_its_block_is_too_much_and_taken_out(
    table: MemoryTable, doubt: SuspectKey
) -> None:
    spoil(table, doubt, present=True)
    assert misplaced(table, doubt) == [Misplaced(doubt.num, doubt.family, doubt.key, HEAD, missing=False)]
    membership(table).amend([doubt])
    assert misplaced(table, doubt) == []
    assert_right(table)


def test_a_plain_block_is_found_by_any_key_there_and_repaired_by_the_issues_own(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "DETAILED_BODIES", 1)
    own = SuspectKey(2, NAMES, table.items[key_of(2), derived_keys.order(TENANT, PROJECT, NAMES)][keys.SORT])
    spoil(table, own, present=False)
    place = derived_keys.block(TENANT, PROJECT, NAMES, HEAD), derived_keys.directory(TENANT, PROJECT, NAMES)
    assert not Block.from_item(table.items[place]).detailed
    other = own._replace(key=sort_string("zebra", 2))
    assert misplaced(table, other) == [Misplaced(2, NAMES, own.key, HEAD, missing=True)]
    membership(table).amend([other])
    assert_right(table)


def test_expectations_that_blocks_do_not_meet_are_doubtful(table: MemoryTable) -> None:
    expected = {**dict.fromkeys(PLACES, True), **dict.fromkeys(STRANGERS, False)}
    assert membership(table).doubtful(expected) == []
    spoil(table, PLACES[0], present=False)
    spoil(table, STRANGERS[1], present=True)
    assert membership(table).doubtful(expected) == [PLACES[0], STRANGERS[1]]


def test_an_issue_with_an_unfinished_intent_is_left_to_its_writer(table: MemoryTable) -> None:
    spoil(table, PLACES[0], present=False)
    intent = {NUMBERS: Intent(PLACES[0].key, ()).to_item()}
    damage.change(table, key_of(2), derived_keys.LEDGER, {"intent": intent})
    before = table.items
    assert misplaced(table, PLACES[0]) == []
    membership(table).amend([PLACES[0]])
    assert table.items == before


def test_an_issue_with_another_difference_is_not_reported(table: MemoryTable) -> None:
    spoil(table, PLACES[0], present=False)
    table.delete(key_of(2), derived_keys.order(TENANT, PROJECT, NAMES))
    assert misplaced(table, PLACES[0]) == []


def test_an_issue_that_arrives_in_the_block_meanwhile_is_not_missing(table: MemoryTable) -> None:
    spoil(table, PLACES[0], present=False)
    ledgers = 0

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        nonlocal ledgers
        found = perform()
        if attempted.operation == "batch_get" and attempted.key[1] == derived_keys.LEDGER:
            ledgers += 1
            spoil(table, PLACES[0], present=True)  # another puts it in after the first look at the block
        return found

    assert misplaced(table, PLACES[0], through=table.seen_through(around)) == []
    assert ledgers == 1


def test_a_ledger_that_changes_during_the_look_makes_it_void(table: MemoryTable) -> None:
    spoil(table, PLACES[0], present=False)

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        found = perform()
        if attempted.operation == "batch_get" and attempted.key[1] == derived_keys.LEDGER:
            revision = table.items[key_of(2), derived_keys.LEDGER]["revision"]
            damage.change(table, key_of(2), derived_keys.LEDGER, {"revision": revision + 1})
        return found

    assert misplaced(table, PLACES[0], through=table.seen_through(around)) == []


def test_a_block_that_cannot_be_read_is_no_ground_to_judge_by(table: MemoryTable) -> None:
    place = (
        derived_keys.block(TENANT, PROJECT, NUMBERS, HEAD),
        derived_keys.directory(TENANT, PROJECT, NUMBERS),
    )
    table.put({**table.items[place], "set": b"\x07"})
    with pytest.raises(Unreadable):
        misplaced(table, PLACES[0])
    with pytest.raises(Unreadable):
        membership(table).amend([PLACES[0]])


def test_an_issue_is_reported_once_however_often_it_is_in_doubt(table: MemoryTable) -> None:
    spoil(table, PLACES[0], present=False)
    assert len(misplaced(table, *[PLACES[0]] * 3)) == 1


def test_a_block_is_not_amended_by_a_ledger_that_has_changed_since(table: MemoryTable) -> None:
    spoil(table, PLACES[0], present=False)
    raced: list[Any] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes and not raced:
            raced.append(attempted.key)
            spoil(table, PLACES[0], present=False)  # another writes the block, and the issue leaves it
            ledger = table.items[key_of(2), derived_keys.LEDGER]
            applied = {family: one for family, one in ledger["applied"].items() if family != NUMBERS}
            revision = ledger["revision"] + 1
            damage.change(table, key_of(2), derived_keys.LEDGER, {"revision": revision, "applied": applied})
        return perform()

    membership(table.seen_through(around)).amend([PLACES[0]])
    assert raced
    assert membership(table).doubtful({PLACES[0]: True}) == [PLACES[0]]


def test_a_repair_that_loses_a_race_repairs_the_present_block(table: MemoryTable) -> None:
    spoil(table, PLACES[0], present=False)
    raced: list[Any] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes and len(raced) < 3:
            raced.append(attempted.key)
            spoil(table, PLACES[0], present=False)
        return perform()

    membership(table.seen_through(around)).amend([PLACES[0]])
    assert len(raced) == 3
    assert_right(table)


def test_a_repair_that_always_loses_says_so(table: MemoryTable) -> None:
    spoil(table, PLACES[0], present=False)

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes:
            spoil(table, PLACES[0], present=False)
        return perform()

    with pytest.raises(Overloaded):
        membership(table.seen_through(around)).amend([PLACES[0]])
