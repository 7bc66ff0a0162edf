"""Undo of any change, and the undo of that, restore every issue; an undo that dies is continued, not repeated."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid5

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Pool
from devtools.proof.faults.watched import Attempted
from gridview.commands import issues, trash
from gridview.commands.actor import Actor
from gridview.commands.context import WriteContext
from gridview.commands.undo import Extent, UndoOrder, take_back
from gridview.commands.undo_answers import TakenBack
from gridview.commands.undo_decision import Undo
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys
from gridview.support import concurrency
from gridview.support.errors import Conflict, EditConflict, LimitExceeded, NotFound
from tests.support.depth import THOROUGH, one_of
from tests.support.killed import Killed, killing
from tests.support.remembered import (
    ADA,
    BEN,
    CHANGE,
    HeldStream,
    catalog_of,
    made,
    seen,
    versions_of,
)

EXAMPLES = settings(max_examples=one_of(15, thorough=400), derandomize=not THOROUGH)
ISSUES = 3
NAMES = ("one", "two", "three")

_VALUES = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(NAMES),
        "state": st.sampled_from(["open", "closed"]),
        "fields": st.fixed_dictionaries(
            {},
            optional={
                "kind": st.sampled_from(["a", "b", "c", None]),
                "tags": st.sampled_from([["x"], ["x", "y"], ["y", "x"], ["z", "x"], None]),
                "cost": st.sampled_from([1, 2, None]),
            },
        ),
    },
)
_NUM = st.integers(1, ISSUES + 2)
_ACT = st.one_of(
    st.tuples(st.just("edit"), _NUM, _VALUES),
    st.tuples(st.sampled_from(["delete", "restore"]), _NUM, st.none()),
    st.tuples(st.just("create"), st.none(), st.sampled_from(NAMES)),
)
_ACTS = st.lists(st.tuples(st.booleans(), _ACT), max_size=10)
"""Actions, each by the user of the change (true), or by someone else."""

_BASE = made()
"""The project, without issues: each example has a copy of it."""


@pytest.fixture(autouse=True)
def in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads take turns in an order that is always the same."""
    monkeypatch.setattr(concurrency, "ThreadPoolExecutor", Pool)


class World:
    """Issues that users change; everything is in the history at once."""

    def __init__(self, table: MemoryTable | None = None) -> None:
        self.table = (table or _BASE).copy()
        self.stream = HeldStream(self.table)
        for name in NAMES if table is None else ():
            self.act(("create", None, name), ADA, None)

    def act(self, act: Any, actor: Actor, change: UUID | None) -> None:
        """Carry out an action, if it is possible."""
        catalog, (word, num, about) = catalog_of(self.table), act
        with suppress(NotFound, Conflict):
            match word:
                case "create":
                    body = {"name": about, "fields": {"kind": "a"}}
                    issues.create_issue(WriteContext(self.table, catalog, actor, change=change), body)
                case "edit":
                    issues.update_issue(
                        WriteContext(self.table, catalog, actor, change=change), num, about, None
                    )
                case "delete":
                    issues.delete_issue(WriteContext(self.table, catalog, actor, change=change), num, None)
                case "restore":
                    trash.restore_issue(self.table, catalog, actor, num, change=change)
        self.stream.deliver(self.table)

    def play(self, acts: Any) -> None:
        for own, act in acts:
            self.act(act, *((BEN, CHANGE) if own else (ADA, None)))

    def undo(
        self,
        change: UUID,
        by: str = BEN.user,
        into: UUID | None = None,
        table: Table | None = None,
        nums: Collection[int] = range(100),
    ) -> tuple[UUID, list[TakenBack]]:
        """Take back a change of a user, in some issues. Returns the change of the undo, and the
        outcome for each issue.
        """
        own = into or uuid5(change, "undo")
        versions = {num: of for num, of in versions_of(self.table, change, by).items() if num in nums}
        rule = Undo(catalog_of(self.table), BEN.user, own)
        results = take_back(table or self.table, rule, UndoOrder(change, by), Extent(versions))
        self.stream.deliver(self.table)
        return own, results


