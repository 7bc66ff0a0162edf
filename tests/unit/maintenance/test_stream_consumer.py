"""The consumer over whole batches: its reports, its dead letters, and its reads and writes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from devtools.local.derived_items import derived_items
from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.faults.strands import Pool
from devtools.proof.faults.watched import Attempted
from gridview.commands import attributes, projects
from gridview.commands.actor import Actor, Role
from gridview.derive.families import derived_strings, with_entries
from gridview.derive.images import Poison, projects_in
from gridview.derive.ledger import ImageVersion, Ledger
from gridview.derive.sort_entries import sort_strings_of
from gridview.dynamodb.errors import ItemTooLarge
from gridview.dynamodb.expressions import Item, Key
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.journal.committer import settled
from gridview.journal.log import Log
from gridview.maintenance.stream_consumer import consume, fold
from gridview.schema import documents
from gridview.schema.documents import Changes
from gridview.schema.store import Catalogs
from gridview.support import concurrency
from gridview.support.errors import Overloaded
from tests.support.removed import remove_project

pytestmark = pytest.mark.usefixtures("no_pauses")

TENANT, PROJECT = "acme", "bridge"
ADMIN = Actor(TENANT, "ada", Role.ADMIN)


@pytest.fixture
def table() -> MemoryTable:
    table = MemoryTable()
    projects.create_project(table, ADMIN, {"name": "Bridge", "id": PROJECT})
    add_attribute(table, name="Start", type="date")
    add_attribute(table, name="Kind", type="enum", options=["a", "b"])
    return table


def add_attribute(table: MemoryTable, **body: Any) -> None:
    attributes.create_attribute(table, Catalogs(), ADMIN, PROJECT, body)


def issue_key(num: int) -> str:
    return keys.issue(TENANT, PROJECT, num)


def document(table: MemoryTable, num: int, version: int = 1, **fields: Any) -> Item:
    """An issue with these values in stored form."""
    catalog = Catalogs().get(table, TENANT, PROJECT)
    by_id = {field.id: field.key for field in catalog.attributes}
    changes = Changes({"name": f"issue {num}"}, {by_id[name]: value for name, value in fields.items()})
    made = documents.new_document(catalog, num, changes, user="ann", now="2024-01-01T00:00:00.000000Z")
    return made | {"version": version, "updated": f"2024-01-01T00:00:00.{version:06d}Z"}


def new(number: int, made: Item) -> dict[str, Any]:
    return record(number, None, made)


def one_call_at_a_time(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(concurrency, "ThreadPoolExecutor", Pool)


class Consumer:
    """A container of the consumer: its catalogs stay from batch to batch."""

    def __init__(self) -> None:
        self.catalogs = Catalogs()
        self.poison: list[Poison] = []

    def __call__(self, table: Table, *records: dict[str, Any]) -> str | None:
        return consume(table, self.catalogs, records, self.poison.append)


def entries(table: MemoryTable, num: int) -> dict[str, str]:
    """Order id -> sort string of the issue's entries in the index."""
    prefix = derived_keys.order(TENANT, PROJECT, "")
    return {
        sort_key.removeprefix(prefix): item[keys.SORT]
        for (pk, sort_key), item in table.items.items()
        if pk == issue_key(num) and sort_key.startswith(prefix) and keys.SORT in item
    }


def of_issue(table: MemoryTable, num: int) -> dict[Key, Item]:
    """The items in the issue's partition."""
    return {key: item for key, item in table.items.items() if key[0] == issue_key(num)}


def ledger(table: MemoryTable, num: int) -> Ledger:
    """The ledger of an issue, with the journal's knowledge of its number."""
    found = Ledger.from_item(table.get(issue_key(num), derived_keys.LEDGER))
    if not found.number:
        return found
    return found.committed() if settled(Log(table, TENANT, PROJECT), [found.number])[found.number] else found


def target(table: MemoryTable, made: Item) -> dict[str, str]:
    return with_entries(sort_strings_of(Catalogs().get(table, TENANT, PROJECT), made))


