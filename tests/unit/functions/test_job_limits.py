"""The limits of open jobs for a user, a project and a tenant, and the order of their turns."""

from typing import Any

import pytest

from gridview.commands import jobs
from gridview.encoding import keys
from gridview.schema.user_jobs import (
    MOST_EXPORTS_OF_PROJECT,
    MOST_EXPORTS_OF_USER,
    MOST_OF_PROJECT,
    MOST_OF_TENANT,
    MOST_OF_USER,
    JobLine,
)
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client, Context

CLOSE = {"filter": None, "set": {"state": "closed"}}


def export(api: Client, project: str, user: str = "ann") -> Answer:
    return api.acting(user=user, role="viewer").post(f"{project}/export", {"format": "csv"})


def change(api: Client, project: str, user: str = "ann") -> Answer:
    return api.acting(user=user, role="editor").post(f"{project}/issues/update-matching", CLOSE)


@pytest.fixture
def other(api: Client, project: str) -> str:
    """Another project of the tenant."""
    api.made("/v1/projects", {"name": "Other", "id": "other"})
    return "/v1/projects/other"


def test_a_user_has_three_exports_in_all_projects_together(
    api: Client, account: Cloud, project: str, other: str
) -> None:
    begun = [export(api, path) for path in (project, other, project)]
    assert [one.status for one in begun] == [202] * MOST_EXPORTS_OF_USER
    before = account.items()
    refused = export(api, other)
    assert refused.kind == (429, "too-many-jobs")
    assert account.items() == before, "nothing was written"
    assert int(refused.headers["retry-after"]) > 0
    paths = [one.headers["location"] for one in begun]
    assert refused.body["jobs"] == [{"kind": "export", "path": path} for path in paths]
    assert refused.body["detail"] == (
        f"You have 3 open exports, the most allowed for a user: {', '.join(paths)}. "
        "Wait until one ends, or cancel one: DELETE /v1/projects/{project}/jobs/{job}."
    )
    assert change(api, project).status == 202, "other jobs have room"
    assert export(api, other, user="ben").status == 202, "and other users"


def test_a_cancelled_job_makes_room_after_its_turn(api: Client, account: Cloud, project: str) -> None:
    begun = [export(api, project) for _ in range(MOST_EXPORTS_OF_USER)]
    assert export(api, project).status == 429
    viewer = api.acting(role="viewer")
    assert viewer.delete(begun[1].headers["location"]).status == 204
    account.deliver_hints()
    assert export(api, project).status == 202


def test_a_user_has_ten_jobs(api: Client, project: str, other: str) -> None:
    for at in range(MOST_OF_USER):
        assert change(api, (project, other)[at % 2]).status == 202
    refused = change(api, other)
    assert refused.kind == (429, "too-many-jobs")
    assert len(refused.body["jobs"]) == MOST_OF_USER
    assert export(api, project).status == 429
    assert change(api, project, user="ben").status == 202


def test_sixty_exports_of_viewers_leave_room_for_the_changes_of_an_editor(api: Client, project: str) -> None:
    statuses = [export(api, project, user=f"user{at // 3}").status for at in range(60)]
    assert statuses.count(202) == MOST_EXPORTS_OF_PROJECT
    assert [change(api, project, user="ed").status for _ in range(6)] == [202] * 6


def test_a_project_and_a_tenant_have_a_limit(
    api: Client, project: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_EXPORTS_OF_PROJECT < MOST_OF_PROJECT < MOST_OF_TENANT
    monkeypatch.setattr(jobs, "MOST_OF_TENANT", 1)
    assert change(api, project).status == 202
    refused = change(api, other, user="ben")
    assert refused.kind == (429, "too-many-jobs")
    assert "jobs" not in refused.body, "whose they are is not the caller's business"
    assert change(api.acting(tenant="0808"), project).status == 404


def test_one_of_two_concurrent_starts_at_the_limit_succeeds(
    api: Client, account: Cloud, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(MOST_EXPORTS_OF_USER - 1):
        export(api, project)
    table, answers = account.modules["command"].table, []
    transact = table.transact

    def beaten(writes: Any) -> None:
        monkeypatch.setattr(table, "transact", transact)
        answers.append(export(api, project))
        transact(writes)

    monkeypatch.setattr(table, "transact", beaten)
    answers.append(export(api, project))
    assert sorted(one.status for one in answers) == [202, 429]
    stored = account.table.get(keys.job_line("0807"), keys.LINE)
    assert stored is not None
    assert len(JobLine.from_item(stored).open) == MOST_EXPORTS_OF_USER


def test_a_tenant_with_many_jobs_has_one_hint_so_another_waits_for_one_turn(
    api: Client, account: Cloud, project: str, other: str
) -> None:
    for at in range(40):
        assert change(api, (project, other)[at % 2], user=f"user{at // 5}").status == 202
    stranger = api.acting(tenant="0808", user="sue")
    path = stranger.made("/v1/projects", {"name": "Theirs", "id": "theirs"})["id"]
    assert change(stranger, f"/v1/projects/{path}", user="sue").status == 202
    account.hints.clear()
    assert account.modules["upkeep"].handler({"task": "jobs"}, Context())["due"] == 2
    assert {hint.partition for hint in account.hints} == {keys.job_line("0807"), keys.job_line("0808")}
