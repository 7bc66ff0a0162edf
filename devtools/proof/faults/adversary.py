"""An adversary between an invocation and the table: it decides, call by call, what becomes of it.

An invocation is real code of the core, run in a thread that stops before every call of the table until it is told what happens
to the call. Nothing else in it waits for anything: a scenario is the list of these verdicts.
"""

import threading
from _thread import allocate_lock
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from enum import Enum
from typing import Any, Self

from botocore.exceptions import ClientError

from devtools.proof.faults.watched import Around, Attempted
from gridview.dynamodb.errors import ConditionFailed, ItemTooLarge, TransactionFailed
from gridview.dynamodb.expressions import Item
from gridview.encoding.attribute_values import item_to_wire
from gridview.support.errors import Overloaded

_PATIENCE = 30.0
"""Seconds after which an invocation that neither calls nor ends is a failure of the harness."""


class Verdict(Enum):
    """What becomes of a call."""

    DONE = "done"
    TWICE = "done twice: the SDK missed the first answer"
    REFUSED = "refused: the table is busy"
    LOST = "done, but all answers are lost"
    DENIED = "denied: a permission is lost for a while"


class Killed(BaseException):
    """The invocation is over: timed out, out of memory, or its machine is gone."""


class SerialExecutor:
    """Stands in for a thread pool of the core, so that an invocation has one call under way at a time."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def map(self, work: Callable[..., Any], *things: Iterable[Any]) -> list[Any]:
        """One after the other."""
        return [work(*one) for one in zip(*things, strict=False)]

    def submit(self, work: Callable[..., Any], *given: Any, **named: Any) -> "Future[Any]":
        """At once. What kills an invocation kills it here, and not when somebody asks for the result."""
        future: Future[Any] = Future()
        try:
            future.set_result(work(*given, **named))
        except Exception as error:
            future.set_exception(error)
        return future


Looking = Callable[[Attempted, Verdict], None]


class Invocation:
    """One run of `work`, which gets the function to put around its table. `call` is what it is about to do; None: it has ended.

    Then `result` is what it returned, or `raised` what it raised. `look` sees every call with what becomes of it.
    """

    def __init__(self, work: Callable[[Around], Any], look: Looking = lambda _, __: None) -> None:
        self.call: Attempted | None = None
        self.done = 0
        """How many of its calls have met their verdict."""
        self.result: Any = None
        self.raised: BaseException | None = None
        self._look = look
        self._perform: Callable[[], Any] = lambda: None
        self._verdict = Verdict.DONE
        self._undisturbed = 0
        self._until_write = False
        self._dead = False
        self._stopped, self._go = allocate_lock(), allocate_lock()
        self._stopped.acquire()
        self._go.acquire()
        threading.Thread(target=self._run, args=(work,), daemon=True).start()
        self._wait()

    @property
    def ended(self) -> bool:
        """Whether nothing of it is left to do."""
        return self.call is None

    def step(self, verdict: Verdict = Verdict.DONE, then: int = 0) -> None:
        """Let the pending call meet its verdict and `then` more be done; go on to the next one or the end."""
        if self.call is None:
            return
        self._verdict = verdict
        self._undisturbed = then
        self._go.release()
        self._wait()

    def to_next_write(self) -> None:
        """Let reads be done until the next call is a write, or the end."""
        if self.call is None or self.call.writes:
            return
        self._until_write = True
        self.step()
        self._until_write = False

    def finish(self) -> None:
        """Let every call that is left be done."""
        if self.call is not None:
            self.step(then=1 << 30)

    def late(self) -> Callable[[], None]:
        """What lands the pending call, once more or after all, whatever has become of the invocation. A read lands nowhere."""
        attempted, perform = self.call, self._perform

        def land() -> None:
            if attempted is not None and attempted.writes:
                try:
                    perform()
                except (ConditionFailed, TransactionFailed, ItemTooLarge):
                    return

        return land

    def kill(self) -> Callable[[], None]:
        """End it before its pending call. What is returned lands that call after all: it had left already."""
        land = self.late()
        if self.call is not None:
            self._dead = True
            self._go.release()
            self._wait()
        return land

    def _run(self, work: Callable[[Around], Any]) -> None:
        try:
            self.result = work(self._before)
        except BaseException as error:
            self.raised = error
        self.call = None
        self._stopped.release()

    def _before(self, attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if self._dead:
            raise Killed
        if self._undisturbed > 0 or (self._until_write and not attempted.writes):
            self._undisturbed -= 1
            self._look(attempted, Verdict.DONE)
            self.done += 1
            return perform()
        self.call, self._perform = attempted, perform
        self._stopped.release()
        self._go.acquire()
        if self._dead:
            raise Killed
        self._look(attempted, self._verdict)
        self.done += 1
        return _meet(self._verdict, perform)

    def _wait(self) -> None:
        if not self._stopped.acquire(timeout=_PATIENCE):
            raise AssertionError("an invocation hangs")


def _meet(verdict: Verdict, perform: Callable[[], Any]) -> Any:
    match verdict:
        case Verdict.DONE:
            return perform()
        case Verdict.TWICE:
            _unheard(perform)
            return perform()
        case Verdict.LOST:
            _unheard(perform)
            raise Overloaded("The table cannot be reached; try again.")
        case Verdict.REFUSED:
            raise Overloaded("The table is busy; try again.")
        case Verdict.DENIED:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "Any")


def refuse_as_too_large() -> None:
    """What becomes of a write of an item of more than 400 KB."""
    raise ItemTooLarge("The item would be larger than 400 KB.")


def _unheard(perform: Callable[[], Any]) -> None:
    try:
        perform()
    except (ConditionFailed, TransactionFailed):
        return


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
