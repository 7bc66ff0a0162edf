"""The life of a composite index: defined, built, served, rebuilt and deleted during other work."""

from typing import Any

import pytest

from gridview.commands.attributes import rebuild
from gridview.encoding.attribute_values import from_wire
from gridview.fsck.issue_diff import DifferenceKind, differences
from gridview.journal.log import Log
from gridview.schema.store import Catalogs
from gridview.support import clock
from tests.support.cloud import Cloud
from tests.support.http import Client

TENANT = "0807"
SORT = [{"field": "kind"}, {"field": "cost", "direction": "desc", "nulls": "first"}]
BUILDING = {"state": "building", "done": 0, "total": 5}

EXPECTED = [5, 3, 1, 2, 4]
"""The numbers of the issues below in that order: small before large, without a cost first, then the higher ones, no
kind last.
"""

ISSUES: tuple[dict[str, Any], ...] = (
    {"kind": "small", "cost": 1},
    {"kind": "large"},
    {"kind": "small", "cost": 20},
    {"cost": 3},
    {"kind": "small"},
)


@pytest.fixture
def sorted_project(api: Client, account: Cloud, project: str) -> str:
    """A project with five issues and two attributes, of which one is not indexed."""
    api.made(
        f"{project}/attributes", {"id": "kind", "name": "Kind", "type": "enum", "options": ["small", "large"]}
    )
    api.made(f"{project}/attributes", {"id": "cost", "name": "Cost", "type": "number", "indexed": False})
    for fields in ISSUES:
        api.made(f"{project}/issues", {"name": "x", "fields": fields})
    account.derive()
    return project


@pytest.fixture
def index(api: Client, account: Cloud, sorted_project: str) -> str:
    """The path of a composite index that is complete."""
    made = api.made(f"{sorted_project}/indexes", {"sort": SORT})
    account.upkeep()
    return f"{sorted_project}/indexes/{made['id']}"


def entries(account: Cloud, order_id: str) -> list[int]:
    """The numbers of the issues in the order of their entries."""
    found = [
        item
        for item in account.items()
        if item["SK"]["S"] == f"xvalue-0807.plain.{order_id}" and "sort" in item
    ]
    found.sort(key=lambda item: item["sort"]["S"])
    return [int(item["sort"]["S"][-8:]) for item in found]


def wrong(account: Cloud, project: str = "plain") -> set[tuple[DifferenceKind, str]]:
    """The findings of a check of every issue, after a fold."""
    account.fold()
    head = Log(account.table, TENANT, project).head()
    catalog = Catalogs().reload(account.table, TENANT, project)
    collections: dict[str, list[dict[str, Any]]] = {}
    for item in account.items():
        if item["PK"]["S"].startswith("issue-"):
            stored = {name: from_wire(value) for name, value in item.items()}
            collections.setdefault(stored["PK"], []).append(stored)
    return {
        (one.kind, one.place)
        for key, items in collections.items()
        for one in differences(key, items, catalog, head=head)
    }


# Defining


def test_an_index_is_answered_whole_and_found_again(api: Client, sorted_project: str) -> None:
    answer = api.post(f"{sorted_project}/indexes", {"sort": SORT})
    assert (answer.status, answer.headers["location"]) == (201, f"{sorted_project}/indexes/c1")
    made = answer.body
    created = made.pop("created")
    assert created.endswith("Z")
    assert made == {
        "id": "c1",
        "sort": [
            {"field": "kind", "direction": "asc", "nulls": "last"},
            {"field": "cost", "direction": "desc", "nulls": "first"},
        ],
        "state": "building",
        "build": BUILDING,
        "version": 1,
    }
    assert answer.etag == '"1"'
    whole = {**made, "created": created}
    assert api.get(f"{sorted_project}/indexes/c1").body == whole
    assert api.get(f"{sorted_project}/indexes").body == {"items": [whole], "next": None}


