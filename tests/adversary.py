"""An adversary between the stream, the consumer and the table: it decides, call by call, what becomes of each invocation.

An invocation is the real consumer, run in a thread that stops before every call of the table until it is told what happens to the
call. Nothing else in it waits for anything, so a scenario is the list of these verdicts, and the same list is the same scenario.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Self

from gridview.catalogs import Catalogs
from gridview.consumer import Poison, consume
from gridview.errors import Overloaded
from gridview.storage import ConditionFailed, Item
from gridview.wire import item_to_wire
from tests.fake_table import Attempted, FakeTable

_PATIENCE = 20.0
"""Seconds after which an invocation that neither calls nor ends is a failure of the harness."""


class Verdict(Enum):
    """What becomes of a call."""

    DONE = "it is done"
    TWICE = "the SDK sends it twice, since it missed the first answer"
    REFUSED = "it is refused: the table is busy"
    LOST = "it is done, but all answers are lost"


class Killed(BaseException):
    """The invocation is over: timed out, out of memory, or its machine is gone."""


class SerialExecutor:
    """Stands in for the consumer's thread pool, so that an invocation has one call under way at a time."""

    def __init__(self, _workers: int) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def map(self, work: Callable[[Any], Any], things: Iterable[Any]) -> list[Any]:
        return [work(thing) for thing in things]


class Invocation:
    """One run of the consumer over some records. `call` is what it is about to do; None when it has ended."""

    def __init__(self, table: FakeTable, catalogs: Catalogs, records: Sequence[Mapping[str, Any]]) -> None:
        self.call: Attempted | None = None
        self.poison: list[Poison] = []
        self.first_failed: str | None = None
        self.raised: BaseException | None = None
        self._perform: Callable[[], Any] = lambda: None
        self._verdict: Verdict | None = None
        self._stopped = threading.Semaphore(0)
        self._go = threading.Semaphore(0)
        self._thread = threading.Thread(
            target=self._run, args=(table.seen_through(self._before), catalogs, records), daemon=True
        )
        self._thread.start()
        self._wait()

    def step(self, verdict: Verdict = Verdict.DONE) -> None:
        """Let the pending call meet its verdict, and go on to the next one or the end."""
        self._verdict = verdict
        self._go.release()
        self._wait()

    def finish(self) -> None:
        """Let every call that is left be done."""
        while self.call is not None:
            self.step()

    def kill(self) -> Callable[[], None]:
        """End it before its pending call. What is returned lands that call after all: it had left already."""
        attempted, perform = self.call, self._perform
        self._verdict = None
        self._go.release()
        self._wait()

        def land() -> None:
            if attempted is not None and attempted.writes:
                try:
                    perform()
                except ConditionFailed:
                    return

        return land

    def _run(self, table: FakeTable, catalogs: Catalogs, records: Sequence[Mapping[str, Any]]) -> None:
        try:
            self.first_failed = consume(table, catalogs, records, self.poison.append)
        except BaseException as error:
            self.raised = error
        self.call = None
        self._stopped.release()

    def _before(self, attempted: Attempted, perform: Callable[[], Any]) -> Any:
        self.call, self._perform = attempted, perform
        self._stopped.release()
        self._go.acquire()
        match self._verdict:
            case Verdict.DONE:
                return perform()
            case Verdict.TWICE:
                perform()
                return perform()
            case Verdict.REFUSED:
                raise Overloaded("The table is busy; try again.")
            case Verdict.LOST:
                perform()
                raise Overloaded("The table cannot be reached; try again.")
        raise Killed

    def _wait(self) -> None:
        if not self._stopped.acquire(timeout=_PATIENCE):
            raise AssertionError("an invocation hangs")


def record(number: int, old: Item | None, new: Item | None) -> dict[str, Any]:
    """A stream record as Lambda delivers it, of an item that was `old` and is `new` (None: nothing stands there)."""
    image = new or old
    if image is None:
        raise ValueError("a record is about an item")
    stream: dict[str, Any] = {
        "Keys": item_to_wire({name: image[name] for name in ("PK", "SK")}),
        "SequenceNumber": f"{number:021d}",
        "StreamViewType": "NEW_AND_OLD_IMAGES",
    }
    if old is not None:
        stream["OldImage"] = item_to_wire(old)
    if new is not None:
        stream["NewImage"] = item_to_wire(new)
    kind = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
    return {"eventID": str(number), "eventName": kind, "eventSource": "aws:dynamodb", "dynamodb": stream}
