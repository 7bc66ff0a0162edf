"""The checker: compares all issues of a project or of the table with the data derived from them, while people
keep writing.

A difference may be temporary: the stream lags, and reads may be stale. So it is a suspect at first. It counts
as wrong if a strongly consistent read after some time (`patience`) still finds it, and nothing of the issue
was written meanwhile. Memory is bounded. The check looks at one page of the table at a time, and beyond a
number of suspects it waits for their judgement.

This module judges issues and decides what comes next. `walks` leads to the issues; `chain_visits` checks the
blocks.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from gridview.chains.blocks import Unreadable
from gridview.derive.images import Underivable
from gridview.derive.work import Superseded
from gridview.dynamodb.errors import ItemTooLarge
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.fsck.chain_visits import Visits, side_by_side
from gridview.fsck.definitions import Definitions
from gridview.fsck.issue_diff import LEFT_ALONE, Collection, Difference, DifferenceKind, compared
from gridview.fsck.progress import RESTLESS, Finding, Suspect, Tally, Visit
from gridview.fsck.repairs import TOGETHER, Repairs
from gridview.fsck.walks import IssueWalk, WalkStep, collections
from gridview.journal.log import Log
from gridview.schema.store import DefinitionsMissing
from gridview.schema.trash import is_trashed
from gridview.support import clock
from gridview.support.errors import Overloaded

CONCURRENCY = 16
"""Item collections that are read in parallel: as many as the connection pool of `dynamodb.client` holds."""

_MOVES = 20
"""How often a suspect is checked again because it was written meanwhile. Then it is left for the next run."""

_REPAIRS = 3
"""How often a repair is tried."""

_OLD_DEFINITIONS = 1.0
"""Seconds after which definitions are read again before they make anything a suspect."""

_VISITS = 200
"""Visits to blocks that may be pending before the check continues with other issues."""

_DEAD = 500
"""Families that are no more, of which blocks were met. Further ones are left for the next run."""


class Check:
    """One check of the issues of a walk, and of their projects' blocks, in steps. `tally` and `walk.progress`
    suffice to resume it.

    - `patience`: seconds after which a suspect is judged.
    - `found` receives each issue and block that is wrong.
    - `at_most`: the limit of suspects, which one page may exceed.
    - `repair` receives the wrong issues and blocks; any that it cannot repair are reported once more.

    Blocks are checked when no issue is a suspect any more, so that the ledgers they are compared with are
    right or repaired.
    """

    def __init__(
        self,
        table: Table,
        walk: IssueWalk,
        found: Callable[[Finding], None],
        *,
        patience: float,
        at_most: int = 10_000,
        repair: Repairs | None = None,
        tally: Tally | None = None,
    ) -> None:
        self._table = table
        self.walk = walk
        self._found = found
        self._patience = patience
        self._at_most = at_most
        self._repair = repair
        self.tally = tally or Tally()
        self._definitions = Definitions(table)
        self._visits = Visits(table, self._definitions, repair, meets_blocks=walk.meets_blocks)

    @property
    def done(self) -> bool:
        """Whether everything has been checked and judged."""
        return self.settled and not self.tally.dead

    @property
    def settled(self) -> bool:
        """Whether all has been checked and judged but the families that are no more."""
        return self.walk.done and not self.tally.suspects and not self.tally.visits

    @property
    def _looking(self) -> bool:
        """Return whether the check can continue with issues, or must first settle earlier findings."""
        tally = self.tally
        return not self.walk.done and len(tally.suspects) < self._at_most and len(tally.visits) < _VISITS

    @property
    def waits_until(self) -> str | None:
        """When the next step is due; None: at once."""
        suspects = self.tally.suspects
        if not suspects or self._looking:
            return None
        first = next(iter(suspects.values()))
        return first.due if first.due > clock.now() else None

    def step(self) -> None:
        """Judge some of the suspects that are due, or check the next issues or blocks. Overloaded: the step
        has no effect.
        """
        now = clock.now()
        due: list[Suspect] = []
        for suspect in self.tally.suspects.values():
            if suspect.due > now or len(due) == (CONCURRENCY if self._repair is None else TOGETHER):
                break
            due.append(suspect)
        with ThreadPoolExecutor(CONCURRENCY) as pool:
            if due:
                self._judge(due, pool)
            elif self._looking:
                self._look(self.walk.next(pool))
            elif self.settled:
                self.tally.visits, self.tally.dead = self.tally.dead, []
            elif self.tally.visits and not self.tally.suspects:
                self._visit(pool)

    def _look(self, part: WalkStep) -> None:
        issues, suspects = 0, []
        for key, items in part.collections:
            fingerprint, found = self._compare(key, items)
            issues += any(keys.is_project(item[keys.SK]) and not is_trashed(item) for item in items)
            if found:
                suspects.append((key, fingerprint))
        visits = [Visit(*project) for project in part.projects]
        dead = [
            Visit(tenant, project, family)
            for tenant, project, family in sorted(part.families)
            if self._definitions.of(tenant, project).lacks(family)
        ]
        part.confirm()
        self.tally.visits += [visit for visit in dict.fromkeys(visits) if visit not in self.tally.visits]
        self.tally.dead = list(dict.fromkeys((*self.tally.dead, *dead)))[:_DEAD]
        self.tally.issues += issues
        for key, fingerprint in suspects:
            if key not in self.tally.suspects:
                self._suspect(Suspect(key, fingerprint, ""))

    def _suspect(self, suspect: Suspect) -> None:
        self.tally.suspects.pop(suspect.key, None)
        self.tally.suspects[suspect.key] = suspect._replace(due=clock.after(self._patience))

    def _compare(
        self, key: str, items: Iterable[Item], *, judging: bool = False
    ) -> tuple[str, list[Difference]]:
        """Return the fingerprint and the faults of an issue.

        Folds rest for minutes, so an issue that waits for one becomes a suspect only after a look into its
        journal. That costs 0.5 read units for each 4 KB of the change's item. When `judging`, every issue's
        journal is read, for twice that.
        """
        try:
            collection = Collection.of(key, items)
        except ValueError:
            return "", [Difference(key, DifferenceKind.UNKNOWN, keys.PK)]
        project = collection.issue.tenant, collection.issue.project
        defined = self._definitions.of(*project)
        collection.look_up(defined.head)
        if judging and defined.head is not None:
            collection.look_in_journal(Log(self._table, *project).item)
        found = compared(collection, defined.catalog, removing=defined.removing)
        if found and not judging and defined.as_of < clock.after(-_OLD_DEFINITIONS):
            defined = self._definitions.reload(*project)
            collection.look_up(defined.head)
            found = compared(collection, defined.catalog, removing=defined.removing)
        if found and not judging and defined.head is not None and collection.waits_for_fold(defined.head):
            collection.look_in_journal(partial(Log(self._table, *project).item, consistent=False))
            found = compared(collection, defined.catalog, removing=defined.removing)
        return (collection.fingerprint if found else ""), found

    def _judge(self, suspects: Sequence[Suspect], pool: ThreadPoolExecutor) -> None:
        found = self._look_again(suspects, pool)
        proven = [
            (suspect, wrong)
            for suspect, (fingerprint, wrong) in zip(suspects, found, strict=True)
            if wrong and fingerprint == suspect.fingerprint
        ]
        results = self._repaired(proven, pool)
        # Everything has been read, and nothing can fail any more.
        for suspect, (fingerprint, wrong) in zip(suspects, found, strict=True):
            del self.tally.suspects[suspect.key]
            if wrong and fingerprint != suspect.fingerprint:
                self._moved(suspect, fingerprint)
        for result in results:
            if isinstance(result, Finding):
                self._report(result)
            else:
                self._suspect(result)

    def _repaired(
        self, proven: Sequence[tuple[Suspect, list[Difference]]], pool: ThreadPoolExecutor
    ) -> list[Finding | Suspect]:
        """Return the outcome of repairs; an issue becomes a suspect again if its repair is to be retried."""
        repair = self._repair
        if repair is None:
            return [Finding(suspect.key, wrong) for suspect, wrong in proven]
        outcomes = repair.issues([suspect.key for suspect, _ in proven])
        after = self._look_again([suspect for suspect, _ in proven], pool)
        reasons = [
            _reason(outcomes[suspect.key], left)
            for (suspect, _), (_, left) in zip(proven, after, strict=True)
        ]
        results: list[Finding | Suspect] = []
        for (suspect, wrong), reason, (fingerprint, left) in zip(proven, reasons, after, strict=True):
            if not left:
                results.append(Finding(suspect.key, wrong, repaired=True))
            elif reason is None and suspect.repairs + 1 < _REPAIRS:
                results.append(suspect._replace(fingerprint=fingerprint, repairs=suspect.repairs + 1))
            else:
                results.append(Finding(suspect.key, left, reason=reason or RESTLESS))
        return results

    def _look_again(
        self, suspects: Sequence[Suspect], pool: ThreadPoolExecutor
    ) -> list[tuple[str, list[Difference]]]:
        """Return the faults that remain. Definitions are read first: data derived by newer ones was written
        after the suspicion arose.
        """
        for project in dict.fromkeys(_project(suspect.key) for suspect in suspects):
            if project is not None:
                self._definitions.reload(*project)
        read = collections(self._table, pool, [suspect.key for suspect in suspects])
        return [self._compare(key, items, judging=True) for key, items in read]

    def _moved(self, suspect: Suspect, fingerprint: str) -> None:
        if suspect.moves + 1 < _MOVES:
            self._suspect(suspect._replace(fingerprint=fingerprint, moves=suspect.moves + 1))
        else:
            self.tally.unsettled += 1

    def _visit(self, pool: ThreadPoolExecutor) -> None:
        """Check the next blocks, of several chains in parallel."""
        visits = self.tally.visits
        chosen = side_by_side(visits)
        visited = self._visits.carry_out(chosen, pool)
        # Visits that follow from this one come first, so there are never many.
        further = [one for some in visited for one in some.further if one not in visits]
        self.tally.visits = further + visits[len(chosen) :]
        for some in visited:
            self.tally.unsettled += some.unsettled
            for finding in some.findings:
                self._report(finding)

    def _report(self, finding: Finding) -> None:
        if finding.repaired:
            self.tally.repaired += 1
        else:
            self.tally.wrong += 1
            self.tally.differences += len(finding.differences)
        self._found(finding)


def _reason(outcome: bool | Exception, left: Iterable[Difference]) -> str | None:
    """Why a repair is impossible, if something is left; None if it succeeded, or may succeed later."""
    match outcome:
        case DefinitionsMissing() | ItemTooLarge() | Underivable():
            return str(outcome)
        case Overloaded() | Superseded() | Unreadable() | True:
            return None
        case Exception():
            raise outcome
    if any(one.kind not in LEFT_ALONE for one in left):
        return None  # another writer has begun since
    return "It is not derived data, so an operator must check it."


def _project(key: str) -> tuple[str, str] | None:
    with suppress(ValueError):
        issue = keys.parse_issue(key)
        return issue.tenant, issue.project
    return None
