"""The visits of a check to the blocks of projects: find the faults there, repair them, and say where to look next.

A visit checks the range between two positions, of a chain or of a project's issue numbers. `chain_check`
finds the faults. Doubts are settled at once (`block_membership`), and all faults are repaired on request
(`repairs`).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple

from gridview.chains.block_writer import Impassable
from gridview.chains.blocks import Unreadable
from gridview.chains.fence_cache import Fences
from gridview.derive.families import families_of
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.fsck import block_ranges, chain_check, column_visits, journal_check
from gridview.fsck.block_membership import BlockMembership, JudgedDoubts, Misplaced, SuspectKey
from gridview.fsck.block_ranges import BlockRange, FamilySets, NumberPlace
from gridview.fsck.chain_repair import Chain
from gridview.fsck.column_visits import ColumnVisit
from gridview.fsck.definitions import Definitions
from gridview.fsck.issue_diff import Difference, DifferenceKind
from gridview.fsck.progress import (
    AFTER_REPAIR,
    BY_HAND,
    BY_NUMBER,
    COLUMN,
    JOURNAL,
    RESTLESS,
    STUCK,
    Finding,
    Visit,
)
from gridview.fsck.repairs import TOGETHER, Repairs
from gridview.journal.items import Listing
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.schema.store import DefinitionsMissing, require_deleted
from gridview.support import clock
from gridview.support.concurrency import chunked
from gridview.support.errors import Overloaded

_SIDE_BY_SIDE = 8
"""Chains that are checked in parallel."""

_MOST_REPORTED = 100
"""The most issues that are reported for one block."""

_WINDOW = 10 * chain_check.SLICE
"""Issue numbers whose bitmaps are in memory: those of more issues than a turn of the nightly check compares."""

_OLD_SETS = 60.0
"""Seconds after which bitmaps are read again."""

_TRIES = 4
"""How often doubts, and a chain, are checked before they are left for the next run."""

_PAUSE = 1.0
"""Seconds between two looks at an issue that another writer is working on."""

_BY_HAND = frozenset({DifferenceKind.LOST, DifferenceKind.HEADLESS})
"""Faults of a journal that nothing else can repair."""


class Visited(NamedTuple):
    """The faults that a visit found, the visits that follow from it, and how many places in blocks it could
    not judge.
    """

    findings: Sequence[Finding] = ()
    further: Sequence[Visit] = ()
    unsettled: int = 0


def side_by_side(visits: Sequence[Visit]) -> Sequence[Visit]:
    """Return the first of these visits that can run in parallel: several chains, or a single visit to more
    than a chain.
    """
    alone = next(
        (at for at, one in enumerate(visits[:_SIDE_BY_SIDE]) if one.what in ("", JOURNAL, BY_NUMBER, COLUMN)),
        _SIDE_BY_SIDE,
    )
    return visits[: max(alone, 1)]


class _KeptSets(NamedTuple):
    """The bitmaps read last: of a project's range of blocks, for some issue numbers, and until when they are valid."""

    project: tuple[str, str]
    blocks: BlockRange
    among: range
    until: str
    sets: FamilySets

    def serves(self, project: tuple[str, str], place: NumberPlace) -> bool:
        """Whether they can be used at a place."""
        current = (self.project, self.blocks) == (project, place.blocks) and self.until >= clock.now()
        return current and place.first in self.among


