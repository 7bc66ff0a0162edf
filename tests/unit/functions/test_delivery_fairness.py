"""The effect of one tenant's webhooks on another tenant's, in virtual time, through the real handler.

Two invocations at once take ten hints each from an SQS fair queue, which is modelled as AWS describes it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from gridview.encoding import live_keys
from gridview.live.deliveries import TURN
from gridview.live.outbox import SLOW, Reply
from gridview.live.webhook_store import MAX_WEBHOOKS
from gridview.maintenance.job_queue import JobQueue
from gridview.schema.jobs import Hint
from gridview.support import clock
from gridview.support.concurrency import in_threads
from infra.limits import WEBHOOK_BATCH
from tests.support.cloud import Cloud
from tests.support.deliveries import URL
from tests.support.http import Client, Context
from tests.support.virtual_time import VirtualTime, virtual_time

PATH = "/v1/projects/plain"
NOISY, QUIET = "https://noisy.example.org/hook", URL
DELIVERERS = 2
"""The default of the setting."""
NOISY_SECONDS = 2.9
"""A receiver's time to answer: just short of slow."""
BOUND = TURN + NOISY_SECONDS + 1.0
"""Seconds that a message of another tenant waits: a turn, its last round, and the pause between two looks at a queue."""
SECONDS = 60
EDITS = (10, 30, 50)
"""When the quiet tenant changes an issue."""


@dataclass
class FairQueue:
    """SQS, as far as it is called: groups with more than a tenth of all consumer time come after the others."""

    virtual: VirtualTime
    waiting: list[tuple[float, str, str]] = field(default_factory=list)
    """When a message is visible, its group, and its body."""
    spent: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    in_flight: Counter[str] = field(default_factory=Counter)
    _sent: int = 0

    def send_message(self, **message: Any) -> None:
        """Keep a message. One without a group is a group of its own."""
        self._sent += 1
        group = message.get("MessageGroupId", f"message {self._sent}")
        self.waiting.append((self.virtual.now + message["DelaySeconds"], group, message["MessageBody"]))

    def receive(self, most: int) -> list[tuple[str, str]]:
        """Up to so many messages, each with its group."""
        visible = [one for one in self.waiting if one[0] <= self.virtual.now]
        chosen = sorted(visible, key=lambda one: (self._noise(one[1]), one[0]))[:most]
        for one in chosen:
            self.waiting.remove(one)
            self.in_flight[one[1]] += 1
        return [(group, body) for _, group, body in chosen]

    def delete(self, group: str, seconds: float) -> None:
        """A message was worked on for so many seconds."""
        self.in_flight[group] -= 1
        self.spent[group] += seconds

    def _noise(self, group: str) -> tuple[bool, int]:
        is_noisy = (
            self.spent[group] > 0.1 * sum(self.spent.values()) or self.in_flight[group] >= 0.5 * WEBHOOK_BATCH
        )
        return is_noisy, self.in_flight[group] if is_noisy else 0


@dataclass
class Receivers:
    """Receivers whose answers take time."""

    virtual: VirtualTime
    received: dict[str, list[float]] = field(default_factory=dict)

    def post(self, url: str, *_: Mapping[str, str] | bytes) -> Reply:
        """Take a message."""
        self.received.setdefault(url, []).append(self.virtual.now)
        self.virtual.sleep(NOISY_SECONDS if url == NOISY else 0.1)
        return Reply(200)


@dataclass(frozen=True, slots=True)
class Remaining(Context):
    """The description of an invocation in virtual time."""

    seconds_left: Callable[[], float] = float

    def get_remaining_time_in_millis(self) -> int:
        return int(self.seconds_left() * 1_000)


def with_webhooks(account: Cloud, tenant: str, url: str, count: int) -> Client:
    api = account.api(tenant=tenant)
    api.made("/v1/projects", {"name": "plain", "id": "plain"})
    for _ in range(count):
        api.made(f"{PATH}/webhooks", {"url": url})
    return api


def work(queue: FairQueue, deliver: ModuleType, end: float) -> None:
    """Invoke the function with ten messages, one time after the other."""
    time = queue.virtual

    def until(instant: float) -> float:
        return instant - time.now

    while time.now < end:
        taken = queue.receive(WEBHOOK_BATCH)
        if not taken:
            time.sleep(0.2)
            continue
        began = time.now
        context = Remaining(seconds_left=partial(until, began + 60))
        deliver.handler({"Records": [{"body": body} for _, body in taken]}, context)
        for group, _ in taken:
            queue.delete(group, time.now - began)


def test_the_webhooks_of_one_tenant_delay_no_other_for_long(
    account: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All webhooks that a project may have, with a backlog, at receivers that are almost slow."""
    assert NOISY_SECONDS < SLOW
    with virtual_time(monkeypatch) as virtual:
        monkeypatch.setattr(clock, "after", lambda seconds: clock.stored(virtual.now + seconds))
        queue, receivers = FairQueue(virtual), Receivers(virtual)
        deliver = account.modules["deliver"]
        monkeypatch.setattr(deliver, "sender", receivers)
        hints = JobQueue("https://queue.invalid")
        hints.__dict__["_client"] = queue
        for name in ("command", "maintain", "deliver"):
            monkeypatch.setattr(account.modules[name], "webhook_queue", hints)
        account.forget()  # the maker of hints sends them to the queue
        noisy = with_webhooks(account, "0807", NOISY, MAX_WEBHOOKS)
        quiet = with_webhooks(account, "1910", QUIET, 1)
        account.follow()
        end = virtual.now + SECONDS
        edited: list[float] = []

        def edit() -> None:
            for second in range(SECONDS):
                for number in range(5):
                    noisy.made(f"{PATH}/issues", {"name": f"{second}.{number}"})
                if second in EDITS:
                    quiet.made(f"{PATH}/issues", {"name": f"{second}"})
                    edited.append(virtual.now)
                account.follow()
                virtual.sleep(1)

        at_once: list[Callable[[], None]] = [edit, *[partial(work, queue, deliver, end)] * DELIVERERS]
        virtual.run(lambda: in_threads(lambda one: one(), at_once, len(at_once)))
    came = receivers.received[QUIET]
    assert len(came) == len(EDITS)
    waits = [at - since for at, since in zip(came, edited, strict=True)]
    assert max(waits) <= BOUND, waits
    assert len(receivers.received[NOISY]) >= SECONDS / NOISY_SECONDS * WEBHOOK_BATCH


def test_a_small_account_takes_the_first_outbox_of_each_tenant_first(account: Cloud) -> None:
    """Its one invocation works on ten outboxes at once, for a turn."""
    due = [
        *((Hint(live_keys.outbox("0807", "35e9", f"w{number}"), ""), number == 0) for number in range(12)),
        (Hint(live_keys.outbox("1910", "plain", "w1"), ""), False),
        (Hint(live_keys.outbox("1910", "plain", "w2"), ""), False),
    ]
    ordered = account.modules["deliver"].in_turns(due)
    names = [("/".join(live_keys.parse_outbox(partition)[::2]), slow) for partition, slow in ordered]
    assert names[:4] == [("0807/w1", False), ("1910/w1", False), ("0807/w2", False), ("1910/w2", False)]
    assert names[4:] == [*((f"0807/w{number}", False) for number in range(3, 12)), ("0807/w0", True)]
