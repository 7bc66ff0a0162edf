"""Deleted projects: hidden from all users at once, restorable with everything for seven days, and permanently gone
after that.
"""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands import attributes, deleted_projects, projects
from gridview.commands.actor import Actor, Role
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.schema import restorable
from gridview.schema.store import Catalogs, read
from gridview.support import clock
from gridview.support.errors import NotFound
from infra.routes import ROUTES
from tests.support import webhooks
from tests.support.checked import differences_in
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client
from tests.support.killed import Killed, killing
from tests.unit.functions.test_access import BODIES, make, without_request_id

BRIDGE = "/v1/projects/35e9"
DELETED = "/v1/deleted-projects"
HIDDEN = f"{DELETED}/35e9"
TAKEN = "The id is already in use. Choose another id."
PARTITION = "project-0807.35e9"
DAY = 86_400
ADA = Actor("0807", "ada", Role.ADMIN)

OF_A_PROJECT = [route for route in ROUTES if route.path.startswith("/v1/projects/{project}")]


@pytest.fixture
def busy(api: Client, account: Cloud, bridge: str) -> str:
    """The worked example with one of everything, derived. Returns its path."""
    account.forget()
    api.made(f"{bridge}/issues/1/comments", {"text": "First"})
    api.made(f"{bridge}/views", {"name": "By start", "query": {"sort": [{"field": "3812"}]}})
    assert api.patch(f"{bridge}/issues/2", {"name": "Painted"}).status == 200
    assert api.delete(f"{bridge}/issues/3").status == 204
    assert api.delete(f"{bridge}/attributes/47e5").status == 204
    api.made(f"{bridge}/webhooks", {"url": "https://hooks.example.org"})
    account.follow()
    account.upkeep()
    return bridge


