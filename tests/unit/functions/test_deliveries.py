"""The delivery of webhooks, from outside: writes over HTTP, a receiver with any bad behaviour, and passing time."""

import base64
import hashlib
import hmac
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from gridview.api.sealing import SECRETS
from gridview.dynamodb.expressions import PRESENT
from gridview.dynamodb.leases import RETRY
from gridview.encoding import derived_keys, live_keys
from gridview.encoding.seals import Seals
from gridview.live import deliveries, due_messages, feed
from gridview.live.delivery_attempts import AT_ONCE
from gridview.live.outbox import Reply
from gridview.live.sending import Sender
from gridview.schema.jobs import Hint
from gridview.support import clock
from gridview.support.errors import Conflict, Overloaded
from tests.support.cloud import Cloud
from tests.support.deliveries import URL, Courier
from tests.support.http import Client, Context
from tests.support.receivers import PUBLIC, Behaviour, Receiver, answers, hangs, pours, trusting
from tests.support.removed import removed

HOUR = 3_600


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def courier(account: Cloud, api: Client, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Courier:
    return Courier(account, api, receiver, monkeypatch)


@pytest.fixture
def path(courier: Courier, project: str) -> str:
    """A project with a journal."""
    courier.account.forget()
    return project


@pytest.fixture
def hook(courier: Courier, path: str) -> str:
    """The path of a webhook that receives all events."""
    hook: str = defined(courier, path)["path"]
    return hook


def defined(courier: Courier, path: str, **parts: Any) -> dict[str, Any]:
    made: dict[str, Any] = courier.api.made(f"{path}/webhooks", {"url": URL, **parts})
    return {**made, "path": f"{path}/webhooks/{made['id']}"}


def outbox(courier: Courier, hook: str) -> dict[str, Any]:
    return courier.account.table.items[
        live_keys.outbox("0807", "plain", hook.rpartition("/")[2]), live_keys.OUTBOX
    ]


# Messages


def test_a_message_contains_the_event_of_the_feed(courier: Courier, path: str, receiver: Receiver) -> None:
    made = defined(courier, path)
    feed = courier.api.get(f"{path}/changes").body["next"]
    issue = courier.issue(path)
    courier.api.patch(f"{path}/issues/{issue['num']}", {"name": "Paint all"})
    courier.account.follow()
    courier.deliver()
    events = courier.api.get(f"{path}/changes", query={"since": feed}).body["items"]
    assert [event["kind"] for event in events] == ["create", "update"]
    assert sorted(receiver.contents, key=lambda one: one["data"]["version"]) == [
        {
            "type": event["kind"],
            "timestamp": event["at"],
            "project": "plain",
            "webhook": made["id"],
            "data": event,
        }
        for event in events
    ]
    assert {message.resource for message in receiver.received} == {"/gridview"}
    assert {message.headers["webhook-id"] for message in receiver.received} == {
        f"{made['id']}_{issue['num']}_{version}" for version in (1, 2)
    }


def test_a_message_is_signed_by_the_secrets_in_force(courier: Courier, path: str, receiver: Receiver) -> None:
    made = defined(courier, path)
    courier.issue(path)
    courier.deliver()
    rotated = courier.api.post(f"{made['path']}/rotate").body
    courier.skip(1)
    courier.issue(path)
    courier.deliver()

    def good(secret: str, at: int) -> bool:
        message = receiver.received[at]
        signed = f"{message.headers['webhook-id']}.{message.headers['webhook-timestamp']}.".encode()
        key = base64.b64decode(secret.removeprefix("whsec_"))
        one = base64.b64encode(hmac.digest(key, signed + message.body, hashlib.sha256)).decode()
        return f"v1,{one}" in message.headers["webhook-signature"].split(" ")

    assert [good(made["secret"], 0), good(rotated["secret"], 0)] == [True, False]
    assert [good(made["secret"], 1), good(rotated["secret"], 1)] == [True, True]
    courier.skip(86_401)
    courier.issue(path)
    courier.deliver()
    assert [good(made["secret"], 2), good(rotated["secret"], 2)] == [False, True]
    assert abs(int(receiver.received[2].headers["webhook-timestamp"]) - clock.seconds()) < 60


def test_only_the_events_that_were_asked_for_are_sent(
    courier: Courier, path: str, receiver: Receiver
) -> None:
    hook = defined(courier, path, events=["delete", "restore"])["path"]
    issue = f"{path}/issues/{courier.issue(path)['num']}"
    courier.api.patch(issue, {"name": "Paint all"})
    assert courier.api.delete(issue).status == 204
    courier.account.follow()
    assert courier.api.post(f"{path}/trash/1/restore").status == 200
    courier.account.follow()
    courier.deliver()
    assert sorted(one["type"] for one in receiver.contents) == ["delete", "restore"]
    assert [one["event"] for one in courier.log(hook)] == ["restore", "delete"]


def test_a_write_that_changes_nothing_is_not_sent(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    issue = courier.issue(path, name="Paint")
    courier.api.patch(f"{path}/issues/{issue['num']}", {"name": "Paint"})
    courier.account.follow()
    courier.deliver()
    courier.wait(400)
    assert [one["type"] for one in receiver.contents] == ["create"]


def test_a_change_of_a_deleted_field_is_not_sent(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    attribute = courier.api.made(f"{path}/attributes", {"name": "Cost", "type": "number"})["id"]
    num = courier.issue(path)["num"]
    courier.deliver()
    courier.api.patch(f"{path}/issues/{num}", {"fields": {attribute: 5}})
    courier.account.follow()
    assert courier.api.delete(f"{path}/attributes/{attribute}").status == 204
    courier.skip(1)
    courier.deliver()
    assert [one["type"] for one in receiver.contents] == ["create"]
    assert outbox(courier, hook)["failures"] == 0


def test_changes_before_the_definition_of_a_webhook_are_not_sent(
    courier: Courier, path: str, receiver: Receiver
) -> None:
    courier.issue(path)
    hook = defined(courier, path)["path"]
    courier.wait(400)
    assert receiver.received == []
    courier.issue(path, name="After")
    courier.deliver()
    assert [one["data"]["num"] for one in receiver.contents] == [2]
    assert [one["issue"]["num"] for one in courier.log(hook)] == [2]


def test_a_message_too_large_names_its_fields_and_leaves_out_their_values(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    texts = [
        courier.api.made(f"{path}/attributes", {"name": f"Text {at}", "type": "text", "indexed": False})["id"]
        for at in range(100)
    ]
    courier.issue(path, fields=dict.fromkeys(texts, "\N{SNOWMAN}" * 1_000))
    courier.deliver()
    (message,) = receiver.received
    assert len(message.body) < 256 * 1024
    assert message.content["data"]["fields"] == {}
    assert {*texts, "name"} <= {*message.content["data"]["left_out"]}
    assert message.content["data"]["num"] == 1


def test_many_changes_are_all_sent_and_none_twice_while_nothing_fails(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    operations = [{"create": {"name": f"Issue {at}"}} for at in range(130)]
    assert courier.api.batch("plain", *operations).status == 200
    courier.account.follow()
    courier.deliver()
    courier.wait(1_000)
    assert sorted(one["data"]["num"] for one in receiver.contents) == list(range(1, 131))


# Times


def test_a_commit_is_followed_by_a_hint_and_each_later_one_within_a_second_by_another(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    courier.wait(30)
    courier.account.outboxes.clear()
    courier.issue(path)
    assert len(courier.account.outboxes) == 1
    courier.deliver()
    assert len(receiver.received) == 1
    for _ in range(3):
        courier.issue(path)
    (hint,) = courier.account.outboxes
    assert 0 < clock.until(hint.due) <= 1
    courier.deliver()
    assert len(receiver.received) == 1
    courier.skip(1)
    courier.deliver()
    assert len(receiver.received) == 4
    courier.skip(5)
    courier.issue(path)
    courier.deliver()
    assert len(receiver.received) == 5


def test_a_hint_that_is_lost_delays_a_message_by_minutes(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    courier.wait(30)
    courier.issue(path)
    courier.account.outboxes.clear()
    courier.wait(deliveries.IDLE + 120)
    assert len(receiver.received) == 1


def test_a_change_is_sent_within_seconds_though_the_stream_consumer_did_not_know_the_webhook(
    courier: Courier, path: str, receiver: Receiver
) -> None:
    for _ in range(2):
        courier.issue(path)  # The second look is the last for a second.
    hook = defined(courier, path)["path"]
    courier.tick()
    before = [*courier.account.outboxes]
    courier.issue(path)
    assert [*courier.account.outboxes] == before, "the change comes without a hint"
    courier.wait(4)
    assert len(receiver.received) == 1
    assert clock.until(outbox(courier, hook)["sort"]) > deliveries.IDLE - 10, "it rests after that"


def test_disabled_and_missing_webhooks_get_no_hint(courier: Courier, path: str, hook: str) -> None:
    courier.wait(30)
    courier.api.patch(hook, {"enabled": False})
    courier.wait(400)
    courier.account.outboxes.clear()
    courier.issue(path)
    assert not courier.account.outboxes
    courier.wait(HOUR)
    assert "sort" not in outbox(courier, hook)


def test_a_change_committed_during_a_turn_is_sent_by_that_turn(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    """The hint finds the outbox held, and its holder has read the feed to its end."""
    courier.wait(30)
    courier.issue(path)
    (first,) = courier.account.outboxes
    courier.account.outboxes.clear()
    done: list[Any] = []
    read = feed.read_changes

    def meanwhile(*given: Any, **named: Any) -> Any:
        page = read(*given, **named)
        if page.ended and not done:
            done.append(None)
            courier.skip(2)
            courier.issue(path, name="Meanwhile")
            done.append(courier.turn(*courier.account.outboxes))
            courier.account.outboxes.clear()
        return page

    courier.patch.setattr(due_messages, "read_changes", meanwhile)
    courier.turn(first)
    assert done[1]["attempts"] == 0
    assert [one["data"]["num"] for one in receiver.contents] == [1, 2]


# Failures and retries


def test_a_message_that_fails_is_tried_again_and_others_go_on(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    receiver.behaves.append(answers(500, b"broken"))
    courier.issue(path)
    courier.deliver()
    (failed,) = courier.log(hook)
    assert (
        failed.items()
        >= {
            "status": "pending",
            "attempts": 1,
            "response_status": 500,
            "response_body": "broken",
            "failure": "The receiver answered 500.",
        }.items()
    )
    assert failed["next_attempt"] > failed["last_attempt"]
    courier.issue(path)
    courier.skip(1)
    courier.deliver()
    assert [one["status"] for one in courier.log(hook)] == ["delivered", "pending"]
    courier.wait(6)
    assert [(one["status"], one["attempts"], one["response_status"]) for one in courier.log(hook)] == [
        ("delivered", 1, 200),
        ("delivered", 2, 200),
    ]
    ids = [message.headers["webhook-id"] for message in receiver.received]
    assert [ids[0], ids[2]] == [ids[0]] * 2
    assert not [sk for _, sk in courier.account.table.items if sk.startswith("retry.")]


def test_a_message_that_one_receiver_never_takes_is_tried_ten_times_over_a_day_and_given_up(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    """The others are accepted, so the webhook stays enabled."""
    began = clock.seconds()
    attempts: list[float] = []
    taken = answers()

    def behave(connection: Any) -> None:
        if receiver.received[-1].content["data"]["num"] == 1:
            attempts.append(clock.seconds() - began)
            answers(422, b"never")(connection)
        else:
            taken(connection)

    receiver.otherwise = behave
    courier.issue(path)
    courier.deliver()
    for _ in range(26):
        courier.issue(path)
        courier.wait(HOUR)
    assert len(attempts) == 10
    assert 21 * HOUR < attempts[-1] < 24 * HOUR
    gaps = [later - sooner for sooner, later in pairwise(attempts)]
    assert gaps == sorted(gaps)
    assert gaps[0] < 10
    log = courier.log(hook)
    assert (
        log[-1].items()
        >= {"status": "failed", "attempts": 10, "next_attempt": None, "response_status": 422}.items()
    )
    assert {one["status"] for one in log[:-1]} == {"delivered"}
    assert courier.api.get(hook).body["enabled"] is True


def test_a_receiver_that_is_down_is_tried_less_and_less_and_the_feed_waits(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    receiver.otherwise = answers(503)
    for _ in range(40):
        courier.issue(path)
    courier.wait(HOUR)
    tried = len(receiver.received)
    assert 8 <= tried < 25
    assert len(courier.log(hook)) < 12  # the others wait in the feed
    assert outbox(courier, hook)["state"] == "slow"
    receiver.otherwise = answers()
    courier.wait(2 * HOUR)
    taken = [message.content["data"]["num"] for message in receiver.received[tried:]]
    assert sorted(taken) == list(range(1, 41))  # none twice
    assert {one["status"] for one in courier.log(hook)} == {"delivered"}
    assert outbox(courier, hook)["state"] == "quick"


def test_a_webhook_is_disabled_after_a_day_of_failures(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    receiver.otherwise = answers(500, b"down")
    courier.issue(path)
    courier.wait(20 * HOUR)
    assert courier.api.get(hook).body["enabled"] is True
    courier.wait(5 * HOUR)
    found = courier.api.get(hook).body
    assert (found["enabled"], found["version"], found["updated_by"]) == (False, 2, "ann")
    first = courier.log(hook)[0]["at"][:16]
    assert found["warning"]["reason"].startswith(f"Every attempt since {first}")
    assert found["warning"]["reason"].endswith(" has failed. The last one: The receiver answered 500.")
    assert found["warning"]["at"] == found["updated"]
    tried = len(receiver.received)
    courier.issue(path)
    courier.wait(26 * HOUR)
    assert len(receiver.received) == tried
    assert "sort" not in outbox(courier, hook)


def test_each_choice_and_each_enabling_has_a_reset_though_nothing_changes(
    courier: Courier, path: str, receiver: Receiver
) -> None:
    """All these resets are at one place of the feed."""
    views = [
        courier.api.made(f"{path}/views", {"name": name, "visibility": "shared", "query": query})["id"]
        for name, query in (("Closed", CLOSED), ("Recent", RECENT))
    ]
    hook = defined(courier, path)["path"]
    courier.issue(path)
    courier.deliver()
    receiver.received.clear()
    choices = [{"view": one} for one in (views[0], views[1], views[1])]
    for resets, change in enumerate([*choices, {"enabled": True}, {"enabled": True}], 1):
        if "enabled" in change:
            assert courier.api.patch(hook, {"enabled": False}).status == 200
        assert courier.api.patch(hook, change).status == 200
        courier.wait(70)
        assert [one["type"] for one in receiver.contents] == ["reset"] * resets
    log = courier.log(hook)[: len(receiver.received)]
    sent = [one.headers["webhook-id"] for one in receiver.received]
    assert len(set(sent)) == len(sent)
    assert sorted(one["message_id"] for one in log) == sorted(sent)
    for one in log:
        assert courier.api.post(f"{hook}/deliveries/{one['id']}/replay", b"").status == 202
    courier.wait(70)
    again = [one.headers["webhook-id"] for one in receiver.received[len(sent) :]]
    assert sorted(again) == sorted(sent)


def test_a_webhook_that_is_enabled_again_begins_with_a_reset(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    courier.api.patch(hook, {"enabled": False})
    courier.issue(path)
    courier.wait(400)
    assert courier.api.patch(hook, {"enabled": True}).body["warning"] is None
    courier.issue(path)
    courier.wait(70)
    assert [one["type"] for one in receiver.contents] == ["reset", "create"]
    assert receiver.contents[0]["data"] == {}
    assert receiver.contents[1]["data"]["num"] == 2
    created, reset = courier.log(hook)
    assert (reset["event"], reset["issue"], reset["status"]) == ("reset", None, "delivered")
    assert reset["message_id"] == receiver.received[0].headers["webhook-id"]
    assert created["event"] == "create"
    courier.wait(1_000)
    assert len(receiver.received) == 2


def enabled_again(courier: Courier, path: str, hook: str, changes: int) -> None:
    """A webhook that owes its receiver a reset, and then some changes."""
    courier.api.patch(hook, {"enabled": False})
    courier.api.patch(hook, {"enabled": True})
    for _ in range(changes):
        courier.issue(path)


def slow(courier: Courier, seconds: float) -> Behaviour:
    """Let time pass before each answer."""

    def answer(connection: Any) -> None:
        courier.skip(seconds)
        answers()(connection)

    return answer


@dataclass(frozen=True)
class Until(Context):
    """An invocation that ends at an instant of the tests' clock."""

    ends: float = 0.0

    def get_remaining_time_in_millis(self) -> int:
        return round((self.ends - clock.seconds()) * 1_000)


def test_a_slow_receiver_gets_one_reset_however_many_turns_its_page_takes(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    enabled_again(courier, path, hook, changes=14)
    receiver.otherwise = slow(courier, 0.6)
    partition = live_keys.outbox("0807", "plain", hook.rpartition("/")[2])
    for _ in range(3):
        courier.skip(60)
        before = len(receiver.received)
        courier.turn(Hint(partition, clock.now()), context=Until(ends=clock.seconds() + 23))
        assert 0 < len(receiver.received) - before < 14
    courier.wait(HOUR)
    assert Counter(one["type"] for one in receiver.contents) == {"reset": 1, "create": 14}


def test_failing_messages_make_no_second_reset(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    enabled_again(courier, path, hook, changes=14)
    receiver.behaves.extend(answers(500 if place % 3 == 2 else 200) for place in range(30))
    courier.wait(2 * HOUR)
    resets = {one.headers["webhook-id"] for one in receiver.received if one.content["type"] == "reset"}
    assert len(resets) == 1
    assert {one["data"]["num"] for one in receiver.contents if one["data"]} == set(range(1, 15))


def test_a_reset_that_fails_is_tried_again(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    receiver.behaves.append(answers(500))
    courier.api.patch(hook, {"enabled": False})
    courier.api.patch(hook, {"enabled": True})
    courier.wait(70)
    assert [one["type"] for one in receiver.contents] == ["reset", "reset"]
    assert [one["status"] for one in courier.log(hook)] == ["delivered"]


def test_a_receiver_that_answers_410_gets_no_more_messages(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    receiver.otherwise = answers(410)
    for _ in range(10):
        courier.issue(path)
    courier.wait(HOUR)
    assert len(receiver.received) <= AT_ONCE
    found = courier.api.get(hook).body
    assert (found["enabled"], found["warning"]["reason"]) == (
        False,
        "The receiver answered 410, so it wants no more messages.",
    )
    assert {one["status"] for one in courier.log(hook)} == {"failed"}


def test_a_receiver_gets_no_message_until_its_retry_after(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    receiver.behaves.append(answers(429, b"", Retry_After="600"))
    courier.issue(path)
    courier.deliver()
    courier.issue(path)
    courier.wait(500)
    assert len(receiver.received) == 1
    courier.wait(200)
    assert len(receiver.received) == 3
    assert {one["status"] for one in courier.log(hook)} == {"delivered"}


class Routed:
    """A sender whose messages go to one receiver or the other, by their URL."""

    def __init__(self, bad: Receiver, good: Receiver) -> None:
        self._senders = [
            Sender(resolve=lambda *_: [PUBLIC], connect=one.connect, context=trusting, seconds=0.3)
            for one in (bad, good)
        ]

    def post(self, url: str, headers: Any, body: bytes) -> Reply:
        return self._senders["bad" not in url].post(URL, headers, body)


@pytest.mark.parametrize("behave", [hangs, pours(b""), answers(302, b"", Location="http://169.254.169.254/")])
def test_a_webhook_that_fails_holds_up_neither_others_nor_other_tenants(
    courier: Courier, path: str, receiver: Receiver, behave: Behaviour
) -> None:
    """All share an invocation; the failing one is retried from a queue of its own."""
    other = courier.account.api(tenant="0808")
    other.made("/v1/projects", {"id": "plain", "name": "Plain"})
    failing = defined(courier, path, url="https://bad.example.org/")["path"]
    working = defined(courier, path)["path"]
    elsewhere = other.made("/v1/projects/plain/webhooks", {"url": URL})["id"]
    courier.account.modules["deliver"].sender = Routed(Receiver(otherwise=behave), receiver)  # type: ignore[attr-defined]
    courier.wait(4)
    for _ in range(3):
        courier.issue(path)
        other.made("/v1/projects/plain/issues", {"name": "Theirs"})
        courier.account.follow()
    courier.skip(1)
    hints = list(courier.account.outboxes)
    courier.account.outboxes.clear()
    courier.turn(*hints)
    assert {one["status"] for one in courier.log(working)} == {"delivered"}
    assert len(courier.log(working)) == 3
    theirs = other.get(f"/v1/projects/plain/webhooks/{elsewhere}/deliveries").body["items"]
    assert [one["status"] for one in theirs] == ["delivered"] * 3
    assert {one["status"] for one in courier.log(failing)} == {"pending"}
    assert {one["webhook"] for one in receiver.contents} == {working.rpartition("/")[2], elsewhere}
    again = [hint.partition for hint in courier.account.retries]
    assert again == [live_keys.outbox("0807", "plain", failing.rpartition("/")[2])]
    assert not courier.account.outboxes


class Late:
    """A sender whose receiver takes so many seconds to answer."""

    def __init__(self, courier: Courier, sender: Any) -> None:
        self._courier = courier
        self._sender = sender
        self.seconds = 0.0

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        self._courier.over[0] += self.seconds
        found: Reply = self._sender.post(url, headers, body)
        return found


@pytest.fixture
def late(courier: Courier) -> Late:
    deliver: Any = courier.account.modules["deliver"]
    deliver.sender = Late(courier, deliver.sender)
    made: Late = deliver.sender
    return made


def quick_turn(courier: Courier) -> None:
    """One invocation with only the hints of the quick queue."""
    courier.skip(1)
    hints = list(courier.account.outboxes)
    courier.account.outboxes.clear()
    courier.turn(*hints)


def test_a_receiver_that_answers_slowly_moves_to_the_slow_queue_and_back(
    courier: Courier, path: str, hook: str, receiver: Receiver, late: Late
) -> None:
    late.seconds = 3.5
    for _ in range(6):
        courier.issue(path)
    quick_turn(courier)
    assert len(receiver.received) == AT_ONCE, "one round of messages, and then it makes room"
    assert outbox(courier, hook)["state"] == "slow"
    assert len(courier.account.retries) == 1
    courier.deliver()
    assert len(receiver.received) == 6
    courier.issue(path)
    stored = outbox(courier, hook)
    quick_turn(courier)
    assert len(receiver.received) == 6, "a hint in the quick queue is handed over without an attempt"
    assert outbox(courier, hook) == stored, "and without a write"
    assert len(courier.account.retries) == 1
    late.seconds = 0.0
    courier.deliver()
    assert len(receiver.received) == 7
    assert outbox(courier, hook)["state"] == "quick"
    courier.issue(path)
    quick_turn(courier)
    assert len(receiver.received) == 8
    assert not courier.account.retries


def test_an_answer_within_the_limit_is_not_slow(
    courier: Courier, path: str, hook: str, receiver: Receiver, late: Late
) -> None:
    late.seconds = 3.0 / AT_ONCE - 0.1  # the clock of this test runs for concurrent messages
    for _ in range(6):
        courier.issue(path)
    quick_turn(courier)
    assert len(receiver.received) == 6
    assert outbox(courier, hook)["state"] == "quick"


def test_the_schedule_hints_at_a_slow_receiver_through_the_slow_queue(
    courier: Courier, path: str, hook: str, receiver: Receiver, late: Late
) -> None:
    late.seconds = 3.5
    courier.issue(path)
    courier.deliver()
    courier.issue(path)
    courier.account.outboxes.clear()
    courier.account.retries.clear()
    courier.skip(2 * HOUR)
    courier.account.modules["deliver"].handler({"task": "webhooks"}, Context())
    assert [len(courier.account.outboxes), len(courier.account.retries)] == [0, 1]
    courier.deliver()
    assert len(receiver.received) == 2


# Deaths and lag


def test_a_kill_between_sending_and_recording_repeats_the_message(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    courier.issue(path)
    courier.issue(path)
    courier.skip(1)

    class Killed(BaseException):
        pass

    def dying(attempted: Any, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "put" and attempted.key[1].startswith("delivery."):
            raise Killed
        return perform()

    with courier.through(dying), pytest.raises(Killed):
        courier.turn(*courier.account.outboxes)
    sent = len(receiver.received)
    assert sent >= 1
    assert courier.log(hook) == []
    courier.account.outboxes.clear()
    courier.wait(100)
    assert len(receiver.received) == sent  # the lease has not run out
    courier.wait(100)
    nums = [message.content["data"]["num"] for message in receiver.received]
    assert set(nums[sent:]) == {1, 2}
    assert {one["status"] for one in courier.log(hook)} == {"delivered"}


def test_a_turn_after_a_killed_one_sends_no_recorded_message_again(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    for _ in range(6):
        courier.issue(path)
    courier.skip(1)

    updates: list[Any] = []

    class Killed(BaseException):
        pass

    def dying(attempted: Any, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "update":
            updates.append(attempted)
            if len(updates) == 2:  # after the one that takes the outbox
                raise Killed
        return perform()

    with courier.through(dying), pytest.raises(Killed):
        courier.turn(*courier.account.outboxes)
    courier.account.outboxes.clear()
    assert len(receiver.received) == len(courier.log(hook)) == AT_ONCE
    courier.wait(200)
    assert sorted(message.content["data"]["num"] for message in receiver.received) == [1, 2, 3, 4, 5, 6]


def test_a_turn_that_lost_its_lease_saves_nothing_more(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    for _ in range(9):
        courier.issue(path)
    courier.skip(1)
    hint = courier.account.outboxes[0]
    courier.account.outboxes.clear()
    late: list[Any] = []

    def slow(connection: Any) -> None:
        if not late:
            late.append(None)
            courier.skip(200)
            courier.turn(hint)
        answers()(connection)

    receiver.behaves.append(slow)
    courier.turn(hint)
    box = outbox(courier, hook)
    assert box["holder"] == ""
    assert {message.content["data"]["num"] for message in receiver.received} == set(range(1, 10))
    assert len(courier.log(hook)) == 9
    courier.wait(HOUR)
    assert sorted(courier.log(hook), key=lambda one: one["issue"]["num"])[0]["issue"]["num"] == 1
    assert len(receiver.received) <= 9 + AT_ONCE


def test_a_turn_ends_before_its_invocation_does_and_another_goes_on(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    courier.issue(path)
    courier.skip(1)
    hints = list(courier.account.outboxes)
    courier.account.outboxes.clear()
    assert courier.turn(*hints, context=Context(milliseconds_left=19_000))["attempts"] == 0
    assert outbox(courier, hook)["holder"] == ""
    assert len(courier.account.outboxes) == 1
    courier.deliver()
    assert len(receiver.received) == 1


def test_a_table_that_refuses_is_asked_again_in_a_moment(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    courier.issue(path)
    courier.skip(1)
    refused: list[Any] = []
    read = feed.read_changes

    def refusing(*given: Any, **named: Any) -> Any:
        if not refused:
            refused.append(None)
            raise Overloaded("busy")
        return read(*given, **named)

    courier.patch.setattr(due_messages, "read_changes", refusing)
    courier.deliver()
    assert receiver.received == []
    courier.wait(6)
    assert len(receiver.received) == 1


def test_a_message_that_cannot_be_recorded_does_not_repeat_the_recorded_ones(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    for _ in range(6):
        courier.issue(path)
    courier.skip(1)
    busy = iter(range(3))

    def refusing(attempted: Any, perform: Callable[[], Any]) -> Any:
        is_record = attempted.operation == "put" and attempted.key[1].startswith("delivery.")
        if is_record and attempted.item["num"] == 2 and next(busy, None) is not None:
            raise Overloaded("busy")
        return perform()

    with courier.through(refusing):
        courier.deliver()
        assert outbox(courier, hook)["holder"]
        assert 0 < clock.until(outbox(courier, hook)["sort"]) <= RETRY
        courier.wait(30)
    sent = Counter(one["data"]["num"] for one in receiver.contents)
    assert sent == {1: 1, 2: 4, 3: 1, 4: 1, 5: 1, 6: 1}
    assert outbox(courier, hook)["holder"] == ""
    assert {one["status"] for one in courier.log(hook)} == {"delivered"}


def test_a_position_that_is_too_old_begins_with_a_reset(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    courier.issue(path)
    courier.skip(8 * 86_400)
    courier.tick()
    assert [one["type"] for one in receiver.contents] == ["reset"]


def test_a_number_that_holds_up_the_feed_is_emptied_and_later_changes_are_sent(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    courier.wait(30)
    courier.account.table.update(
        derived_keys.journal("0807", "plain"), derived_keys.FOLD, PRESENT, add={"last": 1}
    )
    courier.issue(path)
    courier.deliver()
    assert receiver.received == []
    courier.wait(8)
    assert len(receiver.received) == 1


@pytest.mark.parametrize("what", ["webhook", "project"])
def test_deleted_webhooks_and_projects_send_nothing_more(
    courier: Courier, path: str, hook: str, receiver: Receiver, what: str
) -> None:
    courier.issue(path)
    if what == "webhook":
        assert courier.api.delete(hook).status == 204
    else:
        removed(courier.api, path)
    courier.deliver()
    courier.wait(HOUR)
    assert receiver.received == []
    assert [sk for pk, sk in courier.account.table.items if live_keys.is_outbox(pk)] == []


@pytest.mark.parametrize("when", ["before a turn", "during a turn"])
def test_nothing_is_sent_while_a_project_is_deleted_and_all_of_it_once_it_is_back(
    courier: Courier, path: str, hook: str, receiver: Receiver, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    courier.issue(path)
    if when == "before a turn":
        assert courier.api.delete(path).status == 204
    else:
        read, deleted = feed.read_changes, list[int]()

        def reading(*args: Any, **options: Any) -> Any:
            if not deleted:
                deleted.append(courier.api.delete(path).status)
            return read(*args, **options)

        monkeypatch.setattr("gridview.live.due_messages.read_changes", reading)
    courier.deliver()
    courier.wait(2 * HOUR)
    assert receiver.received == []
    assert courier.api.get(hook).status == 404
    assert courier.api.post(f"{path.replace('/projects/', '/deleted-projects/')}/restore", b"").status == 200
    assert courier.api.get(hook).body["enabled"] is True
    courier.wait(HOUR)
    assert [one["data"]["num"] for one in receiver.contents] == [1]
    courier.issue(path)
    courier.wait(2)
    assert [one["data"]["num"] for one in receiver.contents] == [1, 2]


def test_a_deleted_project_takes_its_deliveries_along(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    receiver.behaves.append(answers(500))
    courier.issue(path)
    courier.issue(path)
    courier.skip(1)
    courier.deliver()
    assert len([pk for pk, _ in courier.account.table.items if live_keys.is_outbox(pk)]) == 4
    removed(courier.api, path)
    courier.account.upkeep()
    assert [pk for pk, _ in courier.account.table.items if live_keys.is_outbox(pk)] == []


def test_a_secret_that_cannot_be_opened_disables_the_webhook(
    courier: Courier, path: str, hook: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = courier.account.modules["deliver"]
    monkeypatch.setattr(module, "webhook_seals", Seals([b"a third"], SECRETS))
    courier.issue(path)
    courier.deliver()
    found = courier.api.get(hook).body
    assert (found["enabled"], found["warning"]["reason"]) == (
        False,
        "The webhook's secret can no longer be decrypted. Rotate the secret, then enable the webhook.",
    )
    assert receiver.received == []


def test_a_secret_that_is_replaced_while_it_does_not_open_signs_what_is_sent(
    courier: Courier, path: str, hook: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = courier.account.modules["deliver"].webhook_seals
    real = source.open

    def meanwhile(_: str, __: bytes) -> bytes:
        monkeypatch.setattr(source, "open", real)
        assert courier.api.post(f"{hook}/rotate").status == 200
        raise ValueError

    monkeypatch.setattr(source, "open", meanwhile)
    courier.issue(path)
    courier.deliver()
    assert courier.api.get(hook).body["enabled"] is True
    assert [one.headers["webhook-signature"].count("v1,") for one in receiver.received] == [2]


def test_a_concurrent_change_of_a_webhook_prevents_its_disabling(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    """An administrator changes the URL while the receiver reports that it is gone."""

    def gone(connection: Any) -> None:
        if len(receiver.received) == 1:
            assert courier.api.patch(hook, {"events": ["create"]}).status == 200
        answers(410)(connection)

    receiver.behaves.append(gone)
    courier.issue(path)
    courier.deliver()
    assert courier.api.get(hook).body["enabled"] is True


# Views


@pytest.fixture
def shared(courier: Courier, path: str) -> str:
    """The id of a shared view: issues that are open."""
    query = {"filter": {"field": "state", "op": "eq", "value": "open"}, "sort": [{"field": "name"}]}
    body = {"name": "Open", "visibility": "shared", "query": query}
    view: str = courier.api.made(f"{path}/views", body)["id"]
    return view


def test_a_webhook_of_a_view_gets_rows_that_enter_leave_and_change(
    courier: Courier, path: str, shared: str, receiver: Receiver
) -> None:
    hook = defined(courier, path, view=shared)
    assert (hook["view"], hook["events"]) == (shared, ["enter", "leave", "update"])
    feed_of_view = courier.api.get(f"{path}/changes", query={"view": shared}).body["next"]
    issue = f"{path}/issues/{courier.issue(path)['num']}"
    courier.deliver()
    for patch in ({"name": "Paint all"}, {"state": "closed"}, {"name": "Closed"}, {"state": "open"}):
        courier.api.patch(issue, patch)
        courier.account.follow()
        courier.skip(2)
        courier.deliver()
    events = courier.api.get(f"{path}/changes", query={"view": shared, "since": feed_of_view}).body["items"]
    assert [one["type"] for one in receiver.contents] == ["enter", "update", "leave", "enter"]
    assert [one["data"] for one in receiver.contents] == events
    assert [one["event"] for one in courier.log(hook["path"])] == ["enter", "leave", "update", "enter"]


def test_only_the_moves_that_were_asked_for_are_sent(
    courier: Courier, path: str, shared: str, receiver: Receiver
) -> None:
    hook = defined(courier, path, view=shared, events=["leave"])["path"]
    issue = f"{path}/issues/{courier.issue(path)['num']}"
    courier.api.patch(issue, {"state": "closed"})
    courier.account.follow()
    courier.wait(2)
    assert [one["type"] for one in receiver.contents] == ["leave"]
    assert courier.api.patch(hook, {"events": ["create"]}).errors.keys() == {"events"}
    assert courier.api.patch(hook, {"events": ["enter"]}).body["events"] == ["enter"]


def test_a_webhook_gets_the_rows_of_a_writer(courier: Courier, path: str, receiver: Receiver) -> None:
    only = {"field": "updated_by", "op": "eq", "value": "bob"}
    body = {"name": "Of Bob", "visibility": "shared", "query": {"filter": only}}
    defined(courier, path, view=courier.api.made(f"{path}/views", body)["id"])
    issue = f"{path}/issues/{courier.issue(path)['num']}"
    for user in ("bob", "ann"):
        courier.account.api(user=user).patch(issue, {"name": f"by {user}"})
        courier.account.follow()
        courier.skip(2)
        courier.deliver()
    assert [(one["type"], one["data"]["by"]) for one in receiver.contents] == [
        ("enter", "bob"),
        ("leave", "ann"),
    ]


RECENT = {"filter": {"field": "created", "op": "lte", "value": {"today": 0}}}
CLOSED = {"filter": {"field": "state", "op": "eq", "value": "closed"}, "sort": [{"field": "name"}]}


def test_an_editors_change_of_a_view_does_not_change_the_messages(
    courier: Courier, path: str, shared: str, receiver: Receiver
) -> None:
    """An editor widens the view to closed issues. Only an administrator sends these."""
    hook = defined(courier, path, view=shared)["path"]
    courier.issue(path)
    courier.deliver()
    ed = courier.account.api(role="editor", user="ed")
    assert ed.patch(f"{path}/views/{shared}", {"query": CLOSED, "columns": None}).status == 200
    courier.skip(2)
    courier.issue(path, state="closed")
    opened = courier.issue(path)["num"]
    courier.deliver()
    assert [one["type"] for one in receiver.contents] == ["enter", "enter"]
    assert receiver.contents[-1]["data"]["num"] == opened
    found = courier.api.get(hook).body
    assert (found["frozen"]["name"], found["frozen"]["by"], found["frozen"]["at"]) == (
        "Open",
        "ann",
        found["created"],
    )
    assert found["frozen"]["query"]["filter"] == {"field": "state", "op": "eq", "value": "open"}
    assert (found["enabled"], found["warning"]) == (True, None)


def test_naming_the_view_again_freezes_its_present_state(
    courier: Courier, path: str, shared: str, receiver: Receiver
) -> None:
    hook = defined(courier, path, view=shared)["path"]
    courier.api.patch(f"{path}/views/{shared}", {"query": CLOSED})
    assert courier.api.patch(hook, {"url": f"{URL}/2", "events": ["enter"]}).status == 200
    assert courier.api.get(hook).body["frozen"]["query"]["filter"]["value"] == "open", (
        "another change is no choice"
    )
    found = courier.api.acting(user="bob").patch(hook, {"view": shared}).body
    assert (found["frozen"]["by"], found["frozen"]["query"]["filter"]["value"]) == ("bob", "closed")
    courier.issue(path)
    closed = courier.issue(path, state="closed")["num"]
    courier.deliver()
    assert [one["type"] for one in receiver.contents] == ["reset", "enter"]
    assert receiver.contents[-1]["data"]["num"] == closed


@pytest.mark.parametrize("private", [True, False])
def test_a_webhook_without_its_view_continues_until_an_administrator_decides(
    courier: Courier, path: str, shared: str, receiver: Receiver, private: bool
) -> None:
    hook = defined(courier, path, view=shared)["path"]
    other = defined(courier, path)["path"]
    view = f"{path}/views/{shared}"
    done = courier.api.patch(view, {"visibility": "private"}) if private else courier.api.delete(view)
    assert done.status < 300
    found = courier.api.get(hook).body
    assert (found["enabled"], found["version"], found["view"]) == (True, 2, shared)
    fate = "is private now" if private else "was deleted"
    assert found["warning"]["reason"].startswith(f'The view "Open" {fate}.')
    assert courier.api.get(other).body["warning"] is None
    courier.issue(path, state="closed")
    courier.issue(path)
    courier.deliver()
    assert sorted(one["type"] for one in receiver.contents) == ["create", "create", "enter"]
    assert courier.api.get(hook).body["warning"] == found["warning"]
    confirmed = courier.api.patch(hook, {"warning": None}).body
    assert (confirmed["warning"], confirmed["enabled"], confirmed["version"]) == (None, True, 3)
    courier.skip(2)
    courier.issue(path)
    courier.deliver()
    assert [one["type"] for one in receiver.contents][-1] in {"create", "enter"}
    assert len(receiver.contents) == 5


def test_other_rows_and_none_clear_the_notice(
    courier: Courier, path: str, shared: str, receiver: Receiver
) -> None:
    body = {"name": "Closed", "visibility": "shared", "query": CLOSED}
    closed = courier.api.made(f"{path}/views", body)["id"]
    hooks = [defined(courier, path, view=shared, events=["enter"])["path"] for _ in range(2)]
    courier.api.delete(f"{path}/views/{shared}")
    assert courier.api.patch(hooks[0], {"view": shared}).errors == {
        "view": "must be a view that all users of the project see"
    }
    one = courier.api.patch(hooks[0], {"view": closed}).body
    assert (one["view"], one["events"], one["warning"]) == (closed, ["enter"], None)
    other = courier.api.patch(hooks[1], {"view": None}).body
    assert (other["view"], other["frozen"], other["warning"]) == (None, None, None)
    assert other["events"] == ["create", "update", "delete", "restore"]
    courier.issue(path)
    courier.deliver()
    assert sorted(one["type"] for one in receiver.contents) == ["create", "reset", "reset"]


def test_a_webhook_that_is_changed_while_its_view_cannot_be_followed_goes_on(
    courier: Courier, path: str, shared: str, receiver: Receiver
) -> None:
    hook = defined(courier, path, view=shared)["path"]
    real, changed = due_messages.messages_on, list[int]()

    def meanwhile(*args: Any) -> Any:
        if changed:
            return real(*args)
        changed.append(courier.api.patch(hook, {"events": ["enter"]}).status)
        raise Conflict("Its order is gone.")

    courier.patch.setattr(deliveries, "messages_on", meanwhile)
    courier.issue(path)
    courier.deliver()
    assert changed == [200]
    assert courier.api.get(hook).body["enabled"] is True
    assert [one["type"] for one in receiver.contents] == ["enter"]


def test_a_deleted_field_of_the_frozen_filter_lets_nothing_more_pass(
    courier: Courier, path: str, receiver: Receiver
) -> None:
    """Without its condition the filter would let every open issue pass."""
    courier.api.made(f"{path}/attributes", {"id": "secret", "name": "Secret", "type": "bool"})
    both = [{"field": "state", "op": "eq", "value": "open"}, {"field": "secret", "op": "eq", "value": False}]
    body = {"name": "Open", "visibility": "shared", "query": {"filter": {"and": both}}}
    view = courier.api.made(f"{path}/views", body)["id"]
    hook = defined(courier, path, view=view)["path"]
    courier.api.delete(f"{path}/attributes/secret")
    courier.issue(path)
    courier.deliver()
    found = courier.api.get(hook).body
    assert (receiver.contents, found["enabled"]) == ([], False)
    assert found["warning"]["reason"].endswith("A field of the filter was deleted. Choose another filter.")
    assert found["missing"] == [{"part": "filter", "field": "secret"}]
    for answer in (
        courier.api.patch(hook, {"view": view}),
        courier.api.post(f"{path}/webhooks", {"url": URL, "view": view}),
    ):
        assert answer.errors["view"].startswith("has a filter by a deleted field")


def test_a_deleted_field_of_the_frozen_order_is_a_reset_for_the_receiver(
    courier: Courier, path: str, receiver: Receiver
) -> None:
    """The rows stay the same, but not their keys: a receiver that keeps both must read them again."""
    courier.api.made(f"{path}/attributes", {"id": "size", "name": "Size", "type": "number", "indexed": True})
    query = {"sort": [{"field": "size"}, {"field": "name"}]}
    view = courier.api.made(f"{path}/views", {"name": "All", "visibility": "shared", "query": query})["id"]
    hook = defined(courier, path, view=view)["path"]
    courier.issue(path)
    courier.deliver()
    courier.api.delete(f"{path}/attributes/size")
    courier.issue(path)
    courier.wait(70)
    assert [one["type"] for one in receiver.contents] == ["enter", "reset", "enter"]
    assert courier.api.get(hook).body["enabled"] is True


def test_failed_messages_of_former_rows_are_neither_retried_nor_replayed(
    courier: Courier, path: str, shared: str, receiver: Receiver
) -> None:
    hook = defined(courier, path, view=shared)["path"]
    receiver.otherwise = answers(500)
    courier.issue(path)
    courier.deliver()
    (failed,) = courier.log(hook)
    courier.api.patch(f"{path}/views/{shared}", {"query": CLOSED})
    courier.api.patch(hook, {"view": shared})
    receiver.received.clear()
    receiver.otherwise = answers()
    replayed = courier.api.post(f"{hook}/deliveries/{failed['id']}/replay")
    assert replayed.kind == (409, "conflict")
    courier.wait(HOUR)
    assert [one["type"] for one in receiver.contents] == ["reset"]
    (given_up,) = (one for one in courier.log(hook) if one["event"] == "enter")
    assert (given_up["status"], given_up["failure"]) == (
        "failed",
        "Nothing was sent: an administrator has chosen other rows since.",
    )


# Columns


@pytest.fixture
def priced(courier: Courier, path: str) -> str:
    """The path of a project with the fields `cost` and `place`."""
    for name, kind in (("cost", "number"), ("place", "text")):
        courier.api.made(f"{path}/attributes", {"id": name, "name": name, "type": kind})
    return path


def sent_fields(receiver: Receiver) -> list[tuple[str, dict[str, Any]]]:
    return [(one["type"], one["data"]["fields"]) for one in receiver.contents]


def test_only_the_columns_of_a_webhook_are_sent_and_nothing_of_changes_of_others(
    courier: Courier, priced: str, receiver: Receiver
) -> None:
    hook = defined(courier, priced, columns=["place", "name"])
    assert hook["columns"] == ["place", "name"]
    issue = (
        f"{priced}/issues/{courier.issue(priced, name='Paint', fields={'cost': 5, 'place': 'north'})['num']}"
    )
    for patch in ({"fields": {"cost": 6}}, {"fields": {"cost": 7, "place": "south"}}, {"state": "closed"}):
        courier.api.patch(issue, patch)
    courier.api.delete(issue)
    courier.account.follow()
    courier.wait(2)
    created, changed, deleted = sorted(receiver.contents, key=lambda one: one["data"]["version"])
    assert created["data"]["fields"] == {
        "name": {"old": None, "new": "Paint"},
        "place": {"old": None, "new": "north"},
    }
    assert changed["data"]["fields"] == {"place": {"old": "north", "new": "south"}}
    assert (deleted["type"], set(deleted["data"]["fields"])) == ("delete", {"name", "place"})
    assert not any("cost" in message.body.decode() for message in receiver.received)


def test_a_replay_sends_the_present_columns(courier: Courier, priced: str, receiver: Receiver) -> None:
    hook = defined(courier, priced)["path"]
    courier.issue(priced, fields={"cost": 5, "place": "north"})
    courier.deliver()
    assert "cost" in receiver.contents[0]["data"]["fields"]
    assert courier.api.patch(hook, {"columns": ["place"]}).body["columns"] == ["place"]
    (logged,) = courier.log(hook)
    assert "5" not in {str(value) for value in logged.values()}
    assert courier.api.post(f"{hook}/deliveries/{logged['id']}/replay").status == 202
    courier.deliver()
    assert receiver.contents[1]["data"]["fields"] == {"place": {"old": None, "new": "north"}}
    assert courier.api.patch(hook, {"columns": None}).body["columns"] is None


def test_a_webhook_of_a_view_sends_its_columns_unless_it_names_its_own(
    courier: Courier, priced: str, receiver: Receiver
) -> None:
    columns = [{"field": "num", "width": 80}, {"field": "place", "width": 80}]
    view = courier.api.made(
        f"{priced}/views",
        {
            "name": "Places",
            "visibility": "shared",
            "query": {"sort": [{"field": "cost"}]},
            "columns": columns,
        },
    )["id"]
    assert courier.api.patch(f"{priced}/attributes/cost", {"indexed": True}).status == 200
    courier.account.derive()
    own = defined(courier, priced, view=view)
    assert own["columns"] == ["num", "place"]
    every = defined(courier, priced, view=view, columns=None)
    assert every["columns"] is None
    courier.api.patch(f"{priced}/views/{view}", {"columns": None})
    assert courier.api.get(own["path"]).body["columns"] == ["num", "place"]
    issue = courier.issue(priced, fields={"cost": 5, "place": "north"})["num"]
    courier.deliver()
    courier.api.patch(f"{priced}/issues/{issue}", {"fields": {"cost": 9}})
    courier.account.follow()
    courier.wait(2)
    limited = [one for one in receiver.contents if one["webhook"] == own["id"]]
    assert [(one["type"], one["data"]["fields"]) for one in limited] == [
        ("enter", {"place": {"old": None, "new": "north"}})
    ]
    assert (limited[0]["data"]["key"], limited[0]["data"]["previous_key"]) == (None, None), (
        "keys hold what rows are sorted by"
    )
    whole = [one for one in receiver.contents if one["webhook"] == every["id"]]
    assert [one["type"] for one in whole] == ["enter", "update"]
    assert all(one["data"]["key"] for one in whole)


def test_a_column_that_is_deleted_is_not_sent_and_one_of_its_id_is_another(
    courier: Courier, priced: str, receiver: Receiver
) -> None:
    hook = defined(courier, priced, columns=["cost"])["path"]
    courier.api.patch(f"{priced}/attributes/cost", {"name": "Price"})
    assert courier.api.get(hook).body["columns"] == ["cost"], "a new name is the same field"
    courier.api.delete(f"{priced}/attributes/cost")
    found = courier.api.get(hook).body
    assert (found["columns"], found["missing"]) == ([], [{"part": "columns", "field": "cost"}])
    courier.issue(priced, fields={"place": "north"})
    courier.deliver()
    assert sent_fields(receiver) == [("create", {})], "without columns nothing is sent, not everything"
    restored = courier.api.post(f"{priced}/deleted-attributes/cost/restore")
    assert restored.status == 200
    assert courier.api.get(hook).body["columns"] == ["cost"]


@pytest.mark.parametrize(
    ("columns", "wrong"),
    [
        (["cost", "nosuch"], "columns.1"),
        (["cost", "cost"], "columns.1"),
        ("cost", "columns"),
        ([1], "columns.0"),
    ],
)
def test_columns_that_are_no_fields_are_refused(
    courier: Courier, priced: str, columns: Any, wrong: str
) -> None:
    hook = defined(courier, priced)["path"]
    for answer in (
        courier.api.post(f"{priced}/webhooks", {"url": URL, "columns": columns}),
        courier.api.patch(hook, {"columns": columns}),
    ):
        assert answer.kind == (400, "invalid-request")
        assert wrong in answer.errors


def test_a_view_that_not_everybody_sees_has_no_webhook(courier: Courier, path: str, shared: str) -> None:
    own = courier.api.made(f"{path}/views", {"name": "Own"})["id"]
    for view in (own, "v999"):
        answer = courier.api.post(f"{path}/webhooks", {"url": URL, "view": view})
        assert answer.errors == {"view": "must be a view that all users of the project see"}
    for body in ({"view": shared, "events": ["create"]}, {"events": ["enter"]}):
        assert courier.api.post(f"{path}/webhooks", {"url": URL, **body}).errors.keys() == {"events"}


# The log and replays


def test_the_log_is_read_page_by_page_the_last_change_first(courier: Courier, path: str, hook: str) -> None:
    for _ in range(5):
        courier.issue(path)
    courier.skip(1)
    courier.deliver()
    pages, cursor = [], None
    while True:
        query = {"limit": "2"} | ({"cursor": cursor} if cursor else {})
        page = courier.api.get(f"{hook}/deliveries", query=query).body
        pages.append([one["issue"]["num"] for one in page["items"]])
        cursor = page["next"]
        if cursor is None:
            break
    assert [num for page in pages for num in page] == [5, 4, 3, 2, 1]
    assert len(pages) >= 3


def test_a_cursor_of_one_log_is_none_of_another(courier: Courier, path: str, hook: str) -> None:
    for _ in range(3):
        courier.issue(path)
    courier.skip(1)
    courier.deliver()
    other = defined(courier, path)["path"]
    cursor = courier.api.get(f"{hook}/deliveries", query={"limit": "1"}).body["next"]
    answer = courier.api.get(f"{other}/deliveries", query={"cursor": cursor})
    assert answer.kind == (400, "invalid-request")


def test_a_delivery_is_forgotten_after_a_week(courier: Courier, path: str, hook: str) -> None:
    courier.issue(path)
    courier.deliver()
    courier.skip(7 * 86_400 - 60)
    (logged,) = courier.log(hook)
    courier.skip(120)
    assert courier.log(hook) == []
    answer = courier.api.post(f"{hook}/deliveries/{logged['id']}/replay")
    assert answer.kind == (404, "not-found")


def test_a_replay_sends_the_same_message_again(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    courier.issue(path)
    courier.deliver()
    (logged,) = courier.log(hook)
    replayed = courier.api.post(f"{hook}/deliveries/{logged['id']}/replay")
    assert replayed.status == 202
    assert replayed.body.items() >= {"id": logged["id"], "status": "pending", "attempts": 0}.items()
    courier.deliver()
    first, second = receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == logged["message_id"]
    assert first.content == second.content
    (after,) = courier.log(hook)
    assert (after["status"], after["attempts"]) == ("delivered", 1)
    courier.wait(HOUR)
    assert len(receiver.received) == 2


def test_a_replay_is_sent_at_once_though_the_webhook_pauses(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    receiver.otherwise = answers(500)
    for _ in range(8):
        courier.issue(path)
    courier.wait(2 * HOUR)
    tried = len(receiver.received)
    pending = courier.log(hook)[-1]
    assert pending["attempts"] > 1
    receiver.otherwise = answers()
    assert courier.api.post(f"{hook}/deliveries/{pending['id']}/replay").status == 202
    courier.deliver()
    assert len(receiver.received) > tried
    assert {one["status"] for one in courier.log(hook) if one["issue"] == pending["issue"]} == {"delivered"}


def test_a_replay_while_the_message_is_tried_wins(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    receiver.behaves.append(answers(500))
    courier.issue(path)
    courier.deliver()
    (logged,) = courier.log(hook)

    def meanwhile(connection: Any) -> None:
        assert courier.api.post(f"{hook}/deliveries/{logged['id']}/replay").status == 202
        answers(500)(connection)

    receiver.behaves.append(meanwhile)
    courier.wait(20)
    assert len(receiver.received) == 3
    assert [one["status"] for one in courier.log(hook)] == ["delivered"]


def test_a_refused_replay_says_why(courier: Courier, path: str, hook: str) -> None:
    courier.issue(path)
    courier.deliver()
    (logged,) = courier.log(hook)
    replay = f"{hook}/deliveries/{logged['id']}/replay"
    for unknown in ("999_1", "57_1r", "1_0", "0_1", "x", "1_1_1", "1_1000000", "%77"):
        assert courier.api.post(f"{hook}/deliveries/{unknown}/replay").kind == (404, "not-found")
    courier.api.patch(hook, {"enabled": False})
    disabled = courier.api.post(replay)
    assert disabled.kind == (409, "conflict")
    assert "Enable" in disabled.body["detail"]
    courier.api.patch(hook, {"enabled": True})
    for place in [
        place for place in courier.account.table.items if place[0].startswith(derived_keys.HISTORY_PREFIX)
    ]:
        courier.account.table.delete(*place)
    forgotten = courier.api.post(replay)
    assert forgotten.kind == (409, "conflict")
    assert "has expired" in forgotten.body["detail"]


def test_a_pending_message_without_its_change_is_given_up(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    receiver.behaves.append(answers(500))
    num = courier.issue(path)["num"]
    courier.deliver()
    assert courier.api.delete(f"{path}/issues/{num}").status == 204
    assert courier.api.delete(f"{path}/trash/{num}").status == 204
    for place in [
        place for place in courier.account.table.items if place[0].startswith(derived_keys.HISTORY_PREFIX)
    ]:
        courier.account.table.delete(*place)
    courier.wait(10)
    log = courier.log(hook)
    assert (log[-1]["status"], log[-1]["failure"]) == (
        "failed",
        "Nothing was sent: the change in the message has expired.",
    )


def test_only_an_administrator_sees_the_log_and_replays(courier: Courier, path: str, hook: str) -> None:
    courier.issue(path)
    courier.deliver()
    (logged,) = courier.log(hook)
    before = courier.account.items()
    for role in ("viewer", "editor"):
        client = courier.account.api(role=role)
        for answer in (
            client.get(f"{hook}/deliveries"),
            client.post(f"{hook}/deliveries/{logged['id']}/replay"),
        ):
            assert answer.kind == (403, "forbidden")
    stranger = courier.account.api(tenant="0808")
    stranger.made("/v1/projects", {"id": "plain", "name": "Plain"})
    for answer in (
        stranger.get(f"{hook}/deliveries"),
        stranger.post(f"{hook}/deliveries/{logged['id']}/replay"),
    ):
        assert answer.kind == (404, "not-found")
    kept = [item for item in courier.account.items() if "0808" not in item["PK"]["S"]]
    assert kept == before


# The handler


def test_an_internal_error_is_raised_after_the_other_webhooks(
    courier: Courier, path: str, hook: str, receiver: Receiver
) -> None:
    courier.issue(path)
    courier.skip(1)
    hints = [Hint(live_keys.outbox("0807", "plain", "w000000000000"), clock.now()), *courier.account.outboxes]

    def broken(attempted: Any, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "get" and attempted.key[0].endswith("w000000000000"):
            raise ZeroDivisionError
        return perform()

    with courier.through(broken), pytest.raises(ZeroDivisionError):
        courier.turn(*hints)
    assert len(receiver.received) == 1
