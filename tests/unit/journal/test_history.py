"""The history of changes: each version of an issue once and permanently, despite repetitions, failures and kills."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count, pairwise
from random import Random
from typing import Any
from uuid import UUID

import pytest

from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.watched import Attempted, Watched
from gridview.commands import attributes, projects
from gridview.commands.actor import Actor, Role
from gridview.derive.images import Poison
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.partitions import remove_partition
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.journal.history import changes_after, read_changes, remove_values, without
from gridview.maintenance.stream_consumer import consume
from gridview.schema import documents
from gridview.schema.change_entries import activity_entries, member_entries
from gridview.schema.documents import Changes
from gridview.schema.history import Change, Values
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import Overloaded
from tests.support.removed import remove_project

pytestmark = pytest.mark.usefixtures("no_pauses")

TENANT, PROJECT = "acme", "bridge"
ADMIN = Actor(TENANT, "ada", Role.ADMIN)
CHANGE = UUID("5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3")


@pytest.fixture
def table() -> MemoryTable:
    table = MemoryTable()
    projects.create_project(table, ADMIN, {"name": "Bridge", "id": PROJECT})
    for name in ("one", "two"):
        attributes.create_attribute(table, Catalogs(), ADMIN, PROJECT, {"name": name, "type": "text"})
    return table


def setting(table: MemoryTable, **history: Any) -> None:
    projects.update_project(table, Catalogs(), ADMIN, PROJECT, {"history": history}, None, settling=0)


def version(table: MemoryTable, number: int, *, change: UUID | None = CHANGE, **fields: Any) -> Item:
    """Version `number` of issue 7, by its own user."""
    catalog = Catalogs().get(table, TENANT, PROJECT)
    now = clock.after(number)
    made = documents.new_document(
        catalog, 7, Changes({"name": "Pier"}, fields), user="", now=now, change=change
    )
    return made | {"version": number, "updated": now, "updated_by": f"user {number}"}


def trashed(document: Item) -> Item:
    bare = {name: value for name, value in document.items() if name != keys.SORT}
    now = clock.after(document["version"] + 1)
    return bare | {
        "version": document["version"] + 1,
        "updated": now,
        "deleted_by": "bob",
        "deleted_at": now,
        keys.TTL_ATTRIBUTE: clock.expiry(30),
    }


def work(table: Any, records: Iterable[dict[str, Any]], catalogs: Catalogs | None = None) -> str | None:
    poison: list[Poison] = []
    return consume(table, catalogs or Catalogs(), list(records), poison.append)


def remembered(table: MemoryTable) -> dict[int, Change]:
    """The history of issue 7, by version."""
    wanted = [(7, number) for number in range(1, 20)]
    return {at: one for (_, at), one in read_changes(table, TENANT, PROJECT, wanted).items()}


def kept(table: MemoryTable, kind: str) -> list[Item]:
    return [item for (pk, _), item in table.items.items() if pk.startswith(f"{kind}-")]


def listed(table: MemoryTable, kind: str) -> set[tuple[int, int]]:
    """The versions in the lists of the activity, or of any change."""
    entries_of = activity_entries if kind == "activity" else member_entries
    found = (entry for item in kept(table, kind) for entry in entries_of(item))
    return {(entry["num"], entry["version"]) for entry in found}


def events_of(table: MemoryTable, *records: dict[str, Any]) -> list[tuple[int, str, str, dict[str, Values]]]:
    assert work(table, records) is None
    return [(at, one.kind, one.by, dict(one.fields)) for at, one in remembered(table).items()]


BASE = {"name": Values(None, "Pier"), "state": Values(None, "o1")}
GONE = {"name": Values("Pier", None), "state": Values("o1", None)}


def test_a_create_records_each_value(table: MemoryTable) -> None:
    made = version(table, 1, a1="x")
    expected = {**BASE, "a1": Values(None, "x")}
    assert events_of(table, record(1, None, made)) == [(1, "create", "user 1", expected)]
    (change,) = remembered(table).values()
    assert (change.at, change.change) == (made["updated"], CHANGE.bytes)


def test_an_update_records_the_differences(table: MemoryTable) -> None:
    old, new = version(table, 1, a1="x", a2="same"), version(table, 2, a1="y", a2="same")
    assert events_of(table, record(1, old, new)) == [(2, "update", "user 2", {"a1": Values("x", "y")})]
    cleared = version(table, 3, a2="same")
    assert events_of(table, record(2, new, cleared))[1] == (3, "update", "user 3", {"a1": Values("y", None)})


def test_every_version_of_a_batch_is_recorded_though_only_the_newest_is_derived(
    table: MemoryTable,
) -> None:
    images = [None, *(version(table, number, a1=f"{number}") for number in range(1, 6))]
    stream = [record(at, *images[at : at + 2]) for at in range(5)]
    assert [at for at, *_ in events_of(table, *stream)] == [1, 2, 3, 4, 5]
    assert listed(table, "activity") == listed(table, "change") == {(7, number) for number in range(1, 6)}


def test_options_in_another_order_are_no_change(table: MemoryTable) -> None:
    old, new = version(table, 1, a1=["o1", "o2"], a2="x"), version(table, 2, a1=["o2", "o1"], a2="y")
    assert events_of(table, record(1, old, new)) == [(2, "update", "user 2", {"a2": Values("x", "y")})]


def test_the_trash(table: MemoryTable) -> None:
    live = version(table, 1, a1="x")
    gone = trashed(live)
    back = version(table, 3, a1="x")
    values = {**GONE, "a1": Values("x", None)}
    again = {**BASE, "a1": Values(None, "x")}
    assert events_of(table, record(1, live, gone), record(2, gone, back)) == [
        (2, "delete", "bob", values),
        (3, "restore", "user 3", again),
    ]


def test_a_purge_from_the_trash_is_no_change(table: MemoryTable) -> None:
    assert events_of(table, record(1, trashed(version(table, 1)), None)) == []
    assert kept(table, "activity") == []


def test_a_removal_from_the_table_is_a_change_without_a_user(table: MemoryTable) -> None:
    removal = record(1, version(table, 4, a1="x"), None)
    removal["dynamodb"]["ApproximateCreationDateTime"] = 1_800_000_000.0
    assert events_of(table, removal) == [(5, "delete", "", {**GONE, "a1": Values("x", None)})]
    assert remembered(table)[5].at == "2027-01-15T08:00:00.000000Z"
    assert kept(table, "change") == []


def test_a_write_that_keeps_the_version_is_no_change(table: MemoryTable) -> None:
    """Upkeep removes values of deleted attributes from documents in place, including those in the trash."""
    old, new = version(table, 2, a1="x"), version(table, 2)
    assert events_of(table, record(1, old, new), record(2, trashed(old), trashed(new))) == []


def test_a_write_in_the_trash_is_no_change(table: MemoryTable) -> None:
    gone = trashed(version(table, 1))
    assert events_of(table, record(1, gone, gone | {"version": 3})) == []


def test_a_repeated_record_is_recorded_once(table: MemoryTable) -> None:
    images = [None, *(version(table, number, a1=f"{number}") for number in range(1, 4))]
    stream = [record(at, *images[at : at + 2]) for at in range(3)]
    work(table, stream)
    before = {kind: kept(table, kind) for kind in ("history", "activity", "change")}
    places = {kind: listed(table, kind) for kind in ("activity", "change")}
    for again in (stream, [*stream, *stream]):
        assert work(table, again) is None
        assert {kind: kept(table, kind) for kind in before} == before
    for in_other_company in (stream[:1], stream[1:]):
        assert work(table, in_other_company) is None
        assert kept(table, "history") == before["history"]
        assert {kind: listed(table, kind) for kind in places} == places


def test_a_poison_issue_is_remembered_as_far_as_it_can_be_read(table: MemoryTable) -> None:
    letters: list[Poison] = []
    spoilt = version(table, 2, a1={"not": "derivable"})
    spoilt["state"] = "o99"
    assert consume(table, Catalogs(), [record(1, version(table, 1), spoilt)], letters.append) is None
    assert len(letters) == 1
    assert remembered(table)[2].fields == {
        "state": Values("o1", "o99"),
        "a1": Values(None, {"not": "derivable"}),
    }


@pytest.mark.parametrize(
    "spoil",
    [
        {"version": "x"},
        {"version": 0},
        {"version": 10**10},
        {"updated": None},
        {"updated": "yesterday, at about 10 o'clock"[:27]},
        {"updated": "2026-11-21"},
        {"updated_by": 5},
        {"fields": "none"},
        {"name": None, "fields": {"a1": [{"a": 1}]}},
    ],
    ids=str,
)
def test_an_invalid_document_is_skipped_and_the_batch_continues(table: MemoryTable, spoil: Item) -> None:
    old = version(table, 1, a1=["o1"])
    other = {**version(table, 1), keys.PK: keys.issue(TENANT, PROJECT, 8), "num": 8}
    assert work(table, [record(1, old, {**version(table, 2), **spoil}), record(2, None, other)]) is None
    assert remembered(table) == {}
    assert list(read_changes(table, TENANT, PROJECT, [(8, 1)])) == [(8, 1)]


def test_a_record_without_its_old_image_records_no_change(table: MemoryTable) -> None:
    partial = record(1, version(table, 1), version(table, 2))
    del partial["dynamodb"]["OldImage"]
    assert events_of(table, partial) == []


def test_other_items_are_passed_over(table: MemoryTable) -> None:
    items = list(table.items.values())
    work(table, [record(at, None, item) for at, item in enumerate(items)])
    assert [item for item in table.items.values() if item not in items] == []


def test_with_the_history_off_the_feed_still_finds_a_change(table: MemoryTable) -> None:
    setting(table, enabled=False)
    work(table, [record(1, None, version(table, 1))])
    assert list(remembered(table)) == [1]
    assert kept(table, "activity") == kept(table, "change") == []


def test_a_setting_holds_for_containers_that_knew_another(table: MemoryTable) -> None:
    catalogs = Catalogs()
    work(table, [record(1, None, version(table, 1))], catalogs)
    setting(table, enabled=False)
    work(table, [record(2, version(table, 1), version(table, 2, a1="x"))], catalogs)
    assert len(kept(table, "activity")) == 1


def test_nothing_is_remembered_of_a_deleted_project(table: MemoryTable) -> None:
    made = version(table, 1)
    remove_project(table, ADMIN, PROJECT)
    assert events_of(table, record(1, None, made)) == []


def test_a_project_without_its_definitions_has_the_default_history(table: MemoryTable) -> None:
    made = version(table, 1)
    table.delete(keys.project(TENANT, PROJECT), keys.CATALOG)
    assert events_of(table, record(1, None, made)) == [(1, "create", "user 1", BASE)]
    assert len(kept(table, "activity")) == 1


def test_an_expired_change_is_not_returned_though_the_table_still_has_it(
    table: MemoryTable, later: Callable[[float], None]
) -> None:
    setting(table, days=8)
    work(table, [record(1, None, version(table, 1))])
    later(7.9 * 86_400)
    assert list(remembered(table)) == [1]
    later(0.2 * 86_400)
    assert list(remembered(table)) == []


def test_a_large_change_is_read_whole_or_not_at_all(table: MemoryTable) -> None:
    drawn = Random(3)  # noqa: S311  (the same one each time)
    huge, other = ("".join(chr(drawn.randrange(0x4E00, 0x9FFF)) for _ in range(120_000)) for _ in range(2))
    puts: list[Attempted] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        puts.extend([attempted] if attempted.operation == "batch_put" else [])
        return perform()

    stream = [record(1, version(table, 1, a1=huge), version(table, 2, a1=other))]
    work(table.seen_through(around), stream)
    (change,) = remembered(table).values()
    assert change.fields == {"a1": Values(huge, other)}
    assert [any(derived_keys.is_history_part(sk) for _, sk in call.keys) for call in puts] == [True, False]
    table.delete(derived_keys.history(TENANT, PROJECT, 7), derived_keys.history_part(2, 1))
    assert remembered(table) == {}


def drawn_text(length: int, seed: int) -> str:
    """A text that cannot be compressed well."""
    drawn = Random(seed)  # noqa: S311  (the same one each time)
    return "".join(chr(drawn.randrange(0x4E00, 0x9FFF)) for _ in range(length))


def racing(table: MemoryTable, others: Iterator[Callable[[], object]]) -> Watched:
    """The table, in which the next of the others acts before each transaction."""

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "transact":
            next(others, lambda: None)()
        return perform()

    return table.seen_through(around)


def take_out(table: Table, key: str) -> None:
    remove_values(table, TENANT, PROJECT, 7, lambda one: one == key)


@pytest.mark.parametrize("length", [10, 1_000, 120_000], ids=["plain", "packed", "in parts"])
def test_two_removals_of_values_at_the_same_time_bring_nothing_back(table: MemoryTable, length: int) -> None:
    old, new = (
        version(table, 1, a1=drawn_text(length, 1)),
        version(table, 2, a1=drawn_text(length, 2), a2="x"),
    )
    work(table, [record(1, old, new)])
    take_out(racing(table, iter([partial(take_out, table, "a2")])), "a1")
    (change,) = remembered(table).values()
    assert change.fields == {}
    assert len([item for item in table.items if item[0].startswith(derived_keys.HISTORY_PREFIX)]) == 1


def test_the_changes_of_an_issue_continue_after_a_restore_of_the_table(table: MemoryTable) -> None:
    """Versions then begin at that instant, in milliseconds since 1970."""
    restored = 1_790_000_000_000
    made = [{**version(table, at, a1=f"x{at}"), "version": restored + at} for at in range(3)]
    work(table, [record(at, *both) for at, both in enumerate(pairwise(made), 1)])
    found = changes_after(table, TENANT, PROJECT, 7, restored)
    assert [one.version - restored for one in found] == [1, 2]


def test_ranks_of_a_deleted_order_stay_in_its_changes() -> None:
    """They show that a version only placed its issue."""
    values = Values("V", "W")
    placed = Change(7, 2, "update", "ann", clock.after(2), None, {"m2": values, "a1": values})
    assert without(placed, lambda _: True).fields == {"m2": values}


def test_a_history_that_is_purged_during_a_removal_of_values_stays_removed(table: MemoryTable) -> None:
    work(table, [record(1, None, version(table, 1, a1="x"))])
    partition = derived_keys.history(TENANT, PROJECT, 7)
    purge = partial(remove_partition, table, partition, lambda: 1.0)
    take_out(racing(table, iter([purge])), "a1")
    assert not table.query(partition).items


def test_a_removal_of_values_that_loses_each_race_is_not_done(table: MemoryTable) -> None:
    work(table, [record(1, None, version(table, 1, a1="x"))])
    ((place, item),) = [one for one in table.items.items() if one[0][0].startswith("history-")]
    assert place[0] == derived_keys.history(TENANT, PROJECT, 7)
    others = (partial(table.put, {**item, "by": f"user {at}"}) for at in count())
    with pytest.raises(Overloaded):
        take_out(racing(table, others), "a1")


def test_changes_are_remembered_before_anything_is_derived(table: MemoryTable) -> None:
    """A reader that receives a version from the journal finds its change, and a batch that fails has lost nothing."""
    written: list[Attempted] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes:
            written.append(attempted)
        return perform()

    work(table.seen_through(around), [record(1, None, version(table, 1))])
    places = [at for at, one in enumerate(written) if one.operation == "batch_put"]
    assert places == [0, 1]
    assert [{pk.partition("-")[0] for pk, _ in one.keys} for one in written[:2]] == [
        {"activity", "change"},
        {"history"},
    ]
    assert len(written) > 2


@pytest.mark.parametrize("dies_at", range(12))
def test_a_batch_that_dies_at_any_call_is_remembered_when_it_comes_again(
    table: MemoryTable, dies_at: int
) -> None:
    calls = 0
    stream = [record(1, None, version(table, 1)), record(2, version(table, 1), version(table, 2, a1="x"))]

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        nonlocal calls
        calls += 1
        if calls > dies_at:
            raise Overloaded("The table is busy; try again.")
        return perform()

    failed = work(table.seen_through(around), stream)
    assert failed == f"{1:021d}"
    if any(item[keys.SK] == derived_keys.LEDGER for item in table.items.values()):
        assert list(remembered(table)) == [1, 2]
    assert work(table, stream) is None
    assert list(remembered(table)) == [1, 2]
    assert listed(table, "activity") == listed(table, "change") == {(7, 1), (7, 2)}