def derived(table: MemoryTable, made: Item) -> dict[str, str]:
    return derived_strings(Catalogs().get(table, TENANT, PROJECT), made)


def failing(error: Callable[[], Exception], *, on: Callable[[Attempted], bool]) -> Callable[..., Any]:
    """An adversary that refuses some calls."""

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if on(attempted):
            raise error()
        return perform()

    return around


def busy() -> Exception:
    return Overloaded("The table is busy; try again.")


# Folding


def test_a_batch_is_folded_to_the_newest_image_of_each_issue(table: MemoryTable) -> None:
    one, two, three = (document(table, 7, version) for version in (1, 2, 3))
    other = document(table, 8)
    images, poison = fold(
        [new(1, one), new(2, other), record(3, one, two), record(4, two, three), record(5, three, None)]
    )
    assert poison == []
    assert [(image.issue.num, image.order, image.first) for image in images] == [
        (7, ImageVersion(3, True), f"{1:021d}"),
        (8, ImageVersion(1, False), f"{2:021d}"),
    ]


def test_projects_come_in_the_order_of_their_records() -> None:
    """Otherwise a scenario of the fault simulator would differ from run to run."""
    names = [f"p{number}" for number in range(20)]
    images = [{keys.PK: keys.issue("t1", name, 1), keys.SK: keys.project("t1", name)} for name in names]
    records = [record(at, None, image) for at, image in enumerate(images, 1)]
    assert list(projects_in([*records, records[0]])) == [("t1", name) for name in names]


def test_an_older_image_that_comes_after_a_newer_one_changes_nothing(table: MemoryTable) -> None:
    one, two = document(table, 7, 1), document(table, 7, 2)
    images, _ = fold([record(5, two, None), record(3, one, two), new(1, one)])
    assert [(image.order, image.first) for image in images] == [(ImageVersion(2, True), f"{5:021d}")]


def test_records_of_other_items_are_passed_over(table: MemoryTable) -> None:
    made = document(table, 7)
    catalog = Catalogs().get(table, TENANT, PROJECT)
    others = list(table.items.values()) + derived_items(catalog, made)
    assert fold([record(place, None, item) for place, item in enumerate(others)]) == ([], [])


# Deriving


def test_a_new_issue_gets_its_entries_and_a_committed_ledger(table: MemoryTable) -> None:
    made = document(table, 7, start="2023-05-01", kind="o2")
    assert Consumer()(table, new(1, made)) is None
    assert entries(table, 7) == target(table, made)
    assert set(entries(table, 7)) == {"name.1", "created.1", "updated.1", "a1.1"}
    assert ledger(table, 7).applied == derived(table, made)
    assert ledger(table, 7).intent is None


def test_the_consumer_derives_the_same_items_as_a_bulk_load(table: MemoryTable) -> None:
    made = document(table, 7, start="2023-05-01")
    assert Consumer()(table, new(1, made)) is None
    derived = {key: item for key, item in table.items.items() if key[0] == issue_key(7)}
    committed = replace(ledger(table, 7), left={}, at=0, number=0, report=None)
    derived[issue_key(7), derived_keys.LEDGER] = committed.to_item(issue_key(7))
    bulk = derived_items(Catalogs().get(table, TENANT, PROJECT), made)
    assert derived == {(item[keys.PK], item[keys.SK]): item for item in bulk}


def test_a_cleared_value_leaves_a_tombstone_that_the_table_forgets(table: MemoryTable) -> None:
    one, two = document(table, 7, 1, start="2023-05-01"), document(table, 7, 2)
    work = Consumer()
    work(table, new(1, one))
    (order_id,) = target(table, one).keys() - target(table, two).keys()
    work(table, record(2, one, two))
    cleared = table.items[issue_key(7), derived_keys.order(TENANT, PROJECT, order_id)]
    assert keys.SORT not in cleared
    assert cleared["version"] == 2
    assert isinstance(cleared[keys.TTL_ATTRIBUTE], int)


