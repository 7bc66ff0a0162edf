"""Projects: creating, reading, changing, deleting and listing them."""

import re
from typing import Any

import pytest

from devtools.proof.faults import memory_table
from gridview.encoding import keys
from tests.support.cloud import Cloud
from tests.support.http import Client

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def values(states: list[dict[str, Any]]) -> list[str]:
    return [state["value"] for state in states]


def test_a_new_project_is_answered_whole(api: Client) -> None:
    answer = api.acting(user="bob").post("/v1/projects", {"id": "35e9", "name": "Forth Rail Bridge"})
    assert answer.status == 201
    assert answer.headers["location"] == "/v1/projects/35e9"
    created = answer.body.pop("created")
    assert INSTANT.fullmatch(created)
    assert answer.body == {
        "id": "35e9",
        "name": "Forth Rail Bridge",
        "states": [
            {"id": "o1", "value": "open", "color": None},
            {"id": "o2", "value": "closed", "color": None},
        ],
        "issues": 0,
        "history": {"enabled": True, "days": 90},
        "version": 1,
        "updated": created,
        "created_by": "bob",
        "updated_by": "bob",
        "attributes": [],
    }
    assert api.get("/v1/projects/35e9").body == {**answer.body, "created": created}


def test_the_history_of_a_project_is_a_setting_of_administrators(api: Client) -> None:
    made = api.made("/v1/projects", {"id": "35e9", "name": "Bridge", "history": {"days": 30}})
    assert made["history"] == {"enabled": True, "days": 30}
    path = "/v1/projects/35e9"
    changed = api.patch(path, {"history": {"enabled": False}}).body
    assert (changed["history"], changed["version"]) == ({"enabled": False, "days": 30}, 2)
    assert api.get(path).body == changed
    assert api.patch(path, {"history": {"days": 30}}).body["version"] == 2
    assert api.patch(path, {"name": "Other"}).body["history"] == {"enabled": False, "days": 30}
    assert api.acting(role="editor").patch(path, {"history": {"days": 1}}).status == 403
    assert api.patch(path, {"history": {}}).body["version"] == 3


@pytest.mark.parametrize(
    ("history", "field"),
    [
        ({"days": 0}, "history.days"),
        ({"days": 3651}, "history.days"),
        ({"days": "90"}, "history.days"),
        ({"days": None}, "history.days"),
        ({"days": 1.5}, "history.days"),
        ({"enabled": 1}, "history.enabled"),
        ({"enabled": None}, "history.enabled"),
        ({"on": True}, "history.on"),
        (None, "history"),
        (True, "history"),
    ],
)
def test_a_wrong_history_is_refused_by_name(api: Client, history: Any, field: str) -> None:
    api.made("/v1/projects", {"id": "35e9", "name": "Bridge"})
    for answer in (
        api.patch("/v1/projects/35e9", {"history": history}),
        api.post("/v1/projects", {"name": "Other", "history": history}),
    ):
        assert answer.kind == (400, "invalid-request")
        assert [error["field"] for error in answer.body["errors"]] == [field]


def test_an_id_is_made_when_none_is_given(api: Client) -> None:
    made = [api.made("/v1/projects", {"name": "Same", **extra})["id"] for extra in ({}, {"id": None}, {})]
    assert len(set(made)) == 3
    assert all(re.fullmatch("[a-z0-9]{2,32}", one) for one in made)


