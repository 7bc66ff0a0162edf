"""The life of an attribute as an administrator sees it: indexed, not indexed, reordered, deleted, during other work."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from devtools.proof.faults.watched import Attempted
from gridview.commands.attributes import rebuild
from gridview.encoding import keys
from gridview.maintenance import job_worker
from gridview.schema.fields import BUILTINS
from gridview.schema.store import Catalogs
from gridview.support import clock
from gridview.support.errors import Overloaded
from tests.support.cloud import Cloud
from tests.support.http import Client, Context
from tests.support.removed import removed

TENANT = "0807"


@pytest.fixture
def attribute(api: Client, project: str) -> str:
    """The path of an attribute that is not indexed, and three issues of which two have a value of it."""
    api.made(f"{project}/attributes", {"id": "cost", "name": "Cost", "type": "number", "indexed": False})
    for cost in (30, None, 10):
        api.made(f"{project}/issues", {"name": "x", "fields": {"cost": cost}})
    return f"{project}/attributes/cost"


def sorted_by(api: Client, project: str, field: str) -> list[int]:
    answer = api.get(f"{project}/grid", query={"sort": field})
    assert answer.status == 200, answer.text
    return [row["num"] for row in answer.body["rows"]]


def entries(account: Cloud) -> set[str]:
    """The orders in which issues have live entries, by their names after tenant and project."""
    return {
        item["SK"]["S"].split(".", 2)[2]
        for item in account.items()
        if item["SK"]["S"].startswith("xvalue-") and "sort" in item
    }


def jobs(account: Cloud) -> list[dict[str, Any]]:
    return [item for item in account.items() if item["SK"]["S"] == keys.JOB]


# Switching an index on


def test_sorting_by_an_unindexed_field_names_the_remedy(api: Client, project: str, attribute: str) -> None:
    answer = api.get(f"{project}/grid", query={"sort": "cost"})
    assert answer.kind == (422, "query-too-expensive")
    assert f'PATCH {attribute} {{"indexed": true}}' in answer.body["detail"]


def test_an_index_that_is_switched_on_is_built_and_then_served(
    api: Client, account: Cloud, project: str, attribute: str
) -> None:
    account.derive()
    assert "a1.1" not in entries(account)
    build = {"state": "building", "done": 0, "total": 3}
    switched = api.patch(attribute, {"indexed": True}).body
    assert (switched["indexed"], switched["build"]) == (True, build)
    assert api.get(attribute).body == switched
    assert api.get(project).body["attributes"] == [switched]
    refused = api.get(f"{project}/grid", query={"sort": "cost"})
    assert refused.kind == (409, "index-building")
    assert refused.body["build"] == build
    assert "0 of 3 issues are done" in refused.body["detail"]
    account.upkeep()
    assert api.get(attribute).body["build"] is None
    assert sorted_by(api, project, "cost") == [3, 1, 2]
    assert jobs(account) == []


def test_writes_during_the_build_of_an_index_are_in_it(
    api: Client, account: Cloud, project: str, attribute: str
) -> None:
    account.derive()
    api.patch(attribute, {"indexed": True})
    api.patch(f"{project}/issues/1", {"fields": {"cost": 5}})
    api.made(f"{project}/issues", {"name": "x", "fields": {"cost": 7}})
    account.derive()
    account.upkeep()
    assert sorted_by(api, project, "cost") == [1, 4, 3, 2]


def test_progress_counts_the_issues_that_are_done(
    api: Client, account: Cloud, project: str, attribute: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_worker, "BATCH", 2)
    account.derive()
    api.patch(attribute, {"indexed": True})
    seen = []
    remaining = iter([99.0] * 4 + [0.0] * 9)  # until it has passed over the first two

    class Ends(Context):
        def get_remaining_time_in_millis(self) -> int:
            return int(next(remaining) * 1000) + 15_000

    account.modules["upkeep"].handler({"task": "jobs"}, Context())
    account.hints.append(account.hints[0])  # SQS delivers at least once
    assert account.deliver_hints(Ends()) == 1
    seen.append(api.get(attribute).body["build"])
    account.upkeep()
    seen.append(api.get(attribute).body["build"])
    assert seen == [{"state": "building", "done": 2, "total": 3}, None]


def test_nothing_is_built_before_the_change_is_known_everywhere(
    api: Client, account: Cloud, project: str, attribute: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account.modules["command"], "settling", 75.0)
    account.derive()
    api.patch(attribute, {"indexed": True})
    assert account.upkeep() == 0
    now = clock.after
    monkeypatch.setattr(clock, "after", lambda seconds: now(seconds + 74))
    assert account.upkeep() == 0
    monkeypatch.setattr(clock, "after", lambda seconds: now(seconds + 76))
    assert account.upkeep() == 1
    assert sorted_by(api, project, "cost") == [3, 1, 2]


def test_a_refused_job_is_counted_by_a_metric_and_continues_later(
    api: Client,
    account: Cloud,
    project: str,
    attribute: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    account.derive()
    api.patch(attribute, {"indexed": True})

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "batch_get":
            raise Overloaded("The table is busy. Try again.")
        return perform()

    with monkeypatch.context() as refusing:
        refusing.setattr(account.modules["upkeep"], "table", account.table.seen_through(around))
        account.modules["upkeep"].handler({"task": "jobs"}, Context())
        assert account.deliver_hints() == 1, "the next hint comes too early here, and is ignored"
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "JobFailures" in line]
    assert [line["JobFailures"] for line in lines] == [[1.0]]
    now = clock.after
    monkeypatch.setattr(clock, "after", lambda seconds: now(seconds + 6))
    account.upkeep()
    assert sorted_by(api, project, "cost") == [3, 1, 2]


# Switching it off


def test_an_index_that_is_switched_off_is_removed_and_can_be_built_again(
    api: Client, account: Cloud, project: str, attribute: str
) -> None:
    api.patch(attribute, {"indexed": True})
    account.derive()
    account.upkeep()
    assert "a1.1" in entries(account)
    switched = api.patch(attribute, {"indexed": False}).body
    assert (switched["indexed"], switched["build"]) == (False, {"state": "removing", "done": 0, "total": 3})
    assert api.get(f"{project}/grid", query={"sort": "cost"}).kind == (422, "query-too-expensive")
    account.upkeep()
    assert api.get(attribute).body["build"] is None
    assert "a1.1" not in entries(account)
    assert api.get(f"{project}/issues/1").body["fields"] == {"cost": 30}
    api.patch(attribute, {"indexed": True})
    account.upkeep()
    assert sorted_by(api, project, "cost") == [3, 1, 2]
    assert "a1.2" in entries(account)


def test_an_index_that_is_switched_on_and_off_and_on_ends_as_the_last_one_said(
    api: Client, account: Cloud, project: str, attribute: str
) -> None:
    account.derive()
    for indexed in (True, False, True, False):
        api.patch(attribute, {"indexed": indexed})
    account.upkeep()
    assert not any(order.startswith("a1.") for order in entries(account))
    for indexed in (True, False, True):
        api.patch(attribute, {"indexed": indexed})
    account.upkeep()
    assert [order for order in entries(account) if order.startswith("a1.")] == ["a1.4"]
    assert sorted_by(api, project, "cost") == [3, 1, 2]


def test_a_project_can_do_without_the_index_of_updated(api: Client, account: Cloud, project: str) -> None:
    api.made(f"{project}/issues", {"name": "x"})
    account.derive()
    assert "updated.1" in entries(account)
    api.patch(f"{project}/attributes/updated", {"indexed": False})
    account.upkeep()
    assert entries(account) == {"name.1", "created.1"}
    assert api.get(f"{project}/grid", query={"sort": "updated"}).kind == (422, "query-too-expensive")
    api.patch(f"{project}/issues/1", {"name": "X"})  # its ledger learns of the new definitions
    account.derive()
    before = account.items()
    api.patch(f"{project}/issues/1", {"name": "x"})
    account.derive()
    derived = [item for item in account.items() if item["SK"]["S"].startswith("xvalue")]
    assert derived == [item for item in before if item["SK"]["S"].startswith("xvalue")]
    api.patch(f"{project}/attributes/updated", {"indexed": True})
    account.upkeep()
    assert sorted_by(api, project, "updated") == [1]


# Moving options


@pytest.mark.parametrize("kind", ["enum", "multi_enum"])
def test_issues_follow_the_options_that_are_moved_and_the_grid_shows_them_all_the_time(
    api: Client, account: Cloud, project: str, kind: str
) -> None:
    body = {"id": "severity", "name": "Severity", "type": kind, "options": ["low", "medium", "high"]}
    path = f"{project}/attributes/severity"
    api.made(f"{project}/attributes", body)
    for value in ("high", "medium", "low", "low"):
        fields = {"severity": value if kind == "enum" else [value]}
        api.made(f"{project}/issues", {"name": value, "fields": fields})
    account.derive()
    assert sorted_by(api, project, "severity") == [3, 4, 2, 1]
    moved = api.patch(path, {"options": ["high", "low", "medium"]}).body
    assert [option["value"] for option in moved["options"]] == ["high", "low", "medium"]
    assert moved["build"] == {"state": "reordering", "done": 0, "total": 4}
    assert sorted(sorted_by(api, project, "severity")) == [1, 2, 3, 4]
    api.patch(path, {"options": ["medium", "high", "low"]})
    assert sorted(sorted_by(api, project, "severity")) == [1, 2, 3, 4]
    account.upkeep()
    assert sorted_by(api, project, "severity") == [2, 1, 3, 4]
    assert api.get(path).body["build"] is None


def test_only_what_moved_is_derived_again(api: Client, account: Cloud, project: str) -> None:
    body = {"id": "severity", "name": "Severity", "type": "enum", "options": ["low", "medium", "high"]}
    api.made(f"{project}/attributes", body)
    for value in ("low", "medium", "high"):
        api.made(f"{project}/issues", {"name": value, "fields": {"severity": value}})
    account.derive()
    account.fold()
    before = account.items()
    api.patch(f"{project}/attributes/severity", {"options": ["high", "low", "medium"]})
    account.upkeep()
    account.fold()
    changed = {item["PK"]["S"] for item in account.items() if item not in before}
    issue, block, journal = "issue-0807.plain.00000003", "block-0807.plain.a1.1b.0", "journal-0807.plain"
    assert changed == {"project-0807.plain", issue, block, journal}


def test_a_cursor_of_before_the_options_were_moved_has_expired(
    api: Client, account: Cloud, project: str
) -> None:
    body = {"id": "severity", "name": "Severity", "type": "enum", "options": ["low", "high"]}
    api.made(f"{project}/attributes", body)
    for value in ("low", "high"):
        api.made(f"{project}/issues", {"name": value, "fields": {"severity": value}})
    account.derive()

    def first() -> str:
        cursor: str = api.get(f"{project}/grid", query={"sort": "severity", "limit": "1"}).body["next"]
        return cursor

    before = first()
    api.patch(f"{project}/attributes/severity", {"options": ["high", "low"]})
    meanwhile = first()
    account.upkeep()
    for cursor in (before, meanwhile):
        answer = api.get(f"{project}/grid", query={"sort": "severity", "limit": "1", "cursor": cursor})
        assert answer.kind == (410, "cursor-expired")


def test_issues_follow_the_states_that_are_moved(api: Client, account: Cloud, bridge: str) -> None:
    account.derive()
    assert sorted_by(api, bridge, "state") == [1, 3, 2]
    moved = api.patch(bridge, {"states": ["closed", "open"]}).body["states"]
    assert [state["value"] for state in moved] == ["closed", "open"]
    assert sorted(sorted_by(api, bridge, "state")) == [1, 2, 3]
    assert api.get(f"{bridge}/attributes/state").body["build"] == {
        "state": "reordering",
        "done": 0,
        "total": 3,
    }
    account.upkeep()
    assert sorted_by(api, bridge, "state") == [2, 1, 3]
    assert api.get(f"{bridge}/attributes/state").body["build"] is None


def test_a_rename_needs_no_work(api: Client, account: Cloud, project: str) -> None:
    body = {"id": "severity", "name": "Severity", "type": "enum", "options": ["low", "high"]}
    api.made(f"{project}/attributes", body)
    renamed = [{"id": "o1", "value": "minor"}, "high"]
    assert api.patch(f"{project}/attributes/severity", {"options": renamed}).body["build"] is None
    assert jobs(account) == []


# Rebuilding


def test_a_rebuilt_index_is_served_from_the_old_one_until_it_is_complete(
    api: Client, account: Cloud, bridge: str
) -> None:
    account.derive()
    expected = sorted_by(api, bridge, "3812")
    chosen = rebuild(account.table, Catalogs(), TENANT, "35e9", None, rate=0, settling=0)
    assert chosen == [*BUILTINS, "3812", "882a", "3fe6", "47e5"]
    account.forget()
    assert api.get(f"{bridge}/attributes/3812").body["build"] == {
        "state": "rebuilding",
        "done": 0,
        "total": 3,
    }
    assert sorted_by(api, bridge, "3812") == expected
    api.patch(f"{bridge}/issues/1", {"fields": {"3812": "2024-01-01"}})
    account.derive()
    assert {"a1.1", "a1.2"} <= entries(account), "while it is built both are written"
    account.upkeep()
    account.forget()
    assert sorted_by(api, bridge, "3812") == [2, 1, 3]
    assert all(order.endswith(".2") for order in entries(account))
    assert jobs(account) == []


# Deleting


def test_a_purged_attribute_keeps_its_id_until_its_values_and_entries_are_gone(
    api: Client, account: Cloud, bridge: str
) -> None:
    account.derive()
    version = api.get(f"{bridge}/issues/1").body["version"]
    assert api.delete(f"{bridge}/attributes/3812").status == 204
    assert api.delete(f"{bridge}/deleted-attributes/3812").status == 204
    assert api.get(f"{bridge}/attributes/3812").kind == (404, "not-found")
    again = api.post(f"{bridge}/attributes", {"id": "3812", "name": "Start", "type": "date"})
    assert again.kind == (409, "removal-in-progress")
    assert again.body["build"] == {"state": "removing", "done": 0, "total": 3}
    account.upkeep()
    assert "a1.1" not in entries(account)
    documents = [item for item in account.items() if item["SK"]["S"] == "project-0807.35e9"]
    assert all("a1" not in item["fields"]["M"] for item in documents)
    assert api.get(f"{bridge}/issues/1").body["version"] == version, "no write loses a race to the sweep"
    api.made(f"{bridge}/attributes", {"id": "3812", "name": "Start", "type": "date"})
    account.derive()
    assert sorted_by(api, bridge, "3812") == [1, 2, 3]
    assert api.get(f"{bridge}/issues/1").body["fields"] == {"882a": "2023-06-01"}


def test_a_generated_id_does_not_take_that_of_a_deleted_attribute(api: Client, project: str) -> None:
    api.made(f"{project}/attributes", {"name": "Start", "type": "date"})
    api.delete(f"{project}/attributes/start")
    assert api.made(f"{project}/attributes", {"name": "Start", "type": "date"})["id"] == "start_2"


def test_a_deleted_project_loses_everything_it_had(api: Client, account: Cloud, bridge: str) -> None:
    account.derive()
    removed(api, bridge)
    account.upkeep()
    account.derive()
    left = {(item["PK"]["S"], item["SK"]["S"]): item for item in account.items()}
    project = {key: item for key, item in left.items() if key[0] == "project-0807.35e9"}
    assert project.keys() == {
        ("project-0807.35e9", "tenant-0807"),
        ("project-0807.35e9", "counter"),
    }
    tenant = left.pop((keys.tenant("0807"), keys.TENANT_SELF))
    assert tenant["projects"] == {"N": "0"}, "the tenant counts one project less, and stays"
    lasting = {key for key, item in left.items() if keys.TTL_ATTRIBUTE not in item}
    # A container of upkeep puts the heartbeat every 45 s at most, so it may be there or not.
    assert lasting <= {(keys.BEAT, keys.BEAT)}, "what is left of the project is forgotten by itself"
    assert "name" not in project["project-0807.35e9", "tenant-0807"]
    assert not any(keys.SORT in item for item in left.values())
    assert api.get("/v1/projects").body["items"] == []
    assert api.post("/v1/projects", {"id": "35e9", "name": "Again"}).kind == (409, "conflict")


def test_a_project_that_is_deleted_while_an_index_is_built_is_removed_all_the_same(
    api: Client, account: Cloud, project: str, attribute: str
) -> None:
    account.derive()
    api.patch(attribute, {"indexed": True})
    removed(api, project)
    account.upkeep()
    account.derive()
    assert entries(account) == set()
    assert jobs(account) == []
    assert not any(item["SK"]["S"] == "project-0807.plain" for item in account.items())


def test_issues_of_other_projects_and_tenants_stay_unchanged(
    api: Client, account: Cloud, bridge: str
) -> None:
    other = account.api(tenant="0808")
    other.made("/v1/projects", {"id": "35e9", "name": "Theirs"})
    other.made("/v1/projects/35e9/attributes", {"id": "3812", "name": "Start", "type": "date"})
    other.made("/v1/projects/35e9/issues", {"name": "x", "fields": {"3812": "2023-01-01"}})
    account.derive()
    theirs = [item for item in account.items() if "0808" in item["PK"]["S"]]
    api.delete(f"{bridge}/attributes/3812")
    api.delete(bridge)
    account.upkeep()
    assert [item for item in account.items() if "0808" in item["PK"]["S"]] == theirs
