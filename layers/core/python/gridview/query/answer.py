"""From a plan to an answer: it is carried out, and explained if that is asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from gridview.dynamodb.expressions import Item
from gridview.encoding.consistency import issues_in
from gridview.journal.feed_cursors import AHEAD_SECONDS, FeedCursor
from gridview.journal.feed_positions import SAME_SECONDS, FeedPosition
from gridview.query import planner
from gridview.query.counted import Counted, Decides, always
from gridview.query.executor import Executor
from gridview.query.explain import explanation_of
from gridview.query.plan import Node
from gridview.query.steps import Ask, Steps, ask, ask_all, side_by_side, tell
from gridview.query.trace import Facts
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.schema.numbering import Numbering
from gridview.support import clock
from gridview.view.context import ReadContext
from gridview.view.freshness import Lag
from gridview.view.index_view import IndexView
from gridview.view.moves import Unheard
from gridview.view.reads import ReadEpoch, ReadFreshness, ReadRecent, ReadUnheard
from gridview.view.shown_versions import Shown
from gridview.view.unheard import SETTLED

Result = TypeVar("Result")


class CarriedOut(NamedTuple, Generic[Result]):
    """What the steps of a plan gave, what every answer tells besides, and what of it the index may still lack.

    `told`: `index`; `changes`, where cursors of the changes are sealed; and `explain` if that is asked for.
    """

    result: Result
    told: dict[str, Any]
    shown: Shown


def carried_out(
    context: ReadContext,
    plan: Node,
    steps: Callable[[], Steps[Result]],
    *,
    explain: bool = False,
    decides: Decides = always,
    shows: Callable[[Result], Iterable[Item]] | None = None,
) -> CarriedOut[Result]:
    """Carry out a plan. Its steps raise what refuses the request.

    Beside the first round the project's epoch is read (StaleDefinitions if the catalog is not the current one), how far the index
    is behind, and with tokens what they name. Where numbers were given out lately it is also read whether the index has heard of
    these issues; if not, they are laid over, and the steps begin anew. `decides`: as for `Executor`. `shows`: the documents that a
    result shows; None: it is made of all that were read. Overloaded: the journal does not tell yet what tokens say of it.

    `changes` is the cursor of the feed in front of which is what was counted; null where nobody can tell (`query.counted`).
    """
    begun = clock.seconds()
    view = IndexView(context, context.table.metered())
    executor = Executor(context.table, view, decides)
    beside = _Beside(context)
    result, *_ = executor.run(lambda: side_by_side(steps(), *beside.steps()))
    facts, laid = executor.trace.facts, view.laid()
    lag = beside.lag(facts)
    shown = executor.seen.shown(laid, lag.seconds, None if shows is None else shows(result))
    told: dict[str, Any] = {"index": beside.index(facts)}
    if context.feed is not None:
        counted = executor.seen.counted(context.catalog, laid, lag.seconds)
        cursor = None if counted is None else _cursor(counted, context.catalog, begun)
        told["changes"] = None if cursor is None else cursor.sealed(context.feed, context.catalog)
    if explain:
        told["explain"] = explanation_of(plan, beside.nodes(facts), executor.trace, context.table.meter)
    return CarriedOut(result, told, shown)


def _cursor(counted: Counted, catalog: Catalog, begun: float) -> FeedCursor:
    """Where a client that has an answer goes on: behind what it counts."""
    since = begun - begun % SAME_SECONDS  # so a client sees which answers count the same
    until = int(since + SAME_SECONDS) + AHEAD_SECONDS
    return FeedCursor(FeedPosition(counted.number, 0, since), catalog.epoch, ahead=counted.ahead, until=until)


class _Beside:
    """What is read beside a plan: the state of the definitions and of the index."""

    def __init__(self, context: ReadContext) -> None:
        self._check: EpochCheck = context.epoch
        self._due = context.epoch.due
        self._overlay = planner.overlay_read(len(issues_in(context.recent)))
        self._epoch = planner.epoch_read()
        self._freshness = planner.freshness()
        self._unheard = planner.unheard_read()

    def steps(self) -> Iterator[Steps[None]]:
        """The steps."""
        yield self._recent()
        yield self._of_the_index()

    def _recent(self) -> Steps[None]:
        overlay = yield from ask(self._overlay, ReadRecent())
        yield from tell(self._overlay, behind=overlay.behind, pending=overlay.pending)

    def _of_the_index(self) -> Steps[None]:
        """The epoch and the lag; and if numbers were given out lately, whether the index has heard of them."""
        asks = [Ask(self._epoch, ReadEpoch())] if self._due else []
        *confirmed, lag = yield from ask_all([*asks, Ask(self._freshness, ReadFreshness())])
        yield from tell(self._freshness, lag=lag)
        numbering: Numbering | None = confirmed[0] if confirmed else self._check.numbering
        if numbering is None:
            return
        now = clock.seconds()
        after = numbering.given_by(now - SETTLED - (lag.seconds or 0.0), now)
        if after < numbering.last:
            most = planner.laid_over(numbering.last)
            found = yield from ask(self._unheard, ReadUnheard(after, numbering.last, most))
            yield from tell(self._unheard, unheard=found)

    def nodes(self, facts: Mapping[Node, Facts]) -> tuple[Node, ...]:
        """Those that were carried out."""
        due = (self._epoch,) if self._due else ()
        return (self._overlay, *due, self._freshness, *((self._unheard,) if self._unheard in facts else ()))

    def lag(self, facts: Mapping[Node, Facts]) -> Lag:
        """How far the index is behind."""
        lag: Lag = facts[self._freshness]["lag"]
        return lag

    def index(self, facts: Mapping[Node, Facts]) -> dict[str, int | None]:
        """How late the index is, as every answer tells it."""
        pending = facts[self._overlay]["pending"]
        if self._unheard in facts:
            found: Unheard = facts[self._unheard]["unheard"]
            pending += len(found.moves) + found.missing
        return {"lag_ms": self.lag(facts).milliseconds, "pending": pending}