@pytest.mark.parametrize("expired", [False, True], ids=["deleted", "expired"])
def test_a_removed_issue_keeps_its_ledger_as_a_tombstone(table: MemoryTable, expired: bool) -> None:
    made = document(table, 7, 3, start="2023-05-01")
    work = Consumer()
    work(table, new(1, made))
    removal = record(2, made, None)
    if expired:
        removal["userIdentity"] = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
    assert work(table, removal) is None
    assert entries(table, 7) == {}
    assert ledger(table, 7).order == ImageVersion(3, True)
    kept = table.items[issue_key(7), derived_keys.LEDGER]
    assert kept[keys.TTL_ATTRIBUTE] > 0
    before = table.items
    assert work(table, new(1, made)) is None
    assert table.items == before


def test_a_restored_issue_is_indexed_again_and_its_ledger_stays(table: MemoryTable) -> None:
    one, two = document(table, 7, 1), document(table, 7, 2, start="2023-05-01")
    work = Consumer()
    work(table, new(1, one), record(2, one, None))
    assert work(table, new(3, two)) is None
    assert entries(table, 7) == target(table, two)
    assert keys.TTL_ATTRIBUTE not in table.items[issue_key(7), derived_keys.LEDGER]


def test_an_old_removal_that_is_delivered_again_does_not_undo_a_restored_issue(table: MemoryTable) -> None:
    """Removed, and put back with the same values: in one batch that looks like a single step in
    which nothing changes.
    """
    one, two = document(table, 7, 1, start="2023-05-01"), document(table, 7, 2, start="2023-05-01")
    two["updated"] = one["updated"]
    work = Consumer()
    work(table, new(1, one))
    removal = record(2, one, None)
    assert work(table, removal, new(3, two)) is None
    assert work(table, removal) is None
    assert entries(table, 7) == target(table, two)


def remembers(attempted: Attempted) -> bool:
    """Whether a call writes an item of the history."""
    return attempted.operation == "batch_put"


def test_a_repeated_delivery_derives_nothing(table: MemoryTable) -> None:
    one, two = document(table, 7, 1, start="2023-05-01"), document(table, 7, 2)
    stream = [new(1, one), record(2, one, two), new(3, document(table, 8))]
    work = Consumer()
    work(table, *stream)
    silent = table.seen_through(failing(AssertionError, on=lambda call: call.writes and not remembers(call)))
    for batch in (stream, stream[:1], stream[1:], stream[:2]):
        assert work(silent, *batch) is None


def test_issues_of_a_deleted_project_lose_their_entries(table: MemoryTable) -> None:
    one, two = document(table, 7, 1, start="2023-05-01"), document(table, 7, 2)
    work = Consumer()
    work(table, new(1, one))
    remove_project(table, ADMIN, PROJECT)
    assert work(table, record(2, one, two), new(3, document_of_deleted(two, 8))) is None
    assert entries(table, 7) == entries(table, 8) == {}
    assert work.poison == []


def document_of_deleted(like: Item, num: int) -> Item:
    return {**like, keys.PK: issue_key(num), keys.SORT: f"{num:08d}", "num": num}


def test_issues_of_a_project_that_never_was_derive_nothing() -> None:
    empty = MemoryTable()
    made = {
        keys.PK: issue_key(7),
        keys.SK: keys.project(TENANT, PROJECT),
        keys.SORT: "00000007",
        "num": 7,
        "version": 1,
    }
    assert Consumer()(empty, new(1, made)) is None
    assert empty.items == {}


# Catalogs


def test_a_container_with_an_older_catalog_reads_it_again(table: MemoryTable) -> None:
    work = Consumer()
    work(table, new(1, document(table, 7)))
    attributes.update_attribute(
        table, Catalogs(), ADMIN, PROJECT, "kind", {"options": ["a", "b", "c"]}, None, settling=0
    )
    add_attribute(table, name="Cost", type="number")
    made = document(table, 8, kind="o3", cost=12)
    assert work(table, new(2, made)) is None
    assert work.poison == []
    assert entries(table, 8) == target(table, made)
    assert ledger(table, 8).epoch == Catalogs().get(table, TENANT, PROJECT).epoch


