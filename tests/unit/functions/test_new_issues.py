"""After an import the grid is right at once without a consumer: the overlay has the new issues without a token."""

from typing import Any

import pytest

from gridview.query import planner
from gridview.support import clock
from tests.support.cloud import Cloud
from tests.support.http import Client


def imported(api: Client, bridge: str, count: int) -> list[int]:
    operations = [
        {"create": {"name": f"Part {place}", "fields": {"3812": f"2024-01-{1 + place % 28:02d}"}}}
        for place in range(count)
    ]
    answer = api.post(f"{bridge}/issues/batch", {"operations": operations})
    return [result["issue"]["num"] for result in answer.body["results"]]


def grid(api: Client, bridge: str, **body: Any) -> Any:
    return api.post(f"{bridge}/grid", {"count": True, "limit": 500, **body}).body


def nums(page: Any) -> list[int]:
    return [row["num"] for row in page["rows"]]


@pytest.fixture
def indexed(account: Cloud, bridge: str) -> str:
    """The worked example's project, completely indexed."""
    account.derive()
    account.fold()
    account.forget()
    return bridge


@pytest.fixture
def moving_time(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds by which the functions' clock is ahead."""
    ahead, real = [0.0], clock.seconds
    monkeypatch.setattr(clock, "seconds", lambda: real() + ahead[0])
    return ahead


def test_an_import_is_in_rows_counts_groups_and_places_at_once(
    api: Client, account: Cloud, indexed: str
) -> None:
    new = imported(api, indexed, 120)
    sort = [{"field": "3812", "direction": "desc"}]
    page = grid(api, indexed, sort=sort)
    assert (page["total"], page["matched"], len(page["rows"])) == (123, 123, 123)
    assert page["index"]["pending"] == 120
    assert grid(api, indexed, filter={"field": "3812", "op": "gte", "value": "2024-01-01"})["matched"] == 120
    place = api.get(f"{indexed}/issues/{new[5]}/row-number", query={"sort": "-3812"}).body
    assert place["row_number"] == nums(page).index(new[5])
    account.derive()
    account.fold()
    account.forget()
    settled = grid(api, indexed, sort=sort)
    assert nums(settled) == nums(page)
    assert settled["index"]["pending"] == 0


def test_the_plan_says_that_new_issues_were_overlaid(api: Client, indexed: str) -> None:
    imported(api, indexed, 7)
    plan = grid(api, indexed, explain=True)["explain"]["plan"]
    assert any("7 issues that the index does not have yet, and overlay them" in said for said in plan)


def test_the_plan_says_that_too_many_new_issues_are_missing(
    api: Client, indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "WHOLE", 100)
    monkeypatch.setattr(planner, "CANDIDATES", 110)
    imported(api, indexed, 107)
    page = grid(api, indexed, explain=True)
    assert (page["total"], page["index"]["pending"]) == (110, 107)
    imported(api, indexed, 4)
    page = grid(api, indexed, explain=True, sort=[{"field": "3812"}])
    assert (page["total"], page["index"]["pending"]) == (3, 111)
    assert any("too many to be overlaid" in said for said in page["explain"]["plan"])


def test_all_new_issues_of_a_small_project_are_overlaid(
    api: Client, indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "CANDIDATES", 5)
    imported(api, indexed, 40)
    assert grid(api, indexed)["total"] == 43


def test_unused_numbers_and_deleted_new_issues_are_no_rows(api: Client, indexed: str) -> None:
    first, second = imported(api, indexed, 2)
    api.delete(f"{indexed}/issues/{first}")
    page = grid(api, indexed)
    assert nums(page) == [1, 2, 3, second]
    assert page["index"]["pending"] == 1


def test_an_idle_project_is_not_searched_for_new_issues(
    api: Client, account: Cloud, indexed: str, moving_time: list[float]
) -> None:
    imported(api, indexed, 2)
    account.derive()
    account.fold()
    account.forget()
    grid(api, indexed)
    lately = grid(api, indexed, explain=True)["explain"]
    moving_time[0] = 600.0
    idle = grid(api, indexed, explain=True)["explain"]
    assert "new issues read" in str(lately["tree"])
    assert "new issues read" not in str(idle["tree"])
    of_the_head = 1  # of the journal, which is read again after a minute
    assert idle["read_units"] - of_the_head <= lately["read_units"]
