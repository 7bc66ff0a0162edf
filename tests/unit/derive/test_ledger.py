"""The data derived from an issue is right, whatever happens to the invocations that derive it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count, pairwise, product
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from devtools.proof.faults.adversary import Invocation, Pending, Verdict, record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Pool
from gridview.chains.fence_cache import Fences
from gridview.commands import attributes, projects
from gridview.commands.actor import Actor, Role
from gridview.derive.families import derived_strings, has_entries
from gridview.derive.images import Poison
from gridview.derive.ledger import EVERY_FAMILY, SHOWN_SECONDS, ImageVersion, Intent, Ledger, Report, plan
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.journal.committer import settled
from gridview.journal.items import PATIENCE
from gridview.journal.log import Log
from gridview.maintenance.stream_consumer import consume
from gridview.schema import documents
from gridview.schema.documents import Changes
from gridview.schema.store import Catalogs
from gridview.support import backoff, clock, concurrency
from tests.support.block_truth import assert_chains
from tests.support.depth import one_of
from tests.support.folds import fold_all, fold_once

TENANT, PROJECT = "acme", "bridge"
ADMIN = Actor(TENANT, "ada", Role.ADMIN)
ORDERS = ("a", "b", "c")


# Plans


def shown(ledger: Ledger) -> Ledger:
    """The ledger after every reader has seen its last move."""
    return replace(ledger, left={}, at=0)


def test_a_new_issue_is_planned_whole() -> None:
    planned = plan(Ledger(), ImageVersion(1, False), {"a": "x", "b": "y"}, epoch=3)
    assert planned is not None
    assert planned.intent == Ledger(1, False, 3, 1, {}, {"a": Intent("x"), "b": Intent("y")})
    assert (dict(planned.put), planned.clear) == ({"a": "x", "b": "y"}, ())
    assert shown(planned.done) == Ledger(1, False, 3, 1, {"a": "x", "b": "y"})


def test_an_edit_touches_what_it_changes_and_nothing_else() -> None:
    known = Ledger(4, False, 3, 9, {"a": "x", "b": "y", "c": "z"})
    planned = plan(known, ImageVersion(5, False), {"a": "x", "b": "Y"}, epoch=3)
    assert planned is not None
    assert (dict(planned.put), planned.clear) == ({"b": "Y"}, ("c",))
    assert planned.intent.intent == {"b": Intent("Y"), "c": Intent(None)}
    assert planned.intent.applied == known.applied
    assert shown(planned.done) == Ledger(5, False, 3, 10, {"a": "x", "b": "Y"})


@pytest.mark.parametrize(
    ("image", "known"),
    [
        (ImageVersion(4, False), ImageVersion(4, False)),
        (ImageVersion(3, False), ImageVersion(4, False)),
        (ImageVersion(4, False), ImageVersion(4, True)),
        (ImageVersion(3, True), ImageVersion(4, False)),
    ],
)
def test_a_finished_ledger_leaves_no_work_for_an_image_that_is_not_newer(
    image: ImageVersion, known: ImageVersion
) -> None:
    finished = Ledger(known.version, known.removed, 1, 5, {"a": "x"})
    assert plan(finished, image, {"a": "other"}, epoch=1) is None


def test_an_edit_of_nothing_that_is_indexed_writes_nothing() -> None:
    assert plan(Ledger(4, False, 1, 5, {"a": "x"}), ImageVersion(5, False), {"a": "x"}, epoch=1) is None


@pytest.mark.parametrize(
    "image", [ImageVersion(4, False), ImageVersion(5, False)], ids=["the same version", "the next"]
)
def test_under_a_newer_epoch_the_ledger_is_written_though_nothing_differs(image: ImageVersion) -> None:
    """Otherwise an invocation that seems dead could continue with the older definitions."""
    planned = plan(Ledger(4, False, 1, 5, {"a": "x"}), image, {"a": "x"}, epoch=2)
    assert planned is not None
    assert (dict(planned.put), planned.clear) == ({}, ())
    assert shown(planned.done) == Ledger(*image, 2, 6, {"a": "x"})


def test_newer_definitions_derive_the_same_version_again() -> None:
    planned = plan(Ledger(4, False, 1, 5, {"a": "x"}), ImageVersion(4, False), {"b": "y"}, epoch=2)
    assert planned is not None
    assert (dict(planned.put), planned.clear) == ({"b": "y"}, ("a",))


def test_an_older_image_says_nothing_under_a_newer_epoch_either() -> None:
    assert plan(Ledger(4, False, 1, 5, {"a": "x"}), ImageVersion(3, False), {"b": "y"}, epoch=2) is None


@pytest.mark.parametrize(
    ("known", "image", "target"),
    [
        (Ledger(4, False, 1, 5, {"a": "x"}), ImageVersion(6, False), {"a": "x"}),
        (Ledger(4, True, 1, 5), ImageVersion(5, True), {}),
        (Ledger(), ImageVersion(2, True), {}),
    ],
)
def test_after_a_longer_step_the_ledger_is_written_though_nothing_differs(
    known: Ledger, image: ImageVersion, target: dict[str, str]
) -> None:
    """Otherwise an invocation that seems dead could continue with the version in between."""
    planned = plan(known, image, target, epoch=1)
    assert planned is not None
    assert (dict(planned.put), planned.clear) == ({}, ())
    assert shown(planned.done) == Ledger(*image, 1, known.revision + 1, target)


def test_a_removal_is_newer_than_the_version_it_removes_and_a_restored_issue_newer_than_that() -> None:
    removal = plan(Ledger(4, False, 1, 5, {"a": "x"}), ImageVersion(4, True), {}, epoch=1)
    assert removal is not None
    assert (dict(removal.put), removal.clear) == ({}, ("a",))
    restored = plan(removal.done, ImageVersion(5, False), {"a": "x"}, epoch=1)
    assert restored is not None
    assert dict(restored.put) == {"a": "x"}
    assert not restored.done.removed


def test_a_removal_of_an_issue_that_was_never_seen_is_remembered() -> None:
    planned = plan(Ledger(), ImageVersion(1, True), {}, epoch=1)
    assert planned is not None
    assert shown(planned.done) == Ledger(1, True, 1, 1)


@pytest.mark.parametrize("version", [3, 4, 5])
def test_an_unfinished_intent_is_rewritten_in_full_changed_or_not(version: int) -> None:
    left = Ledger(4, False, 1, 7, {"a": "x", "b": "y"}, {"a": Intent("X"), "c": Intent(None, ("z",))})
    wanted = {"a": "X", "b": "y"}
    planned = plan(left, ImageVersion(version, False), wanted, epoch=1)
    assert planned is not None
    assert (dict(planned.put), planned.clear) == ({"a": "X"}, ("c",))
    assert shown(planned.done) == Ledger(max(version, 4), False, 1, 8, wanted)


def test_an_older_image_finishes_the_newer_intent_under_the_epoch_it_was_made_with() -> None:
    left = Ledger(4, False, 6, 7, {"a": "x"}, {"a": Intent("X"), "b": Intent("y")})
    planned = plan(left, ImageVersion(2, False), {"a": "old"}, epoch=9)
    assert planned is not None
    assert shown(planned.done) == Ledger(4, False, 6, 8, {"a": "X", "b": "y"})


def test_a_finished_ledger_says_what_the_issue_has_left() -> None:
    """GSI1 may still show blocks that count it there."""
    known = Ledger(4, False, 3, 9, {"a": "x", "b": "y", "c": "z"})
    planned = plan(known, ImageVersion(5, False), {"a": "x", "b": "Y", "d": "w"}, epoch=3, now=1_000)
    assert planned is not None
    assert planned.intent.left == {}, "the intent has them among what is applied"
    assert (planned.done.left, planned.done.at) == ({"b": ("y",), "c": ("z",), "d": ()}, 1_000)
    assert Ledger.from_item(planned.done.to_item("issue-acme.p.00000001")) == planned.done


def test_former_strings_are_kept_until_every_reader_has_the_new_ones() -> None:
    first = plan(Ledger(4, False, 3, 9, {"a": "x"}), ImageVersion(5, False), {"a": "y"}, epoch=3, now=1_000)
    assert first is not None
    soon = plan(first.done, ImageVersion(6, False), {"a": "z"}, epoch=3, now=1_000 + SHOWN_SECONDS)
    late = plan(first.done, ImageVersion(6, False), {"a": "z"}, epoch=3, now=1_001 + SHOWN_SECONDS)
    assert soon is not None
    assert late is not None
    assert (soon.intent.left, soon.done.left) == ({"a": ("x",)}, {"a": ("x", "y")})
    assert (late.intent.left, late.done.left) == ({}, {"a": ("y",)})


def test_an_issue_that_is_edited_all_day_names_its_newest_former_strings() -> None:
    known = Ledger(1, False, 3, 1, {"a": "1"})
    for version in range(2, 400):
        edited = plan(known, ImageVersion(version, False), {"a": str(version)}, epoch=3, now=20 * version)
        assert edited is not None
        known = edited.done
    assert known.left == {"a": tuple(map(str, range(399 - 64, 399)))}
    back = plan(known, ImageVersion(400, False), {"a": "397"}, epoch=3, now=8_000)
    assert back is not None
    away = plan(back.done, ImageVersion(401, False), {"a": "x"}, epoch=3, now=8_000)
    assert away is not None
    assert away.done.left["a"][-3:] == ("398", "399", "397"), "left last, whenever it was left before"


def test_all_families_of_a_new_issue_are_new() -> None:
    planned = plan(Ledger(), ImageVersion(1, False), {"a": "x", "b": "y"}, epoch=3, now=1_000)
    assert planned is not None
    assert planned.done.left == {EVERY_FAMILY: ()}


def test_a_ledger_that_a_bulk_load_wrote_has_left_nothing() -> None:
    item = Ledger(4, False, 3, 9, {"a": "x"}).to_item("issue-acme.p.00000001")
    assert not {"left", "at"} & item.keys()
    assert Ledger.from_item(item).left_by(1_000) == {}


def test_every_string_that_an_entry_may_hold_is_named_until_one_plan_is_finished() -> None:
    """Intents that die one after the other leave strings; each successor names them all."""
    known = Ledger(1, False, 1, 1, {"a": "0"})
    for version in range(2, 6):
        planned = plan(known, ImageVersion(version, False), {"a": str(version)}, epoch=1)
        assert planned is not None
        known = planned.intent
    assert known.present == {"a": ("0", "2", "3", "4", "5")}
    planned = plan(known, ImageVersion(6, True), {}, epoch=1)
    assert planned is not None
    assert planned.intent.intent == {"a": Intent(None, ("2", "3", "4", "5"))}
    assert planned.done.present == {}


def test_every_small_plan_reaches_its_target_and_raises_the_revision() -> None:
    """All ledgers of three orders and two strings, finished and not, against all targets."""
    strings = (None, "x", "y")
    for applied, intended, wanted in product(product(strings, repeat=3), repeat=3):
        old, unfinished, target = (
            {order: one for order, one in zip(ORDERS, chosen, strict=True) if one}
            for chosen in (applied, intended, wanted)
        )
        first = plan(Ledger(1, False, 1, 1, old), ImageVersion(2, False), unfinished, epoch=1)
        known = first.intent if first else Ledger(1, False, 1, 1, old)
        planned = plan(known, ImageVersion(3, False), target, epoch=1)
        if planned is None:
            assert first is None
            assert old == target
            continue
        assert planned.done.applied == target
        assert planned.done.revision == planned.intent.revision == known.revision + 1
        assert planned.put.keys() | set(planned.clear) == (planned.intent.intent or {}).keys()
        assert planned.put.keys() >= {
            order for order in target if known.present.get(order) != (target[order],)
        }
        assert set(planned.clear) == known.present.keys() - target.keys()
        assert planned.intent.target() == target


@pytest.mark.parametrize(
    "stored",
    [
        Ledger(3, False, 2, 4, {"a": "x"}),
        Ledger(3, True, 2, 4, {}),
        Ledger(3, False, 2, 4, {"a": "x"}, {}),
        Ledger(3, False, 2, 4, {"a": "x"}, {"a": Intent("y", ("z", "w")), "b": Intent(None)}),
        Ledger(3, False, 2, 4, {"a": "x"}, {"a": Intent("y")}, number=7, report=Report(2, 3)),
        Ledger(3, False, 2, 4, {"a": "x"}, {}, number=7, report=Report(None, None)),
    ],
)
def test_a_ledger_survives_being_stored(stored: Ledger) -> None:
    table = MemoryTable()
    table.put(stored.to_item("issue-acme.bridge.00000001", expires=5 if stored.removed else None))
    found = table.get("issue-acme.bridge.00000001", derived_keys.LEDGER)
    assert found is not None
    assert Ledger.from_item(found) == stored
    assert ("ttl" in found) is stored.removed


# The adversary


def project_with_attributes() -> MemoryTable:
    table = MemoryTable()
    projects.create_project(table, ADMIN, {"name": "Bridge", "id": PROJECT})
    catalogs = Catalogs()
    attributes.create_attribute(
        table, catalogs, ADMIN, PROJECT, {"name": "Start", "id": "start", "type": "date"}
    )
    attributes.create_attribute(
        table,
        catalogs,
        ADMIN,
        PROJECT,
        {"name": "Kind", "id": "kind", "type": "enum", "options": ["a", "b"]},
    )
    return table


EMPTY_PROJECT = project_with_attributes()
VALUES = (None, "2023-05-01", "2023-05-02")
ALIVE = 3
"""Invocations that may be alive at a time: the stream's own, and ones that Lambda takes for dead."""