@EXAMPLES
@given(before=_ACTS, acts=_ACTS)
def test_undo_of_anything_and_undo_of_that_leave_the_issues_as_they_were(before: Any, acts: Any) -> None:
    world = World()
    world.play((False, act) for _, act in before)
    world.play(acts)
    states, change = [seen(world.table)], CHANGE
    for _ in range(3):
        change, results = world.undo(change)
        states.append(seen(world.table))
        if len(states) > 2:
            assert not any(one.refused for one in results)
    assert states[2] == states[0]
    assert states[3] == states[1]


@EXAMPLES
@given(before=_ACTS, acts=_ACTS)
def test_an_undo_without_edits_of_others_restores_the_former_state(before: Any, acts: Any) -> None:
    world = World()
    world.play((False, act) for _, act in before)
    was = seen(world.table)
    world.play((True, act) for _, act in acts)
    _, results = world.undo(CHANGE)
    assert not any(one.refused for one in results)
    now = seen(world.table)
    for num, document in now.items():
        if num in was and not was[num]["deleted"]:
            assert _as_sets(document) == _as_sets(was[num])
        else:
            assert document["deleted"]


@EXAMPLES
@given(before=_ACTS, acts=_ACTS, nums=st.sets(_NUM))
def test_undo_in_parts_is_that_of_the_whole_and_so_is_redo(before: Any, acts: Any, nums: set[int]) -> None:
    """An undo of some issues, and then of the whole change: nothing is left in them, and nothing is
    taken back twice.
    """
    in_parts = World()
    in_parts.play((False, act) for _, act in before)
    in_parts.play(acts)
    at_once = World(in_parts.table)
    was = seen(in_parts.table)
    at_once.undo(CHANGE)
    part, _ = in_parts.undo(CHANGE, into=uuid5(CHANGE, "part"), nums=nums)
    of_part = seen(in_parts.table)
    rest, _ = in_parts.undo(CHANGE)
    assert seen(in_parts.table) == seen(at_once.table)
    assert nums.isdisjoint(versions_of(in_parts.table, rest, BEN.user))
    for change, expected in ((rest, of_part), (part, was)):
        _, results = in_parts.undo(change)
        assert not any(one.refused for one in results)
        assert seen(in_parts.table) == expected


def _as_sets(document: Any) -> Any:
    """Options are a set: an edit that only changes their order changes nothing, and takes nothing back."""
    fields = {key: sorted(one) if isinstance(one, list) else one for key, one in document["fields"].items()}
    return {**document, "fields": fields}


@EXAMPLES
@given(acts=_ACTS, others=_ACTS)
def test_an_undo_keeps_later_edits_of_others(acts: Any, others: Any) -> None:
    """A field keeps the last value of someone else, and the last user to delete or restore an issue decides."""
    world = World()
    world.play((True, act) for _, act in acts)
    world.play((False, act) for _, act in others)
    before = _documents(world.table)
    world.undo(CHANGE)
    for num, document in _documents(world.table).items():
        was = before[num]
        for key, version in was.get("changed", {}).items():
            if _maker(world, num, version) == ADA.user and not (
                "deleted_by" in was or "deleted_by" in document
            ):
                assert _value(document, key) == _value(was, key)


def _documents(table: MemoryTable) -> dict[int, Any]:
    return {item["num"]: item for item in table.items.values() if "num" in item and "fields" in item}


def _value(document: Any, key: str) -> Any:
    return document[key] if key in ("name", "state") else document["fields"].get(key)


def _maker(world: World, num: int, version: int) -> str:
    item = world.table.get(derived_keys.history("acme", "bridge", num), derived_keys.history_item(version))
    assert item is not None
    return str(item["by"])


