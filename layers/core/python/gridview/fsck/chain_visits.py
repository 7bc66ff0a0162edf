"""The visits of a check to the blocks of projects: find the faults there, repair them, and say where to look next.

A visit checks the range between two positions, of a chain or of a project's issue numbers. `chain_check` finds the faults. Doubts
are settled at once (`block_membership`), and all faults are repaired on request (`repairs`).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple

from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.fsck import chain_check, journal_check
from gridview.fsck.block_membership import BlockMembership, Misplaced, SuspectKey
from gridview.fsck.chain_check import FamilySets
from gridview.fsck.chain_repair import Chain
from gridview.fsck.definitions import Definitions
from gridview.fsck.issue_diff import Difference, DifferenceKind
from gridview.fsck.progress import BY_HAND, BY_NUMBER, JOURNAL, RESTLESS, Finding, Visit
from gridview.fsck.repairs import TOGETHER, Repairs
from gridview.index.block_writer import Impassable
from gridview.index.blocks import Unreadable
from gridview.index.families import families_of
from gridview.index.fence_cache import Fences
from gridview.index.journal import Listing
from gridview.index.journal_log import Log
from gridview.schema.catalog import Catalog
from gridview.schema.store import DefinitionsMissing, require_deleted
from gridview.support import clock

_SIDE_BY_SIDE = 8
"""Chains that are checked in parallel."""

_TOLD = 100
"""The most issues that are reported for one block."""

_OLD_SETS = 60.0
"""Seconds after which bitmaps are read again."""


class Visited(NamedTuple):
    """The faults that a visit found, and the visits that follow from it."""

    findings: Sequence[Finding] = ()
    further: Sequence[Visit] = ()


def side_by_side(visits: Sequence[Visit]) -> Sequence[Visit]:
    """The first of these visits that can run in parallel: several chains, or a single visit to more than a chain."""
    alone = next(
        (at for at, one in enumerate(visits[:_SIDE_BY_SIDE]) if one.what in ("", JOURNAL, BY_NUMBER)),
        _SIDE_BY_SIDE,
    )
    return visits[: max(alone, 1)]


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
        self._sets: tuple[Visit, str, FamilySets] | None = None
        """The bitmaps read last: of which project, and until when they are valid."""

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
            parts = (JOURNAL,) if catalog.journalled else self._parts(catalog)
            return Visited(further=[Visit(tenant, project, part) for part in parts])
        if what == JOURNAL:
            return Visited() if catalog is None else self._visited_journal(visit, catalog)
        if what == BY_NUMBER:
            return Visited() if catalog is None else self._visited_numbers(visit, catalog)
        if catalog is None or what not in families_of(catalog):
            return Visited(self._visited_dead(visit))
        return self._visited_chain(visit, catalog)

    def _visited_journal(self, visit: Visit, catalog: Catalog) -> Visited:
        """The journal of a project; then its blocks, unless nothing can be told of them.

        Whatever waits is folded before blocks are repaired: of an issue that waits nobody can tell what a block is to have.
        """
        log = Log(self._table, visit.tenant, visit.project)
        found = left = self._faults(log)
        if self._repair is not None:
            self._repair.fold(log)
            left = self._faults(log)
        headless = any(one.kind is DifferenceKind.HEADLESS for one in left)
        further = () if headless else [visit._replace(what=part) for part in self._parts(catalog)]
        findings = []
        if left:
            findings = [Finding(log.partition, left, reason="" if self._repair is None else BY_HAND)]
        elif found:
            findings = [Finding(log.partition, found, repaired=True)]
        return Visited(findings, further)

    def _faults(self, log: Log) -> list[Difference]:
        head = log.known_head(consistent=True)
        if head is None:
            return journal_check.faults(log.partition, None, (), Listing(), clock.seconds())
        folded = log.up_to(head.folded, journal_check.LOOKED_BACK)
        return journal_check.faults(log.partition, head, folded, log.behind(head.folded), clock.seconds())

    def _parts(self, catalog: Catalog) -> tuple[str, ...]:
        former = () if self._meets_blocks else chain_check.former_families(catalog)
        return (*families_of(catalog), *former, BY_NUMBER)

    def _visited_dead(self, visit: Visit) -> list[Finding]:
        """The blocks of a family that no longer exists, if any. A deleted project has no families."""
        tenant, project, family, _ = visit
        chain = Chain(self._table, tenant, project, family)
        count = len(chain.read([block_id for _, block_id in chain.listed()]))
        if not count:
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
        dead = Difference(chain.directory, DifferenceKind.DEAD, family, f"{count:,} blocks")
        return [Finding(chain.directory, [dead], repaired=self._repair is not None)]

    def _visited_chain(self, visit: Visit, catalog: Catalog) -> Visited:
        chain = Chain(self._table, *visit[:3])
        doubtful = self._doubtful(visit, catalog)
        piece = chain_check.look_at_chain(chain, visit.at, doubtful.take)
        if piece.faults and self._repair is not None:
            for fault in piece.faults:
                doubtful.found[fault.key].append(fault)
            self._repair.straighten(*visit[:3])
            piece = chain_check.look_at_chain(chain, visit.at, doubtful.take)
        for fault in piece.faults:
            (doubtful.found if self._repair is None else doubtful.left)[fault.key].append(fault)
        return Visited(doubtful.findings, [] if piece.next is None else [visit._replace(at=piece.next)])

    def _visited_numbers(self, visit: Visit, catalog: Catalog) -> Visited:
        project = visit._replace(at="")
        if self._sets is None or self._sets[0] != project or self._sets[1] < clock.now():
            self._sets = project, clock.after(_OLD_SETS), chain_check.sets_of(self._table, catalog)
        counter = self._table.get(keys.project(*visit[:2]), keys.COUNTER) or {}
        first = int(visit.at or 1)
        stop, last = first + chain_check.SLICE, int(counter.get("last", 0))
        if stop > last:
            stop = chain_check.BEHIND_ALL
        doubtful = self._doubtful(visit, catalog)
        chain_check.look_at_numbers(self._table, catalog, self._sets[2], first, stop, doubtful.take)
        further = [visit._replace(at=str(stop))] if stop <= last else []
        return Visited(doubtful.findings, further)

    def _doubtful(self, visit: Visit, catalog: Catalog) -> "_Doubtful":
        own = visit.tenant, visit.project
        membership = BlockMembership(self._table, self._fences, *own, catalog.journalled)
        return _Doubtful(membership, catalog, self._repair)


class _Doubtful:
    """Settles doubts as they come, repairs on request, and collects the findings."""

    def __init__(self, membership: BlockMembership, catalog: Catalog, repair: Repairs | None) -> None:
        self._membership = membership
        self._catalog = catalog
        self._repair = repair
        self.found: dict[str, list[Difference]] = defaultdict(list)
        self.left: dict[str, list[Difference]] = defaultdict(list)

    def take(self, doubts: Sequence[SuspectKey]) -> None:
        by_family: dict[str, list[SuspectKey]] = defaultdict(list)
        for doubt in doubts:
            by_family[doubt.family].append(doubt)
        for family, some in by_family.items():
            # Otherwise the chain is reported; its content is checked once the chain is repaired.
            with suppress(Impassable, Unreadable):
                self._judge(family, some)

    def _judge(self, family: str, doubts: Sequence[SuspectKey]) -> None:
        membership = self._membership
        if self._repair is None:
            self._keep(self.found, family, membership.misplaced(doubts, self._catalog))
            return
        for at in range(0, len(doubts), TOGETHER):
            some = doubts[at : at + TOGETHER]
            self._keep(self.found, family, membership.misplaced(some, self._catalog))
            self._repair.amend(membership, some)
            self._keep(self.left, family, membership.misplaced(some, self._catalog))

    def _keep(self, kept: dict[str, list[Difference]], family: str, misplaced: Iterable[Misplaced]) -> None:
        membership = self._membership
        chain = Chain(membership.table, membership.tenant, membership.project, family)
        for one in misplaced:
            told = kept[chain.key(one.block_id)]
            if len(told) < _TOLD:
                told.append(chain_check.told(chain, one))

    @property
    def findings(self) -> list[Finding]:
        """Faults in blocks, including those already repaired."""
        if self._repair is None:
            return [Finding(key, some) for key, some in self.found.items()]
        left = [Finding(key, some, reason=RESTLESS) for key, some in self.left.items()]
        mended = [
            Finding(key, some, repaired=True) for key, some in self.found.items() if key not in self.left
        ]
        return [*mended, *left]