def test_a_made_id_that_is_taken_is_made_again(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = iter(["taken1", "taken1", "free1"])
    monkeypatch.setattr("gridview.schema.ids.new_project_id", lambda: next(ids))
    assert [api.made("/v1/projects", {"name": "P"})["id"] for _ in range(2)] == ["taken1", "free1"]


@pytest.mark.parametrize("project_id", ["ab", "0", "a" * 32, "35e9"])
def test_the_pattern_of_an_id(api: Client, project_id: str) -> None:
    expected = 201 if 2 <= len(project_id) <= 32 else 400
    assert api.post("/v1/projects", {"name": "P", "id": project_id}).status == expected


@pytest.mark.parametrize(
    "project_id", ["", "a", "a" * 33, "A1", "a_b", "a-b", "a.b", "caf\u00e9", "ab\n", " ab", "\u0663\u0663"]
)
def test_an_id_outside_the_pattern_is_refused(api: Client, project_id: str) -> None:
    assert api.post("/v1/projects", {"name": "P", "id": project_id}).errors.keys() == {"id"}


def test_an_id_that_is_taken_is_a_conflict_and_the_project_stays_as_it_is(api: Client, bridge: str) -> None:
    before = api.get(bridge).body
    assert api.post("/v1/projects", {"name": "Other", "id": "35e9"}).kind == (409, "conflict")
    assert api.get(bridge).body == before


@pytest.mark.parametrize("name", ["x", "x" * 1024, "\U0001f600" * 1024, " ", "\x00\x01", "\u0301"])
def test_any_text_is_a_name(api: Client, name: str) -> None:
    made = api.made("/v1/projects", {"name": name})
    assert api.get(f"/v1/projects/{made['id']}").body["name"] == name
    assert [one["name"] for one in api.get("/v1/projects").body["items"]] == [name]


def test_states_are_an_ordered_list(api: Client) -> None:
    made = api.made(
        "/v1/projects", {"id": "states", "name": "P", "states": ["new", {"value": "in work"}, "done"]}
    )
    assert values(made["states"]) == ["new", "in work", "done"]
    assert api.made("/v1/projects/states/issues", {"name": "first"})["state"] == "new"


def test_200_states_are_the_most(api: Client, account: Cloud) -> None:
    states = [f"s{number}" for number in range(201)]
    assert api.post("/v1/projects", {"name": "P", "states": states}).kind == (422, "limit-exceeded")
    assert api.post("/v1/projects", {"name": "P", "states": states[:200]}).status == 201


def test_a_change_keeps_what_it_does_not_name(api: Client, bridge: str) -> None:
    before = api.get(bridge).body
    after = api.acting(user="bob").patch(bridge, {"name": "Forth Bridge"}).body
    assert after == {
        **before,
        "name": "Forth Bridge",
        "version": 2,
        "updated": after["updated"],
        "updated_by": "bob",
    }


def test_states_are_added_and_unused_ones_dropped(api: Client, account: Cloud, bridge: str) -> None:
    account.derive()
    added = api.patch(bridge, {"states": ["open", "closed", "stuck"]}).body["states"]
    assert values(added) == ["open", "closed", "stuck"]
    assert api.made(f"{bridge}/issues", {"name": "x", "state": "stuck"})["state"] == "stuck"
    assert api.patch(bridge, {"states": ["open", "stuck"]}).kind == (409, "conflict"), "closed is used"
    assert api.patch(f"{bridge}/issues/2", {"state": "open"}).status == 200
    account.derive()
    assert values(api.patch(bridge, {"states": ["open", "stuck"]}).body["states"]) == ["open", "stuck"]
    assert api.patch(f"{bridge}/issues/2", {"state": "closed"}).errors.keys() == {"state"}


def test_a_deleted_project_is_not_found_with_all_its_contents(api: Client, bridge: str) -> None:
    answer = api.delete(bridge)
    assert (answer.status, answer.text) == (204, "")
    for path in (bridge, f"{bridge}/attributes/3812", f"{bridge}/issues/1", f"{bridge}/grid"):
        assert api.get(path).kind == (404, "not-found")
    for path, body in (
        (f"{bridge}/issues", {"name": "x"}),
        (f"{bridge}/attributes", {"name": "x", "type": "text"}),
        (f"{bridge}/issues/batch", {"operations": [{"create": {"name": "x"}}]}),
    ):
        assert api.post(path, body).kind == (404, "not-found")
    assert api.delete(bridge).kind == (404, "not-found")
    assert api.get("/v1/projects").body["items"] == []


def test_the_id_of_a_deleted_project_stays_taken(api: Client, bridge: str) -> None:
    api.delete(bridge)
    assert api.post("/v1/projects", {"id": "35e9", "name": "Again"}).kind == (409, "conflict")


def test_a_function_that_does_not_know_of_the_deletion_yet_still_creates_nothing(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = account.modules["command"]
    known = command.catalogs.get(account.table, api.claims["custom:tenant"], "35e9")  # type: ignore[index]
    api.delete(bridge)
    monkeypatch.setattr(command.catalogs, "get", lambda *_: known)
    monkeypatch.setattr(command.catalogs, "kept", lambda *_: known)
    assert api.post(f"{bridge}/issues", {"name": "x"}).kind == (404, "not-found")
    (result,) = api.batch("35e9", {"create": {"name": "x"}}).body["results"]
    assert result["status"] == 404


NAMES = ["b", "A", "\u00e1", "a", "B", "\u00df", "ss", "1", "~", "\u0100"]
"""In name order: 1, then the three a and the macron one (a tie, by id), then b, then ss, then the tilde."""


def walk(api: Client, **query: str) -> list[Any]:
    pages, cursor = [], None
    while True:
        answer = api.get("/v1/projects", query=query if cursor is None else {**query, "cursor": cursor})
        assert answer.status == 200, answer.text
        pages.append([one["id"] for one in answer.body["items"]])
        cursor = answer.body["next"]
        if cursor is None:
            return pages


def test_projects_are_listed_page_by_page_in_name_order(api: Client) -> None:
    for number, name in enumerate(NAMES):
        api.made("/v1/projects", {"id": f"p{number}", "name": name})
    expected = ["p7", "p1", "p2", "p3", "p9", "p0", "p4", "p5", "p6", "p8"]
    for limit in (1, 3, 5, 10, 11, 500):
        pages = walk(api, limit=str(limit))
        assert [one for page in pages for one in page] == expected
        assert all(len(page) == limit for page in pages[:-1])
        assert 1 <= len(pages[-1]) <= limit, "no empty page at the end"
    assert walk(api) == [expected]


def test_the_list_follows_a_renamed_project(api: Client) -> None:
    for name in "abc":
        api.made("/v1/projects", {"id": name * 2, "name": name})
    api.patch("/v1/projects/aa", {"name": "x"})
    assert walk(api) == [["bb", "cc", "aa"]]


def test_a_tenant_without_projects_has_an_empty_list(api: Client) -> None:
    assert api.get("/v1/projects").body == {"items": [], "next": None}


def test_the_list_shows_a_project_as_its_own_route_does(api: Client, bridge: str) -> None:
    (listed,) = api.get("/v1/projects").body["items"]
    whole = api.get(bridge).body
    whole.pop("attributes")
    assert listed == {**whole, "issues": None}, "a list does not count issues"


def test_a_project_says_how_many_issues_it_has_as_of_the_index(
    api: Client, account: Cloud, bridge: str
) -> None:
    api.made(f"{bridge}/issues", {"name": "not yet"})
    account.derive()
    assert api.get(bridge).body["issues"] == 4
    api.delete(f"{bridge}/issues/1")
    assert api.get(bridge).body["issues"] == 4
    account.derive()
    assert api.patch(bridge, {"name": "New"}).body["issues"] == 3


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ({"limit": "0"}, {"limit"}),
        ({"limit": "501"}, {"limit"}),
        ({"limit": "-1"}, {"limit"}),
        ({"limit": "ten"}, {"limit"}),
        ({"limit": ""}, {"limit"}),
        ({"limit": "1.5"}, {"limit"}),
        ({"limit": "\u0661"}, {"limit"}),
        ({"limit": "9" * 5000}, {"limit"}),
        ({"limit": "0", "sort": "name", "Cursor": "x"}, {"limit", "sort", "Cursor"}),
        ({"cursor": ""}, {"cursor"}),
        ({"cursor": "abc"}, {"cursor"}),
    ],
)
def test_a_parameter_that_is_not_valid_is_named(api: Client, query: dict[str, str], fields: set[str]) -> None:
    answer = api.get("/v1/projects", query=query)
    assert answer.kind == (400, "invalid-request")
    assert answer.errors.keys() == fields


