"""Carries out the steps of any plan, round by round. It knows rounds, batches and the meter, but not the query.

All reads that steps ask for together are one round: their directories in one batch, their blocks in another, and
everything else in parallel.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, NamedTuple, TypeVar

from gridview.dynamodb.table import Table
from gridview.query.counted import Decides, Seen, always
from gridview.query.plan import Node
from gridview.query.steps import Ask, AtHand, NodeFacts, Steps
from gridview.query.trace import Trace, Usage
from gridview.support.concurrency import in_context
from gridview.view.block_reads import Want
from gridview.view.index_view import IndexView
from gridview.view.reads import ReadBlocks, ReadDirectories

Result = TypeVar("Result")


class _ReadBatch(NamedTuple):
    """Reads that are made together. `places`: where their answers belong; `shares`: each node's share of the reads."""

    table: Table
    places: Sequence[int]
    shares: Mapping[Node, int]
    read: Callable[[], Sequence[Any]]


class Executor:
    """Carries out the plan of one request by its view of the index. `table.meter` is charged with every call.

    `decides`: returns the nodes whose documents decide what is counted.
    """

    def __init__(self, table: Table, view: IndexView, decides: Decides = always) -> None:
        self.seen = Seen(decides)
        self._table = table
        self._view = view
        self._begun = table.meter.rounds
        self._usage: dict[Node, Usage] = {}
        self._facts: dict[Node, dict[str, Any]] = {}

    @property
    def trace(self) -> Trace:
        """The work done so far."""
        return Trace(self._usage, self._facts, self._view.reads, self._view.age)

    def run(self, steps: Callable[[], Steps[Result]]) -> Result:
        """Return the result of the steps; their errors refuse the request. They begin again if the view is outdated."""
        return self._view.consistently(lambda: self._run(steps()))

    def _run(self, steps: Steps[Result]) -> Result:
        answer: Any = None
        while True:
            try:
                asked = steps.send(answer)
            except StopIteration as ended:
                result: Result = ended.value
                return result
            answer = None
            if isinstance(asked, list):
                answer = self._round(asked)
            elif isinstance(asked, AtHand):
                if all(self._view.at_hand(one.read) for one in asked.asks):
                    answer = self._round(asked.asks)
            elif isinstance(asked, NodeFacts):
                self._facts.setdefault(asked.node, {}).update(asked.facts)
                self.seen.miss(asked.node, asked.facts.get("absent", 0))
            else:
                answer = self._table.meter.rounds - self._begun

    def _round(self, asked: Sequence[Ask]) -> list[Any]:
        """Return the answers to parallel reads; takes one more round if sizes in directories must be settled."""
        view = self._view
        found = self._read(asked)
        view.take([(one.read, answer) for one, answer in zip(asked, found, strict=True)])
        further = [Ask(one.node, ReadBlocks(wants)) for one in asked if (wants := view.unsettled(one.read))]
        if further:
            self._read(further)
            view.check()
        answers = [view.shown(one.read, answer) for one, answer in zip(asked, found, strict=True)]
        if view.overlay is not None:
            for one, answer in zip(asked, answers, strict=True):
                self.seen.look(one, answer, view.overlay)
        return answers

    def _read(self, asked: Sequence[Ask]) -> list[Any]:
        """Return the answers of the table. Every call is charged, also if one of them is refused."""
        batches = self._batches(asked)
        for batch in batches:
            batch.table.meter.calls, batch.table.meter.rounds = [], self._table.meter.rounds
        try:
            found = _side_by_side([batch.read for batch in batches])
        finally:
            self._charge(batches)
        answers: list[Any] = [None] * len(asked)
        for batch, given in zip(batches, found, strict=True):
            for place, answer in zip(batch.places, given, strict=True):
                answers[place] = answer
        return answers

    def _charge(self, batches: Sequence[_ReadBatch]) -> None:
        meter = self._table.meter
        made = [call for batch in batches for call in batch.table.meter.calls]
        for call in sorted(made, key=lambda call: call.round):
            meter.record(call)
        meter.rounds = max((batch.table.meter.rounds for batch in batches), default=meter.rounds)
        for batch in batches:
            calls, in_all = batch.table.meter.calls, sum(batch.shares.values())
            for node, share in batch.shares.items():
                usage = self._usage.setdefault(node, Usage())
                usage.units += sum(call.capacity for call in calls) * share / in_all
                usage.rounds.update(call.round - self._begun for call in calls)

    def _batches(self, asked: Sequence[Ask]) -> list[_ReadBatch]:
        """The reads of a round by how they are made: those of the index together, each other read by itself."""
        of_the_index = [
            at for at, one in enumerate(asked) if isinstance(one.read, ReadDirectories | ReadBlocks)
        ]
        batches = [self._of_index(asked, of_the_index)] if of_the_index else []
        return batches + [
            self._alone(at, one)
            for at, one in enumerate(asked)
            if not isinstance(one.read, ReadDirectories | ReadBlocks) and not self._view.knows(one.read)
        ]

    def _of_index(self, asked: Sequence[Ask], places: Sequence[int]) -> _ReadBatch:
        """Directories and blocks. A read of several nodes counts for the first of them, and a cached one for none."""
        view = self._view
        families: dict[str, Node] = {}
        wants: dict[Want, Node] = {}
        for node, read in (asked[at] for at in places):
            if isinstance(read, ReadDirectories):
                for family in read.families:
                    families.setdefault(family, node)
            elif isinstance(read, ReadBlocks):
                for want in read.wants:
                    wants.setdefault(want, node)
                    if want.keys is not None and not view.has(want):
                        self.seen.look_at_entries(node, want.entry)
        shares: dict[Node, int] = {}
        missing = [node for family, node in families.items() if not view.has_directory(family)]
        missing += [node for want, node in wants.items() if not view.has(want)]
        for node in missing:
            shares[node] = shares.get(node, 0) + 1

        def read_index() -> list[None]:
            view.read_index(families, wants)
            return [None] * len(places)

        return _ReadBatch(view.table, places, shares, read_index)

    def _alone(self, place: int, asked: Ask) -> _ReadBatch:
        own = self._table.metered()
        return _ReadBatch(own, (place,), {asked.node: 1}, lambda: (self._view.read(own, asked.read),))


def _side_by_side(reads: Sequence[Callable[[], Sequence[Any]]]) -> list[Sequence[Any]]:
    """Return the results of all reads. All have ended when this returns, also if one is refused."""
    if not reads:
        return []
    first, *others = reads
    if not others:
        return [first()]
    with ThreadPoolExecutor(len(others)) as pool:
        beside = [pool.submit(in_context(read)) for read in others]
        try:
            found = [first()]
        finally:
            wait(beside)
    return found + [one.result() for one in beside]
