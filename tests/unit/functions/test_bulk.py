"""Bulk changes from outside: requests, results, visibility, and refusals."""

from typing import Any
from uuid import UUID

import pytest

from gridview.commands import jobs, projects
from gridview.commands.actor import Actor, Role
from gridview.encoding import keys
from gridview.maintenance import bulk_request, numbered_turn
from gridview.schema import user_jobs
from gridview.schema.store import Catalogs
from gridview.support.errors import Overloaded
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client

CHANGE = "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"
OPEN = {"field": "state", "op": "eq", "value": "open"}
REPLACE = {"fields": ["name"], "find": "a", "with": "b"}
CLOSE = {"filter": OPEN, "set": {"state": "closed"}}


@pytest.fixture
def indexed(account: Cloud, bridge: str) -> str:
    """The worked example's project, completely indexed."""
    account.derive()
    return bridge


def begin(api: Client, project: str, call: str, body: Any, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.post(f"{project}/issues/{call}-matching", body, headers=named)


def begun(api: Client, project: str, call: str, body: Any, **headers: str) -> str:
    """The path of a job that starts."""
    answer = begin(api, project, call, body, **headers)
    assert answer.status == 202, answer.text
    return answer.headers["location"]


def ended(account: Cloud, api: Client, job: str) -> Any:
    account.upkeep()
    return api.get(job).body


def states(api: Client, project: str) -> dict[int, str]:
    rows = api.post(f"{project}/grid", {}).body["rows"]
    return {row["num"]: row["state"] for row in rows}


def test_matching_issues_are_updated_as_one_change_of_the_caller(
    api: Client, account: Cloud, indexed: str
) -> None:
    editor = api.acting(role="editor", user="ben")
    answer = begin(editor, indexed, "update", CLOSE, x_change_id=CHANGE)
    assert (answer.status, answer.headers["x-change-id"]) == (202, CHANGE)
    assert answer.headers["location"] == f"{indexed}/jobs/{answer.body['id']}"
    assert (answer.body["state"], answer.body["total"], answer.body["change"]) == ("waiting", None, CHANGE)
    done = ended(account, api, answer.headers["location"])
    shown = {
        name: done[name] for name in ("kind", "state", "done", "total", "refused", "created_by", "problem")
    }
    assert shown == {
        "kind": "update",
        "state": "done",
        "done": 2,
        "total": 2,
        "refused": 0,
        "created_by": "ben",
        "problem": None,
    }
    assert done["ended"] >= done["created"]
    for num, version in ((1, 2), (2, 1), (3, 2)):
        issue = api.get(f"{indexed}/issues/{num}").body
        assert (issue["state"], issue["version"]) == ("closed", version)
        assert (issue["created_by"], issue["updated_by"]) == ("ann", "ben" if version == 2 else "ann")
        if version == 2:
            document = account.table.get(keys.issue("0807", "35e9", num), keys.project("0807", "35e9"))
            assert document is not None
            assert UUID(bytes=document["change"]) == UUID(CHANGE)


def test_a_worker_gets_a_hint_at_once_and_works_to_the_end(
    api: Client, account: Cloud, indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(api, indexed, "update", CLOSE)
    (hint,) = account.hints
    assert hint.partition == keys.job_line("0807")
    assert account.deliver_hints() == 1
    assert states(api, indexed) == {1: "closed", 2: "closed", 3: "closed"}


def test_a_job_begins_though_its_hint_is_lost(
    api: Client, account: Cloud, indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: Any) -> None:
        raise Overloaded("The table is busy.")

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "waiting", busy)
        job = begun(api, indexed, "update", CLOSE)
    assert not account.hints
    assert ended(account, api, job)["done"] == 2, "each minute looks for what is due"


def test_matching_issues_are_deleted(api: Client, account: Cloud, indexed: str) -> None:
    done = ended(account, api, begun(api, indexed, "delete", {"filter": OPEN}))
    assert (done["kind"], done["state"], done["done"], done["total"]) == ("delete", "done", 2, 2)
    assert states(api, indexed) == {2: "closed"}
    assert api.get(f"{indexed}/issues/1").status == 404


def test_a_text_is_replaced_and_what_cannot_have_it_is_refused(
    api: Client, account: Cloud, bridge: str
) -> None:
    indexed = bridge
    account.follow()
    before = {num: api.get(f"{indexed}/issues/{num}").body["name"] for num in (1, 2, 3)}
    api.patch(f"{indexed}/issues/3", {"name": "x" * 1000 + before[1]})
    account.follow()
    find = before[1][:4]
    replace = {"fields": ["name"], "find": find.upper(), "with": "[\\1] " * 6}
    ahead = begun(api, indexed, "update", {"filter": None, "replace": replace, "dry_run": True})
    preview = ended(account, api, ahead)
    assert (preview["changed"], preview["refused"], preview["change"]) == (1, 1, None)
    new = before[1].replace(find, "[\\1] " * 6)
    assert preview["examples"] == [{"num": 1, "field": "name", "old": before[1], "new": new}]
    assert api.get(f"{indexed}/issues/1").body["version"] == 1
    job = begun(api, indexed, "update", {"filter": None, "replace": replace}, x_change_id=CHANGE)
    done = ended(account, api, job)
    assert (done["done"], done["refused"], done["total"]) == (2, 1, 3)
    assert (done["changed"], done["examples"], done["change"]) == (None, None, CHANGE)
    assert api.get(f"{indexed}/issues/1").body["name"] == new
    assert api.get(f"{indexed}/issues/2").body["version"] == 1
    (refused,) = api.get(f"{job}/refused").body["items"]
    assert (refused["num"], refused["problem"]["errors"][0]["field"]) == (3, "name")
    account.follow()
    (last, *_) = api.get(f"{indexed}/issues/1/history").body["items"]
    assert (last["change"], last["fields"]) == (CHANGE, {"name": {"old": before[1], "new": new}})


def test_a_field_is_copied_into_one_of_another_type(api: Client, account: Cloud, indexed: str) -> None:
    api.made(f"{indexed}/attributes", {"id": "day", "name": "Day", "type": "text"})
    days = {num: api.get(f"{indexed}/issues/{num}").body["fields"].get("3812") for num in (1, 2, 3)}
    assert len(set(days.values())) > 1
    copy = {"filter": None, "copy": {"from": "3812", "to": "day"}}
    assert ended(account, api, begun(api, indexed, "update", copy))["state"] == "done"
    for num, day in days.items():
        assert api.get(f"{indexed}/issues/{num}").body["fields"].get("day") == day
    back = {"filter": None, "copy": {"from": "name", "to": "3812"}}
    done = ended(account, api, begun(api, indexed, "update", back))
    assert (done["done"], done["refused"]) == (0, 3), "no name is a date"


def test_a_dry_run_is_no_write_for_undo_and_history(api: Client, account: Cloud, indexed: str) -> None:
    ahead = begun(api, indexed, "update", {**CLOSE, "dry_run": True}, x_change_id=CHANGE)
    assert api.get(ahead).body["changed"] == 0
    refused = api.post(f"{indexed}/undo", {"change": CHANGE})
    assert "job" not in refused.body["detail"], "it writes nothing of this change"
    assert ended(account, api, ahead)["changed"] == 2
    assert set(states(api, indexed).values()) == {"open", "closed"}


def test_rows_of_a_view_and_everything(api: Client, account: Cloud, indexed: str) -> None:
    rows = {"sort": [{"field": "3812", "direction": "desc"}], "from": 1, "to": 2}
    done = ended(account, api, begun(api, indexed, "update", {**CLOSE, "filter": None, "rows": rows}))
    assert done["total"] == 2
    assert states(api, indexed) == {1: "closed", 2: "closed", 3: "closed"}
    assert [api.get(f"{indexed}/issues/{num}").body["version"] for num in (1, 2, 3)] == [2, 1, 2]
    account.derive()
    body = {"filter": None, "set": {"fields": {"3fe6": 7, "3812": None}}}
    assert ended(account, api, begun(api, indexed, "update", body))["done"] == 3
    assert [api.get(f"{indexed}/issues/{num}").body["fields"]["3fe6"] for num in (1, 2, 3)] == [7, 7, 7]


def test_the_writes_of_tokens_are_held_however_late_the_job_begins(
    api: Client, account: Cloud, indexed: str
) -> None:
    token = api.patch(f"{indexed}/issues/2", {"state": "open"}).headers["x-consistency-token"]
    without = begun(api, indexed, "update", {"filter": OPEN, "set": {"fields": {"3fe6": 1}}})
    assert ended(account, api, without)["total"] == 2
    job = begun(
        api, indexed, "update", {"filter": OPEN, "set": {"fields": {"3fe6": 2}}}, x_consistency_token=token
    )
    assert ended(account, api, job)["total"] == 3
    assert begin(api, indexed, "update", CLOSE, x_consistency_token="x").kind == (400, "invalid-request")


def test_refused_issues_are_listed_in_pages(
    api: Client, account: Cloud, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbered_turn, "BATCH", 4)
    for at in range(10):
        api.made(f"{project}/issues", {"name": f"issue {at}"})
    account.derive()
    for num in (1, 2, 4, 5, 6, 7, 10):
        api.patch(f"{project}/issues/{num}", {"state": "closed"})
    api.delete(f"{project}/issues/9")
    job = begun(api, project, "update", {"filter": OPEN, "set": {"name": "x"}})
    done = ended(account, api, job)
    assert (done["done"], done["refused"], done["total"], done["state"]) == (2, 8, 10, "done")
    whole = api.get(f"{job}/refused")
    assert whole.body["next"] is None
    assert {one["num"]: one["problem"]["type"] for one in whole.body["items"]} == {
        **dict.fromkeys((1, 2, 4, 5, 6, 7, 10), "conflict"),
        9: "not-found",
    }
    for limit in (1, 2, 3, 8):
        found, cursor = [], None
        while True:
            query = {"limit": str(limit), **({"cursor": cursor} if cursor else {})}
            page = api.get(f"{job}/refused", query=query).body
            assert len(page["items"]) <= limit
            found += page["items"]
            cursor = page["next"]
            if cursor is None or len(found) > len(whole.body["items"]):
                break
        assert found == whole.body["items"]
    other = begun(api, project, "update", CLOSE)
    cursor = api.get(f"{job}/refused", query={"limit": "1"}).body["next"]
    assert api.get(f"{other}/refused", query={"cursor": cursor}).kind == (400, "invalid-request")


def test_jobs_are_listed_the_last_first(api: Client, account: Cloud, indexed: str) -> None:
    made = [begun(api, indexed, "update", CLOSE).rpartition("/")[2] for _ in range(3)]
    assert [one["id"] for one in api.get(f"{indexed}/jobs").body["items"]] == made[::-1]
    first = api.get(f"{indexed}/jobs", query={"limit": "2"}).body
    rest = api.get(f"{indexed}/jobs", query={"limit": "2", "cursor": first["next"]}).body
    assert [one["id"] for one in (*first["items"], *rest["items"])] == made[::-1]
    assert rest["next"] is None
    account.upkeep()
    assert {one["state"] for one in api.get(f"{indexed}/jobs").body["items"]} == {"done"}


# Rights


def test_roles_decide_who_may_see_begin_and_cancel_a_job(api: Client, account: Cloud, indexed: str) -> None:
    viewer, editor = api.acting(role="viewer", user="vic"), api.acting(role="editor", user="ben")
    for call, body in (("update", CLOSE), ("delete", {"filter": OPEN})):
        assert begin(viewer, indexed, call, body).kind == (403, "forbidden")
    job, own = begun(editor, indexed, "update", CLOSE), begun(editor, indexed, "delete", {"filter": OPEN})
    assert viewer.get(job).body == editor.get(job).body
    for client in (viewer, api.acting(role="editor", user="cem")):
        assert client.delete(job).status == 403
    assert api.delete(job).status == editor.delete(own).status == 204
    for one in (job, own):
        found = ended(account, api, one)
        assert (found["state"], found["done"]) == ("cancelled", 0)
        assert api.delete(one).status == 204, "it is over already"
    assert states(api, indexed) == {1: "open", 2: "closed", 3: "open"}


def test_the_job_of_another_tenant_is_not_there(api: Client, account: Cloud, indexed: str) -> None:
    job = begun(api, indexed, "update", CLOSE)
    other = api.acting(tenant="0808")
    other.made("/v1/projects", {"name": "Theirs", "id": "35e9"})
    nowhere = f"{indexed}/jobs/{'0' * 20}"
    for path in (job, f"{job}/refused"):
        theirs, missing = other.get(path), api.get(path.replace(job, nowhere))
        assert theirs.status == missing.status == 404
        assert theirs.body | {"request_id": ""} == missing.body | {"request_id": ""}
    assert other.delete(job).status == api.delete(nowhere).status == 404
    assert other.get(f"{indexed}/jobs").body["items"] == []
    assert api.get(f"{indexed}/jobs/x").status == 404
    account.upkeep()
    assert api.get(job).body["done"] == 2


def test_missing_projects_have_no_jobs(api: Client, account: Cloud, indexed: str) -> None:
    job = begun(api, indexed, "update", CLOSE)
    nowhere = "/v1/projects/nowhere"
    assert begin(api, nowhere, "update", CLOSE).status == 404
    assert api.get(f"{nowhere}/jobs").status == 404
    api.delete(indexed)
    for path in (f"{indexed}/jobs", job, f"{job}/refused"):
        assert api.get(path).status == 404
    assert api.delete(job).status == 404
    assert api.delete("/v1/deleted-projects/35e9").status == 204
    account.upkeep()
    left = [pk for pk, _ in account.table.items if pk.startswith(("jobs-", "jobparts-"))]
    assert left == [], "the project has gone with its jobs"


# Refusals

WRONG: list[tuple[str, Any, set[str]]] = [
    ("update", {}, {"filter", "set"}),
    ("update", {"set": {"state": "closed"}}, {"filter"}),
    ("update", {"filter": None}, {"set"}),
    ("update", {"filter": None, "set": {}}, {"set"}),
    ("update", {"filter": None, "set": []}, {"set"}),
    ("update", {"filter": None, "set": {"nothing": 1, "state": "gone"}}, {"set.nothing", "set.state"}),
    ("update", {"filter": None, "set": {"name": "x", "base": 1}}, {"set.base"}),
    (
        "update",
        {
            "filter": {"field": "none", "op": "eq", "value": 1},
            "set": {"fields": {"3812": "May", "none": 1}},
            "rows": {"from": 3, "to": 1, "sort": [{"field": "none"}]},
            "more": 1,
        },
        {
            "filter.field",
            "set.fields.3812",
            "set.fields.none",
            "rows.to",
            "rows.sort.0.field",
            "more",
        },
    ),
    ("update", {**CLOSE, "copy": {"from": "name", "to": "state"}, "replace": REPLACE}, {"replace", "copy"}),
    ("update", {"filter": None, "replace": {}}, {"replace.fields", "replace.find", "replace.with"}),
    ("update", {"filter": None, "replace": None}, {"replace"}),
    (
        "update",
        {
            "filter": None,
            "replace": {"fields": [], "find": "", "with": "x" * 1025, "match": "some", "case": 1},
        },
        {"replace.fields", "replace.find", "replace.with", "replace.match", "replace.case"},
    ),
    (
        "update",
        {"filter": None, "replace": {"fields": ["name"], "find": "\ud800", "with": "\udfff"}},
        {"replace.find", "replace.with"},
    ),
    (
        "update",
        {
            "filter": None,
            "replace": {"fields": ["name", "3812", "created_by", "num"], "find": "a", "with": "b"},
        },
        {"replace.fields.1", "replace.fields.2", "replace.fields.3"},
    ),
    (
        "update",
        {"filter": None, "replace": {"fields": ["name", "name"], "find": "a", "with": "b"}},
        {"replace.fields"},
    ),
    (
        "update",
        {"filter": None, "replace": {"fields": ["name", "none"], "find": "a", "with": "b"}},
        {"replace.fields.1"},
    ),
    ("update", {"filter": None, "copy": {"from": "name"}}, {"copy.to"}),
    ("update", {"filter": None, "copy": {"from": "none", "to": "nothing"}}, {"copy.from", "copy.to"}),
    ("update", {"filter": None, "copy": {"from": "name", "to": "name"}}, {"copy.to"}),
    ("update", {"filter": None, "copy": {"from": "name", "to": "created"}}, {"copy.to"}),
    ("update", {"filter": None, "copy": {"from": "name", "to": "num"}}, {"copy.to"}),
    ("update", {**CLOSE, "dry_run": "yes"}, {"dry_run"}),
    ("delete", {"filter": None, "set": {"state": "closed"}}, {"set"}),
    ("delete", {"filter": None, "dry_run": True}, {"dry_run"}),
    ("delete", {"filter": OPEN, "rows": {"from": 0}}, {"rows.to"}),
    ("delete", {"filter": OPEN, "rows": {"from": -1, "to": 10**8}}, {"rows.from", "rows.to"}),
    ("delete", [], {"body"}),
]


def _id(parameter: object) -> str:
    """An id for a parameter; a set has another order in each process."""
    return str(sorted(parameter) if isinstance(parameter, set | frozenset) else parameter)


@pytest.mark.parametrize(("call", "body", "fields"), WRONG, ids=_id)
def test_all_errors_of_a_request_are_listed_at_once_and_no_job_begins(
    api: Client, account: Cloud, bridge: str, call: str, body: Any, fields: set[str]
) -> None:
    before = account.items()
    refused = begin(api, bridge, call, body)
    assert refused.kind == (400, "invalid-request")
    assert set(refused.errors) == fields
    assert account.items() == before


def test_a_required_field_is_not_taken_away(api: Client, bridge: str) -> None:
    api.patch(f"{bridge}/attributes/3812", {"required": True})
    body = {"filter": None, "set": {"fields": {"3812": None}}}
    assert begin(api, bridge, "update", body).errors == {"set.fields.3812": "is required"}


def test_more_rows_than_one_job_takes_are_refused(api: Client, bridge: str) -> None:
    most = bulk_request.MAX_ROWS
    for first, last, status in ((0, most - 1, 202), (0, most, 422), (5, most + 4, 202), (5, most + 5, 422)):
        rows = {"from": first, "to": last}
        answer = begin(api, bridge, "update", {**CLOSE, "rows": rows})
        assert answer.status == status
    assert f"{most:,}" in answer.body["detail"]


def test_rows_of_an_order_that_no_index_gives_are_refused_with_a_remedy(api: Client, bridge: str) -> None:
    api.patch(f"{bridge}/attributes/47e5", {"indexed": False})
    rows = {"sort": [{"field": "47e5"}], "from": 0, "to": 1}
    refused = begin(api, bridge, "delete", {"filter": None, "rows": rows})
    assert refused.kind == (422, "query-too-expensive")
    assert refused.body["remedies"]


def test_an_order_that_is_being_built_is_refused_with_its_progress(
    api: Client, account: Cloud, bridge: str
) -> None:
    api.made(f"{bridge}/attributes", {"name": "New", "type": "number", "id": "new", "indexed": False})
    account.derive()
    api.patch(f"{bridge}/attributes/new", {"indexed": True})
    rows = {"sort": [{"field": "new"}], "from": 0, "to": 1}
    refused = begin(api, bridge, "delete", {"filter": None, "rows": rows})
    assert refused.kind == (409, "index-building")
    assert refused.body["build"]["total"] == 3


def test_a_request_too_large_for_an_item_is_refused(api: Client, account: Cloud, bridge: str) -> None:
    several = [f"{'x' * 1000}{at}" for at in range(200)]
    only = {"field": "name", "op": "in", "value": several}
    assert begin(api, bridge, "delete", {"filter": only}).status == 202
    before = account.items()
    refused = begin(api, bridge, "delete", {"filter": {"or": [only, {"not": only}]}})
    assert refused.kind == (413, "too-large")
    assert account.items() == before


def test_a_project_has_so_many_open_jobs_and_no_more(
    api: Client, account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MOST_OF_PROJECT", 2)
    for _ in range(2):
        begun(api, bridge, "update", CLOSE)
    refused = begin(api, bridge, "update", CLOSE)
    assert refused.kind == (429, "too-many-jobs")
    assert int(refused.headers["retry-after"]) > 0
    account.upkeep()
    begun(api, bridge, "update", CLOSE)


def test_the_same_key_begins_one_job(api: Client, account: Cloud, indexed: str) -> None:
    first = begin(api, indexed, "update", CLOSE, idempotency_key="k", x_change_id=CHANGE)
    again = begin(api, indexed, "update", CLOSE, idempotency_key="k")
    assert (again.status, again.text) == (202, first.text)
    assert again.headers["x-change-id"] == CHANGE
    assert again.headers["location"] == first.headers["location"]
    assert begin(api, indexed, "update", {**CLOSE, "filter": None}, idempotency_key="k").status == 409
    assert len(api.get(f"{indexed}/jobs").body["items"]) == 1
    account.upkeep()
    assert api.get(first.headers["location"]).body["done"] == 2


def test_a_container_with_older_definitions_begins_one_job_by_the_present_ones(
    api: Client, account: Cloud, indexed: str
) -> None:
    assert api.get(f"{indexed}/issues/1").status == 200
    begun(api, indexed, "update", CLOSE)
    states_now = {"states": [{"id": "o1", "value": "open"}, {"id": "o2", "value": "done"}]}
    projects.update_project(
        account.table,
        Catalogs(),
        Actor("0807", "ann", Role.ADMIN),
        "35e9",
        states_now,
        None,
        settling=0,
    )
    assert begin(api, indexed, "update", CLOSE).errors.keys() == {"set.state"}
    job = begun(api, indexed, "update", {"filter": OPEN, "set": {"state": "done"}})
    assert len(api.get(f"{indexed}/jobs").body["items"]) == 2
    projects.update_project(
        account.table,
        Catalogs(),
        Actor("0807", "ann", Role.ADMIN),
        "35e9",
        {"name": "Forth", "states": [*states_now["states"], "new"]},
        None,
        settling=0,
    )
    begun(api, indexed, "delete", {"filter": OPEN})
    assert len(api.get(f"{indexed}/jobs").body["items"]) == 3
    assert ended(account, api, job)["state"] == "done"


def test_a_job_is_forgotten_when_it_expires(
    api: Client, account: Cloud, indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "KEPT_DAYS", -1.0)
    job = begun(api, indexed, "update", CLOSE)
    assert api.get(job).kind == (404, "not-found")
    assert user_jobs.KEPT_DAYS == 30
    items = [item for (pk, _), item in account.table.items.items() if pk.startswith("job")]
    assert sum(keys.TTL_ATTRIBUTE in item for item in items) == len(items) - 1, "all but the line expire"