@pytest.fixture(autouse=True, scope="module")
def one_call_at_a_time() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(concurrency, "ThreadPoolExecutor", Pool)
        patch.setattr(backoff, "pause", lambda _: None)
        patch.setattr(clock, "seconds", lambda: TIME.now)
        yield


class Time:
    """The clock of all invocations, which a scenario moves."""

    now = 1_700_000_000.0

    def wait(self, seconds: float) -> None:
        self.now += seconds


TIME = Time()


REMOVED = "removed"
HISTORIES = {
    "a value comes, changes and goes": ["2023-05-01", "2023-05-02", None],
    "a value goes and comes back": ["2023-05-01", None, "2023-05-01"],
    "the issue is removed": ["2023-05-01", "2023-05-02", REMOVED],
    "the issue is removed, restored and removed": ["2023-05-01", REMOVED, "2023-05-01", REMOVED],
}


def history(table: MemoryTable, values: list[str | None]) -> tuple[list[dict[str, Any]], list[Item | None]]:
    """The stream of an issue whose start date takes these values, and its documents after each of them."""
    catalog = Catalogs().get(table, TENANT, PROJECT)
    start = next(field.key for field in catalog.attributes if field.id == "start")
    found: list[Item | None] = [None]
    version = 0
    for value in values:
        version += value != REMOVED
        changes = Changes({"name": "n"}, {start: value})
        now = f"2024-01-01T00:00:00.{version:06d}Z"
        new = documents.new_document(catalog, 1, changes, user="u", now=now) | {"version": version}
        found.append(None if value == REMOVED else new)
    return [record(place, *pair) for place, pair in enumerate(pairwise(found))], found[1:]


