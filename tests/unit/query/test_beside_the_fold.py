"""Questions during a quick consumer and fold, or to a container after a while."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import pytest

from devtools.proof.baseline.service import at_once
from devtools.proof.faults.watched import Attempted
from devtools.proof.oracle.asking import grouped, page, summarized
from gridview.derive.ledger import SHOWN_SECONDS
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys
from gridview.view.block_cache import BlockCache
from gridview.view.context import ReadContext
from gridview.view.index_view import IndexView
from tests.support.derived_project import Derived, catalog_of, new_table

BY_DAY = {"by": [{"field": "start"}]}


@pytest.fixture(autouse=True)
def one_after_the_other() -> Iterator[None]:
    """Run parallel reads in one order: the journal first, directories last."""
    with mock.patch.object(ThreadPoolExecutor, "submit", at_once):
        yield


@pytest.fixture
def derived() -> Derived:
    """Two issues in blocks."""
    derived = Derived(new_table())
    for num in (1, 2):
        derived.consume(num)
    derived.fold()
    return derived


def context(table: Table, cache: BlockCache | None = None) -> ReadContext:
    """The read context of a request to a container with this cache."""
    return ReadContext(table.metered(), catalog_of(table), cache or BlockCache())


def counts(table: Table, cache: BlockCache | None = None) -> dict[str | None, int]:
    found = grouped(context(table, cache), BY_DAY).body
    return {one["values"][0]: one["count"] for one in found["groups"]}


def after_the_journal(act: Callable[[], Any]) -> Callable[..., Any]:
    """An adversary that acts after the first read of the journal."""
    done: list[Attempted] = []

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        result = perform()
        if not done and attempted.operation == "query" and derived_keys.is_journal(attempted.key[0]):
            done.append(attempted)
            act()
        return result

    return around


def quick(derived: Derived) -> None:
    """Process and fold an issue while GSI1 shows only the block of all numbers."""
    derived.table.lag()
    derived.consume(3)
    derived.fold()
    (shown,) = (key for key in derived.table.waiting if key[1].endswith(".num"))
    derived.table.catch_up(shown)


def test_a_fold_between_the_journal_and_the_directories_makes_no_wrong_count(derived: Derived) -> None:
    watched = derived.table.seen_through(after_the_journal(lambda: quick(derived)))
    assert counts(watched) == {"2023-05-01": 3}


def test_without_reading_on_it_would(derived: Derived, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IndexView, "check", lambda _: None)
    watched = derived.table.seen_through(after_the_journal(lambda: quick(derived)))
    assert counts(watched) == {"2023-05-01": 3, None: 1}, "four of three issues"


def test_a_query_for_a_position_that_never_comes_is_still_answered(derived: Derived) -> None:
    """An operator has removed the end of the journal by hand."""
    derived.consume(3)
    derived.fold()
    table = derived.table
    for pk, sk in list(table.items):
        if derived_keys.is_journal(pk) and sk.startswith(derived_keys.journal_item(3)):
            table.delete(pk, sk)
    assert counts(table) == {"2023-05-01": 3}


def test_a_container_that_was_idle_goes_on_with_the_directories_that_it_has(
    derived: Derived, later: Any
) -> None:
    table, cache = derived.table, BlockCache()
    counts(table, cache)
    later(SHOWN_SECONDS + 30)
    for num in range(3, 9):
        derived.consume(num)
    derived.consume(1, "2023-05-09")
    derived.fold()
    later(SHOWN_SECONDS + 30)
    metered = table.metered()
    assert counts(metered, cache) == {"2023-05-01": 7, "2023-05-09": 1}
    assert [call.operation for call in metered.meter.calls if call.target == "GSI1"] == []
    assert metered.meter.rounds == 1


def test_an_answer_includes_changes_since_the_container_last_read(derived: Derived) -> None:
    """It has everything it needs, so it begins with its knowledge of the journal, and finds that there is more."""
    table, cache = derived.table, BlockCache()
    asked = {
        "filter": {"field": "start", "op": "gte", "value": "2023-05-02"},
        "sort": [{"field": "start"}],
        "limit": 1,
    }

    def found() -> tuple[list[int], int]:
        answer = page(context(table, cache), {**asked, "explain": True}).body
        return [row["num"] for row in answer["rows"]], answer["explain"]["sequential_calls"]

    assert found() == ([], 3), "the head of the journal first, since it knows nothing"
    assert found() == ([], 1)
    derived.consume(3, "2023-05-03")
    derived.consume(1, "2023-05-02")
    assert found() == ([1], 2)


MANY = 60
"""More than the reserve that a Query reads."""


def day(num: int, year: int = 2023) -> str:
    """A day of its own for each issue, in the order of their numbers."""
    return f"{year}-{1 + num // 28:02d}-{1 + num % 28:02d}"


@pytest.fixture
def moved() -> Callable[..., Table]:
    """A table in which so many issues at the head of an order have left it, while GSI1 still shows them; others
    follow. The first that leaves is number 1, or another `begin`.
    """

    def made(count: int, begin: int = 1) -> Table:
        derived = Derived(new_table())
        for num in range(1, MANY + 4):
            derived.consume(num, day(num))
        derived.fold()
        derived.table.lag()
        for num in range(begin, begin + count):
            derived.consume(num, day(num, year=2024))
        return derived.table

    return made


@pytest.mark.parametrize(("count", "queries"), [(0, 1), (20, 1), (MANY, 2)])
def test_a_page_reads_on_where_many_of_its_entries_were_taken_out(
    moved: Callable[..., Table], count: int, queries: int
) -> None:
    table, cache = moved(count), BlockCache()
    asked = {"sort": [{"field": "start"}], "limit": 2, "explain": True}
    page(context(table, cache), asked)
    answer = page(context(table, cache), asked).body
    assert [row["num"] for row in answer["rows"]] == [count + 1, count + 2]
    ((scan,),) = (one["children"] for one in answer["explain"]["tree"]["children"] if "children" in one)
    assert (scan["node"], len(scan["rounds"])) == ("index scan", queries)


def test_a_page_that_reads_on_shows_each_row_once(moved: Callable[..., Table]) -> None:
    table, cache = moved(MANY, begin=2), BlockCache()
    asked = {"sort": [{"field": "start"}], "limit": 2}
    page(context(table, cache), asked)
    answer = page(context(table, cache), asked).body
    assert [row["num"] for row in answer["rows"]] == [1, MANY + 2]


def test_the_least_value_is_found_after_many_that_were_taken_out(moved: Callable[..., Table]) -> None:
    table = moved(MANY)
    asked = {"fields": [{"field": "start", "functions": ["min", "max"]}]}
    (summary,) = summarized(context(table), asked).body["summaries"]
    assert (summary["min"], summary["max"]) == (day(MANY + 1), day(MANY, year=2024))