def test_a_cursor_of_another_tenants_list_or_of_a_grid_is_refused(api: Client, bridge: str) -> None:
    other = api.acting(tenant="other1")
    for client in (api, other):
        client.made("/v1/projects", {"id": "zz", "name": "Z"})
        client.made("/v1/projects", {"id": "yy", "name": "Y"})
    theirs = other.get("/v1/projects", query={"limit": "1"}).body["next"]
    grids = api.get(f"{bridge}/grid", query={"limit": "1"}).body["next"]
    own = api.get("/v1/projects", query={"limit": "1"}).body["next"]
    assert api.get("/v1/projects", query={"cursor": own}).status == 200
    for cursor in (theirs, grids):
        assert api.get("/v1/projects", query={"cursor": cursor}).errors.keys() == {"cursor"}
    assert api.get(f"{bridge}/grid", query={"cursor": own}).errors.keys() == {"cursor"}


def test_a_list_answers_each_project_as_it_is(api: Client) -> None:
    api.made("/v1/projects", {"id": "kept", "name": "A", "history": {"days": 30}})
    api.made("/v1/projects", {"id": "not", "name": "B"})
    api.patch("/v1/projects/not", {"history": {"enabled": False}})
    listed = api.get("/v1/projects").body["items"]
    assert [one["history"] for one in listed] == [
        {"enabled": True, "days": 30},
        {"enabled": False, "days": 90},
    ]
    for one in listed:
        whole = api.get(f"/v1/projects/{one['id']}").body
        assert one == {name: whole[name] for name in one} | {"issues": None}


