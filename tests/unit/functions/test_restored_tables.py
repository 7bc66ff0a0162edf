"""A table that was restored to an earlier moment, from outside: followers that have read further read everything again.

The journal then issues numbers again. Followers by polls, rows, sockets and webhooks, and cursors used as consistency
tokens, may name a later number. They may also name another item under the same number.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from devtools.proof.faults.bucket import MemoryBatches
from gridview.encoding import derived_keys, live_keys
from gridview.encoding.json_codec import dumps
from gridview.maintenance.waiting import BY_LAMBDA, Batch, Records
from gridview.view import journal_tail
from tests.support.cloud import Cloud
from tests.support.deliveries import URL, Courier
from tests.support.http import Answer, Client, Context
from tests.support.receivers import Receiver, answers
from tests.support.sockets import Commits, SocketClient, connected

OPEN = {"filter": dumps({"field": "state", "op": "eq", "value": "open"}).decode()}
RESET = {"kind": "reset"}

AGAIN = pytest.mark.parametrize("again", [0, 1, 3, 5])
"""The number of changes after the restore, before followers look: two were lost by it."""


@pytest.fixture
def path(account: Cloud, project: str) -> str:
    account.forget()
    return project


LOST_STREAM = "arn:aws:dynamodb:eu-west-2:123456789012:table/lost/stream/2026-11-21T08:00:00.000"

Deliver = Callable[[Cloud, Records, pytest.MonkeyPatch], None]


def _by_the_stream(account: Cloud, records: Records, _: pytest.MonkeyPatch) -> None:
    """A deployment changes the functions' table before it removes the mapping of the old stream."""
    event = {"Records": records}
    assert account.modules["maintain"].handler(event, Context()) == {"batchItemFailures": []}