def test_a_project_has_no_composite_indexes_at_first(api: Client, project: str) -> None:
    assert api.get(f"{project}/indexes").body == {"items": [], "next": None}


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({}, {"sort"}),
        ({"sort": []}, {"sort"}),
        ({"sort": ["kind", "cost"]}, {"sort.0", "sort.1"}),
        ({"sort": [{"field": "kind"}]}, {"sort"}),
        ({"sort": [{"field": one} for one in ("kind", "cost", "name", "state")]}, {"sort"}),
        ({"sort": SORT, "name": "x"}, {"name"}),
        ({"sort": [{"field": "kind", "order": "asc"}, {"field": "cost"}]}, {"sort.0.order"}),
        ({"sort": [{"field": "kind", "direction": "up"}, {"field": "cost"}]}, {"sort.0.direction"}),
        ({"sort": [{"field": "kind", "nulls": None}, {"field": "cost"}]}, {"sort.0.nulls"}),
        ({"sort": [{"field": "num"}, {"field": "kind"}]}, {"sort.0.field"}),
        ({"sort": [{"field": "kind"}, {"field": "num"}]}, {"sort.1.field"}),
        ({"sort": [{"field": "kind"}, {"field": "kind", "direction": "desc"}]}, {"sort.1.field"}),
        ({"sort": [{"field": "knd"}, {"field": "deleted_by"}]}, {"sort.0.field", "sort.1.field"}),
        ({"sort": [{"field": "a1"}, {"field": "kind"}]}, {"sort.0.field"}),
    ],
)
def test_an_invalid_order_is_refused(
    api: Client, account: Cloud, sorted_project: str, body: Any, wrong: set[str]
) -> None:
    answer = api.post(f"{sorted_project}/indexes", body)
    assert answer.kind == (400, "invalid-request")
    assert answer.errors.keys() == wrong
    assert api.get(f"{sorted_project}/indexes").body["items"] == []


@pytest.mark.parametrize(
    "sort",
    [
        SORT,
        [{"field": "kind", "direction": "desc", "nulls": "first"}, {"field": "cost"}],
    ],
    ids=["the same", "its reversal"],
)
def test_an_order_that_there_is_already_is_refused_by_name(
    api: Client, index: str, sorted_project: str, sort: Any
) -> None:
    answer = api.post(f"{sorted_project}/indexes", {"sort": sort})
    assert answer.kind == (409, "conflict")
    assert "c1" in answer.body["detail"]
    other = [SORT[0], {**SORT[1], "nulls": "last"}]
    assert api.made(f"{sorted_project}/indexes", {"sort": other})["id"] == "c2"


def test_a_project_has_twenty_of_them_at_most_and_no_id_comes_again(api: Client, sorted_project: str) -> None:
    def fields(a: str, b: str, **how: str) -> dict[str, Any]:
        return {"sort": [{"field": a, **how}, {"field": b}]}

    names = ["name", "state", "created", "updated", "kind"]
    wanted = [fields(a, b) for a in names for b in names if a != b]
    for number, body in enumerate(wanted, 1):
        assert api.made(f"{sorted_project}/indexes", body)["id"] == f"c{number}"
    assert len(wanted) == 20
    another = fields("name", "state", direction="desc")
    answer = api.post(f"{sorted_project}/indexes", another)
    assert answer.kind == (422, "limit-exceeded")
    assert "20" in answer.body["detail"]
    assert api.delete(f"{sorted_project}/indexes/c20").status == 204
    assert api.made(f"{sorted_project}/indexes", another)["id"] == "c21"
    listed = api.get(f"{sorted_project}/indexes").body["items"]
    assert [one["id"] for one in listed] == [f"c{number}" for number in (*range(1, 20), 21)]


def test_only_an_administrator_defines_and_deletes_and_everybody_may_look(
    account: Cloud, index: str, sorted_project: str
) -> None:
    for role in ("viewer", "editor"):
        client = account.api(role=role)
        assert client.post(f"{sorted_project}/indexes", {"sort": SORT}).status == 403
        assert client.delete(index).status == 403
        assert client.get(index).status == client.get(f"{sorted_project}/indexes").status == 200


@pytest.mark.parametrize("unknown", ["c2", "c0", "c01", "kind", "c1.1", "c99999999"])
def test_an_index_that_there_is_not_is_not_found(api: Client, index: str, unknown: str) -> None:
    path = index.removesuffix("c1") + unknown
    assert api.get(path).kind == api.delete(path).kind == (404, "not-found")


def test_another_tenants_index_is_not_there(account: Cloud, index: str, sorted_project: str) -> None:
    stranger = account.api(tenant="0808")
    for answer in (
        stranger.get(index),
        stranger.delete(index),
        stranger.get(f"{sorted_project}/indexes"),
        stranger.post(f"{sorted_project}/indexes", {"sort": SORT}),
    ):
        assert answer.kind == (404, "not-found")