ACTS: Sequence[tuple[bool, Any]] = (
    (True, ("edit", 1, {"name": "two", "fields": {"cost": 2}})),
    (True, ("edit", 1, {"state": "closed"})),
    (True, ("edit", 2, {"name": "three"})),
    (True, ("delete", 2, None)),
    (True, ("delete", 3, None)),
    (True, ("create", None, "new")),
    (False, ("edit", 1, {"state": "open"})),
)
"""A change with an issue of every kind, of which someone else has changed a field since."""


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("edited", [False, True])
def test_continuing_a_killed_undo_takes_nothing_back_twice(after: bool, edited: bool) -> None:
    """Killed at each call in turn; meanwhile someone else may edit the parts that were taken back."""
    world = World()
    world.play(ACTS)
    whole = World()
    whole.play(ACTS)
    own, results = whole.undo(CHANGE)
    wanted, killed = _versions(whole.table), 0
    for at in range(1, 1_000):
        world = World()
        world.play(ACTS)
        try:
            world.undo(CHANGE, into=own, table=world.table.seen_through(killing(at, after=after)))
        except Killed:
            killed += 1
        else:
            break
        world.stream.deliver(world.table)
        if not edited:
            forget_the_last(world.table, own)
        written = {num for num, version in _versions(world.table).items() if version > _before()[num]}
        if edited:
            for num in written:
                world.act(("edit", num, {"fields": {"tags": ["z"]}}), ADA, None)
        _, again = world.undo(CHANGE, into=own)
        assert [one.num for one in again] == [one.num for one in results]
        if not edited:
            assert _versions(world.table) == wanted
            assert [one.version for one in again] == [one.version for one in results]
            assert [type(one.refused) for one in again] == [type(one.refused) for one in results]
    assert killed > 10


def test_edits_after_an_undo_has_put_an_issue_back_are_no_conflict() -> None:
    world = World()
    world.act(("delete", 1, None), BEN, CHANGE)
    own, (first,) = world.undo(CHANGE)
    assert (first.num, first.refused) == (1, None)
    world.act(("edit", 1, {"name": "three"}), ADA, None)
    world.act(("delete", 1, None), ADA, None)
    deleted = _documents(world.table)[1]
    _, (again,) = world.undo(CHANGE, into=own)
    assert again.wrote
    assert isinstance(again.refused, NotFound)  # no conflict: the edit came after the undo
    assert _documents(world.table)[1] == deleted


def forget_the_last(table: MemoryTable, own: UUID) -> None:
    """Remove the last record, as if the stream lagged: only the document shows the writes of a new undo."""
    for num, document in _documents(table).items():
        if document.get("change") == own.bytes:
            table.delete(
                derived_keys.history("acme", "bridge", num), derived_keys.history_item(document["version"])
            )


def _versions(table: MemoryTable) -> dict[int, int]:
    return {num: document["version"] for num, document in _documents(table).items()}


def _before() -> dict[int, int]:
    return {1: 4, 2: 3, 3: 2, 4: 1}


def test_an_edit_between_the_look_and_the_write_is_seen() -> None:
    """Someone else is faster: their changes stay, and the rest is taken back on top of their version."""
    world = World()
    world.act(("edit", 1, {"name": "two", "state": "closed"}), BEN, CHANGE)
    done: list[int] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes and not done:
            done.append(1)
            world.act(("edit", 1, {"name": "three"}), ADA, None)
        return perform()

    _, (result,) = world.undo(CHANGE, table=world.table.seen_through(around))
    document = _documents(world.table)[1]
    assert (result.version, document["name"], document["state"]) == (4, "three", "o1")
    assert isinstance(result.refused, EditConflict)
    assert result.refused.conflicts[0]["by"] == ADA.user


def test_an_undo_recognizes_its_own_write_after_a_lost_answer() -> None:
    """DynamoDB has carried it out, and the repeated call finds another version."""
    world = World()
    world.play(ACTS[:1])
    lost: list[int] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes and not lost:
            lost.append(1)
            perform()
        return perform()

    _, (result,) = world.undo(CHANGE, table=world.table.seen_through(around))
    assert (result.version, result.refused) == (3, None)
    assert _versions(world.table)[1] == 3


def test_an_undo_in_a_full_project_changes_issues_and_puts_none_back(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.act(("edit", 1, {"name": "two"}), BEN, CHANGE)
    world.act(("delete", 2, None), BEN, CHANGE)
    monkeypatch.setattr(trash, "MAX_ISSUES", 2)
    monkeypatch.setattr(trash, "issues_in", lambda *_: 2)
    _, (edited, deleted) = world.undo(CHANGE)
    assert (edited.version, edited.refused, _documents(world.table)[1]["name"]) == (3, None, "one")
    assert isinstance(deleted.refused, LimitExceeded)
    assert "deleted_by" in _documents(world.table)[2]