def entries_of(table: MemoryTable, key: str) -> dict[str, str]:
    """Order id -> sort string, of the entries in the index."""
    prefix = derived_keys.order(TENANT, PROJECT, "")
    return {
        item[keys.SK].removeprefix(prefix): item[keys.SORT]
        for item in table.items.values()
        if item[keys.PK] == key and item[keys.SK].startswith(prefix) and keys.SORT in item
    }


def assert_right(table: MemoryTable, num: int, document: Item | None, version: int) -> None:
    """Check that the derived data equals the document's, and that the ledger is committed and agrees."""
    catalog = Catalogs().get(table, TENANT, PROJECT)
    expected = {} if document is None else derived_strings(catalog, document)
    key = keys.issue(TENANT, PROJECT, num)
    assert entries_of(table, key) == {one: expected[one] for one in expected if has_entries(one)}
    found = Ledger.from_item(table.get(key, derived_keys.LEDGER))
    assert settled(log_of(table), [found.number]) == {found.number: True}
    found = found.committed()
    assert found.order == ImageVersion(version, document is None)
    assert found.applied == expected


def assert_blocks(table: MemoryTable, documents: Iterable[Item | None]) -> None:
    catalog = Catalogs().get(table, TENANT, PROJECT)
    assert_chains(table, catalog, [one for one in documents if one is not None])


