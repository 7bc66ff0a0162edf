"""Every page of every order, walked both ways on the engine, against Python's `sorted` over the same rows."""

import secrets
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any, NamedTuple

import pytest

from devtools.local.engine import Engine
from tests.engine.local import Stack, stack
from tests.support import nasty, reference
from tests.support.depth import one_of

ISSUES = one_of(60, thorough=300)
EDITED = one_of(30, thorough=60)
PAGE = 23
PROJECT = "nasty"
GRID = f"/v1/projects/{PROJECT}/grid"


class Order(NamedTuple):
    """The sort of a grid."""

    field: str
    direction: Any
    nulls: Any

    @property
    def sort(self) -> list[dict[str, str]]:
        return [self._asdict()]


ORDERS = [
    Order(field, direction, nulls)
    for place, field in enumerate(nasty.FIELDS)
    for direction, nulls in product(("asc", "desc"), ("last", "first"))
    if place >= nasty.BUILT_IN or nulls == "last"
]


class Filled(NamedTuple):
    """A project, its resource, and its issues as the API answered them, by number."""

    stack: Stack
    project: Any
    rows: dict[int, Any]

    def expected(self, order: Order) -> list[int]:
        return reference.ordered(self.rows.values(), self.project, *order)


@pytest.fixture(scope="module")
def filled(engine: Engine, table_name: str) -> Iterator[Filled]:
    """Every issue comes through the API, and everything derived from it through the stream."""
    with stack(engine, table_name, f"t{secrets.token_hex(8)}") as running:
        running.api.made("/v1/projects", {"name": "Nasty", "id": PROJECT, "states": nasty.STATES})
        for attribute in nasty.ATTRIBUTES:
            running.api.made(f"/v1/projects/{PROJECT}/attributes", attribute)
        results = running.batch(PROJECT, [{"create": body} for body in nasty.issues(ISSUES, seed=1)])
        assert running.deliver() == ISSUES
        project = running.api.get(f"/v1/projects/{PROJECT}").body
        yield Filled(running, project, {one["issue"]["num"]: one["issue"] for one in results})


def page(filled: Filled, order: Order, limit: int, cursor: str | None = None) -> Any:
    body = {"sort": order.sort, "limit": limit, "columns": [order.field]}
    answer = filled.stack.api.post(GRID, body if cursor is None else {**body, "cursor": cursor})
    assert answer.status == 200, answer.text
    return answer.body


def numbers(page: Any) -> list[int]:
    return [row["num"] for row in page["rows"]]


def walk(filled: Filled, order: Order, limit: int) -> tuple[list[list[int]], list[list[int]]]:
    """The pages from first to last, and from last to first: both in the order of the grid."""
    found = page(filled, order, limit)
    assert found["prev"] is None
    forwards = [numbers(found)]
    while found["next"] is not None:
        found = page(filled, order, limit, found["next"])
        forwards.append(numbers(found))
    backwards: list[list[int]] = []
    while found["prev"] is not None:
        found = page(filled, order, limit, found["prev"])
        backwards.insert(0, numbers(found))
    return forwards, backwards


def in_pages(expected: list[int], limit: int) -> list[list[int]]:
    return [expected[at : at + limit] for at in range(0, len(expected), limit)] or [[]]


@pytest.mark.parametrize("order", ORDERS[:: one_of(5)], ids=lambda order: "-".join(order))
def test_every_page_of_every_order_both_ways(filled: Filled, order: Order) -> None:
    expected = in_pages(filled.expected(order), PAGE)
    forwards, backwards = walk(filled, order, PAGE)
    assert forwards == expected
    assert backwards == expected[:-1]
    assert walk(filled, order, 500) == (in_pages(filled.expected(order), 500), [])


@pytest.mark.parametrize(
    "order",
    [Order("amount", "desc", "first"), Order("rare", "asc", "last"), Order("num", "desc", "last")],
    ids=lambda order: "-".join(order),
)
def test_one_row_a_page(filled: Filled, order: Order) -> None:
    expected = in_pages(filled.expected(order), 1)
    assert walk(filled, order, 1) == (expected, expected[:-1])


@pytest.mark.parametrize("order", ORDERS[:: nasty.BUILT_IN], ids=lambda order: "-".join(order))
def test_from_any_page_one_gets_back_to_it(filled: Filled, order: Order) -> None:
    """next then prev, and prev then next, return the same rows."""
    here = page(filled, order, PAGE)
    while here["next"] is not None:
        there = page(filled, order, PAGE, here["next"])
        back = page(filled, order, PAGE, there["prev"])
        assert numbers(back) == numbers(here)
        assert numbers(page(filled, order, PAGE, back["next"])) == numbers(there)
        here = there