def test_a_list_follows_changes_that_the_index_lacks(api: Client, account: Cloud) -> None:
    for project in ("p0", "p1", "p2", "p3"):
        api.made("/v1/projects", {"id": project, "name": project})
    account.table.lag()
    api.patch("/v1/projects/p0", {"name": "Other"})
    api.delete("/v1/projects/p1")
    api.delete("/v1/projects/p3")
    first = api.get("/v1/projects", query={"limit": "2"}).body
    assert [(one["id"], one["name"]) for one in first["items"]] == [("p0", "Other")]
    second = api.get("/v1/projects", query={"limit": "2", "cursor": first["next"]}).body
    assert [one["id"] for one in second["items"]] == ["p2"]
    assert second["next"] is None


def test_deleted_projects_take_no_place_in_a_list(api: Client) -> None:
    for project in ("p0", "p1"):
        api.made("/v1/projects", {"id": project, "name": project})
    api.delete("/v1/projects/p0")
    assert [one["id"] for one in api.get("/v1/projects", query={"limit": "1"}).body["items"]] == ["p1"]


def test_a_list_goes_on_after_a_query_that_ended_at_its_megabyte(
    api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [f"p{at}" for at in range(5)]
    for project in made:
        api.made("/v1/projects", {"id": project, "name": project})
    monkeypatch.setattr(memory_table, "QUERY_BYTES", 1)  # a Query reads one item
    found, query = [], {"limit": "1"}
    while True:
        page = api.get("/v1/projects", query=query).body
        found += [one["id"] for one in page["items"]]
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert found == made


@pytest.fixture
def two_projects(account: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment that allows a tenant two projects."""
    monkeypatch.setattr(account.modules["command"], "most_projects", 2)


@pytest.mark.usefixtures("two_projects")
def test_a_tenant_has_so_many_projects_and_no_more(api: Client, account: Cloud) -> None:
    for name in ("a2", "b2"):
        api.made("/v1/projects", {"name": name, "id": name})
    before = account.items()
    refused = api.post("/v1/projects", {"name": "c", "id": "c2"})
    assert refused.kind == (422, "limit-exceeded")
    assert refused.body["detail"] == (
        "The tenant has 2 projects; this deployment allows 2. Delete one (DELETE /v1/projects/{project}), "
        "or ask the operator to raise projects-per-tenant."
    )
    assert account.items() == before
    api.acting(tenant="0808").made("/v1/projects", {"name": "theirs"})
    assert api.delete("/v1/projects/a2", headers={"if-match": '"1"'}).status == 204
    api.made("/v1/projects", {"name": "c", "id": "c2"})
    restored = api.post("/v1/deleted-projects/a2/restore")
    assert restored.kind == (422, "limit-exceeded")
    assert api.delete("/v1/projects/c2", headers={"if-match": '"1"'}).status == 204
    assert api.post("/v1/deleted-projects/a2/restore").status == 200
    assert api.post("/v1/projects", {"name": "d"}).status == 422


@pytest.mark.usefixtures("two_projects", "no_pauses")
def test_one_of_two_concurrent_creates_at_the_limit_succeeds(
    api: Client, account: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.made("/v1/projects", {"name": "first"})
    table, answers = account.modules["command"].table, []
    transact = table.transact

    def beaten(writes: object) -> None:
        monkeypatch.setattr(table, "transact", transact)
        answers.append(api.post("/v1/projects", {"name": "faster", "id": "faster"}))
        transact(writes)

    monkeypatch.setattr(table, "transact", beaten)
    answers.append(api.post("/v1/projects", {"name": "slower", "id": "slower"}))
    assert [one.status for one in answers] == [201, 422]
    assert len(api.get("/v1/projects").body["items"]) == 2


def test_a_deployment_without_a_limit_counts_projects_all_the_same(api: Client, account: Cloud) -> None:
    for name in ("a2", "b2", "c2"):
        api.made("/v1/projects", {"name": name, "id": name})
    assert api.delete("/v1/projects/a2", headers={"if-match": '"1"'}).status == 204
    stored = account.table.get(keys.tenant("0807"), keys.TENANT_SELF)
    assert stored is not None
    assert stored["projects"] == 2
