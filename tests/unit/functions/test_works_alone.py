"""A small account: the minute's tasks do the work, and no queue invokes a function."""

from collections.abc import Callable
from typing import Any

import pytest

from gridview.encoding import live_keys
from gridview.live import push_turn
from gridview.support import clock
from gridview.support.fold_pace import pace
from gridview.view.beats import Canary, Heart
from tests.support.cloud import Cloud
from tests.support.deliveries import URL, Courier
from tests.support.http import Client, Context
from tests.support.receivers import Receiver
from tests.support.sockets import Commits, SocketClient, connected

MINUTE = Context(milliseconds_left=60_000)


@pytest.fixture
def alone(account: Cloud, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """Functions with the setting for a small account."""
    for name in ("upkeep", "deliver", "socket"):
        monkeypatch.setattr(account.modules[name], "alone", True)
    # The one of earlier tests would not yet put the next heartbeat.
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
def test_each_minute_measures_the_age_of_the_canary_and_overdue_folds(
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
    measured: dict[str, float] = {}
    monkeypatch.setattr(
        upkeep.metrics, "add_metric", lambda **one: measured.update({one["name"]: one["value"]})
    )
    _task(alone, "upkeep", "jobs")
    assert 0 <= measured["CanaryAge"] < 30
    assert "FoldOverdue" not in measured, "an unneeded metric is not written, since it costs money"
    api.made(f"{project}/issues", {"name": "a"})
    alone.derive()
    later(pace().seconds + 1_200)
    _task(alone, "upkeep", "jobs")
    assert measured["FoldOverdue"] == pytest.approx(1_200, abs=60)


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
    assert sorted(one["data"]["num"] for one in courier.receiver.contents) == [1, 2, 3]
    assert _task(courier.account, "deliver", "webhooks")["attempts"] == 0


def test_nothing_is_sent_when_the_time_is_up(courier: Courier, project: str) -> None:
    courier.account.forget()
    courier.api.made(f"{project}/webhooks", {"url": URL})
    courier.issue(project)
    late = Context(milliseconds_left=20_000)
    assert _task(courier.account, "deliver", "webhooks", late)["attempts"] == 0
    assert courier.receiver.contents == []


def test_the_heart_beats_in_the_minutes_without_jobs(alone: Cloud) -> None:
    assert _task(alone, "upkeep", "beat") == {}
    assert [item for item in alone.items() if item["PK"]["S"] == "beat"] != []


# Pushes


@pytest.fixture
def client(alone: Cloud, api: Client, project: str) -> SocketClient:
    made = connected(alone, api, project)
    made.subscribe()
    return made


def _received(client: SocketClient) -> list[Any]:
    client.frames()
    return [event["id"] for event in client.events["all"]]


def test_one_invocation_pushes_and_gives_its_turn_back(
    alone: Cloud, api: Client, project: str, client: SocketClient
) -> None:
    commits = Commits(alone)
    for number in (1, 2):
        api.made(f"{project}/issues", {"name": "one"})
        alone.derive()
        assert commits.push() == {"batchItemFailures": []}
        assert len(_received(client)) == number
        assert (live_keys.PUSHING, live_keys.PUSHING) not in alone.table.items


def test_other_invocations_end_at_once_and_the_busy_one_sends_their_changes(
    alone: Cloud, api: Client, project: str, client: SocketClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one pushes the first issue, another receives the second: it sends nothing, and records the debt."""
    commits, quiet = Commits(alone), api.made("/v1/projects", {"name": "No listener"})["id"]
    api.made(f"{project}/issues", {"name": "one"})
    alone.derive()
    first = commits.take()
    api.made(f"{project}/issues", {"name": "two"})
    api.made(f"/v1/projects/{quiet}/issues", {"name": "one"})
    alone.derive()
    second = commits.take()
    wire, sent = alone.wire, list[int]()
    post = wire.post

    def meanwhile(connection: str, frame: bytes) -> None:
        post(connection, frame)
        sent.append(len(frame))
        if len(sent) == 1:
            assert commits.deliver(second) == {"batchItemFailures": []}
            assert len(sent) == 1, "the second invocation sends nothing"
            owed = [pk for pk, sk in alone.table.items if sk == live_keys.OWED]
            assert owed == [live_keys.owed_pushes("0807", project.rpartition("/")[2])]

    monkeypatch.setattr(wire, "post", meanwhile)
    assert commits.deliver(first) == {"batchItemFailures": []}
    assert len(_received(client)) == 2
    assert client.missed == 0
    assert [place for place in alone.table.items if place[1] in (live_keys.OWED, live_keys.PUSHING)] == []


def test_the_turn_of_an_invocation_that_died_ends(
    alone: Cloud, api: Client, project: str, client: SocketClient
) -> None:
    commits = Commits(alone)
    holder = push_turn.take(alone.table)
    assert holder is not None
    assert push_turn.take(alone.table) is None
    api.made(f"{project}/issues", {"name": "one"})
    alone.derive()
    records = commits.take()
    commits.deliver(records)
    assert _received(client) == []
    item = alone.table.items[live_keys.PUSHING, live_keys.PUSHING]
    assert item["until"] <= clock.after(push_turn.SECONDS)
    alone.table.put({**item, "until": clock.after(-1)})
    commits.deliver(records)
    assert len(_received(client)) == 1
    # Only the holder gives it back.
    other = push_turn.take(alone.table)
    push_turn.give_back(alone.table, holder)
    assert push_turn.take(alone.table) is None
    assert other is not None
    push_turn.give_back(alone.table, other)
    assert push_turn.take(alone.table) is not None
