"""Deleted attributes: hidden from all users at once, restorable with everything for seven days, and permanently gone
after that.
"""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gridview.commands import attributes
from gridview.encoding import keys
from gridview.schema.store import Catalogs
from gridview.support import clock
from tests.support.checked import differences_in
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client

BRIDGE = "/v1/projects/35e9"
START = f"{BRIDGE}/attributes/3812"
DELETED = f"{BRIDGE}/deleted-attributes"
HIDDEN = f"{DELETED}/3812"
PARTITION = "project-0807.35e9"
DAY = 86_400

ALL = ("3812", "882a", "3fe6", "47e5")


def restore(api: Client, attribute: str = "3812", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.post(f"{DELETED}/{attribute}/restore", b"", headers=named)


def listed(api: Client) -> list[str]:
    return [one["id"] for one in api.get(DELETED).body["items"]]


def document(account: Cloud, num: int = 1) -> dict[str, Any]:
    found = account.table.get(keys.issue("0807", "35e9", num), PARTITION)
    assert found is not None
    return found


def assert_as_derived(account: Cloud) -> None:
    assert differences_in(account.table) == []


def answers(api: Client, account: Cloud) -> list[Any]:
    """The project's answers in every order and by every call that uses the index."""
    account.forget()
    asked: list[dict[str, Any]] = [{"sort": [{"field": field}]} for field in ("name", "updated", *ALL)]
    asked += [{"sort": [{"field": field, "direction": "desc", "nulls": "first"}]} for field in ALL]
    asked += [{"filter": {"field": field, "op": "is_empty"}, "count": True} for field in ALL]
    pages = [api.post(f"{BRIDGE}/grid", one) for one in asked]
    assert {page.status for page in pages} == {200}
    groups = [api.post(f"{BRIDGE}/groups", {"by": [field]}).body["groups"] for field in ("3812", "3fe6")]
    summed = {"fields": [{"field": "3fe6", "functions": ["count", "sum"]}]}
    found = {**api.get(BRIDGE).body, "attributes": []}
    shown = [{**one, "version": None, "updated": None} for one in api.get(BRIDGE).body["attributes"]]
    rows = [(page.body["rows"], page.body.get("total"), page.body.get("matched")) for page in pages]
    return [rows, groups, api.post(f"{BRIDGE}/summary", summed).body["summaries"], found, shown]


def test_it_leaves_every_answer_at_once_and_no_request_can_name_it(
    api: Client, account: Cloud, bridge: str
) -> None:
    account.derive()
    assert api.delete(START).status == 204
    assert api.get(START).kind == (404, "not-found")
    assert "3812" not in [one["id"] for one in api.get(BRIDGE).body["attributes"]]
    assert api.get(f"{BRIDGE}/issues/1").body["fields"] == {"882a": "2023-06-01"}
    assert "3812" not in api.post(f"{BRIDGE}/grid", {}).text
    refused = [
        api.post(f"{BRIDGE}/grid", {"sort": [{"field": "3812"}]}),
        api.post(f"{BRIDGE}/grid", {"filter": {"field": "3812", "op": "is_empty"}}),
        api.post(f"{BRIDGE}/grid", {"columns": ["3812"]}),
        api.post(f"{BRIDGE}/groups", {"by": ["3812"]}),
        api.post(f"{BRIDGE}/summary", {"fields": [{"field": "3812", "functions": ["count"]}]}),
        api.get(f"{BRIDGE}/issues/1/row-number", query={"sort": "3812"}),
        api.post(f"{BRIDGE}/issues", {"name": "x", "fields": {"3812": "2023-05-01"}}),
        api.patch(f"{BRIDGE}/issues/1", {"fields": {"3812": None}}),
        api.post(f"{BRIDGE}/views", {"name": "x", "query": {"sort": [{"field": "3812"}]}}),
        api.post(f"{BRIDGE}/indexes", {"sort": [{"field": "3812"}, {"field": "name"}]}),
    ]
    assert [(answer.status, answer.body["type"]) for answer in refused] == [
        (400, refused[0].body["type"])
    ] * len(refused)
    for answer in (api.patch(START, {"name": "x"}), api.delete(START)):
        assert answer.kind == (404, "not-found")
    batch = api.post(
        f"{BRIDGE}/issues/batch", {"operations": [{"update": {"num": 1, "fields": {"3812": None}}}]}
    )
    assert batch.body["results"][0]["status"] == 400


def test_a_restored_one_gives_the_answers_of_before_with_nothing_to_build(
    api: Client, account: Cloud, bridge: str
) -> None:
    account.derive()
    before = answers(api, account)
    cursor = api.post(f"{BRIDGE}/grid", {"sort": [{"field": "3812"}], "limit": 1}).body["next"]
    entries = {key for key in account.table.items if key[1].startswith("xvalue-")}
    for attribute in ALL:
        assert api.delete(f"{BRIDGE}/attributes/{attribute}").status == 204
    account.upkeep()
    assert api.get(BRIDGE).body["attributes"] == []
    assert_as_derived(account)
    for attribute in reversed(ALL):
        answer = restore(api, attribute)
        assert answer.status == 200
        assert answer.body["build"] is None
        assert api.get(f"{BRIDGE}/attributes/{attribute}").body == answer.body
        assert answer.headers["etag"] == '"3"'
    assert answers(api, account) == before
    assert {key for key in account.table.items if key[1].startswith("xvalue-")} == entries
    page = api.post(f"{BRIDGE}/grid", {"sort": [{"field": "3812"}], "limit": 1, "cursor": cursor})
    assert [row["num"] for row in page.body["rows"]] == [2]
    assert_as_derived(account)


def test_edits_meanwhile_keep_its_values(api: Client, account: Cloud, bridge: str) -> None:
    account.derive()
    api.delete(START)
    assert api.patch(f"{BRIDGE}/issues/1", {"name": "Painted"}).status == 200
    assert api.patch(f"{BRIDGE}/issues/2", {"fields": None}).body["fields"] == {}
    assert api.delete(f"{BRIDGE}/issues/3").status == 204
    api.made(f"{BRIDGE}/issues", {"name": "New"})
    account.derive()
    assert_as_derived(account)
    restore(api)
    assert api.get(f"{BRIDGE}/issues/1").body["fields"] == {"3812": "2023-05-01", "882a": "2023-06-01"}
    assert api.get(f"{BRIDGE}/issues/2").body["fields"] == {"3812": "2023-05-02"}
    rows = api.post(f"{BRIDGE}/grid", {"sort": [{"field": "3812", "direction": "desc"}]}).body["rows"]
    assert [row["num"] for row in rows] == [2, 1, 4]
    by = {"fields": {"3812": "2023-07-01"}, "base": 1}
    assert api.patch(f"{BRIDGE}/issues/1", by).status == 200, "version 2 has not touched it"
    account.derive()
    assert_as_derived(account)


def test_an_issue_that_leaves_the_trash_meanwhile_has_its_value_again(
    api: Client, account: Cloud, bridge: str
) -> None:
    api.delete(f"{BRIDGE}/issues/1")
    api.delete(START)
    api.post(f"{BRIDGE}/trash/1/restore", b"")
    restore(api)
    account.derive()
    assert api.get(f"{BRIDGE}/issues/1").body["fields"]["3812"] == "2023-05-01"
    assert_as_derived(account)


def test_a_list_contains_what_can_be_restored_and_until_when(
    api: Client, account: Cloud, bridge: str
) -> None:
    before = api.get(START).body
    assert listed(api) == []
    api.acting(user="bob", role="admin").delete(START)
    api.delete(f"{BRIDGE}/attributes/47e5")
    assert api.get(DELETED).body["next"] is None
    last, first = api.get(DELETED).body["items"]
    assert last["id"] == "47e5"
    assert {name: first[name] for name in before} == {**before, "version": 2, "updated": first["deleted"]}
    assert first["deleted_by"] == "bob"
    assert clock.instant(first["expires"]) == clock.instant(first["deleted"]) + 7 * DAY
    restore(api)
    assert listed(api) == ["47e5"]


def test_it_comes_back_to_its_place(api: Client, bridge: str) -> None:
    api.delete(f"{BRIDGE}/attributes/882a")
    assert restore(api, "882a").body["position"] == 1
    for attribute in ALL:
        api.delete(f"{BRIDGE}/attributes/{attribute}")
    assert restore(api, "47e5").body["position"] == 0, "the last of four is the only one"
    assert [one["id"] for one in api.get(BRIDGE).body["attributes"]] == ["47e5"]


def test_after_seven_days_it_is_removed(
    api: Client, account: Cloud, bridge: str, later: Callable[[float], None]
) -> None:
    account.derive()
    account.fold()
    api.delete(START)
    account.upkeep()
    later(7 * DAY - 60)
    assert account.upkeep() == 0
    assert listed(api) == ["3812"]
    assert document(account)["fields"].keys() == {"a1", "a2"}
    later(120)
    assert listed(api) == [], "before upkeep has come, too"
    assert restore(api).kind == (404, "not-found")
    assert account.upkeep() > 0
    assert document(account)["fields"].keys() == {"a2"}
    assert not [
        key
        for key in account.table.items
        if key[1].startswith("xvalue-0807.35e9.a1.") and keys.SORT in account.table.items[key]
    ]
    assert not [key for key in account.table.items if key[0].startswith("block-0807.35e9.a1.")]
    assert account.table.get(PARTITION, keys.JOB) is None
    assert_as_derived(account)
    api.made(f"{BRIDGE}/attributes", {"id": "3812", "name": "Start", "type": "text"})
    assert api.get(f"{BRIDGE}/issues/1").body["fields"] == {"882a": "2023-06-01"}


def test_the_next_one_is_waited_for_and_a_restored_one_stays(
    api: Client, account: Cloud, bridge: str, later: Callable[[float], None]
) -> None:
    account.derive()
    api.delete(START)
    later(3 * DAY)
    api.delete(f"{BRIDGE}/attributes/882a")
    api.delete(f"{BRIDGE}/attributes/47e5")
    restore(api, "47e5")
    later(5 * DAY)
    account.upkeep()
    assert listed(api) == ["882a"]
    assert document(account)["fields"].keys() == {"a2"}
    later(3 * DAY)
    account.upkeep()
    assert listed(api) == []
    assert document(account)["fields"].keys() == set()
    assert account.table.get(PARTITION, keys.JOB) is None
    assert api.get(f"{BRIDGE}/issues/3").body["fields"] == {"3fe6": 42, "47e5": "Approved"}
    assert_as_derived(account)


def test_one_that_was_restored_and_deleted_again_has_seven_days_again(
    api: Client, account: Cloud, bridge: str, later: Callable[[float], None]
) -> None:
    api.delete(START)
    later(6 * DAY)
    restore(api)
    api.delete(START)
    later(6 * DAY)
    account.upkeep()
    assert restore(api).status == 200
    later(9 * DAY)
    account.upkeep()
    assert api.get(START).status == 200
    assert account.table.get(PARTITION, keys.JOB) is None


def test_background_work_goes_on_while_it_is_hidden(
    api: Client, account: Cloud, bridge: str, later: Callable[[float], None]
) -> None:
    account.derive()
    attributes.rebuild(account.table, Catalogs(), "0807", "35e9", ["3812"], rate=0, settling=0)
    account.forget()
    api.delete(START)
    assert attributes.rebuild(account.table, Catalogs(), "0807", "35e9", ["3812"], rate=0, settling=0) == [
        "3812"
    ]
    assert attributes.rebuild(account.table, Catalogs(), "0807", "35e9", ["882a"], rate=0, settling=0) == [
        "882a"
    ]
    account.upkeep()
    account.forget()
    assert restore(api).body["build"] is None
    rows = api.post(f"{BRIDGE}/grid", {"sort": [{"field": "3812"}]}).body["rows"]
    assert [row["num"] for row in rows] == [1, 2, 3]
    assert_as_derived(account)
    api.delete(START)
    api.patch(f"{BRIDGE}/attributes/882a", {"indexed": False})
    account.upkeep()
    assert api.get(f"{BRIDGE}/attributes/882a").body["build"] is None, (
        "work that is wanted does not wait for days"
    )
    later(8 * DAY)
    account.upkeep()
    assert document(account)["fields"].keys() == {"a2"}


def test_its_id_is_taken_until_it_is_permanently_deleted(api: Client, account: Cloud, bridge: str) -> None:
    account.derive()
    api.delete(START)
    body = {"id": "3812", "name": "Start", "type": "text"}
    taken = api.post(f"{BRIDGE}/attributes", body)
    assert taken.kind == (409, "conflict")
    assert f"POST {HIDDEN}/restore" in taken.body["detail"]
    assert f"DELETE {HIDDEN}" in taken.body["detail"]
    assert api.made(f"{BRIDGE}/attributes", {"name": "3812", "type": "text"})["id"] != "3812"
    stale = api.delete(HIDDEN, headers={"if-match": '"1"'})
    assert stale.status == 412
    assert stale.body["current"] == api.get(DELETED).body["items"][0]
    assert api.delete(HIDDEN, headers={"if-match": '"2"'}).status == 204
    assert listed(api) == []
    assert restore(api).kind == (404, "not-found")
    assert api.delete(HIDDEN).kind == (404, "not-found")
    assert api.post(f"{BRIDGE}/attributes", body).kind == (409, "removal-in-progress")
    account.upkeep()
    assert document(account)["fields"].keys() == {"a2"}
    api.made(f"{BRIDGE}/attributes", body)
    assert_as_derived(account)


def test_a_restore_happens_once_and_can_be_repeated(api: Client, account: Cloud, bridge: str) -> None:
    api.delete(START)
    first = restore(api, idempotency_key="again")
    again = restore(api, idempotency_key="again")
    assert (again.status, again.body) == (200, first.body)
    assert restore(api).kind == (404, "not-found")
    api.delete(START)
    assert restore(api, idempotency_key="again").body == first.body
    assert listed(api) == ["3812"], "the repetition has done nothing"
    assert api.post(f"{HIDDEN}/restore", {"name": "x"}).status == 400


def test_one_of_a_concurrent_restore_and_delete_succeeds(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.delete(START)
    found: list[Answer] = []

    def around(attempted: Any, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "transact" and not found:
            with monkeypatch.context() as inner:
                inner.setattr(account.modules["command"], "table", account.table)
                found.append(api.delete(HIDDEN))
        return perform()

    with monkeypatch.context() as racing:
        racing.setattr(account.modules["command"], "table", account.table.seen_through(around))
        lost = restore(api)
    assert [found[0].status, lost.status] == [204, 404]


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_it_is_for_administrators_of_the_tenant(api: Client, account: Cloud, bridge: str, role: str) -> None:
    api.delete(START)
    before = account.items()
    theirs = account.api(tenant="0808")
    assert [one.kind for one in (theirs.get(DELETED), restore(theirs), theirs.delete(HIDDEN))] == [
        (404, "not-found")
    ] * 3
    mine = api.acting(role=role)
    assert [one.kind for one in (mine.get(DELETED), restore(mine), mine.delete(HIDDEN))] == [
        (403, "forbidden")
    ] * 3
    assert account.items() == before


def test_a_project_that_has_400_takes_none_back(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attributes, "MAX_ATTRIBUTES", 4)
    api.delete(START)
    api.made(f"{BRIDGE}/attributes", {"id": "other", "name": "Other", "type": "text"})
    before = account.items()
    assert restore(api).kind == (422, "limit-exceeded")
    assert account.items() == before
    for attribute in ("other", "882a", "3fe6"):
        assert api.delete(f"{BRIDGE}/attributes/{attribute}").status == 204
    too_many = api.delete(f"{BRIDGE}/attributes/47e5")
    assert too_many.status == 422
    assert f"DELETE {DELETED}/" in too_many.body["detail"]
    assert restore(api).status == 200
    assert api.delete(f"{BRIDGE}/attributes/47e5").status == 204


def test_a_view_shows_it_again_and_a_change_of_it_can_be_taken_back(
    api: Client, account: Cloud, bridge: str
) -> None:
    view = api.made(f"{BRIDGE}/views", {"name": "Mine", "query": {"sort": [{"field": "3812"}]}})
    api.delete(START)
    assert api.get(f"{BRIDGE}/views/{view['id']}").body["missing"]
    restore(api)
    assert api.get(f"{BRIDGE}/views/{view['id']}").body == view


def test_a_delete_and_a_restore_each_raise_the_epoch(api: Client, account: Cloud, bridge: str) -> None:
    epoch = account.table.items[PARTITION, keys.CATALOG]["epoch"]
    api.delete(START)
    restore(api)
    assert account.table.items[PARTITION, keys.CATALOG]["epoch"] == epoch + 2


_STEPS = st.lists(
    st.tuples(st.sampled_from(("delete", "restore", "edit", "upkeep")), st.sampled_from(ALL)), max_size=8
)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=_STEPS)
def test_deleted_and_restored_attributes_answer_as_if_they_had_stayed(
    api: Client, account: Cloud, bridge: str, steps: list[tuple[str, str]]
) -> None:
    stored = account.items()
    account.derive()
    for kind, attribute in steps:
        if kind == "delete":
            api.delete(f"{BRIDGE}/attributes/{attribute}")
        elif kind == "restore":
            restore(api, attribute)
        elif kind == "edit":
            assert api.patch(f"{BRIDGE}/issues/1", {"name": f"Painted {attribute}"}).status == 200
            account.derive()
        else:
            account.upkeep()
        assert_as_derived(account)
    for attribute in listed(api):
        assert restore(api, attribute).status == 200
    by_place = {"3812": 0, "882a": 1, "3fe6": 2, "47e5": 3}
    for attribute, place in by_place.items():
        assert api.patch(f"{BRIDGE}/attributes/{attribute}", {"position": place}).status == 200
    found = answers(api, account)
    account.reset()
    account.put(stored)
    for kind, attribute in steps:
        if kind == "edit":
            api.patch(f"{BRIDGE}/issues/1", {"name": f"Painted {attribute}"})
    account.derive()
    expected = answers(api, account)
    account.reset()
    account.put(stored)
    assert _timeless(found) == _timeless(expected)


def _timeless(value: Any) -> Any:
    """An answer without the times of changes."""
    if isinstance(value, dict):
        return {name: _timeless(one) for name, one in value.items() if name != "updated"}
    return [_timeless(one) for one in value] if isinstance(value, list | tuple) else value
