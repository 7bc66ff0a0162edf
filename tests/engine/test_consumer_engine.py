"""The consumer on the engine: repeated and concurrent deliveries of the same records, and the cost of an edit."""

import secrets
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest

from devtools.local.delivery import Record, sequence_number
from devtools.local.derived_items import derived_items
from devtools.local.engine import Engine
from gridview.derive.families import derived_strings, with_entries
from gridview.derive.images import Poison
from gridview.derive.ledger import Ledger
from gridview.derive.sort_entries import sort_strings_of
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.journal.log import Log
from gridview.maintenance.stream_consumer import consume
from gridview.schema.store import Catalogs
from tests.engine.local import Stack, stack
from tests.support import nasty
from tests.support.depth import one_of

PROJECT = "nasty"
CREATED = one_of(10, thorough=40)
EDITED = range(1, CREATED // 2 + 1)
CLEARED = range(CREATED // 4, CREATED * 3 // 4)
DELETED = range(CREATED // 2, CREATED * 4 // 5)
CONTENDED = range(one_of(4, thorough=15), one_of(6, thorough=28))


@pytest.fixture
def written(engine: Engine, table_name: str) -> Iterator[Stack]:
    """A project whose issues were created, edited and deleted; nothing is delivered yet."""
    with stack(engine, table_name, f"t{secrets.token_hex(8)}") as running:
        running.api.made("/v1/projects", {"name": "Nasty", "id": PROJECT, "states": nasty.STATES})
        for attribute in nasty.ATTRIBUTES:
            running.api.made(f"/v1/projects/{PROJECT}/attributes", attribute)
        running.batch(PROJECT, [{"create": body} for body in nasty.issues(CREATED, seed=1)])
        edits = zip(EDITED, nasty.issues(len(EDITED), seed=2), strict=True)
        running.batch(PROJECT, [{"update": {"num": num, **body}} for num, body in edits])
        cleared = {"fields": dict.fromkeys(("title", "amount", "labels"))}
        running.batch(PROJECT, [{"update": {"num": num, **cleared}} for num in CLEARED])
        running.batch(PROJECT, [{"delete": {"num": num}} for num in DELETED])
        yield running


def no_poison(poison: Poison) -> None:
    raise AssertionError(poison)


def deliver_until_done(table: Table, records: list[Record]) -> None:
    """Deliver as the event source mapping does: failed records again."""
    while records:
        failed = consume(table, Catalogs(), records, no_poison)
        done = len(records) if failed is None else [sequence_number(one) for one in records].index(failed)
        records = records[done:]


def issue_items(running: Stack) -> dict[tuple[str, str], Item]:
    """All items of the tenant's issues: documents, ledgers, entries and tombstones."""
    table = running.table
    prefix = keys.issue(running.tenant, PROJECT, 1)[:-8]
    return {
        (item[keys.PK], item[keys.SK]): item
        for num in range(1, CREATED + 1)
        for item in table.query_all(f"{prefix}{num:08d}", consistent=True)
    }


def assert_right(running: Stack) -> None:
    """Derived data equals the documents; the journal has the intents of the ledgers; removed issues left only
    tombstones.
    """
    catalog = Catalogs().get(running.table, running.tenant, PROJECT)
    items = issue_items(running)
    project = keys.project(running.tenant, PROJECT)
    documents = {pk: item for (pk, sk), item in items.items() if sk == project and keys.SORT in item}
    committed = {item.number: item for item in Log(running.table, running.tenant, PROJECT).all_after(0)}
    assert len(documents) == CREATED - len(DELETED)
    for num in range(1, CREATED + 1):
        pk = keys.issue(running.tenant, PROJECT, num)
        document = documents.get(pk)
        ledger = Ledger.from_item(items[pk, derived_keys.LEDGER])
        assert num in {change.num for change in committed[ledger.number].changes}
        ledger = ledger.committed()
        expected = {} if document is None else with_entries(sort_strings_of(catalog, document))
        assert ledger.applied == ({} if document is None else derived_strings(catalog, document))
        assert ledger.removed is (document is None)
        found = {
            sk.removeprefix(derived_keys.order(running.tenant, PROJECT, "")): item[keys.SORT]
            for (owner, sk), item in items.items()
            if owner == pk and sk not in (project, derived_keys.LEDGER) and keys.SORT in item
        }
        assert found == expected


def writes(table: Table) -> int:
    return sum(call.operation in ("put_item", "delete_item") for call in table.meter.calls)


def test_the_whole_stream_twice_writes_nothing_the_second_time(written: Stack) -> None:
    stream = written.stream()
    assert len(stream) == CREATED + len(EDITED) + len(CLEARED) + len(DELETED)
    first = written.table
    deliver_until_done(first, stream)
    assert writes(first) > CREATED
    assert_right(written)
    before = issue_items(written)
    for size in (len(stream), 7, 1):
        again = written.table
        for at in range(0, len(stream), size):
            deliver_until_done(again, stream[at : at + size])
        assert writes(again) == len(DELETED), "the entries of the trash, as they are"
    assert issue_items(written) == before


def test_record_by_record_ends_as_all_at_once(written: Stack) -> None:
    for one in written.stream():
        deliver_until_done(written.table, [one])
    assert_right(written)


def test_concurrent_consumers_of_the_same_records_end_right(written: Stack) -> None:
    """The batches of each are cut differently. When they collide, they report it and try again."""
    contended = {keys.issue(written.tenant, PROJECT, num) for num in CONTENDED}
    everything = written.stream()
    stream = [one for one in everything if one["dynamodb"]["Keys"][keys.PK]["S"] in contended]
    tables = [written.table for _ in range(3)]

    def run(place: int) -> None:
        random = Random(place)  # noqa: S311
        at = 0
        while at < len(stream):
            size = random.choice([5, 20, 40])
            deliver_until_done(tables[place], stream[at : at + size])
            at += size

    with ThreadPoolExecutor(len(tables)) as pool:
        list(pool.map(run, range(len(tables))))
    deliver_until_done(written.table, everything)
    assert_right(written)
    again = written.table
    deliver_until_done(again, everything)
    assert writes(again) == len(DELETED), "the entries of the trash, as they are"


def test_the_stream_derives_the_same_items_as_a_bulk_load(written: Stack) -> None:
    """Except for the number of derivations of an issue, and the place where its ledger records the applied state."""
    deliver_until_done(written.table, written.stream())
    catalog = Catalogs().get(written.table, written.tenant, PROJECT)
    items = issue_items(written)
    project = keys.project(written.tenant, PROJECT)
    bulk = {
        (item[keys.PK], item[keys.SK]): item
        for (_, sk), document in items.items()
        if sk == project and keys.SORT in document  # not in the trash
        for item in derived_items(catalog, document)
    }
    for key, item in bulk.items():
        if key[1] == derived_keys.LEDGER:
            assert Ledger.from_item(items[key]).committed().applied == Ledger.from_item(item).applied
        else:
            assert bare(items[key]) == bare(item)


def bare(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in ("revision", "version")}