def test_a_ledger_of_a_newer_epoch_is_not_written_under_an_older_catalog(table: MemoryTable) -> None:
    """The definitions change, and another invocation uses the new ones, after this one has read the epoch."""
    one, two = document(table, 7, 1, kind="o1"), document(table, 7, 2, kind="o2")
    changed: list[bool] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        found = perform()
        if attempted.key[1] == keys.CATALOG and not changed:
            changed.append(True)
            add_attribute(table, name="Later", type="text")
            Consumer()(table, new(1, one))
        return found

    work = Consumer()
    work(table, new(1, document(table, 9)))
    assert work(table.seen_through(around), record(2, one, two)) is None
    newest = Catalogs().get(table, TENANT, PROJECT)
    assert ledger(table, 7).epoch == newest.epoch
    assert entries(table, 7) == with_entries(sort_strings_of(newest, two))


def test_a_ledger_of_an_unknown_epoch_is_never_overwritten(table: MemoryTable) -> None:
    one, two = document(table, 7, 1), document(table, 7, 2)
    work = Consumer()
    work(table, new(1, one))
    item = table.items[issue_key(7), derived_keys.LEDGER]
    table.put({**item, "epoch": item["epoch"] + 1})
    before = of_issue(table, 7)
    assert work(table, record(2, one, two)) == f"{2:021d}"
    assert of_issue(table, 7) == before


def test_ledgers_and_epochs_are_read_strongly_consistent(table: MemoryTable) -> None:
    reads: list[Attempted] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if not attempted.writes:
            reads.append(attempted)
        return perform()

    work = Consumer()
    for num in (7, 8):  # the first time it has no catalog yet
        assert work(table.seen_through(around), new(1, document(table, num))) is None
    assert {attempted.operation for attempted in reads} == {"batch_get", "get", "query"}
    # Directories only show where to look.
    in_doubt = {attempted.key[0] for attempted in reads if not attempted.consistent}
    assert all(partition.startswith(derived_keys.DIRECTORY_PREFIX) for partition in in_doubt)


# Failures


@pytest.fixture
def one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    one_call_at_a_time(monkeypatch)


def about(num: int) -> Callable[[Attempted], bool]:
    return lambda attempted: attempted.writes and attempted.key[0] == issue_key(num)


PROJECTS = {7: PROJECT, 8: "other", 9: "third"}
"""Issues of different projects share no journal item, so that each fails by itself."""


def apart(table: MemoryTable, num: int, version: int) -> Item:
    """An issue in a project of its own."""
    project = PROJECTS[num]
    moved = {keys.PK: keys.issue(TENANT, project, num), keys.SK: keys.project(TENANT, project)}
    return {**document(table, num, version), **moved}


def entries_apart(table: MemoryTable, num: int) -> dict[str, str]:
    prefix = derived_keys.order(TENANT, PROJECTS[num], "")
    return {
        sort_key.removeprefix(prefix): item[keys.SORT]
        for (pk, sort_key), item in table.items.items()
        if pk == keys.issue(TENANT, PROJECTS[num], num) and sort_key.startswith(prefix) and keys.SORT in item
    }