# Building


def test_an_index_is_built_from_the_issues_that_there_are_and_those_that_come(
    api: Client, account: Cloud, sorted_project: str
) -> None:
    api.made(f"{sorted_project}/indexes", {"sort": SORT})
    api.made(f"{sorted_project}/issues", {"name": "x", "fields": {"kind": "small", "cost": 5}})
    account.derive()
    assert 6 in entries(account, "c1.1"), "what is written meanwhile is in it"
    assert wrong(account) == set()
    account.upkeep()
    built = api.get(f"{sorted_project}/indexes/c1").body
    assert (built["state"], built["build"]) == ("ready", None)
    # Its entries are read backwards for a last key that descends: without a kind first.
    assert entries(account, "c1.1")[::-1] == [5, 3, 6, 1, 2, 4]
    assert wrong(account) == set()
    api.patch(f"{sorted_project}/issues/3", {"fields": {"cost": None, "kind": "large"}})
    api.delete(f"{sorted_project}/issues/5")
    account.derive()
    assert entries(account, "c1.1")[::-1] == [6, 1, 3, 2, 4]
    assert wrong(account) == set()


def test_nothing_is_built_before_the_definition_is_known_everywhere(
    api: Client, account: Cloud, sorted_project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account.modules["command"], "settling", 75.0)
    api.made(f"{sorted_project}/indexes", {"sort": SORT})
    assert account.upkeep() == 0
    now = clock.after
    monkeypatch.setattr(clock, "after", lambda seconds: now(seconds + 76))
    assert account.upkeep() == 1
    assert api.get(f"{sorted_project}/indexes/c1").body["state"] == "ready"


def test_a_check_finds_what_is_wrong_with_an_entry_of_several_keys(account: Cloud, index: str) -> None:
    catalog = Catalogs().reload(account.table, TENANT, "plain")
    assert "c1.1" in {order.order_id for order in catalog.orders}
    key, sort_key = "issue-0807.plain.00000001", "xvalue-0807.plain.c1.1"
    item = account.table.get(key, sort_key, consistent=True)
    assert item is not None
    account.table.put({**item, "sort": item["sort"].replace("1", "2", 1)})
    assert (DifferenceKind.WRONG, "c1.1") in wrong(account)
    account.table.delete(key, sort_key)
    assert (DifferenceKind.MISSING, "c1.1") in wrong(account)


def test_issues_follow_the_options_that_are_moved_where_only_the_composite_index_sorts_by_them(
    api: Client, account: Cloud, index: str, sorted_project: str
) -> None:
    api.patch(f"{sorted_project}/attributes/kind", {"indexed": False})
    account.upkeep()
    api.patch(f"{sorted_project}/attributes/kind", {"options": ["large", "small"]})
    assert api.get(index).body["build"] == {"state": "reordering", "done": 0, "total": 5}
    assert api.get(index).body["state"] == "ready", "the present order is served"
    assert wrong(account) == set(), "an issue may still be at its former place"
    account.upkeep()
    assert entries(account, "c1.1")[::-1] == [2, 5, 3, 1, 4]
    assert api.get(index).body["build"] is None
    assert wrong(account) == set()


def test_issues_follow_the_states_that_are_moved(api: Client, account: Cloud, sorted_project: str) -> None:
    api.patch(f"{sorted_project}/issues/1", {"state": "closed"})
    api.made(f"{sorted_project}/indexes", {"sort": [{"field": "state"}, {"field": "kind"}]})
    account.derive()
    account.upkeep()
    assert entries(account, "c1.1") == [3, 5, 2, 4, 1]
    api.patch(sorted_project, {"states": ["closed", "open"]})
    account.upkeep()
    assert entries(account, "c1.1") == [1, 3, 5, 2, 4]
    assert wrong(account) == set()