def _by_upkeep(account: Cloud, records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old table refused the consumer's writes, so Lambda gave up the batch."""
    upkeep, batches = account.modules["upkeep"], MemoryBatches()
    monkeypatch.setattr(upkeep, "batches", batches)
    content = Batch(records, recorded=False, reason="RetryAttemptsExhausted").encoded()
    batches.put(f"{BY_LAMBDA}00000000-0000-4000-8000-000000000000", content)
    assert upkeep.redrive_batches(lambda: 1.0)["batches_done"] == 1
    assert not batches.contents


class Past:
    """A project with an issue; two more are created, and lost by a restore."""

    def __init__(self, account: Cloud, api: Client, path: str) -> None:
        self.account, self.api, self.path = account, api, path
        self.issue("first")
        self._copy = account.table.copy()

    def issue(self, name: str) -> int:
        """A new issue, which the consumer processes by itself."""
        num: int = self.api.made(f"{self.path}/issues", {"name": name})["num"]
        self.account.follow()
        return num

    def go_on(self) -> None:
        for name in ("lost", "lost too"):
            self.issue(name)

    def restore(self, again: int, kept: Mapping[Any, Any] | None = None) -> None:
        """Restore the one issue; then create so many others. `kept`: items that stay unchanged."""
        self.account.table.restore(self._copy)
        for item in (kept or {}).values():
            self.account.table.put(item)
        self.account.stream.take()
        self.account.forget()
        for count in range(again):
            self.issue(f"other {count}")


@pytest.fixture
def past(account: Cloud, api: Client, path: str) -> Past:
    return Past(account, api, path)


def changes(api: Client, path: str, since: str, **more: str) -> Answer:
    answer = api.get(f"{path}/changes", query={"since": since, **more})
    assert answer.status == 200, answer.text
    return answer


@AGAIN
@pytest.mark.parametrize("rows", [{}, OPEN], ids=["all", "rows"])
def test_a_poll_of_a_lost_cursor_is_a_reset(
    api: Client, path: str, past: Past, again: int, rows: dict[str, str]
) -> None:
    begun = api.get(f"{path}/changes", query=rows).body["next"]
    past.go_on()
    found = changes(api, path, begun, **rows)
    assert [event["num"] for event in found.body["items"]] == [2, 3]
    lost = [
        found.body["next"],
        changes(api, path, found.body["next"], **rows).body["next"],
        api.get(f"{path}/changes").body["next"],
    ]
    past.restore(again)
    answers = [changes(api, path, cursor, **rows).body for cursor in lost]
    assert [answer["items"] for answer in answers] == [[RESET]] * 3
    num = past.issue("next")
    for answer in answers:
        assert [one["num"] for one in changes(api, path, answer["next"], **rows).body["items"]] == [num]
    assert [event["kind"] for event in changes(api, path, begun, **rows).body["items"]][:1] == ["create"], (
        "what is there still is gone on from"
    )


def test_a_grid_follows_from_before_the_restore_by_a_reset(api: Client, path: str, past: Past) -> None:
    past.go_on()
    lost = api.post(f"{path}/grid", {"count": True}).body["changes_cursor"]
    past.restore(0)
    assert changes(api, path, lost).body["items"] == [RESET]


@pytest.mark.parametrize("again", [0, 4])
def test_a_lost_cursor_in_the_place_of_a_token_asks_for_nothing(
    api: Client, path: str, past: Past, again: int
) -> None:
    begun = api.get(f"{path}/changes").body["next"]
    past.go_on()
    lost = changes(api, path, begun).body["next"]
    past.restore(again)
    for call, body in (("grid", {"count": True}), ("groups", {"by": [{"field": "state"}]})):
        answer = api.post(f"{path}/{call}", body, headers={"x-consistency-token": lost})
        assert answer.status == 200, answer.text
    job = api.post(f"{path}/issues/delete-matching", {"filter": None}, headers={"x-consistency-token": lost})
    assert job.status in (202, 400), job.text


def test_a_number_that_was_given_out_is_still_waited_for(
    account: Cloud, api: Client, path: str, past: Past
) -> None:
    """Its item is not there yet: the answer cannot include it, and says so."""
    past.go_on()
    lost = api.get(f"{path}/changes").body["next"]
    place = derived_keys.journal("0807", "plain")
    for number in (2, 3):
        for key in (derived_keys.journal_item(number), derived_keys.journal_mark(number)):
            account.table.delete(place, key)
    account.forget()
    answer = api.post(f"{path}/grid", {}, headers={"x-consistency-token": lost})
    assert answer.kind == (503, "overloaded")


def test_a_container_that_has_read_further_reads_the_journal_again(
    account: Cloud, api: Client, path: str, past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    past.go_on()
    assert api.post(f"{path}/grid", {"count": True}).body["total"] == 3
    caches = {name: module.cache for name, module in account.modules.items() if hasattr(module, "cache")}
    past.restore(0)
    for name, cache in caches.items():
        kept = cache.journal(derived_keys.journal("0807", "plain"))
        if kept is not None:
            account.modules[name].cache.keep_journal(derived_keys.journal("0807", "plain"), kept, 0)
    monkeypatch.setattr(journal_tail, "_HEAD_SECONDS", 0.0)
    monkeypatch.setattr(journal_tail, "_IDLE_SECONDS", 0.0)
    assert api.post(f"{path}/grid", {"count": True}).body["total"] == 1
    past.issue("other")
    answer = api.post(f"{path}/grid", {"count": True}).body
    assert (answer["total"], [row["name"] for row in answer["rows"]]) == (2, ["first", "other"])


@AGAIN
def test_a_socket_at_a_lost_cursor_gets_a_reset(
    account: Cloud, api: Client, path: str, past: Past, again: int
) -> None:
    commits = Commits(account)
    client = connected(account, api, path)
    client.subscribe("all")
    client.subscribe("rows", filter={"field": "state", "op": "eq", "value": "open"})
    past.go_on()
    commits.push()
    assert client.ids("all") == client.ids("rows") == ["2.1", "3.1"]
    # A client that returns, and one whose connection stayed open, with its subscriptions.
    open_still = {
        key: item for key, item in account.table.items.items() if key[0].startswith(live_keys.SOCKETS_PREFIX)
    }
    past.restore(again, kept=open_still)
    back = SocketClient(account)
    back.cursors, back.events = dict(client.cursors), {"all": [], "rows": []}
    back = _reconnected(account, api, path, back)
    for name, more in (("all", {}), ("rows", {"filter": {"field": "state", "op": "eq", "value": "open"}})):
        back.subscribe(name, **more)
    num = past.issue("next")
    commits.push()
    for one in (client, back):
        for name in ("all", "rows"):
            assert one.ids(name)[-2:] in (["reset", f"{num}.1"], ["3.1", "reset"]), one.events
            assert "reset" in one.ids(name)
            assert one.missed == 0
    after = past.issue("after")
    commits.push()
    for one in (client, back):
        assert one.ids("all")[-1] == one.ids("rows")[-1] == f"{after}.1"


def _reconnected(account: Cloud, api: Client, path: str, away: SocketClient) -> SocketClient:
    """A new connection of a client that was away."""
    client = connected(account, api, path)
    client.cursors, client.events = away.cursors, away.events
    return client


@AGAIN
@pytest.mark.parametrize("followed", ["all", "view"])
def test_a_webhook_ahead_of_the_journal_is_sent_a_reset_and_then_all_that_comes(
    account: Cloud,
    api: Client,
    path: str,
    monkeypatch: pytest.MonkeyPatch,
    again: int,
    followed: str,
) -> None:
    receiver = Receiver()
    courier = Courier(account, api, receiver, monkeypatch)
    more: dict[str, Any] = {}
    if followed == "view":
        query = {"filter": {"field": "state", "op": "eq", "value": "open"}}
        more["view"] = api.made(f"{path}/views", {"name": "Open", "visibility": "shared", "query": query})[
            "id"
        ]
    hook = api.made(f"{path}/webhooks", {"url": URL, **more})
    past = Past(account, api, path)
    courier.deliver()
    past.go_on()
    courier.wait(5)
    assert len(receiver.contents) == 3
    outbox = live_keys.outbox("0807", "plain", hook["id"])
    kept = {key: item for key, item in account.table.items.items() if key[0] == outbox}
    account.outboxes.clear()
    past.restore(again, kept=kept)
    courier.wait(400)
    receiver.behaves.append(answers(500))
    nums = [past.issue(name) for name in ("next", "after")]
    courier.wait(400)
    sent = [(one["type"], one.get("data", {}).get("num")) for one in receiver.contents[3:]]
    event = "create" if followed == "all" else "enter"
    assert sent[0][0] == "reset", "what follows a reset is sent after it"
    assert sum(kind == "reset" for kind, _ in sent) == 1
    assert {num for kind, num in sent if kind == event} == {*nums}
    assert len(sent) == 1 + len(nums) + 1, (
        "the message that failed is sent once more, though its number was used before"
    )
    log = api.get(f"{path}/webhooks/{hook['id']}/deliveries").body["items"]
    assert {one["status"] for one in log} == {"delivered"}
    assert {one["issue"]["num"] for one in log if one["issue"]} >= {*nums}


@pytest.mark.parametrize("deliver", [_by_the_stream, _by_upkeep])
def test_records_of_the_lost_table_change_nothing(
    account: Cloud, api: Client, path: str, deliver: Deliver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the lost time, an issue was permanently deleted, another one changed, and another one created."""
    purged, changed = (api.made(f"{path}/issues", {"name": name})["num"] for name in ("purged", "changed"))
    api.made(f"{path}/issues/{purged}/comments", {"text": "Comes back"})
    account.follow()
    copy = account.table.copy()
    assert api.delete(f"{path}/issues/{purged}").status == 204
    assert api.delete(f"{path}/trash/{purged}").status == 204
    assert api.patch(f"{path}/issues/{changed}", {"name": "lost"}).status == 200
    api.made(f"{path}/issues", {"name": "lost"})
    lost = [{**one, "eventSourceARN": LOST_STREAM} for one in account.stream.take()]
    account.table.restore(copy)
    before = account.items()
    deliver(account, lost, monkeypatch)
    assert account.items() == before
    assert [one["text"] for one in api.get(f"{path}/issues/{purged}/comments").body["items"]] == [
        "Comes back"
    ]
