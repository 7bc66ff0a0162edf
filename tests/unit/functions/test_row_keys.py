"""Rows with their keys: in every order these ascend from page to page, and equal the keys in the feed of changes."""

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import pytest

from gridview.encoding.json_codec import dumps
from tests.support import nasty
from tests.support.cloud import Cloud
from tests.support.depth import one_of
from tests.support.http import Client

PATH = "/v1/projects/keyed"
ISSUES = 40
COMPOSITE = [
    {"field": "level", "direction": "desc"},
    {"field": "title", "nulls": "first"},
    {"field": "labels"},
]

Sort = list[dict[str, str]]


def _orders() -> Iterator[Sort]:
    """Every field with every direction and place of missing values; a composite index both ways; several keys."""
    ways = [{"direction": way, "nulls": nulls} for way, nulls in product(("asc", "desc"), ("first", "last"))]
    for field in nasty.FIELDS:
        yield from ([{"field": field, **way}] for way in ways)
    yield COMPOSITE
    yield [
        {
            "field": key["field"],
            "direction": "asc" if key.get("direction") == "desc" else "desc",
            "nulls": "last" if key.get("nulls") == "first" else "first",
        }
        for key in COMPOSITE
    ]
    random = Random(7)  # noqa: S311
    for _ in range(40):
        fields = random.sample(nasty.FIELDS, random.randint(2, 3))
        yield [{"field": field, **random.choice(ways)} for field in fields]


ORDERS = list(_orders())


@pytest.fixture(scope="module")
def followed(shared_account: Cloud) -> tuple[Client, str]:
    """A project with nasty issues, which no test changes; and the cursor from before their creation."""
    owner = shared_account.api()
    owner.made("/v1/projects", {"id": "keyed", "name": "Keyed", "states": nasty.STATES})
    for attribute in nasty.ATTRIBUTES:
        owner.made(f"{PATH}/attributes", attribute)
    owner.made(f"{PATH}/indexes", {"sort": COMPOSITE})
    shared_account.upkeep()
    before: str = owner.get(f"{PATH}/changes").body["next"]
    answer = owner.batch("keyed", *({"create": issue} for issue in nasty.issues(ISSUES, 1)))
    assert {result["status"] for result in answer.body["results"]} == {201}
    shared_account.derive()
    shared_account.upkeep()
    return owner, before


def _shown(api: Client, query: dict[str, Any]) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    cursor = None
    while True:
        page = api.post(f"{PATH}/grid", query if cursor is None else {**query, "cursor": cursor})
        assert page.status == 200, page.text
        found += [(row["num"], row["key"]) for row in page.body["rows"]]
        cursor = page.body["next"]
        if cursor is None:
            return found


@pytest.mark.parametrize("sort", ORDERS[:: one_of(7)], ids=str)
def test_keys_ascend_from_page_to_page_and_are_those_of_the_feed(
    followed: tuple[Client, str], sort: Sort
) -> None:
    api, before = followed
    for only in (None, {"field": "state", "op": "ne", "value": "closed"}):
        query: dict[str, Any] = {"sort": sort, "filter": only}
        shown = _shown(api, {**query, "limit": 7, "keys": True, "columns": ["name"]})
        keys = [key for _, key in shown]
        assert keys == sorted(set(keys))
        assert [key.encode("utf-16-be") for key in keys] == sorted(key.encode("utf-16-be") for key in keys)
        given = {name: dumps(value).decode() for name, value in query.items() if value is not None}
        events = api.get(f"{PATH}/changes", query={**given, "since": before}).body["items"]
        assert {event["num"]: event["key"] for event in events} == dict(shown)
        assert len(shown) == ISSUES if only is None else 0 < len(shown) < ISSUES
    ask: dict[str, Any] = {"sort": sort, "limit": 7, "keys": True}
    page = api.post(f"{PATH}/grid", {**ask, "offset": 20}).body
    back = api.post(f"{PATH}/grid", {**ask, "cursor": page["prev"]}).body
    assert [(row["num"], row["key"]) for row in back["rows"]] == _shown(api, ask)[13:20]


def test_rows_have_no_keys_unless_they_are_asked_for(followed: tuple[Client, str]) -> None:
    api, _ = followed
    for query in ({}, {"keys": False}):
        assert all("key" not in row for row in api.post(f"{PATH}/grid", query).body["rows"])
    rows = api.get(f"{PATH}/grid", query={"keys": "true", "sort": "-title"}).body["rows"]
    same = {"keys": True, "sort": [{"field": "title", "direction": "desc"}]}
    assert rows == api.post(f"{PATH}/grid", same).body["rows"]
    assert all(row["key"] for row in rows)


@pytest.mark.parametrize("keys", ["yes", 1, None, [], "true"])
def test_a_value_that_is_no_flag_is_refused(followed: tuple[Client, str], keys: Any) -> None:
    api, _ = followed
    answer = api.post(f"{PATH}/grid", {"keys": keys})
    assert answer.kind == (400, "invalid-request")
    assert answer.errors.keys() == {"keys"}