class Consuming(Invocation):
    """One run of the consumer over some records."""

    def __init__(self, table: MemoryTable, catalogs: Catalogs, records: list[dict[str, Any]]) -> None:
        self.poison: list[Poison] = []
        super().__init__(
            lambda around: consume(table.seen_through(around), catalogs, records, self.poison.append)
        )

    @property
    def first_failed(self) -> str | None:
        found: str | None = self.result
        return found


class Folding(Invocation):
    """One fold of the project."""

    def __init__(self, table: MemoryTable, catalogs: Catalogs, fences: Fences) -> None:
        self.poison: list[Poison] = []
        super().__init__(
            lambda around: fold_once(log_of(table.seen_through(around)), self.poison.append, catalogs, fences)
        )


def log_of(table: Table) -> Log:
    return Log(table, TENANT, PROJECT)


def fold_everything(table: MemoryTable) -> None:
    """Fold everything, and let the time pass that closes holes and completes items."""
    fold_all(table, TENANT, PROJECT, TIME.wait)


def land(sent: Iterable[Pending]) -> None:
    """Let the writes arrive that an invocation had sent before it was killed."""
    for one in sent:
        one.land()


class Scenario(NamedTuple):
    """Records up to `known` are settled and folded. An invocation over those up to `first_end` dies before a call.

    Its pending write arrives before a call of the invocation that retries, up to `second_end`. With -1 it arrives after
    the rest was delivered and folded.
    """

    known: int
    first_end: int
    second_end: int
    dies_at: int
    lands_at: int

    def play(self, stream: list[dict[str, Any]]) -> MemoryTable | None:
        """The table afterwards; None if an invocation has no such call."""
        table, catalogs = EMPTY_PROJECT.copy(), Catalogs()
        if self.known:
            Consuming(table, catalogs, stream[: self.known]).finish()
            fold_everything(table)
        first = Consuming(table, catalogs, stream[self.known : self.first_end])
        for _ in range(self.dies_at):
            first.step()
        if first.call is None:
            return None
        sent = first.kill()
        second = Consuming(table, catalogs, stream[self.known : self.second_end])
        for _ in range(self.lands_at):
            second.step()
        if second.call is None:
            return None
        if self.lands_at >= 0:
            land(sent)
        second.finish()
        assert second.first_failed is None
        if self.second_end < len(stream):
            Consuming(table, catalogs, stream[self.second_end :]).finish()
        fold_everything(table)
        if self.lands_at < 0:
            land(sent)
            fold_everything(table)
        return table


