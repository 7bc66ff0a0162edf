"""A small account: the minute's tasks do the work, and no queue invokes a function."""

from collections.abc import Callable
from typing import Any

import pytest

from gridview.support.fold_pace import pace
from gridview.view.canary import Canary
from gridview.view.heartbeat import Heart
from tests.support.cloud import Cloud
from tests.support.deliveries import URL, Courier
from tests.support.http import Client, Context
from tests.support.receivers import Receiver

MINUTE = Context(milliseconds_left=60_000)


@pytest.fixture
def alone(account: Cloud, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """Functions that are told to work alone."""
    for name in ("upkeep", "deliver"):
        monkeypatch.setattr(account.modules[name], "alone", True)
    # The one of the tests before would not yet put the next heartbeat.
    monkeypatch.setattr(account.modules["upkeep"], "heart", Heart())
    return account


@pytest.fixture
def courier(alone: Cloud, api: Client, monkeypatch: pytest.MonkeyPatch) -> Courier:
    return Courier(alone, api, Receiver(), monkeypatch)


def _task(account: Cloud, function: str, task: str, context: Context = MINUTE) -> Any:
    return account.modules[function].handler({"task": task}, context)


def test_a_job_is_finished_by_the_task_and_the_heart_beats(alone: Cloud, api: Client, project: str) -> None:
    for name in ("a", "b"):
        api.made(f"{project}/issues", {"name": name})
    alone.derive()
    begun = api.post(f"{project}/issues/update-matching", {"filter": None, "set": {"state": "closed"}})
    alone.hints.clear()
    worked = _task(alone, "upkeep", "jobs")
    assert worked["jobs"] >= 1
    assert api.get(begun.headers["location"]).body["state"] == "done"
    assert [item for item in alone.items() if item["PK"]["S"] == "beat"] != []
    assert _task(alone, "upkeep", "jobs") == {"jobs": 0, "issues": 0}


@pytest.mark.parametrize("works_alone", [True, False])
def test_the_minute_tells_the_age_of_the_canary_and_which_fold_is_overdue(
    alone: Cloud,
    api: Client,
    project: str,
    monkeypatch: pytest.MonkeyPatch,
    later: Callable[[float], None],
    works_alone: bool,
) -> None:
    upkeep = alone.modules["upkeep"]
    monkeypatch.setattr(upkeep, "alone", works_alone)
    monkeypatch.setattr(upkeep, "canary", Canary())
    told: dict[str, float] = {}
    monkeypatch.setattr(upkeep.metrics, "add_metric", lambda **one: told.update({one["name"]: one["value"]}))
    _task(alone, "upkeep", "jobs")
    assert 0 <= told["CanaryAge"] < 30
    assert "FoldOverdue" not in told, "what nobody needs is not written, since it is paid for"
    api.made(f"{project}/issues", {"name": "a"})
    alone.derive()
    later(pace().seconds + 1_200)
    _task(alone, "upkeep", "jobs")
    assert told["FoldOverdue"] == pytest.approx(1_200, abs=60)


def test_no_job_is_begun_when_the_time_is_up(alone: Cloud, api: Client, project: str) -> None:
    begun = api.post(f"{project}/issues/update-matching", {"filter": None, "set": {"state": "closed"}})
    assert _task(alone, "upkeep", "jobs", Context(milliseconds_left=15_000))["jobs"] == 0
    assert api.get(begun.headers["location"]).body["state"] == "waiting"


def test_due_messages_are_sent_by_the_task_until_none_is_left(courier: Courier, project: str) -> None:
    courier.account.forget()
    courier.api.made(f"{project}/webhooks", {"url": URL})
    for name in ("a", "b", "c"):
        courier.issue(project, name)
    courier.account.outboxes.clear()
    sent = _task(courier.account, "deliver", "webhooks")
    assert (sent["attempts"], sent["failures"]) == (3, 0)
    assert sorted(one["data"]["num"] for one in courier.receiver.told) == [1, 2, 3]
    assert _task(courier.account, "deliver", "webhooks")["attempts"] == 0


def test_nothing_is_sent_when_the_time_is_up(courier: Courier, project: str) -> None:
    courier.account.forget()
    courier.api.made(f"{project}/webhooks", {"url": URL})
    courier.issue(project)
    late = Context(milliseconds_left=20_000)
    assert _task(courier.account, "deliver", "webhooks", late)["attempts"] == 0
    assert courier.receiver.told == []