@pytest.mark.usefixtures("one_after_the_other")
@pytest.mark.parametrize(("unlucky", "reported"), [((7,), 1), ((8,), 2), ((9,), 4), ((8, 9), 2), ((9, 7), 1)])
def test_the_first_record_of_the_first_failed_issue_is_reported_and_all_others_are_done(
    table: MemoryTable, unlucky: Sequence[int], reported: int
) -> None:
    for project in (PROJECTS[8], PROJECTS[9]):
        projects.create_project(table, ADMIN, {"name": project, "id": project})
    first, second = ({num: apart(table, num, version) for num in PROJECTS} for version in (1, 2))
    stream = [
        new(1, first[7]),
        new(2, first[8]),
        record(3, first[7], second[7]),
        new(4, first[9]),
        record(5, first[9], second[9]),
        record(6, first[8], second[8]),
    ]
    work = Consumer()
    partitions = {first[num][keys.PK] for num in unlucky}
    refusing = table.seen_through(failing(busy, on=lambda call: call.writes and call.key[0] in partitions))
    assert work(refusing, *stream) == f"{reported:021d}"
    for num in PROJECTS:
        assert entries_apart(table, num) == ({} if num in unlucky else target(table, second[num]))
    assert work.poison == []
    assert work(table, *stream[reported - 1 :]) is None
    for num in PROJECTS:
        assert entries_apart(table, num) == target(table, second[num])


def test_a_table_that_is_busy_at_any_call_gets_the_first_record_reported(table: MemoryTable) -> None:
    """One call after the other, until a batch succeeds."""
    stream = [new(1, document(table, 7, start="2023-05-01")), new(2, document(table, 8))]
    calls = 0
    for unlucky in range(100):
        fresh, calls = table.copy(), 0

        def around(_: Attempted, perform: Callable[[], Any], unlucky: int = unlucky) -> Any:
            nonlocal calls
            calls += 1
            if calls == unlucky + 1:
                raise busy()
            return perform()

        with pytest.MonkeyPatch.context() as patch:
            one_call_at_a_time(patch)
            reported = Consumer()(fresh.seen_through(around), *stream)
        if reported is None:
            break
        assert reported in (f"{1:021d}", f"{2:021d}")
        assert Consumer()(fresh, *stream) is None
        assert entries(fresh, 7) == target(table, document(table, 7, start="2023-05-01"))
        assert entries(fresh, 8) == target(table, document(table, 8))
    assert 12 < calls < 25


@pytest.mark.parametrize(
    "spoil",
    [
        lambda made: made["fields"].update({"a2": "o99"}),
        lambda made: made["fields"].update({"a1": "1 May 2023"}),
        lambda made: made["fields"].update({"a1": 5}),
        lambda made: made["fields"].update({"a1": {"b": 1}}),
        lambda made: made.pop("num"),
        lambda made: made.update(fields="none"),
        lambda made: made.update(name=None, state=["o1"]),
    ],
    ids=["unknown option", "no date", "a number", "a map", "no number", "no map of fields", "a list"],
)
def test_a_poison_issue_goes_to_the_dead_letters_and_the_batch_continues(
    table: MemoryTable, spoil: Callable[[Item], Any]
) -> None:
    spoilt = document(table, 7, 4, start="2023-05-01", kind="o1")
    spoil(spoilt)
    good = document(table, 8, start="2023-05-01")
    work = Consumer()
    assert work(table, new(1, spoilt), new(2, good)) is None
    assert [(one.key, one.version) for one in work.poison] == [(issue_key(7), 4)]
    assert "May" not in work.poison[0].error
    assert entries(table, 8) == target(table, good)
    assert entries(table, 7) == {}


@pytest.mark.parametrize("version", [None, "x"], ids=["missing", "no number"])
def test_an_issue_without_a_version_is_poison_and_the_batch_continues(
    table: MemoryTable, version: str | None
) -> None:
    spoilt = {**document(table, 7), "version": version}
    good = document(table, 8)
    work = Consumer()
    assert work(table, new(1, spoilt), new(2, good)) is None
    assert [(one.key, one.version) for one in work.poison] == [(issue_key(7), 0)]
    assert entries(table, 8) == target(table, good)


def test_an_issue_with_a_ledger_too_large_for_an_item_is_poison(table: MemoryTable) -> None:
    too_large = failing(lambda: ItemTooLarge("The item would be larger than 400 KB."), on=about(7))
    work = Consumer()
    stream = [new(1, document(table, 7, 3)), new(2, document(table, 8))]
    assert work(table.seen_through(too_large), *stream) is None
    assert [(one.key, one.version) for one in work.poison] == [(issue_key(7), 3)]
    assert entries(table, 8) == target(table, document(table, 8))