class Visits:
    """Carries out the visits of one check."""

    def __init__(
        self, table: Table, definitions: Definitions, repair: Repairs | None, *, meets_blocks: bool
    ) -> None:
        """`meets_blocks`: the check sees every block anyway, so past families need no extra look."""
        self._table = table
        self._definitions = definitions
        self._repair = repair
        self._meets_blocks = meets_blocks
        self._fences = Fences()
        self._kept: _KeptSets | None = None

    def carry_out(self, visits: Sequence[Visit], pool: ThreadPoolExecutor) -> list[Visited]:
        """Carry out some visits (`side_by_side`) under the present definitions."""
        for project in dict.fromkeys(visit[:2] for visit in visits):
            self._definitions.reload(*project)
        return list(pool.map(self._visited, visits))

    def _visited(self, visit: Visit) -> Visited:
        tenant, project, what, _ = visit
        defined = self._definitions.of(tenant, project)
        catalog = defined.catalog
        if what == "":
            if catalog is None:
                return Visited()
            return Visited(further=[Visit(tenant, project, JOURNAL)])
        if what == JOURNAL:
            return Visited() if catalog is None else self._visited_journal(visit, catalog)
        if what == BY_NUMBER:
            return Visited() if catalog is None else self._visited_numbers(visit, catalog)
        if what == COLUMN:
            return Visited() if catalog is None else self._visited_column(visit, catalog)
        if catalog is None or what not in families_of(catalog):
            return Visited(self._visited_dead(visit))
        return self._visited_chain(visit, catalog)

    def _visited_journal(self, visit: Visit, catalog: Catalog) -> Visited:
        """Check the journal of a project; then its blocks, unless nothing can be known of them.

        A repair folds first. A damaged chain stops the fold, so the remaining faults are judged once more
        after the blocks.
        """
        log = Log(self._table, visit.tenant, visit.project)
        again = visit.at == AFTER_REPAIR
        found = self._faults(log)
        if self._repair is None:
            return Visited(_findings(log, found, ""), self._blocks_of(visit, catalog, found))
        self._repair.fold(log)
        left = self._faults(log)
        lost = [one for one in left if one.kind in _BY_HAND and not again]
        stuck = [one for one in left if one.kind not in _BY_HAND]
        repaired = [one for one in found if one not in left]
        findings = [Finding(log.partition, repaired, repaired=True)] if repaired else []
        findings += _findings(log, lost, BY_HAND)
        if again:
            return Visited([*findings, *_findings(log, stuck, STUCK)])
        later = [visit._replace(at=AFTER_REPAIR)] if stuck else []
        return Visited(findings, [*self._blocks_of(visit, catalog, left), *later])

    def _blocks_of(self, visit: Visit, catalog: Catalog, faults: Sequence[Difference]) -> Sequence[Visit]:
        headless = any(one.kind is DifferenceKind.HEADLESS for one in faults)
        return () if headless else [visit._replace(what=part) for part in self._parts(catalog)]

    def _faults(self, log: Log) -> list[Difference]:
        head = log.known_head(consistent=True)
        if head is None:
            return journal_check.faults(log.partition, None, (), Listing(), clock.seconds())
        folded = log.up_to(head.folded, journal_check.LOOKED_BACK)
        return journal_check.faults(log.partition, head, folded, log.after(head.folded), clock.seconds())

    def _parts(self, catalog: Catalog) -> tuple[str, ...]:
        former = () if self._meets_blocks else chain_check.former_families(catalog)
        return (*families_of(catalog), *former, BY_NUMBER)

    def _visited_dead(self, visit: Visit) -> list[Finding]:
        """Return the blocks of a family that no longer exists, if any. A deleted project has no families."""
        tenant, project, family, _ = visit
        chain = Chain(self._table, tenant, project, family)
        count = len(chain.read([block_id for _, block_id in chain.listed()]))
        column = self._table.query(derived_keys.column(tenant, project, family), paths=())
        if not count and not column.items:
            return []
        defined = self._definitions.reload(tenant, project)
        if not defined.lacks(family):
            return []
        if defined.catalog is None:
            try:
                require_deleted(self._table, tenant, project)
            except DefinitionsMissing:
                return []  # reported for its issues
        if self._repair is not None:
            self._repair.remove(tenant, project, family)
        there = f"{count:,} blocks" + (" and a column" if column.items else "")
        dead = Difference(chain.directory, DifferenceKind.DEAD, family, there)
        return [Finding(chain.directory, [dead], repaired=self._repair is not None)]

    def _visited_chain(self, visit: Visit, catalog: Catalog) -> Visited:
        chain = Chain(self._table, *visit[:3])
        doubtful = self._doubtful(visit, catalog)
        piece = chain_check.look_at_chain(chain, visit.at, doubtful.take)
        for _ in range(_TRIES):
            if not piece.moved and (not piece.faults or self._repair is None):
                break
            doubtful.begin_again(piece.faults)
            if piece.faults and self._repair is not None:
                with suppress(Overloaded):  # the next look reports the remaining faults
                    self._repair.straighten(*visit[:3])
            piece = chain_check.look_at_chain(chain, visit.at, doubtful.take)
        doubtful.leave_faults(piece.faults)
        further = [] if piece.next is None else [visit._replace(at=piece.next)]
        return Visited(doubtful.findings, further, len(doubtful.unsettled) + piece.moved)

    def _visited_numbers(self, visit: Visit, catalog: Catalog) -> Visited:
        """Compare the next issues with a range of blocks, and with the columns in the first pass over the issues."""
        place = (
            NumberPlace.from_text(visit.at)
            if visit.at
            else NumberPlace(1, block_ranges.range_from(self._table, catalog))
        )
        doubtful = self._doubtful(visit, catalog)
        held, stop = self._window(visit, catalog, place)
        derived = chain_check.derived_slice(self._table, catalog, place.first, stop, place.blocks)
        chain_check.look_at_numbers(derived, held, doubtful.take)
        stop = derived.among.stop
        parts: list[str] = []
        if place.blocks.is_first:
            parts += column_visits.suspects(self._table, catalog, derived)
        following: NumberPlace | None = place._replace(first=stop)
        if stop == chain_check.ABOVE_ALL_NUMBERS:
            parts += column_visits.whole_columns(catalog) if place.blocks.is_first else ()
            end = place.blocks.end
            following = (
                None if end is None else NumberPlace(1, block_ranges.range_from(self._table, catalog, end))
            )
        further = [visit._replace(what=COLUMN, at=part) for part in parts]
        if following is not None:
            further.append(visit._replace(at=following.to_text()))
        return Visited(doubtful.findings, further, len(doubtful.unsettled))

    def _window(self, visit: Visit, catalog: Catalog, place: NumberPlace) -> tuple[FamilySets, int]:
        """Return the sets that a slice of issues is compared with, and the number before which the slice ends."""
        counter = self._table.get(keys.project(*visit[:2]), keys.COUNTER) or {}
        last, above = int(counter.get("last", 0)), chain_check.ABOVE_ALL_NUMBERS
        project, kept = visit[:2], self._kept
        if kept is None or not kept.serves(project, place):
            stop = place.first + _WINDOW
            among = range(place.first, stop if stop <= last else above)
            sets = block_ranges.sets_of(self._table, catalog, place.blocks, among)
            self._kept = kept = _KeptSets(project, place.blocks, among, clock.after(_OLD_SETS), sets)
        stop = place.first + chain_check.SLICE
        return kept.sets, min(stop if stop <= last else above, kept.among.stop)

    def _visited_column(self, visit: Visit, catalog: Catalog) -> Visited:
        column = ColumnVisit(Log(self._table, *visit[:2]), catalog, self._repair)
        column.check(visit.at)
        return Visited(column.findings)

    def _doubtful(self, visit: Visit, catalog: Catalog) -> "_Doubtful":
        own = visit.tenant, visit.project
        membership = BlockMembership(self._table, self._fences, *own)
        return _Doubtful(membership, catalog, self._repair)


