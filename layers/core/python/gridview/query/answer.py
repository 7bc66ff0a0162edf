"""Carries out a plan to make an answer, with an explanation on request."""

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
from gridview.query.relative_operands import FIXED, RelativeOperands
from gridview.query.steps import Ask, Steps, ask, ask_all, record, side_by_side
from gridview.query.trace import Facts
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.schema.numbering import Numbering
from gridview.support import clock
from gridview.view.context import ReadContext
from gridview.view.freshness import Lag
from gridview.view.index_view import IndexView
from gridview.view.moves import NewIssues
from gridview.view.new_issues import SETTLED
from gridview.view.reads import ReadEpoch, ReadFreshness, ReadNewIssues, ReadRecent
from gridview.view.shown_versions import Shown

Result = TypeVar("Result")


class CarriedOut(NamedTuple, Generic[Result]):
    """The result of a plan's steps, the parts that every answer has, and the versions that the index may still lack.

    `members`: `index`; `changes_cursor`, if cursors of the changes are sealed; `explain`, on request.
    """

    result: Result
    members: dict[str, Any]
    shown: Shown


def carried_out(
    context: ReadContext,
    plan: Node,
    steps: Callable[[], Steps[Result]],
    *,
    explain: bool = False,
    operands: RelativeOperands = FIXED,
    decides: Decides = always,
    shows: Callable[[Result], Iterable[Item]] | None = None,
) -> CarriedOut[Result]:
    """Carry out a plan. Its steps raise the errors that refuse the request.

    Parallel to the first round, it reads the project's epoch, the lag of the index and the issues that tokens name. If
    numbers were given out recently, it also reads whether the index has their issues. If not, they are laid over, and the
    steps begin again.

    - `operands`: the relative operands that the filter was resolved from.
    - `decides`: as for `Executor`.
    - `shows`: returns the documents that a result shows; None: the result uses all documents that were read.
    - `changes_cursor` in the answer is the cursor of the feed after everything that was counted. It is null if that is unknown
      (`query.counted`), or if `operands` have other values by now: the rows of another day cannot be followed.

    Raises StaleDefinitions if the catalog is not current, and Overloaded if the journal lacks writes that tokens name.
    """
    begun = clock.seconds()
    view = IndexView(context, context.table.metered())
    executor = Executor(context.table, view, decides)
    beside = _Beside(context)
    result, *_ = executor.run(lambda: side_by_side(steps(), *beside.steps()))
    facts, overlaid = executor.trace.facts, view.overlaid()
    lag = beside.lag(facts)
    shown = executor.seen.shown(overlaid, lag.seconds, None if shows is None else shows(result))
    members: dict[str, Any] = {"index": beside.index(facts)}
    if context.feed is not None:
        outlived = operands.outlived(begun)
        counted = None if outlived else executor.seen.counted(context.catalog, overlaid, lag.seconds)
        cursor = None if counted is None else _cursor(counted, context.catalog, begun)
        members["changes_cursor"] = None if cursor is None else cursor.sealed(context.feed, context.catalog)
    if explain:
        members["explain"] = explanation_of(
            plan, beside.nodes(facts), executor.trace, context.table.meter, operands.sentences()
        )
    return CarriedOut(result, members, shown)


def _cursor(counted: Counted, catalog: Catalog, begun: float) -> FeedCursor:
    """Return the cursor from which a client continues after an answer: after the changes that it counts."""
    since = begun - begun % SAME_SECONDS  # so a client sees which answers count the same
    until = int(since + SAME_SECONDS) + AHEAD_SECONDS
    return FeedCursor(FeedPosition(counted.number, 0, since), catalog.epoch, ahead=counted.ahead, until=until)


class _Beside:
    """The reads in parallel to a plan: the state of the definitions and of the index."""

    def __init__(self, context: ReadContext) -> None:
        self._check: EpochCheck = context.epoch
        self._due = context.epoch.due
        self._overlay = planner.overlay_read(len(issues_in(context.recent)))
        self._epoch = planner.epoch_read()
        self._freshness = planner.freshness()
        self._new_issues = planner.new_issues_read()

    def steps(self) -> Iterator[Steps[None]]:
        """The steps."""
        yield self._recent()
        yield self._of_the_index()

    def _recent(self) -> Steps[None]:
        overlay = yield from ask(self._overlay, ReadRecent())
        yield from record(self._overlay, displaced=overlay.displaced, pending=overlay.pending)

    def _of_the_index(self) -> Steps[None]:
        """Read the epoch and the lag; if numbers were given out recently, also whether the index has their issues."""
        asks = [Ask(self._epoch, ReadEpoch())] if self._due else []
        *confirmed, lag = yield from ask_all([*asks, Ask(self._freshness, ReadFreshness())])
        yield from record(self._freshness, lag=lag)
        numbering: Numbering | None = confirmed[0] if confirmed else self._check.numbering
        if numbering is None:
            return
        now = clock.seconds()
        after = numbering.given_by(now - SETTLED - (lag.seconds or 0.0), now)
        if after < numbering.last:
            most = planner.most_overlaid(numbering.last)
            found = yield from ask(self._new_issues, ReadNewIssues(after, numbering.last, most))
            yield from record(self._new_issues, new=found)

    def nodes(self, facts: Mapping[Node, Facts]) -> tuple[Node, ...]:
        """The nodes that were carried out."""
        due = (self._epoch,) if self._due else ()
        return (
            self._overlay,
            *due,
            self._freshness,
            *((self._new_issues,) if self._new_issues in facts else ()),
        )

    def lag(self, facts: Mapping[Node, Facts]) -> Lag:
        """The lag of the index."""
        lag: Lag = facts[self._freshness]["lag"]
        return lag

    def index(self, facts: Mapping[Node, Facts]) -> dict[str, int | None]:
        """The state of the index, as every answer reports it."""
        pending = facts[self._overlay]["pending"]
        if self._new_issues in facts:
            found: NewIssues = facts[self._new_issues]["new"]
            pending += len(found.moves) + found.missing
        return {"lag_ms": self.lag(facts).milliseconds, "pending": pending}