def test_lost_definitions_take_nothing_out_of_the_index(table: MemoryTable) -> None:
    one, two = document(table, 7, 1, start="2023-05-01"), document(table, 7, 2, start="2023-05-02")
    projects.create_project(table, ADMIN, {"name": "Other", "id": "other"})
    other = {
        **document(table, 9),
        keys.PK: keys.issue(TENANT, "other", 9),
        keys.SK: keys.project(TENANT, "other"),
    }
    work = Consumer()
    work(table, new(1, one))
    derived_before, ledger_before = entries(table, 7), ledger(table, 7)
    key = keys.project(TENANT, PROJECT), keys.CATALOG
    lost = table.items[key]
    table.delete(*key)
    stream = [record(2, one, two), new(3, {**two, keys.PK: issue_key(8), "num": 8}), new(4, other)]
    assert work(table, *stream) is None
    assert [(poison.key, poison.version) for poison in work.poison] == [(issue_key(7), 2), (issue_key(8), 2)]
    assert entries(table, 7) == derived_before
    assert ledger(table, 7) == ledger_before
    assert (keys.issue(TENANT, "other", 9), derived_keys.LEDGER) in table.items, "other projects go on"
    table.put(lost)
    assert work(table, *stream) is None
    assert entries(table, 7) == target(table, two)


def test_a_lost_permission_is_no_fault_of_an_issue(table: MemoryTable) -> None:
    denied = ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "PutItem")
    work = Consumer()
    with pytest.raises(ClientError):
        work(table.seen_through(failing(lambda: denied, on=about(7))), new(1, document(table, 7)))
    assert work.poison == []


def test_a_dead_letter_that_cannot_be_sent_fails_the_batch(table: MemoryTable) -> None:
    def refuse(_: Poison) -> None:
        raise ConnectionError

    spoilt = document(table, 7, kind="o99")
    with pytest.raises(ConnectionError):
        consume(table, Catalogs(), [new(1, spoilt)], refuse)


def test_an_issue_that_others_keep_changing_is_reported_and_not_lost(table: MemoryTable) -> None:
    """Another invocation writes between the reads and writes of this one."""
    one = document(table, 7, 1)
    stream = new(1, one)

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes:
            found = table.items.get((issue_key(7), derived_keys.LEDGER), Ledger().to_item(issue_key(7)))
            table.put({**found, "revision": found["revision"] + 1, "intent": {}})
        return perform()

    assert Consumer()(table.seen_through(around), stream) == f"{1:021d}"
    assert Consumer()(table, stream) is None
    assert entries(table, 7) == target(table, one)


def test_many_issues_side_by_side(table: MemoryTable) -> None:
    made = [document(table, num, start="2023-05-01") for num in range(1, 41)]
    assert Consumer()(table, *(new(place, one) for place, one in enumerate(made))) is None
    for one in made:
        assert entries(table, one["num"]) == target(table, one)


def writes_of(table: MemoryTable, work: Consumer, *stream: dict[str, Any]) -> Iterator[tuple[str, str]]:
    written: list[tuple[str, str]] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.writes and not remembers(attempted):
            written.append(attempted.key)
        return perform()

    assert work(table.seen_through(around), *stream) is None
    return (key for key in written)


def test_an_edit_of_one_field_writes_the_ledger_the_journal_and_two_entries(table: MemoryTable) -> None:
    """No block either: the fold writes those."""
    one, two = document(table, 7, 1, start="2023-05-01"), document(table, 7, 2, start="2023-05-02")
    work = Consumer()
    work(table, new(1, one))
    written = [sort_key for _, sort_key in writes_of(table, work, record(2, one, two))]
    assert written[:3] == [derived_keys.FOLD, derived_keys.LEDGER, derived_keys.journal_item(2)]
    assert sorted(written[3:]) == sorted(
        derived_keys.order(TENANT, PROJECT, order) for order in ("a1.1", "updated.1")
    )
