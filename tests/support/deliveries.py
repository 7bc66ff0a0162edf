"""Delivered webhooks: writes over the API, the stream's consumer, the queues, a receiver, and passing time."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from gridview.live.sending import Sender
from gridview.maintenance.job_queue import body_of
from gridview.schema.jobs import Hint
from gridview.support import clock
from tests.support.cloud import Cloud
from tests.support.http import Client, Context
from tests.support.receivers import PUBLIC, Receiver, trusting

URL = "https://hooks.example.org/gridview"


@dataclass
class Courier:
    """The steps between a write and a receiver."""

    account: Cloud
    api: Client
    receiver: Receiver
    patch: pytest.MonkeyPatch
    over: list[float] = field(default_factory=lambda: [0.0])

    def __post_init__(self) -> None:
        seconds, after, expiry = clock.seconds, clock.after, clock.expiry
        self.patch.setattr(clock, "seconds", lambda: seconds() + self.over[0])
        self.patch.setattr(clock, "after", lambda more: after(more + self.over[0]))
        self.patch.setattr(clock, "expiry", lambda days: expiry(days) + int(self.over[0]))
        self.send_by(self.receiver)

    def send_by(self, receiver: Receiver, seconds: float = 5.0) -> None:
        """Send messages to this receiver, with so many seconds for each attempt."""
        self.account.modules["deliver"].sender = Sender(  # type: ignore[attr-defined]
            resolve=lambda *_: [PUBLIC], connect=receiver.connect, context=trusting, seconds=seconds
        )

    def issue(self, path: str, name: str = "Paint", **parts: Any) -> dict[str, Any]:
        """A new issue of a project, which the consumer has processed."""
        made: dict[str, Any] = self.api.made(f"{path}/issues", {"name": name, **parts})
        self.account.follow()
        return made

    def deliver(self) -> None:
        """Let the queues deliver due messages until none is left."""
        while hints := [*self._due(self.account.outboxes), *self._due(self.account.retries)]:
            self.turn(*hints)

    def turn(self, *hints: Hint, context: Context | None = None) -> Any:
        """One invocation of the function with these hints."""
        records = [{"body": body_of(hint)} for hint in hints]
        return self.account.modules["deliver"].handler(
            {"Records": records}, context or Context(milliseconds_left=60_000)
        )

    @contextmanager
    def through(self, around: Callable[[Any, Callable[[], Any]], Any]) -> Iterator[None]:
        """Let the function see its table through an adversary that decides about the calls, in a `with` block."""
        with pytest.MonkeyPatch.context() as patch:
            table = self.account.table.seen_through(around)
            patch.setattr(self.account.modules["deliver"], "table", table)
            yield

    @staticmethod
    def _due(queue: deque[Hint]) -> list[Hint]:
        due = [hint for hint in queue if hint.due <= clock.now()]
        for hint in due:
            queue.remove(hint)
        return due

    def tick(self) -> None:
        """Run the schedule, and deliver its hints."""
        self.account.modules["deliver"].handler({"task": "webhooks"}, Context())
        self.deliver()

    def wait(self, seconds: float) -> None:
        """Let time pass, with all work meanwhile: hints that become due, and the schedule each minute."""
        end = self.over[0] + seconds
        while self.over[0] < end:
            coming = [clock.until(hint.due) for hint in (*self.account.outboxes, *self.account.retries)]
            step = min([60.0, end - self.over[0], *(max(one, 0.001) for one in coming)])
            self.over[0] += step
            self.tick()

    def skip(self, seconds: float) -> None:
        """Let time pass without work."""
        self.over[0] += seconds

    def log(self, webhook: str) -> list[dict[str, Any]]:
        """The deliveries of the webhook at this path, the last change first."""
        found: list[dict[str, Any]] = self.api.get(f"{webhook}/deliveries").body["items"]
        return found
