"""An adversary between an invocation and the table: it decides the outcome of each call.

An invocation is real code of the core, whose threads are strands. Each strand stops before every call of the table,
until it gets the call's verdict. Nothing else in it waits for anything. So a scenario is the list of these verdicts,
and the order in which pending calls get them.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from devtools.proof.faults.strands import Killed, Strand, Strands, current
from devtools.proof.faults.watched import Around, Attempted
from gridview.dynamodb.errors import ConditionFailed, ItemTooLarge, TransactionFailed
from gridview.dynamodb.expressions import Item
from gridview.encoding.attribute_values import item_to_wire
from gridview.support.errors import Overloaded


class Verdict(Enum):
    """The outcome of a call."""

    DONE = "done"
    TWICE = "done twice: the SDK missed the first answer"
    REFUSED = "refused: the table is busy"
    LOST = "done, but all answers are lost"
    DENIED = "denied: a permission is lost for a while"


Looking = Callable[[Attempted, Verdict], None]


class Pending(NamedTuple):
    """A call before which a strand waits. `perform` does it, even if the invocation is over."""

    attempted: Attempted
    perform: Callable[[], Any]
    strand: Strand

    def land(self) -> None:
        """Let a write arrive, once more or after all. A read lands nowhere."""
        if self.attempted.writes:
            try:
                self.perform()
            except (ConditionFailed, TransactionFailed, ItemTooLarge):
                return


class Invocation:
    """One run of `work`, which gets the function to put around its table.

    `pending` are the calls that it is about to do side by side; none: it has ended. Then `result` is what it returned, or `raised`
    what it raised. `choose` says of so many pending calls, oldest first, which is next; that is `call`. `look` sees every call
    with what becomes of it.
    """

    def __init__(
        self,
        work: Callable[[Around], Any],
        look: Looking = lambda _, __: None,
        choose: Callable[[int], int] = lambda _: 0,
    ) -> None:
        self.pending: list[Pending] = []
        self.done = 0
        """How many of its calls have met their verdict."""
        self.result: Any = None
        self.raised: BaseException | None = None
        self._look = look
        self._choose = choose
        self._next = 0
        self._verdict = Verdict.DONE
        self._strands = Strands()
        self._strands.begin(lambda: self._run(work))
        self._go_on()

    @property
    def call(self) -> Attempted | None:
        """The call that meets the next verdict; None: it has ended."""
        return self.pending[self._next].attempted if self.pending else None

    @property
    def ended(self) -> bool:
        """Whether nothing of it is left to do."""
        return not self.pending

    def step(self, verdict: Verdict = Verdict.DONE, then: int = 0) -> None:
        """Let the next call meet its verdict and `then` more be done."""
        for _ in range(then + 1):
            if not self.pending:
                return
            one = self.pending.pop(self._next)
            self._next = 0  # a look that raises ends the scenario, which kills the rest
            self._look(one.attempted, verdict)
            self.done += 1
            self._verdict = verdict
            self._go_on(one.strand)
            verdict = Verdict.DONE

    def to_next_write(self) -> None:
        """Let reads be done until the next call is a write, or the end."""
        while self.call is not None and not self.call.writes:
            self.step()

    def finish(self) -> None:
        """Let every call that is left be done."""
        while self.pending:
            self.step()

    def late(self) -> Callable[[], None]:
        """Return a function that lands the next call, once more or after all, even if the invocation is over."""
        return self.pending[self._next].land if self.pending else lambda: None

    def kill(self) -> Sequence[Pending]:
        """End it before its pending calls. They are returned, the next one first: any of them may have left already."""
        left = [self.pending.pop(self._next), *self.pending] if self.pending else []
        self.pending.clear()
        self._strands.kill()
        return left

    def _run(self, work: Callable[[Around], Any]) -> None:
        try:
            self.result = work(self._before)
        except BaseException as error:
            self.raised = error

    def _before(self, attempted: Attempted, perform: Callable[[], Any]) -> Any:
        strand = current()
        if strand is None:
            raise AssertionError("a call of an invocation comes from outside of it")
        if self._strands.over:
            raise Killed
        self.pending.append(Pending(attempted, perform, strand))
        strand.stop()
        return _meet(self._verdict, perform)

    def _go_on(self, strand: Strand | None = None) -> None:
        self._strands.go_on(strand)
        if not self.pending and self._strands.alive:
            raise AssertionError("an invocation hangs")
        self._next = self._choose(len(self.pending)) if len(self.pending) > 1 else 0


def _meet(verdict: Verdict, perform: Callable[[], Any]) -> Any:
    match verdict:
        case Verdict.DONE:
            return perform()
        case Verdict.TWICE:
            _perform_without_answer(perform)
            return perform()
        case Verdict.LOST:
            _perform_without_answer(perform)
            raise Overloaded("The table cannot be reached; try again.")
        case Verdict.REFUSED:
            raise Overloaded("The table is busy; try again.")
        case Verdict.DENIED:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "Any")


def refuse_as_too_large() -> None:
    """Refuse a write as one of an item of more than 400 KB."""
    raise ItemTooLarge("The item would be larger than 400 KB.")


def _perform_without_answer(perform: Callable[[], Any]) -> None:
    try:
        perform()
    except (ConditionFailed, TransactionFailed):
        return


def record(number: int, old: Item | None, new: Item | None) -> dict[str, Any]:
    """A stream record as Lambda delivers it, of an item that was `old` and is `new` (None: there is no item)."""
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