def test_a_rebuilt_index_is_served_from_the_old_one_until_it_is_complete(
    api: Client, account: Cloud, index: str, sorted_project: str
) -> None:
    chosen = rebuild(account.table, Catalogs(), TENANT, "plain", None, rate=0, settling=0)
    assert chosen == ["name", "state", "created", "updated", "created_by", "updated_by", "kind", "c1"]
    account.forget()
    rebuilding = api.get(index).body
    assert (rebuilding["state"], rebuilding["version"]) == ("ready", 2)
    assert rebuilding["build"] == {"state": "rebuilding", "done": 0, "total": 5}
    account.upkeep()
    assert (entries(account, "c1.1"), entries(account, "c1.2")[::-1]) == ([], EXPECTED)
    assert rebuild(account.table, Catalogs(), TENANT, "plain", [], ["c1"], rate=0, settling=0) == ["c1"]
    account.forget()
    account.upkeep()
    assert (entries(account, "c1.2"), entries(account, "c1.3")[::-1]) == ([], EXPECTED)
    assert wrong(account) == set()


# Serving


def rows(api: Client, project: str, sort: Any, **more: Any) -> list[int]:
    answer = api.post(f"{project}/grid", {"sort": sort, **more})
    assert answer.status == 200, answer.text
    return [row["num"] for row in answer.body["rows"]]


def test_the_grid_is_read_along_it_in_both_directions(
    api: Client, account: Cloud, sorted_project: str
) -> None:
    body = {"sort": SORT}
    api.made(f"{sorted_project}/indexes", body)
    assert api.post(f"{sorted_project}/grid", body).kind == (409, "index-building")
    assert api.post(f"{sorted_project}/grid", body).body["build"] == BUILDING
    account.upkeep()
    reversal = [{"field": "kind", "direction": "desc", "nulls": "first"}, {"field": "cost"}]
    assert rows(api, sorted_project, SORT) == EXPECTED
    assert rows(api, sorted_project, reversal) == EXPECTED[::-1]
    first = api.post(f"{sorted_project}/grid", {**body, "limit": 2}).body
    assert rows(api, sorted_project, SORT, limit=5, cursor=first["next"]) == EXPECTED[2:]


# Deleting


def test_an_attribute_that_an_index_sorts_by_is_kept_until_the_index_is_deleted(
    api: Client, account: Cloud, index: str, sorted_project: str
) -> None:
    for attribute in ("kind", "cost"):
        answer = api.delete(f"{sorted_project}/attributes/{attribute}")
        assert answer.kind == (409, "conflict")
        assert f"DELETE {index}" in answer.body["detail"]
    assert api.delete(index).status == 204
    assert api.delete(f"{sorted_project}/attributes/kind").status == 204
    account.upkeep()
    assert entries(account, "c1.1") == []
    assert wrong(account) == set()


def test_a_deleted_index_is_gone_at_once_and_its_entries_after_a_while(
    api: Client, account: Cloud, index: str, sorted_project: str
) -> None:
    assert api.delete(index, headers={"If-Match": '"7"'}).status == 412
    assert api.delete(index, headers={"If-Match": '"1"'}).status == 204
    assert api.get(index).kind == api.delete(index).kind == (404, "not-found")
    assert api.get(f"{sorted_project}/indexes").body["items"] == []
    assert len(entries(account, "c1.1")) == 5
    assert wrong(account) == set(), "what is being removed may still be there"
    again = api.made(f"{sorted_project}/indexes", {"sort": SORT})
    assert again["id"] == "c2"
    account.upkeep()
    assert (entries(account, "c1.1"), entries(account, "c2.1")[::-1]) == ([], EXPECTED)
    assert not any(item["SK"]["S"].endswith(".c1") for item in account.items())
    assert not any(item["SK"]["S"] == "job" for item in account.items())


def test_an_index_that_is_deleted_while_it_is_built_leaves_nothing(
    api: Client, account: Cloud, sorted_project: str
) -> None:
    made = api.made(f"{sorted_project}/indexes", {"sort": SORT})
    api.patch(f"{sorted_project}/issues/1", {"fields": {"cost": 2}})
    account.derive()
    api.delete(f"{sorted_project}/indexes/{made['id']}")
    account.upkeep()
    assert entries(account, "c1.1") == []
    assert wrong(account) == set()


def test_a_deleted_project_takes_its_indexes_along(
    api: Client, account: Cloud, index: str, sorted_project: str
) -> None:
    api.delete(sorted_project)
    assert api.get(f"{sorted_project}/indexes").kind == (404, "not-found")
    assert api.delete("/v1/deleted-projects/plain").status == 204
    account.upkeep()
    account.derive()
    assert entries(account, "c1.1") == []
    assert not any(item["SK"]["S"].startswith("xsorted-") for item in account.items())
