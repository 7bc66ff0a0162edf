"""Reads of a project's catalog: complete, and current when a request or background work uses it."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from gridview.commands import attributes, deleted_projects, projects
from gridview.commands.actor import Actor, Role
from gridview.commands.preconditions import Expected
from gridview.dynamodb.errors import TransactionFailed
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema import store
from gridview.schema.catalog import MAX_ATTRIBUTES, Catalog
from gridview.schema.epoch import EpochCheck
from gridview.schema.fields import UnknownOption
from gridview.schema.items import raise_epoch, to_catalog
from gridview.schema.store import Catalogs, read, retry_lost_races
from gridview.support.errors import (
    Conflict,
    CursorExpired,
    IndexBuilding,
    InvalidRequest,
    LimitExceeded,
    NotFound,
    RequestError,
)
from tests.support import cloud

ANN = Actor("0807", "ann", Role.ADMIN)
ANY: Expected = None


@pytest.fixture
def table(account: cloud.Cloud) -> Table:
    projects.create_project(account.table, ANN, {"id": "35e9", "name": "Bridge"})
    return account.table.metered()


def add(table: Table, name: str) -> None:
    """Add an attribute, as another container does."""
    attributes.create_attribute(table, Catalogs(), ANN, "35e9", {"name": name, "type": "text"})


def ids(catalog: Catalog) -> list[str]:
    return [field.id for field in catalog.attributes]


def reads(table: Table) -> int:
    return len(table.meter.calls)


def test_a_catalog_is_the_attributes_in_display_order_with_epoch_and_states(table: Table) -> None:
    add(table, "B")
    add(table, "A")
    catalog = Catalogs().get(table, "0807", "35e9")
    assert (catalog.tenant, catalog.project, catalog.epoch) == ("0807", "35e9", 3)
    assert ids(catalog) == ["b", "a"]
    assert [field.key for field in catalog.attributes] == ["a1", "a2"]
    assert [state.value for state in catalog.states] == ["open", "closed"]


def test_a_copy_is_kept_until_it_is_reloaded(table: Table) -> None:
    kept = Catalogs()
    first = kept.get(table, "0807", "35e9")
    add(table, "Late")
    before = reads(table)
    assert kept.get(table, "0807", "35e9") is first
    assert reads(table) == before
    assert ids(kept.reload(table, "0807", "35e9")) == ["late"]
    assert ids(kept.get(table, "0807", "35e9")) == ["late"]


def test_a_catalog_that_did_not_change_stays_the_same_object(table: Table) -> None:
    kept = Catalogs()
    first = kept.get(table, "0807", "35e9")
    assert kept.reload(table, "0807", "35e9") is first


def test_a_forgotten_catalog_is_read_again(table: Table) -> None:
    kept = Catalogs()
    kept.get(table, "0807", "35e9")
    add(table, "Late")
    kept.forget("0807", "35e9")
    assert ids(kept.get(table, "0807", "35e9")) == ["late"]


def test_a_project_that_is_not_there_is_not_found_and_not_remembered(table: Table) -> None:
    kept = Catalogs()
    for tenant, project in (("0807", "7b7e"), ("3cc8", "35e9")):
        with pytest.raises(NotFound):
            kept.get(table, tenant, project)
    projects.create_project(table, ANN, {"id": "7b7e", "name": "News"})
    assert kept.get(table, "0807", "7b7e").project == "7b7e"


def test_a_deleted_project_is_not_found(table: Table) -> None:
    projects.delete_project(table, Catalogs(), ANN, "35e9", ANY)
    with pytest.raises(NotFound):
        Catalogs().get(table, "0807", "35e9")


@pytest.fixture
def stale(table: Table) -> Catalogs:
    """Catalogs that were read before the attribute `late` was added."""
    kept = Catalogs()
    kept.get(table, "0807", "35e9")
    add(table, "Late")
    return kept


def calls_of(table: Table, work: Callable[[], object]) -> list[tuple[int, str]]:
    """The calls of some work, each with its round."""
    before, rounds = len(table.meter.calls), table.meter.rounds
    with suppress(RequestError):
        work()
    return [(call.round - rounds, call.operation) for call in table.meter.calls[before:]]


RELOADS = [(1, "get_item"), (2, "query")]


@pytest.mark.parametrize(
    "error",
    [
        InvalidRequest("no such field"),
        CursorExpired("rebuilt"),
        IndexBuilding("being built"),
        NotFound("no such issue"),
        LimitExceeded("no index"),
        UnknownOption("o7"),
    ],
)
@pytest.mark.parametrize("checked", [False, True])
def test_errors_under_an_older_copy_are_judged_again_by_the_current_one(
    table: Table, stale: Catalogs, error: Exception, checked: bool
) -> None:
    def use(catalog: Catalog, epoch: EpochCheck) -> str:
        if catalog.get("late") is None:
            if checked:
                epoch.holds(table)
            raise error
        return "fine"

    assert stale.using(table, "0807", "35e9", use) == "fine"


def test_an_older_copy_is_not_used_even_where_it_finds_nothing_wrong(table: Table, stale: Catalogs) -> None:
    used = []

    def use(catalog: Catalog, epoch: EpochCheck) -> list[str]:
        used.append(epoch.due)
        return ids(catalog)

    assert calls_of(table, lambda: stale.using(table, "0807", "35e9", use)) == RELOADS
    assert used == [True, False]
    assert stale.using(table, "0807", "35e9", use) == ["late"]
    assert used == [True, False, True]


def test_work_under_an_older_copy_stops_where_the_epoch_is_confirmed(table: Table, stale: Catalogs) -> None:
    written = []

    def use(catalog: Catalog, epoch: EpochCheck) -> None:
        epoch.beside(table, lambda: table.get("a", "b"))
        written.append(ids(catalog))

    calls = calls_of(table, lambda: stale.using(table, "0807", "35e9", use))
    assert calls == [(1, "get_item"), (1, "get_item"), (2, "query"), (3, "get_item")]
    assert written == [["late"]]


def test_the_epoch_is_read_once_and_beside_the_first_round(table: Table) -> None:
    kept = Catalogs()
    kept.get(table, "0807", "35e9")

    def use(_: Catalog, epoch: EpochCheck) -> None:
        for _round in range(2):
            epoch.beside(table, lambda: table.get("a", "b"))
            epoch.confirm(table)

    calls = calls_of(table, lambda: kept.using(table, "0807", "35e9", use))
    assert calls == [(1, "get_item"), (1, "get_item"), (2, "get_item")]


def test_definitions_that_are_read_for_a_request_need_no_epoch(table: Table) -> None:
    def use(catalog: Catalog, epoch: EpochCheck) -> int:
        assert not epoch.due
        return epoch.beside(table, lambda: catalog.epoch)

    assert calls_of(table, lambda: Catalogs().using(table, "0807", "35e9", use)) == [(1, "query")]


def wrong(*_: object) -> None:
    raise InvalidRequest("never right")


def test_errors_under_the_current_catalog_are_final(table: Table) -> None:
    kept = Catalogs()
    for calls in ([(1, "query")], [(1, "get_item")]):
        assert calls_of(table, lambda: kept.using(table, "0807", "35e9", wrong)) == calls
        with pytest.raises(InvalidRequest):
            kept.using(table, "0807", "35e9", wrong)


def test_an_error_costs_one_read_of_one_item(table: Table) -> None:
    kept = Catalogs()
    kept.get(table, "0807", "35e9")
    before = reads(table)
    for _ in range(3):
        with pytest.raises(InvalidRequest):
            kept.using(table, "0807", "35e9", wrong)
    assert [call.operation for call in table.meter.calls[before:]] == ["get_item"] * 3


def test_an_error_after_the_check_costs_no_further_read(table: Table) -> None:
    kept = Catalogs()
    kept.get(table, "0807", "35e9")

    def use(_: Catalog, epoch: EpochCheck) -> None:
        epoch.beside(table, wrong)

    assert calls_of(table, lambda: kept.using(table, "0807", "35e9", use)) == [(1, "get_item")]


@pytest.mark.parametrize("at_hand", [True, False])
def test_an_option_may_be_younger_than_the_check(table: Table, at_hand: bool) -> None:
    kept = Catalogs()
    if at_hand:
        kept.get(table, "0807", "35e9")

    def use(catalog: Catalog, epoch: EpochCheck) -> str:
        epoch.confirm(table)
        if catalog.get("late") is None:
            add(table, "Late")
            raise UnknownOption("o7")
        return "fine"

    assert kept.using(table, "0807", "35e9", use) == "fine"


def test_an_option_missing_from_the_current_catalog_is_unknown(table: Table) -> None:
    def use(*_: object) -> None:
        raise UnknownOption("o7")

    for _ in range(2):
        with pytest.raises(UnknownOption):
            Catalogs().using(table, "0807", "35e9", use)


def test_work_that_needs_only_the_project_runs_beside_the_read_of_the_epoch(
    table: Table, stale: Catalogs
) -> None:
    done = []

    def act(catalog: Catalog) -> int:
        done.append(ids(catalog))
        table.get("a", "b")
        return len(done)

    calls = [(1, "get_item"), *RELOADS], [(1, "get_item"), (1, "get_item")]
    for expected in calls:
        assert sorted(calls_of(table, lambda: stale.existing(table, "0807", "35e9", act))) == expected
    assert done == [[], ["late"]]
    assert Catalogs().existing(table, "0807", "35e9", act) == 3


@pytest.mark.parametrize("act", [ids, wrong], ids=["that is done", "that fails"])
def test_an_act_in_a_deleted_project_is_not_found(
    table: Table, stale: Catalogs, act: Callable[[Catalog], object]
) -> None:
    projects.delete_project(table, Catalogs(), ANN, "35e9", ANY)
    with pytest.raises(NotFound, match="Project"):
        stale.existing(table, "0807", "35e9", act)


def test_a_copy_of_a_closed_project_is_asked_for_its_epoch_and_no_more(table: Table) -> None:
    kept = Catalogs()
    projects.delete_project(table, Catalogs(), ANN, "35e9", ANY)
    assert kept.kept(table, "0807", "35e9").closed

    def refused() -> None:
        with pytest.raises(NotFound, match="Project"):
            kept.using(table, "0807", "35e9", lambda catalog, _: catalog)

    assert calls_of(table, refused) == [(1, "get_item")]
    for ask in (kept.get, kept.current, kept.reload):
        with pytest.raises(NotFound, match="Project"):
            ask(table, "0807", "35e9")
    with pytest.raises(NotFound, match="Project"):
        kept.existing(table, "0807", "35e9", ids)
    assert kept.kept(table, "0807", "35e9").closed
    deleted_projects.restore_project(table, Catalogs(), ANN, "35e9")
    assert kept.using(table, "0807", "35e9", lambda catalog, _: catalog.closed) is False
    assert kept.get(table, "0807", "35e9").closed is False


def test_the_epoch_of_the_largest_project_is_one_read_unit(table: Table) -> None:
    add(table, "B")
    items = read(table, "0807", "35e9")
    keys_given = [f"a{9_999_999 - place}" for place in range(MAX_ATTRIBUTES)]
    table.transact([raise_epoch(items, order=keys_given, next_key=10_000_000, next_composite=10_000_000)])
    before = len(table.meter.calls)
    table.get(items.catalog[keys.PK], keys.CATALOG, consistent=True)
    assert [call.capacity for call in table.meter.calls[before:]] == [1.0]


def test_the_current_catalog_is_read_where_there_is_no_copy_or_an_older_one(table: Table) -> None:
    kept = Catalogs()
    assert kept.current(table, "0807", "35e9").epoch == 1
    add(table, "Late")
    assert ids(kept.current(table, "0807", "35e9")) == ["late"]
    projects.delete_project(table, Catalogs(), ANN, "35e9", ANY)
    with pytest.raises(NotFound):
        kept.current(table, "0807", "35e9")


def test_an_attribute_that_came_back_while_definitions_were_read_keeps_its_values(table: Table) -> None:
    add(table, "Late")
    items = read(table, "0807", "35e9")
    torn = items._replace(catalog={**items.catalog, "order": []})
    catalog = to_catalog("0807", "35e9", torn)
    assert ids(catalog) == []
    assert catalog.deleted("a1")
    assert not catalog.removed("a1")
    assert "a1.1" in {order.order_id for order in catalog.orders}


def test_many_projects_are_kept_but_not_all(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_KEPT", 2)
    kept = Catalogs()
    for number in range(3):
        projects.create_project(table, ANN, {"id": f"p{number}", "name": "P"})
        kept.get(table, "0807", f"p{number}")
    before = reads(table)
    kept.get(table, "0807", "p2")
    kept.get(table, "0807", "p1")
    assert reads(table) == before
    kept.get(table, "0807", "p0")
    assert reads(table) == before + 1


def test_threads_share_a_catalog(table: Table) -> None:
    kept, started = Catalogs(), threading.Barrier(4)

    def get(_: int) -> int:
        started.wait(10)
        return kept.get(table, "0807", "35e9").epoch

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(get, range(4))) == {1}


def test_changes_of_definitions_follow_each_other(table: Table) -> None:
    items = read(table, "0807", "35e9")
    table.transact([raise_epoch(items)])
    with pytest.raises(TransactionFailed):
        table.transact([raise_epoch(items)])
    assert read(table, "0807", "35e9").catalog["epoch"] == 2


def test_a_change_that_lost_a_race_is_made_again_and_given_up_at_last() -> None:
    tries = []

    def change() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise TransactionFailed((0,))
        return "made"

    assert retry_lost_races(change) == "made"

    def never() -> str:
        raise TransactionFailed((0,))

    with pytest.raises(Conflict):
        retry_lost_races(never)