def batches_of(length: int) -> Iterator[tuple[int, int, int]]:
    """All `known`, `first_end` and `second_end` over a stream of some records. `second_end` is `first_end` or the
    stream's.
    """
    for known in range(length):
        for first_end in range(known + 1, length + 1):
            for second_end in {first_end, length}:
                yield known, first_end, second_end


@pytest.mark.parametrize("values", HISTORIES.values(), ids=HISTORIES.keys())
def test_an_invocation_may_die_before_any_call_and_that_call_land_later(
    values: list[str | None],
) -> None:
    stream, found = history(EMPTY_PROJECT, values)
    version = max(document["version"] for document in found if document)
    played = 0
    for batches in batches_of(len(stream)):
        for dies_at in count():
            # Some of the points for each, others for the next.
            step = one_of(300, thorough=3)
            for lands_at in (-1, *range(dies_at % step, 1_000, step)):
                table = Scenario(*batches, dies_at, lands_at).play(stream)
                if table is None:
                    break
                assert_right(table, 1, found[-1], version)
                assert_blocks(table, [found[-1]])
                played += 1
            if lands_at == -1:
                break
    assert played > one_of(20, thorough=80)


class Faults(RuleBasedStateMachine):
    """Writers, the stream, invocations and folds, in any order. `teardown` lets everything settle and checks it."""

    @initialize()
    def begin(self) -> None:
        self.table = EMPTY_PROJECT.copy()
        self.containers = [(Catalogs(), Fences()), (Catalogs(), Fences())]
        self.documents: dict[int, Item | None] = {}
        self.versions = {1: 0, 2: 0}
        self.stream: list[dict[str, Any]] = []
        self.settled = 0
        self.delivered = 0
        self.official: tuple[Consuming, int] | None = None
        self.others: list[Consuming | Folding] = []
        self.in_flight: list[Pending] = []
        self.options = ["a", "b"]
        self.poison: list[Any] = []

    @rule(num=st.sampled_from([1, 2]), start=st.sampled_from(VALUES), kind=st.none() | st.integers(0, 9))
    def edit(self, num: int, start: str | None, kind: int | None) -> None:
        catalog = Catalogs().get(self.table, TENANT, PROJECT)
        by_id = {field.id: field for field in catalog.attributes}
        option = None if kind is None else by_id["kind"].options[kind % len(self.options)].id
        changes = Changes({"name": f"n{start}"}, {by_id["start"].key: start, by_id["kind"].key: option})
        old = self.documents.get(num)
        version = self.versions[num] + 1
        now = f"2024-01-01T00:00:00.{version:06d}Z"
        if old is None:
            new = documents.new_document(catalog, num, changes, user="u", now=now) | {"version": version}
        else:
            new = documents.merged(catalog, old, changes, user="u", now=now)
        if new != old:  # what changes nothing is not written
            self._write(num, old, new)
            self.versions[num] = version

    @rule(num=st.sampled_from([1, 2]))
    def remove(self, num: int) -> None:
        if (old := self.documents.get(num)) is not None:
            self._write(num, old, None)

    def _write(self, num: int, old: Item | None, new: Item | None) -> None:
        self.documents[num] = new
        self.stream.append(record(len(self.stream), old, new))

    @precondition(lambda self: len(self.options) < 5)
    @rule()
    def add_option(self) -> None:
        """A new epoch, and options that containers with an older catalog do not know."""
        self.options.append(f"new {len(self.options)}")
        attributes.update_attribute(
            self.table, Catalogs(), ADMIN, PROJECT, "kind", {"options": list(self.options)}, None, settling=0
        )

    @precondition(lambda self: self.official is None and self.settled < len(self.stream))
    @rule(size=st.integers(1, 4), container=st.sampled_from([0, 1]))
    def deliver(self, size: int, container: int) -> None:
        end = min(self.settled + size, len(self.stream))
        self.delivered = max(self.delivered, end)
        batch = self.stream[self.settled : end]
        self.official = (Consuming(self.table, self.containers[container][0], batch), end)

    @precondition(lambda self: len(self.others) < ALIVE - 1 and self.delivered)
    @rule(start=st.integers(0, 99), size=st.integers(1, 4), container=st.sampled_from([0, 1]))
    def deliver_again(self, start: int, size: int, container: int) -> None:
        """Deliver records again, cut differently; Lambda does not wait for this one."""
        start %= self.delivered
        batch = self.stream[start : min(start + size, self.delivered)]
        self.others.append(Consuming(self.table, self.containers[container][0], batch))

    @precondition(lambda self: len(self.others) < ALIVE - 1 and self.delivered)
    @rule(container=st.sampled_from([0, 1]))
    def fold(self, container: int) -> None:
        """Start a fold; there may be several at a time."""
        self.others.append(Folding(self.table, *self.containers[container]))

    @rule()
    def wait(self) -> None:
        """Let the time pass after which an invocation that took a number or put an item counts as finished, dead or
        alive.
        """
        log_of(self.table).release("2024-01-01T00:00:00.000000Z")
        TIME.wait(PATIENCE)

    @property
    def alive(self) -> list[Consuming | Folding]:
        return ([self.official[0]] if self.official else []) + self.others

    @precondition(lambda self: self.alive)
    @rule(
        which=st.integers(0, ALIVE - 1),
        calls=st.integers(1, 14),
        last=st.sampled_from([Verdict.DONE, Verdict.DONE, *Verdict]),
    )
    def run(self, which: int, calls: int, last: Verdict) -> None:
        """Let some calls succeed, and end the next one by a verdict."""
        invocation = self.alive[which % len(self.alive)]
        for _ in range(calls - 1):
            if invocation.call is not None:
                invocation.step()
        if invocation.call is not None:
            invocation.step(last)
        self._collect()

    @precondition(lambda self: self.alive)
    @rule(which=st.integers(0, ALIVE - 1))
    def kill(self, which: int) -> None:
        """Kill an invocation; its pending writes may still arrive."""
        invocation = self.alive[which % len(self.alive)]
        self.in_flight += invocation.kill()
        self._collect()

    @precondition(lambda self: self.in_flight)
    @rule(which=st.integers(0, 99))
    def land(self, which: int) -> None:
        self.in_flight.pop(which % len(self.in_flight)).land()

    def _collect(self) -> None:
        """Report ended invocations to Lambda."""
        for invocation in self.alive:
            if invocation.call is None:
                self.poison += invocation.poison
        self.others = [one for one in self.others if one.call is not None]
        if self.official is not None and self.official[0].call is None:
            invocation, end = self.official
            self.official = None
            if invocation.raised is not None:
                return
            numbers = [one["dynamodb"]["SequenceNumber"] for one in self.stream]
            failed = invocation.first_failed
            self.settled = end if failed is None else numbers.index(failed)

    def teardown(self) -> None:
        if not hasattr(self, "table"):
            return
        for invocation in self.alive:
            self.in_flight += invocation.kill()
        self._collect()
        while self.settled < len(self.stream):
            before = self.settled
            self.deliver(4, 0)
            assert self.official is not None
            self.official[0].finish()
            self._collect()
            assert self.settled > before, "an undisturbed delivery gets on"
        self._assert_right()
        land(self.in_flight)
        self._assert_right()
        assert self.poison == []

    def _assert_right(self) -> None:
        fold_everything(self.table)
        for num, document in self.documents.items():
            assert_right(self.table, num, document, self.versions[num])
        assert_blocks(self.table, self.documents.values())


TestFaults = Faults.TestCase
TestFaults.settings = settings(
    max_examples=one_of(40, thorough=100),
    stateful_step_count=40,
    phases=[Phase.generate],  # add Phase.shrink, and minutes, to make a failing scenario small
)