def test_rows_show_all_values_as_they_were_written(filled: Filled) -> None:
    """By number and by a field, with and without columns."""
    for field in ("num", "title"):
        for columns in (None, ["name", "amount", "labels"]):
            body: dict[str, Any] = {"sort": [{"field": field}], "limit": 500}
            if columns is not None:
                body["columns"] = columns
            rows = filled.stack.api.post(GRID, body).body["rows"]
            assert {row["num"] for row in rows} == filled.rows.keys()
            for row in rows:
                issue = filled.rows[row["num"]]
                if columns is None:
                    assert row == issue
                else:
                    shown = {name: value for name, value in issue["fields"].items() if name in columns}
                    assert row == {
                        "num": issue["num"],
                        "version": issue["version"],
                        "name": issue["name"],
                        "fields": shown,
                    }


@pytest.fixture
def edited(filled: Filled, engine: Engine, table_name: str) -> Iterator[Filled]:
    """A smaller project, which only this test changes."""
    with stack(engine, table_name, f"t{secrets.token_hex(8)}") as running:
        running.api.made("/v1/projects", {"name": "Edited", "id": PROJECT, "states": nasty.STATES})
        for attribute in nasty.ATTRIBUTES:
            running.api.made(f"/v1/projects/{PROJECT}/attributes", attribute)
        results = running.batch(PROJECT, [{"create": body} for body in nasty.issues(EDITED, seed=2)])
        running.deliver()
        project = running.api.get(f"/v1/projects/{PROJECT}").body
        yield Filled(running, project, {one["issue"]["num"]: one["issue"] for one in results})


def edit_some(filled: Filled, random: Random, count: int) -> set[int]:
    """Apply random edits, clearings and deletions, in `rows` too. Returns the numbers of the issues."""
    bodies = list(nasty.issues(count, seed=random.randrange(10**6)))
    chosen = random.sample(sorted(filled.rows), count)
    operations: list[Any] = []
    for num, body in zip(chosen, bodies, strict=True):
        match random.randrange(4):
            case 0:
                operations.append({"delete": {"num": num}})
            case 1:
                cleared = dict.fromkeys(("title", "amount", "day", "labels"))
                operations.append({"update": {"num": num, "fields": cleared}})
            case _:
                operations.append({"update": {"num": num, **body}})
    for num, result in zip(chosen, filled.stack.batch(PROJECT, operations), strict=True):
        if "issue" in result:
            filled.rows[num] = result["issue"]
        else:
            del filled.rows[num]
    return set(chosen)


def test_after_edits_and_deletions_every_order_is_right_again(edited: Filled) -> None:
    random = Random(3)  # noqa: S311
    for _ in range(2):
        edit_some(edited, random, 15)
        edited.stack.deliver()
    created = edited.stack.batch(PROJECT, [{"create": body} for body in nasty.issues(5, seed=4)])
    edited.rows.update((one["issue"]["num"], one["issue"]) for one in created)
    edited.stack.deliver()
    for order in ORDERS:
        expected = in_pages(edited.expected(order), 13)
        assert walk(edited, order, 13) == (expected, expected[:-1])


@pytest.mark.parametrize("consumed", [True, False], ids=["index follows", "index lags"])
def test_a_walk_during_edits_shows_every_other_issue_exactly_once(edited: Filled, consumed: bool) -> None:
    """A walk also never shows a row under a value that its document does not have."""
    random = Random(5)  # noqa: S311
    before = set(edited.rows)
    for order in (
        Order("amount", "asc", "last"),
        Order("title", "desc", "first"),
        Order("updated", "asc", "last"),
        Order("num", "desc", "last"),
    ):
        touched: set[int] = set()
        found = page(edited, order, 7)
        shown = numbers(found)
        while found["next"] is not None:
            touched |= edit_some(edited, random, 1)
            if consumed:
                edited.stack.deliver()
            found = page(edited, order, 7, found["next"])
            shown += numbers(found)
        untouched = before - touched
        assert [num for num in shown if num in untouched] == [
            num for num in edited.expected(order) if num in untouched
        ]
        before = set(edited.rows)
        edited.stack.deliver()