def restore(api: Client, project: str = "35e9", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.post(f"{DELETED}/{project}/restore", b"", headers=named)


def listed(api: Client) -> list[str]:
    return [one["id"] for one in api.get(DELETED).body["items"]]


def assert_as_derived(account: Cloud) -> None:
    assert differences_in(account.table) == []


def answers(api: Client, account: Cloud) -> list[Any]:
    """The project's answers to every read."""
    account.forget()
    orders = [{"sort": [{"field": field}], "count": True} for field in ("name", "updated", "3812", "3fe6")]
    empty = {"filter": {"field": "3812", "op": "is_empty"}, "count": True}
    pages = [api.post(f"{BRIDGE}/grid", one) for one in (*orders, empty)]
    summed = {"fields": [{"field": "3fe6", "functions": ["count", "sum"]}]}
    found = [
        api.get(BRIDGE),
        api.get(f"{BRIDGE}/issues/1"),
        api.get(f"{BRIDGE}/issues/1/comments"),
        api.get(f"{BRIDGE}/issues/2/history"),
        api.get(f"{BRIDGE}/activity"),
        api.get(f"{BRIDGE}/trash"),
        api.get(f"{BRIDGE}/views"),
        api.get(f"{BRIDGE}/webhooks"),
        api.get(f"{BRIDGE}/deleted-attributes"),
        api.get(f"{BRIDGE}/jobs"),
        api.post(f"{BRIDGE}/groups", {"by": ["state"]}),
        api.post(f"{BRIDGE}/summary", summed),
    ]
    assert {one.status for one in (*pages, *found)} == {200}
    rows = [(page.body["rows"], page.body["total"], page.body["matched"]) for page in pages]
    own = ("version", "updated", "updated_by", "index", "changes_cursor", "next")
    bodies = [{name: one for name, one in answer.body.items() if name not in own} for answer in found]
    return [rows, bodies, api.get("/v1/projects").body["items"][0]["name"]]


@pytest.mark.parametrize("knows", [True, False], ids=["who has deleted it", "who had read it before"])
def test_every_route_of_a_deleted_project_answers_like_a_missing_one(
    api: Client, account: Cloud, bridge: str, knows: bool
) -> None:
    account.table.put(webhooks.stored("w3k9q2m7x1c0z"))
    functions: list[Any] = [account.modules[name] for name in ("query", "command", "live")]
    copies = [Catalogs() for _ in functions]
    for copy in copies:
        copy.get(account.table, "0807", "35e9")
    assert api.delete(bridge).status == 204
    before = account.items()
    for route in OF_A_PROJECT:
        for function, copy in zip(functions, copies, strict=True):
            function.catalogs = Catalogs() if knows else _copied(copy)
        for _ in range(2):
            answer, missing = make(api, route), make(api, route, project="missing")
            assert answer.kind == (404, "not-found"), route.key
            assert without_request_id(answer) == without_request_id(missing)
    assert account.items() == before


def _copied(catalogs: Catalogs) -> Catalogs:
    """A container that knows another one's change."""
    copy = Catalogs()
    copy._entries.update(catalogs._entries)
    return copy


def test_it_leaves_the_list_and_another_one_stays(api: Client, bridge: str) -> None:
    for name in ("!", "\u0301", "A", "~"):
        api.made("/v1/projects", {"name": name})
    before = [one["id"] for one in api.get("/v1/projects").body["items"]]
    assert api.delete(bridge).status == 204
    after = [one["id"] for one in api.get("/v1/projects").body["items"]]
    assert after == [one for one in before if one != "35e9"]
    pages, cursor = [], None
    while True:
        page = api.get("/v1/projects", query={"limit": "1"} | ({"cursor": cursor} if cursor else {})).body
        pages += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
    assert [one["id"] for one in pages] == after


def test_a_restored_one_gives_the_answers_of_before_with_nothing_to_build(
    api: Client, account: Cloud, busy: str, later: Callable[[float], None]
) -> None:
    before = answers(api, account)
    page = {"sort": [{"field": "3812"}], "limit": 1}
    cursor = api.post(f"{busy}/grid", page).body["next"]
    followed = api.get(f"{busy}/changes").body.get("next")
    account.fold()
    derived = {key for key in account.table.items if key[1].startswith(("xvalue-", "blocks-"))}
    assert api.acting(user="bob", role="admin").delete(busy).status == 204
    account.upkeep()
    later(3 * DAY)
    account.upkeep()
    assert_as_derived(account)
    answer = restore(api)
    assert (answer.status, answer.headers["etag"]) == (200, '"3"')
    assert api.get(busy).body == answer.body
    assert answers(api, account) == before
    assert {key for key in account.table.items if key[1].startswith(("xvalue-", "blocks-"))} == derived
    assert [row["num"] for row in api.post(f"{busy}/grid", page | {"cursor": cursor}).body["rows"]] == [2]
    made = api.made(f"{busy}/issues", {"name": "New", "fields": {"3812": "2024-01-01"}})
    assert made["num"] == 4
    assert api.patch(f"{busy}/attributes/3812", {"name": "Begin"}).status == 200
    account.follow()
    account.upkeep()
    account.forget()
    if followed is not None:
        events = api.get(f"{busy}/changes", query={"since": followed}).body["items"]
        assert [(one.get("num"), one["kind"]) for one in events][-1] == (4, "create")
    rows = api.post(f"{busy}/grid", {"sort": [{"field": "3812"}]}).body["rows"]
    assert [row["num"] for row in rows] == [1, 2, 4]
    assert_as_derived(account)


def test_records_still_in_the_stream_are_derived(api: Client, account: Cloud, bridge: str) -> None:
    account.derive()
    api.made(f"{bridge}/issues", {"name": "Late", "fields": {"3812": "2022-01-01"}})
    assert api.patch(f"{bridge}/issues/1", {"fields": {"3812": "2025-01-01"}}).status == 200
    api.delete(bridge)
    account.forget()
    account.derive()
    assert_as_derived(account)
    assert restore(api).body["issues"] == 4
    rows = api.post(f"{bridge}/grid", {"sort": [{"field": "3812"}]}).body["rows"]
    assert [row["num"] for row in rows] == [4, 2, 1, 3]


def test_a_check_finds_what_is_wrong_in_it(api: Client, account: Cloud, bridge: str) -> None:
    account.derive()
    api.delete(bridge)
    assert_as_derived(account)
    lost = keys.issue("0807", "35e9", 1), derived_keys.order("0807", "35e9", "a1.1")
    account.table.delete(*lost)
    assert {one.key for one in differences_in(account.table)} == {lost[0]}


def test_background_work_goes_on_while_it_is_hidden(
    api: Client, account: Cloud, bridge: str, later: Callable[[float], None]
) -> None:
    account.derive()
    assert api.patch(f"{bridge}/attributes/3812", {"indexed": False}).status == 200
    attributes.rebuild(account.table, Catalogs(), "0807", "35e9", ["882a"], rate=0, settling=0)
    api.delete(bridge)
    assert account.upkeep() > 0
    assert_as_derived(account)
    job = account.table.get(PARTITION, keys.JOB)
    assert job is not None
    assert job["rests"], "it waits for the end of the seven days"
    restored = restore(api).body["attributes"]
    assert [one["build"] for one in restored] == [None] * 4
    later(8 * DAY)
    account.upkeep()
    assert account.table.get(PARTITION, keys.JOB) is None
    assert api.get(bridge).status == 200


def test_a_list_contains_what_can_be_restored_and_until_when(api: Client, bridge: str) -> None:
    before = api.get("/v1/projects").body["items"][0]
    assert listed(api) == []
    api.acting(user="bob", role="admin").delete(bridge)
    (listed_one,) = api.get(DELETED).body["items"]
    own = {"version": 2, "updated": listed_one["deleted"], "updated_by": "bob"}
    assert {name: listed_one[name] for name in before} == before | own
    assert listed_one["deleted_by"] == "bob"
    assert clock.instant(listed_one["expires"]) == clock.instant(listed_one["deleted"]) + 7 * DAY
    restore(api)
    assert listed(api) == []


def test_the_list_comes_in_pages(api: Client, account: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [f"p{at}" for at in range(5)]
    for project in made:
        api.made("/v1/projects", {"id": project, "name": "Same"})
        api.delete(f"/v1/projects/{project}")
    assert listed(api) == made[::-1]
    restore(api, "p1")
    own = keys.project("0807", "p3"), keys.tenant("0807")
    stored = account.table.get(*own)
    assert stored is not None
    account.table.put({name: one for name, one in stored.items() if name != restorable.DELETION})
    found, pages, cursor = [], 0, None
    while True:
        page = api.get(DELETED, query={"limit": "2"} | ({"cursor": cursor} if cursor else {})).body
        found += [one["id"] for one in page["items"]]
        pages, cursor = pages + 1, page["next"]
        if cursor is None:
            break
    assert found == ["p4", "p2", "p0"], "what is no more, though the index still has it, is left out"
    assert pages == 2
    assert api.get("/v1/projects", query={"cursor": "x"}).status == 400
    first = api.get(DELETED, query={"limit": "1"}).body["next"]
    for path, client in (("/v1/projects", api), (DELETED, account.api(tenant="0808"))):
        assert client.get(path, query={"cursor": first}).status == 400


def test_a_page_is_cut_where_an_answer_must_end(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gridview.commands.answers.MAX_PROJECT_BYTES", 500)
    for project in ("p0", "p1", "p2"):
        api.made("/v1/projects", {"id": project, "name": "Same"})
        api.delete(f"/v1/projects/{project}")
    found, cursor = [], None
    while True:
        page = api.get(DELETED, query={"cursor": cursor} if cursor else {}).body
        found += [[one["id"] for one in page["items"]]]
        cursor = page["next"]
        if cursor is None:
            break
    assert found == [["p2"], ["p1"], ["p0"]]


def test_after_seven_days_it_is_removed(
    api: Client, account: Cloud, bridge: str, later: Callable[[float], None]
) -> None:
    account.derive()
    account.fold()
    api.delete(bridge)
    account.upkeep()
    later(7 * DAY - 60)
    assert account.upkeep() == 0
    assert listed(api) == ["35e9"]
    later(120)
    assert listed(api) == [], "before upkeep has come, too"
    assert restore(api).kind == api.delete(HIDDEN).kind == (404, "not-found")
    assert api.post("/v1/projects", {"id": "35e9", "name": "Again"}).body["detail"] == TAKEN
    assert account.upkeep() > 0
    account.derive()
    left = {key: item for key, item in account.table.items.items() if "0807.35e9" in key[0]}
    assert [key for key, item in left.items() if keys.TTL_ATTRIBUTE not in item] == [], "all of it expires"
    assert {key for key in left if key[0] == PARTITION} == {
        (PARTITION, keys.COUNTER),
        (PARTITION, keys.tenant("0807")),
    }
    assert not [key for key in left if key[1] == PARTITION or key[0].startswith(derived_keys.BLOCK_PREFIX)]
    assert_as_derived(account)
    assert api.post("/v1/projects", {"id": "35e9", "name": "Again"}).kind == (409, "conflict")
    assert listed(api) == []


def test_deleted_attributes_in_it_are_removed_when_their_time_is_over(
    api: Client, account: Cloud, bridge: str, later: Callable[[float], None]
) -> None:
    account.derive()
    api.delete(f"{bridge}/attributes/3812")
    later(3 * DAY)
    api.delete(bridge)
    later(5 * DAY)
    account.upkeep()
    assert listed(api) == ["35e9"]
    document = account.table.get(keys.issue("0807", "35e9", 1), PARTITION)
    assert document is not None
    assert document["fields"].keys() == {"a2"}
    assert restore(api).status == 200
    assert api.get(f"{bridge}/deleted-attributes").body["items"] == []
    assert_as_derived(account)


def test_one_that_was_restored_and_deleted_again_has_seven_days_again(
    api: Client, account: Cloud, bridge: str, later: Callable[[float], None]
) -> None:
    api.delete(bridge)
    later(6 * DAY)
    restore(api)
    api.delete(bridge)
    later(6 * DAY)
    account.upkeep()
    assert restore(api).status == 200
    later(9 * DAY)
    account.upkeep()
    assert api.get(bridge).status == 200
    assert account.table.get(PARTITION, keys.JOB) is None


def test_its_id_is_taken_until_it_is_permanently_deleted(api: Client, account: Cloud, bridge: str) -> None:
    api.delete(bridge)
    taken = api.post("/v1/projects", {"id": "35e9", "name": "Again"})
    assert taken.kind == (409, "conflict")
    assert f"POST {HIDDEN}/restore" in taken.body["detail"]
    assert f"DELETE {HIDDEN}" in taken.body["detail"]
    theirs = account.api(tenant="0808")
    theirs.made("/v1/projects", {"id": "35e9", "name": "Theirs"})
    assert theirs.post("/v1/projects", {"id": "35e9", "name": "x"}).body["detail"] == TAKEN


def test_it_can_be_permanently_deleted_at_once(api: Client, account: Cloud, bridge: str) -> None:
    account.derive()
    api.delete(bridge)
    stale = api.delete(HIDDEN, headers={"if-match": '"1"'})
    assert stale.status == 412
    assert stale.body["current"] == api.get(DELETED).body["items"][0]
    assert api.delete(HIDDEN, headers={"if-match": '"2"'}).status == 204
    assert listed(api) == []
    assert restore(api).kind == api.delete(HIDDEN).kind == (404, "not-found")
    account.upkeep()
    account.derive()
    assert not [key for key in account.table.items if key[1] == PARTITION]
    assert_as_derived(account)


def test_a_restore_happens_once_and_can_be_repeated(api: Client, bridge: str) -> None:
    api.delete(bridge)
    first = restore(api, idempotency_key="again")
    again = restore(api, idempotency_key="again")
    assert (again.status, again.body, again.etag) == (200, first.body, first.etag)
    assert restore(api).kind == (404, "not-found")
    api.delete(bridge)
    assert restore(api, idempotency_key="again").body == first.body
    assert listed(api) == ["35e9"], "the repetition has done nothing"
    assert api.post(f"{HIDDEN}/restore", {"name": "x"}).status == 400


def test_one_of_a_concurrent_restore_and_delete_succeeds(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.delete(bridge)
    found: list[Answer] = []

    def around(attempted: Any, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "transact" and not found:
            with monkeypatch.context() as inner:
                inner.setattr(account.modules["command"], "table", account.table)
                # It raises the epoch; only the item's own version shows its effect.
                found.append(api.delete(HIDDEN))
                catalog = account.table.get(PARTITION, keys.CATALOG)
                assert catalog is not None
                account.table.put({**catalog, "epoch": catalog["epoch"] - 1})
        return perform()

    with monkeypatch.context() as racing:
        racing.setattr(account.modules["command"], "table", account.table.seen_through(around))
        lost = restore(api)
    assert [found[0].status, lost.status] == [204, 404]
    assert api.get(bridge).status == 404


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_it_is_for_administrators_of_the_tenant(api: Client, account: Cloud, bridge: str, role: str) -> None:
    api.delete(bridge)
    before = account.items()
    theirs = account.api(tenant="0808")
    assert theirs.get(DELETED).body["items"] == []
    assert [one.kind for one in (restore(theirs), theirs.delete(HIDDEN))] == [(404, "not-found")] * 2
    missing = without_request_id(restore(theirs, "missing"))
    assert without_request_id(restore(theirs)) == without_request_id(theirs.delete(HIDDEN)) == missing
    mine = api.acting(role=role)
    assert [one.kind for one in (mine.get(DELETED), restore(mine), mine.delete(HIDDEN))] == [
        (403, "forbidden")
    ] * 3
    assert account.items() == before


def test_an_existing_project_can_neither_be_restored_nor_permanently_deleted(
    api: Client, account: Cloud, bridge: str
) -> None:
    before = account.items()
    assert [one.kind for one in (restore(api), api.delete(HIDDEN))] == [(404, "not-found")] * 2
    assert account.items() == before


def test_the_route_bodies_are_those_of_every_route_that_needs_one() -> None:
    assert {route.operation for route in OF_A_PROJECT} >= BODIES.keys() - {"create_project"}


# Deaths on the way


def _delete(table: Table) -> None:
    projects.delete_project(table, Catalogs(), ADA, "35e9", None)


def _restore(table: Table) -> None:
    deleted_projects.restore_project(table, Catalogs(), ADA, "35e9")


def _purge(table: Table) -> None:
    deleted_projects.purge_project(table, Catalogs(), ADA, "35e9", None, settling=0)


def _state(table: Table) -> str:
    own = table.get(PARTITION, keys.tenant("0807"), consistent=True)
    counter = table.get(PARTITION, keys.COUNTER, consistent=True)
    assert own is not None
    assert counter is not None
    try:
        read(table, "0807", "35e9")
    except NotFound:
        assert counter["closed"]
        hidden = own[keys.SORT] < keys.LIVING_PROJECTS if keys.SORT in own else False
        assert hidden is ("deletion" in own) is not own.get("deleted", False)
        job = table.get(PARTITION, keys.JOB, consistent=True)
        assert job is not None
        assert job.get("rests", False) is hidden, "a hint continues its removal"
        return "hidden" if hidden else "removed"
    assert "closed" not in counter
    assert own[keys.SORT] > keys.LIVING_PROJECTS
    return "living"


@pytest.mark.parametrize(
    ("act", "before", "done"),
    [(_delete, "living", "hidden"), (_restore, "hidden", "living"), (_purge, "hidden", "removed")],
)
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_call_does_all_or_nothing_and_can_be_repeated(
    act: Callable[[Table], None], before: str, done: str, after: bool
) -> None:
    table = MemoryTable()
    projects.create_project(table, ADA, {"id": "35e9", "name": "Bridge"})
    if before == "hidden":
        _delete(table)
    assert _state(table) == before
    killed, found = 0, set()
    for at in range(1, 100):
        copy = table.copy()
        try:
            act(copy.seen_through(killing(at, after=after)))
        except Killed:
            killed += 1
        else:
            assert _state(copy) == done
            break
        found.add(_state(copy))
        if _state(copy) == before:
            act(copy)
        else:
            with pytest.raises(NotFound):
                act(copy)
        assert _state(copy) == done
    assert killed >= 2
    assert found == ({before, done} if after else {before})


_STEPS = st.lists(st.sampled_from(("delete", "restore", "edit", "create", "upkeep")), max_size=8)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=_STEPS)
def test_however_often_it_is_deleted_and_restored_it_answers_as_if_it_had_stayed(
    api: Client, account: Cloud, bridge: str, steps: list[str]
) -> None:
    stored = account.items()
    account.derive()
    made: list[tuple[str, str]] = []
    for at, step in enumerate(steps):
        if step in ("delete", "restore"):
            assert (api.delete(BRIDGE) if step == "delete" else restore(api)).status in (200, 204, 404)
        elif step == "upkeep":
            account.upkeep()
        elif _write(api, step, f"Step {at}"):
            made.append((step, f"Step {at}"))
        account.derive()
        assert_as_derived(account)
    if listed(api):
        assert restore(api).status == 200
    found = answers(api, account)
    account.reset()
    account.put(stored)
    account.derive()
    for step, name in made:
        assert _write(api, step, name)
    account.derive()
    expected = answers(api, account)
    account.reset()
    account.put(stored)
    assert _timeless(found) == _timeless(expected)


def _write(api: Client, step: str, name: str) -> bool:
    if step == "edit":
        return api.patch(f"{BRIDGE}/issues/1", {"name": name}).status == 200
    return api.post(f"{BRIDGE}/issues", {"name": name}).status == 201


def _timeless(value: Any) -> Any:
    """An answer without the times of changes."""
    if isinstance(value, dict):
        return {
            name: _timeless(one)
            for name, one in value.items()
            if name not in ("updated", "created", "at", "change", "id")
        }
    return [_timeless(one) for one in value] if isinstance(value, list | tuple) else value
