"""The effects of the routes of webhooks: the messages to a receiver, and the secret that signs each."""

import base64
import hmac
from collections.abc import Callable
from typing import Any

import pytest

from gridview.encoding import keys, live_keys
from tests.support.deliveries import URL, Courier
from tests.support.effects import CALLER, PROJECT, TENANT, Example
from tests.support.receivers import Receiver
from tests.support.worked_example import PATH

WEBHOOKS = live_keys.webhooks(TENANT, PROJECT)


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def hook(example: Example) -> str:
    """The id of the webhook of the event file, which receives creations and updates."""
    made: str = example.before("create_webhook").body["id"]
    return made


Send = Callable[[str], list[Any]]


@pytest.fixture
def send(example: Example, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Send:
    """Changes the state of issue 2, and delivers the change. Returns the types of the messages so far."""
    courier = Courier(example.account, example.api, receiver, monkeypatch)

    def change(state: str) -> list[Any]:
        assert example.api.patch(f"{PATH}/issues/2", {"state": state}).status == 200
        example.follow()
        courier.deliver()
        courier.wait(2.0)  # for the hint at a change that follows another within a second
        return [(message["type"], message["data"]["version"]) for message in receiver.contents]

    return change


def test_list_webhooks(example: Example, hook: str) -> None:
    (listed,) = example.read().body["items"]
    assert (listed["id"], listed["url"], listed["created_by"]) == (hook, URL, CALLER)
    assert "secret" not in listed


def test_create_webhook(example: Example, send: Send) -> None:
    answer = example.write(201)
    made = {name: value for name, value in answer.body.items() if name != "secret"}
    assert example.api.get(answer.headers["location"]).body == made
    outbox = live_keys.outbox(TENANT, PROJECT, made["id"]), live_keys.OUTBOX
    epoch = keys.project(TENANT, PROJECT), keys.CATALOG
    assert example.changed.keys() == {(WEBHOOKS, made["id"]), outbox, epoch}
    assert answer.body["secret"] not in str(example.item((WEBHOOKS, made["id"])))
    assert send("open") == [("update", 2)]


def test_get_webhook(example: Example, hook: str) -> None:
    found = example.read().body
    assert (found["id"], found["url"], found["enabled"]) == (hook, URL, True)
    assert found["events"] == ["create", "update"]


def test_update_webhook(example: Example, hook: str, send: Send) -> None:
    assert send("open") == [("update", 2)]
    answer = example.write(200).body
    assert example.get(f"/webhooks/{hook}") == answer
    assert (answer["enabled"], answer["version"], answer["updated_by"]) == (False, 2, CALLER)
    assert (WEBHOOKS, hook) in example.changed
    assert send("closed") == [("update", 2)], "nothing is sent to a disabled one"


def test_delete_webhook(example: Example, hook: str, send: Send) -> None:
    assert send("open") == [("update", 2)]
    example.write(204)
    assert example.gone(f"/webhooks/{hook}")
    assert example.get("/webhooks")["items"] == []
    assert example.changed[WEBHOOKS, hook] is None
    assert send("closed") == [("update", 2)]
    assert live_keys.OUTBOX not in example.partition(live_keys.outbox(TENANT, PROJECT, hook))


def test_rotate_webhook(example: Example, hook: str, send: Send, receiver: Receiver) -> None:
    answer = example.write(200).body
    assert answer["previous_secret_expires"] == example.get(f"/webhooks/{hook}")["previous_secret_expires"]
    assert example.changed.keys() == {(WEBHOOKS, hook)}
    send("open")
    (message,) = receiver.received
    signed = ".".join(
        (message.headers["webhook-id"], message.headers["webhook-timestamp"], message.body.decode())
    )
    key = base64.b64decode(answer["secret"].removeprefix("whsec_"))
    signature = base64.b64encode(hmac.digest(key, signed.encode(), "sha256")).decode()
    by_the_new, by_the_old = message.headers["webhook-signature"].split(" ")
    assert by_the_new == f"v1,{signature}" != by_the_old


def test_list_deliveries(example: Example, hook: str, send: Send) -> None:
    send("open")
    send("closed")
    listed = example.read().body["items"]
    assert [(one["issue"], one["event"], one["status"], one["response_status"]) for one in listed] == [
        ({"num": 2, "version": 3}, "update", "delivered", 200),
        ({"num": 2, "version": 2}, "update", "delivered", 200),
    ]


def test_replay_delivery(
    example: Example, hook: str, send: Send, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    send("open")
    (delivery,) = example.get(f"/webhooks/{hook}/deliveries")["items"]
    answer = example.write(202).body
    assert (answer["id"], answer["status"]) == (delivery["id"], "pending")
    Courier(example.account, example.api, receiver, monkeypatch).deliver()
    first, again = receiver.received
    assert (first.body, first.headers["webhook-id"]) == (again.body, again.headers["webhook-id"])
    (sent,) = example.get(f"/webhooks/{hook}/deliveries")["items"]
    assert (sent["status"], sent["next_attempt"]) == ("delivered", None)
    assert sent["last_attempt"] > delivery["last_attempt"]