def _findings(log: Log, faults: Sequence[Difference], reason: str) -> list[Finding]:
    return [Finding(log.partition, faults, reason=reason)] if faults else []


class _Doubtful:
    """Settles doubts as they come, repairs on request, and collects the findings and the doubts that could
    not be judged.
    """

    def __init__(self, membership: BlockMembership, catalog: Catalog, repair: Repairs | None) -> None:
        self._membership = membership
        self._catalog = catalog
        self._repair = repair
        self._found: dict[str, list[Difference]] = defaultdict(list)
        self._left: dict[str, list[Difference]] = defaultdict(list)
        self.unsettled: set[SuspectKey] = set()

    def take(self, doubts: Sequence[SuspectKey]) -> None:
        by_family: dict[str, list[SuspectKey]] = defaultdict(list)
        for doubt in doubts:
            by_family[doubt.family].append(doubt)
        for family, some in by_family.items():
            for together in chunked(some, TOGETHER):
                try:
                    self._settle(family, together)
                except (Impassable, Unreadable):
                    self.unsettled.update(together)  # until the chain, which is reported, is repaired

    def begin_again(self, faults: Sequence[Difference]) -> None:
        """These faults between blocks are repaired now, and all doubts come once more."""
        self.unsettled.clear()
        for fault in faults:
            if fault not in self._found[fault.key]:
                self._found[fault.key].append(fault)

    def leave_faults(self, faults: Sequence[Difference]) -> None:
        """Faults between blocks that are there in the end."""
        for fault in faults:
            (self._found if self._repair is None else self._left)[fault.key].append(fault)

    def _settle(self, family: str, doubts: Sequence[SuspectKey]) -> None:
        """Judge doubts, and repair the true ones, until none is true or open."""
        judged = JudgedDoubts((), ())
        for attempt in range(_TRIES):
            if attempt:
                self._work_on(doubts, judged)
            judged = self._membership.judge(doubts, self._catalog)
            self._keep(self._found, family, judged.misplaced)
            wrong = () if self._repair is None else judged.misplaced
            doubts = [*judged.unsettled, *(one.suspect for one in wrong)]
            if not doubts:
                return
        if self._repair is not None:
            self._keep(self._left, family, judged.misplaced)
        self.unsettled.update(judged.unsettled)

    def _work_on(self, doubts: Sequence[SuspectKey], judged: JudgedDoubts) -> None:
        """Repair misplaced keys, and give other writers and the fold time to finish the issues that cannot be
        judged.
        """
        membership, repair = self._membership, self._repair
        if repair is not None and judged.misplaced:
            with suppress(Overloaded):  # tried again, and otherwise reported as left
                repair.amend(membership, doubts)
        if judged.unsettled:
            clock.sleep(_PAUSE)
            if repair is not None:
                repair.fold(Log(membership.table, membership.tenant, membership.project))

    def _keep(self, kept: dict[str, list[Difference]], family: str, misplaced: Iterable[Misplaced]) -> None:
        membership = self._membership
        chain = Chain(membership.table, membership.tenant, membership.project, family)
        for one in misplaced:
            reported, difference = kept[chain.key(one.block_id)], chain_check.difference_of(chain, one)
            if len(reported) < _MOST_REPORTED and difference not in reported:
                reported.append(difference)

    @property
    def findings(self) -> list[Finding]:
        """Faults in blocks, including those already repaired."""
        if self._repair is None:
            return [Finding(key, some) for key, some in self._found.items()]
        left = {one for some in self._left.values() for one in some}
        repaired = {key: [one for one in some if one not in left] for key, some in self._found.items()}
        return [
            *(Finding(key, some, repaired=True) for key, some in repaired.items() if some),
            *(Finding(key, some, reason=RESTLESS) for key, some in self._left.items()),
        ]
