"""From a plan to an answer: it is carried out, and explained if that is asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding.consistency import Recent, issues_in, number_in
from gridview.encoding.cursors import Cursors
from gridview.journal.feed_cursors import AHEAD_SECONDS, FeedCursor
from gridview.journal.feed_positions import SAME_SECONDS, FeedPosition
from gridview.query import planner
from gridview.query.counted import Counted, Decides, always
from gridview.query.executor import Executor, LaidAnew
from gridview.query.explain import explanation_of
from gridview.query.plan import Node
from gridview.query.steps import Ask, Steps, ask, ask_all, side_by_side, tell
from gridview.query.trace import Facts
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.support import clock
from gridview.view.block_cache import BlockCache
from gridview.view.freshness import Lag
from gridview.view.moves import Unheard
from gridview.view.reads import ReadEpoch, ReadFreshness, ReadRecent, ReadUnheard
from gridview.view.shown_versions import Shown
from gridview.view.unheard import SETTLED

Result = TypeVar("Result")


def carried_out(
    plan: Node,
    steps: Callable[[], Steps[Result]],
    table: Table,
    catalog: Catalog,
    cache: BlockCache,
    *,
    epoch: EpochCheck,
    recent: Recent,
    explain: bool,
    decides: Decides = always,
    feed: Cursors | None = None,
    shown: Shown | None = None,
    shows: Callable[[Result], Iterable[Item]] | None = None,
) -> tuple[Result, dict[str, Any]]:
    """What the steps of a plan give, and what every answer tells besides: `index`, and `explain` if that is asked for.

    They raise what refuses the request. Beside the first round the project's epoch is read (StaleDefinitions if the catalog is not
    the current one), how far the index is behind, and with tokens what they name. `cache`: what the container keeps. `recent`:
    writes that the answer is to hold. `feed`: what seals `changes`, the cursor of the feed in front of which is what was counted;
    null where nobody can tell (`query.counted`). `decides`: as for `Executor`. Where numbers were given out lately it is also read
    whether the index has heard of these issues; if not, they are laid over, and the plan is carried out anew.

    `shown`: is told what the answer shows and the index may still lack. `shows`: the documents that a result shows; None: it is
    made of all that were read. Overloaded: the journal does not tell yet what `recent` says of it.
    """
    just_written, number, begun = issues_in(recent), number_in(recent), clock.seconds()
    executor = Executor(table, catalog, cache, epoch, just_written, decides, number)
    state = _State(epoch, just_written)
    while True:
        with suppress(LaidAnew):
            result, *_ = executor.run(side_by_side(steps(), *state.reads()))
            break
    facts = executor.trace.facts
    if shown is not None:
        shown.late = state.lag(facts).seconds
        executor.show(shown, None if shows is None else shows(result))
    told: dict[str, Any] = {"index": state.index(facts)}
    if feed is not None:
        counted = executor.counted(state.lag(facts).seconds)
        told["changes"] = None if counted is None else _cursor(counted, catalog, begun).sealed(feed, catalog)
    if explain:
        told["explain"] = explanation_of(plan, state.nodes(facts), executor.trace, table.meter)
    return result, told


def _cursor(counted: Counted, catalog: Catalog, begun: float) -> FeedCursor:
    """Where whoever has an answer goes on: behind what it counts."""
    since = begun - begun % SAME_SECONDS  # so a client sees which answers count the same
    until = int(since + SAME_SECONDS) + AHEAD_SECONDS
    return FeedCursor(FeedPosition(counted.number, 0, since), catalog.epoch, ahead=counted.ahead, until=until)


class _State:
    """What is read beside a plan: the state of the index."""

    def __init__(self, epoch: EpochCheck, recent: frozenset[int]) -> None:
        self._check = epoch
        self._due = epoch.due
        self._overlay = planner.overlay_read(len(recent))
        self._epoch = planner.epoch_read()
        self._freshness = planner.freshness()
        self._unheard = planner.unheard_read()

    def reads(self) -> Iterator[Steps[None]]:
        """The steps."""
        yield self._recent()
        yield self._of_the_index()

    def _recent(self) -> Steps[None]:
        overlay = yield from ask(self._overlay, ReadRecent())
        yield from tell(self._overlay, behind=overlay.behind, pending=overlay.pending)

    def _of_the_index(self) -> Steps[None]:
        """The epoch and the lag; and if numbers were given out lately, whether the index has heard of them."""
        asks = [Ask(self._epoch, ReadEpoch())] if self._due else []
        *_, lag = yield from ask_all([*asks, Ask(self._freshness, ReadFreshness())])
        yield from tell(self._freshness, lag=lag)
        numbering = self._check.numbering
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
