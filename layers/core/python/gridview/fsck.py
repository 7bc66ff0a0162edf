"""The checker: all issues of a project, or of the table, compared with what is derived from them, while people write.

What looks wrong may only be on its way: the stream lags, reads may be old. So it is a suspect first, and counts as wrong when a
strongly consistent read after some time (`patience`) finds it wrong still, and nothing of the issue written meanwhile. Memory
is bounded: one page of the table is looked at at a time, and there are only so many suspects, then they are waited for.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, NamedTuple, Protocol

from gridview import chaincheck, clock, keys
from gridview.blocks import Unreadable
from gridview.catalog import Catalog
from gridview.catalogs import read, to_catalog
from gridview.chaincheck import Sets
from gridview.chains import Impassable
from gridview.derive import Superseded, Underivable
from gridview.differences import Collection, Difference, Kind, compared
from gridview.errors import NotFound, Overloaded
from gridview.families import families_of
from gridview.fences import Fences
from gridview.membership import Doubt, Membership, Misplaced
from gridview.passes import DefinitionsMissing, require_deleted
from gridview.repairs import Repairs
from gridview.storage import Condition, Item, ItemTooLarge, Key, Table
from gridview.straighten import Chain

CONCURRENCY = 16
"""Item collections that are read side by side: as many connections as the storage module's own pool."""

NUMBERS = 128
"""Issues that are looked at between two positions, where they are read by number."""

_MOVES = 20
"""Times that a suspect is looked at again because it was written meanwhile. Then it is left for the next run."""

_REPAIRS = 3
"""Times that a repair is tried."""

_KEPT_FIELDS = 20_000
"""Fields of the definitions that are kept, some 30 MB."""

_OLD_DEFINITIONS = 1.0
"""Seconds after which definitions are read anew before anything is called a suspect by them."""

_MENDED = 100
"""Issues that are mended together: they share the writes of blocks."""

_VISITS = 200
"""Projects, and parts of them, whose blocks may wait to be looked at before other issues are."""

_SIDE_BY_SIDE = 8
"""Chains that are looked at side by side."""

_TOLD = 100
"""Issues that are told of one block at most."""

_OLD_SETS = 60.0
"""Seconds after which sets are read anew."""

_CHECKED = Condition(
    "PK >= :issue AND PK < :issues_end OR PK >= :block AND PK < :blocks_end OR SK = :catalog",
    values={
        ":issue": keys.ISSUE_PREFIX,
        ":issues_end": "issue.",
        ":block": keys.BLOCK_PREFIX,
        ":blocks_end": "block.",
        ":catalog": keys.CATALOG,
    },
)
"""Of the table's items those of issues, blocks, and one of each project: `.` follows `-`."""


class Part(NamedTuple):
    """Item collections, each whole; what is to be called when they have been looked at; and what else was come by.

    `projects`: tenant and project of those whose blocks are to be looked at. `families`: those that blocks belong to.
    """

    collections: list[tuple[str, list[Item]]]
    settle: Callable[[], None]
    projects: Sequence[tuple[str, str]] = ()
    families: Iterable[tuple[str, str, str]] = ()


class Walk(Protocol):
    """A way through issues, that can be taken up again at its last settled position."""

    @property
    def done(self) -> bool:
        """Whether all have been looked at."""

    @property
    def position(self) -> Any:
        """Where to take it up: None at the beginning, else what JSON can hold."""

    @property
    def meets_blocks(self) -> bool:
        """Whether it comes by every block."""

    def next(self, pool: ThreadPoolExecutor) -> Part:
        """The next part. What was not settled comes again."""


class ProjectWalk:
    """The issues of one project by number, as of now: a strongly consistent Query for each."""

    meets_blocks = False

    def __init__(self, table: Table, tenant: str, project: str, position: Any = None) -> None:
        """NotFound when there is no such project, and none that is deleted whose id is still taken."""
        self._table = table
        self._project = tenant, project
        if position is None:
            counter = table.get(keys.project(tenant, project), keys.COUNTER, consistent=True)
            if counter is None:
                raise NotFound("There is no such project.")
            position = [1, counter["last"]]
        self._next, self.last = map(int, position)

    @property
    def done(self) -> bool:
        """Whether all have been looked at."""
        return self._next > max(self.last, 1)

    @property
    def position(self) -> list[int]:
        """The next number and the last."""
        return [self._next, self.last]

    def next(self, pool: ThreadPoolExecutor) -> Part:
        """The issues of the next numbers."""
        numbers = range(self._next, min(self._next + NUMBERS, max(self.last, 1) + 1))
        found = collections(self._table, pool, [keys.issue(*self._project, num) for num in numbers])

        def settle() -> None:
            self._next = numbers.stop

        projects = [self._project] if numbers.stop > self.last else []
        return Part([(key, items) for key, items in found if items], settle, projects)


@dataclass(frozen=True, slots=True)
class _Segment:
    """A part of the table, and how far it has been looked at: up to the key `settled`, and read up to the key `at`.

    `held` are the items of the collection in between, of which more may follow.
    """

    number: int
    settled: Key | None = None
    finished: bool = False
    at: Key | None = None
    held: tuple[Item, ...] = ()

    def next(
        self, table: Table, segments: int, limit: int | None
    ) -> tuple[list[tuple[str, list[Item]]], "_Segment"]:
        scanned = table.scan(
            after=self.at, segment=self.number, segments=segments, only=_CHECKED, limit=limit
        )
        grouped: dict[str, list[Item]] = {}
        for item in (*self.held, *scanned.items):
            grouped.setdefault(item[keys.PK], []).append(item)
        if scanned.last is None:
            return list(grouped.items()), replace(self, finished=True, at=None, held=())
        held = tuple(grouped.pop(scanned.last[0], ()))
        settled = self.settled
        if not held:
            settled = scanned.last
        elif grouped:
            last = next(reversed(grouped.values()))[-1]
            settled = last[keys.PK], last[keys.SK]
        return list(grouped.items()), replace(self, settled=settled, at=scanned.last, held=held)


class TableWalk:
    """All issues of all tenants: a Scan of the table in segments that are read side by side."""

    meets_blocks = True

    def __init__(
        self, table: Table, segments: int = 1, position: Any = None, *, limit: int | None = None
    ) -> None:
        """`position` tells the segments itself; `limit`: items that are read at a time, of each, where a megabyte is too much."""
        self._table = table
        self._limit = limit
        self._segments = [_Segment(number) for number in range(segments)]
        if position is not None:
            self._segments = [
                _Segment(number, tuple(at) if at else None, finished, tuple(at) if at else None)
                for number, (at, finished) in enumerate(position)
            ]

    @property
    def done(self) -> bool:
        """Whether all have been looked at."""
        return all(segment.finished for segment in self._segments)

    @property
    def position(self) -> list[Any]:
        """For each segment the key behind which it goes on, and whether it is over."""
        return [[list(segment.settled or ()), segment.finished] for segment in self._segments]

    def next(self, pool: ThreadPoolExecutor) -> Part:
        """A page of each segment."""
        before = [segment for segment in self._segments if not segment.finished]
        count = len(self._segments)
        pages = list(pool.map(lambda segment: segment.next(self._table, count, self._limit), before))

        def settle() -> None:
            for _, segment in pages:
                self._segments[segment.number] = segment

        issues, projects, families = [], [], set()
        for key, items in (one for page, _ in pages for one in page):
            if key.startswith(keys.ISSUE_PREFIX):
                issues.append((key, items))
            elif key.startswith(keys.PROJECT_PREFIX):
                projects.append(keys.parse_project(key))
            elif key.startswith(keys.BLOCK_PREFIX):
                with suppress(ValueError):
                    families.add(keys.parse_block(key)[:3])
        return Part(issues, settle, projects, families)


class Suspect(NamedTuple):
    """An issue that looked wrong. It is looked at again at `due` (a stored instant)."""

    key: str
    fingerprint: str
    due: str
    moves: int = 0
    repairs: int = 0


class Visit(NamedTuple):
    """What of a project's blocks is still to be looked at: a family from the fence `at` on, `BY_NUMBER` from that issue number on,
    or all of the project ("").
    """

    tenant: str
    project: str
    what: str = ""
    at: str = ""


BY_NUMBER = "#"
"""What is looked at of a project by the numbers of its issues."""


class Finding(NamedTuple):
    """An issue or a block that is wrong, or was until it was repaired; `reason` is why it could not be, if that was tried."""

    key: str
    differences: Sequence[Difference]
    repaired: bool = False
    reason: str = ""


@dataclass(slots=True)
class Tally:
    """How far a check has come: issues looked at, those found wrong and in how many places, repaired, and left for the next run
    because they were written all the time; the suspects, the one that is due first first; and what of blocks is to be looked at."""

    issues: int = 0
    wrong: int = 0
    differences: int = 0
    repaired: int = 0
    unsettled: int = 0
    suspects: dict[str, Suspect] = field(default_factory=dict)
    visits: list[Visit] = field(default_factory=list)

    def to_state(self) -> dict[str, Any]:
        """As an item can hold it."""
        counts = {
            name: getattr(self, name) for name in ("issues", "wrong", "differences", "repaired", "unsettled")
        }
        suspects = [list(suspect) for suspect in self.suspects.values()]
        return {**counts, "suspects": suspects, "visits": [list(visit) for visit in self.visits]}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Tally":
        """From what an item held."""
        suspects = [Suspect(*one) for one in state["suspects"]]
        visits = [Visit(*one) for one in state.get("visits", ())]
        counts = {name: count for name, count in state.items() if name not in ("suspects", "visits")}
        return cls(**counts, suspects={suspect.key: suspect for suspect in suspects}, visits=visits)


class Check:
    """One check of the issues of a walk, and of their projects' blocks, done by steps. `tally` and `walk.position` are all that it
    takes to go on elsewhere.

    `patience`: seconds after which a suspect is judged. `found` is told of each issue and each block that is wrong. `at_most`:
    suspects, or a page more. `repair` is given what is wrong; what it leaves wrong is found once more. Blocks are looked at when no
    issue is suspect any more: so they are held to ledgers that are right, or repaired.
    """

    def __init__(
        self,
        table: Table,
        walk: Walk,
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
        self._fences = Fences()
        self._sets: tuple[Visit, str, Sets] | None = None
        """The sets that were read last: of which project, and until when they hold."""

    @property
    def done(self) -> bool:
        """Whether all have been looked at, and judged."""
        return self.walk.done and not self.tally.suspects and not self.tally.visits

    @property
    def _looking(self) -> bool:
        """Whether issues can be looked at, or must wait for what was found before."""
        tally = self.tally
        return not self.walk.done and len(tally.suspects) < self._at_most and len(tally.visits) < _VISITS

    @property
    def waits_until(self) -> str | None:
        """The instant at which there is something to do next; None: at once."""
        suspects = self.tally.suspects
        if not suspects or self._looking:
            return None
        first = next(iter(suspects.values()))
        return first.due if first.due > clock.now() else None

    def step(self) -> None:
        """Judge suspects that are due, a few at a time, or look at the next issues or blocks. Overloaded: nothing of it counts."""
        now = clock.now()
        due: list[Suspect] = []
        for suspect in self.tally.suspects.values():
            if suspect.due > now or len(due) == (CONCURRENCY if self._repair is None else _MENDED):
                break
            due.append(suspect)
        with ThreadPoolExecutor(CONCURRENCY) as pool:
            if due:
                self._judge(due, pool)
            elif self._looking:
                self._look(self.walk.next(pool))
            elif self.tally.visits and not self.tally.suspects:
                self._visit(pool)

    def _look(self, part: Part) -> None:
        issues, suspects = 0, []
        for key, items in part.collections:
            fingerprint, found = self._compare(key, items)
            issues += any(item[keys.SK].startswith(keys.PROJECT_PREFIX) for item in items)
            if found:
                suspects.append((key, fingerprint))
        visits = [Visit(*project) for project in part.projects]
        visits += [Visit(*family) for family in sorted(part.families) if self._seems_dead(*family)]
        part.settle()
        self.tally.visits += [visit for visit in dict.fromkeys(visits) if visit not in self.tally.visits]
        self.tally.issues += issues
        for key, fingerprint in suspects:
            if key not in self.tally.suspects:
                self._suspect(Suspect(key, fingerprint, ""))

    def _suspect(self, suspect: Suspect) -> None:
        self.tally.suspects.pop(suspect.key, None)
        self.tally.suspects[suspect.key] = suspect._replace(due=clock.after(self._patience))

    def _compare(
        self, key: str, items: Iterable[Item], *, refresh: bool = True
    ) -> tuple[str, list[Difference]]:
        try:
            collection = Collection.of(key, items)
        except ValueError:
            return "", [Difference(key, Kind.UNKNOWN, keys.PK)]
        project = collection.issue.tenant, collection.issue.project
        defined = self._definitions.of(*project)
        found = compared(collection, defined.catalog, removing=defined.removing)
        if found and refresh and defined.as_of < clock.after(-_OLD_DEFINITIONS):
            defined = self._definitions.reload(*project)
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
        # All has been read, and nothing can go wrong any more.
        for suspect, (fingerprint, wrong) in zip(suspects, found, strict=True):
            del self.tally.suspects[suspect.key]
            if wrong and fingerprint != suspect.fingerprint:
                self._moved(suspect, fingerprint)
        for result in results:
            if isinstance(result, Finding):
                self._tell(result)
            else:
                self._suspect(result)

    def _repaired(
        self, proven: Sequence[tuple[Suspect, list[Difference]]], pool: ThreadPoolExecutor
    ) -> list[Finding | Suspect]:
        """What has become of those that are wrong; a suspect where the repair is to be tried once more."""
        repair = self._repair
        if repair is None or not proven:
            return [Finding(suspect.key, wrong) for suspect, wrong in proven]
        mended = repair.issues([suspect.key for suspect, _ in proven])
        reasons = [_reason(mended[suspect.key]) for suspect, _ in proven]
        after = self._look_again([suspect for suspect, _ in proven], pool)
        results: list[Finding | Suspect] = []
        for (suspect, wrong), reason, (fingerprint, left) in zip(proven, reasons, after, strict=True):
            if not left:
                results.append(Finding(suspect.key, wrong, repaired=True))
            elif reason is None and suspect.repairs + 1 < _REPAIRS:
                results.append(suspect._replace(fingerprint=fingerprint, repairs=suspect.repairs + 1))
            else:
                results.append(
                    Finding(suspect.key, left, reason=reason or "It is being changed all the time.")
                )
        return results

    def _look_again(
        self, suspects: Sequence[Suspect], pool: ThreadPoolExecutor
    ) -> list[tuple[str, list[Difference]]]:
        """What is wrong with them now. The definitions first: what was derived by newer ones was written after the suspicion."""
        for project in dict.fromkeys(_project(suspect.key) for suspect in suspects):
            if project is not None:
                self._definitions.reload(*project)
        read = collections(self._table, pool, [suspect.key for suspect in suspects])
        return [self._compare(key, items, refresh=False) for key, items in read]

    def _moved(self, suspect: Suspect, fingerprint: str) -> None:
        if suspect.moves + 1 < _MOVES:
            self._suspect(suspect._replace(fingerprint=fingerprint, moves=suspect.moves + 1))
        else:
            self.tally.unsettled += 1

    # Blocks

    def _seems_dead(self, tenant: str, project: str, family: str) -> bool:
        """Whether a family is none of the project's, as far as is known; a deleted project has none."""
        defined = self._definitions.of(tenant, project)
        if defined.catalog is None:
            return not defined.removing
        return family not in defined.families

    def _visit(self, pool: ThreadPoolExecutor) -> None:
        """Look at the blocks that are the next: of several chains side by side."""
        visits = self.tally.visits
        alone = next(
            (at for at, one in enumerate(visits[:_SIDE_BY_SIDE]) if one.what in ("", BY_NUMBER)),
            _SIDE_BY_SIDE,
        )
        chosen = visits[: max(alone, 1)]
        for project in dict.fromkeys(visit[:2] for visit in chosen):
            self._definitions.reload(*project)
        visited = list(pool.map(self._visited, chosen))
        # What a visit leads to comes first: so there are never many of them.
        further = [one for _, some in visited for one in some if one not in visits]
        self.tally.visits = further + visits[len(chosen) :]
        for findings, _ in visited:
            for finding in findings:
                self._tell(finding)

    def _visited(self, visit: Visit) -> tuple[list[Finding], list[Visit]]:
        """What is wrong, and what is to be looked at next."""
        tenant, project, what, _ = visit
        defined = self._definitions.of(tenant, project)
        catalog = defined.catalog
        if what == "":
            if catalog is None:
                return [], []
            former = () if self.walk.meets_blocks else chaincheck.former_families(catalog)
            return [], [Visit(tenant, project, part) for part in (*families_of(catalog), *former, BY_NUMBER)]
        if what == BY_NUMBER:
            return ([], []) if catalog is None else self._visited_numbers(visit, catalog)
        if catalog is None or what not in families_of(catalog):
            return self._visited_dead(visit), []
        return self._visited_chain(visit, catalog)

    def _visited_dead(self, visit: Visit) -> list[Finding]:
        """Blocks of what is no family any more, if there are any. A deleted project has none."""
        tenant, project, family, _ = visit
        chain = Chain(self._table, tenant, project, family)
        count = len(chain.read([block_id for _, block_id in chain.listed()]))
        if not count:
            return []
        defined = self._definitions.reload(tenant, project)
        if defined.removing or family in defined.families:
            return []
        if defined.catalog is None:
            try:
                require_deleted(self._table, tenant, project)
            except DefinitionsMissing:
                return []  # told of its issues
        if self._repair is not None:
            self._repair.remove(tenant, project, family)
        dead = Difference(chain.directory, Kind.DEAD, family, f"{count:,} blocks")
        return [Finding(chain.directory, [dead], repaired=self._repair is not None)]

    def _visited_chain(self, visit: Visit, catalog: Catalog) -> tuple[list[Finding], list[Visit]]:
        chain = Chain(self._table, *visit[:3])
        doubtful = _Doubtful(self, chain.tenant, chain.project, catalog)
        piece = chaincheck.look_at_chain(chain, visit.at, doubtful.take)
        if piece.faults and self._repair is not None:
            for fault in piece.faults:
                doubtful.found[fault.key].append(fault)
            self._repair.straighten(*visit[:3])
            piece = chaincheck.look_at_chain(chain, visit.at, doubtful.take)
        for fault in piece.faults:
            (doubtful.found if self._repair is None else doubtful.left)[fault.key].append(fault)
        return doubtful.findings, [] if piece.next is None else [visit._replace(at=piece.next)]

    def _visited_numbers(self, visit: Visit, catalog: Catalog) -> tuple[list[Finding], list[Visit]]:
        project = visit._replace(at="")
        if self._sets is None or self._sets[0] != project or self._sets[1] < clock.now():
            self._sets = project, clock.after(_OLD_SETS), chaincheck.sets_of(self._table, catalog)
        counter = self._table.get(keys.project(*visit[:2]), keys.COUNTER) or {}
        first = int(visit.at or 1)
        stop, last = first + chaincheck.SLICE, int(counter.get("last", 0))
        if stop > last:
            stop = chaincheck.BEHIND_ALL
        doubtful = _Doubtful(self, visit.tenant, visit.project, catalog)
        chaincheck.look_at_numbers(self._table, catalog, self._sets[2], first, stop, doubtful.take)
        further = [visit._replace(at=str(stop))] if stop <= last else []
        return doubtful.findings, further

    def _tell(self, finding: Finding) -> None:
        if finding.repaired:
            self.tally.repaired += 1
        else:
            self.tally.wrong += 1
            self.tally.differences += len(finding.differences)
        self._found(finding)


class _Doubtful:
    """Settles doubts as they come, and mends where that is asked for; keeps what was found."""

    def __init__(self, check: Check, tenant: str, project: str, catalog: Catalog) -> None:
        self._table = check._table
        self._repair = check._repair
        self._catalog = catalog
        self._membership = Membership(check._table, check._fences, tenant, project)
        self.found: dict[str, list[Difference]] = defaultdict(list)
        self.left: dict[str, list[Difference]] = defaultdict(list)

    def take(self, doubts: Sequence[Doubt]) -> None:
        by_family: dict[str, list[Doubt]] = defaultdict(list)
        for doubt in doubts:
            by_family[doubt.family].append(doubt)
        for family, some in by_family.items():
            with suppress(
                Impassable, Unreadable
            ):  # then the chain is told, and what is in it when that is repaired
                self._settle(family, some)

    def _settle(self, family: str, doubts: Sequence[Doubt]) -> None:
        membership = self._membership
        if self._repair is None:
            self._keep(self.found, family, membership.misplaced(doubts, self._catalog))
            return
        for at in range(0, len(doubts), _MENDED):
            some = doubts[at : at + _MENDED]
            self._keep(self.found, family, membership.misplaced(some, self._catalog))
            self._repair.amend(membership.tenant, membership.project, some)
            self._keep(self.left, family, membership.misplaced(some, self._catalog))

    def _keep(self, kept: dict[str, list[Difference]], family: str, misplaced: Iterable[Misplaced]) -> None:
        chain = Chain(self._table, self._membership.tenant, self._membership.project, family)
        for one in misplaced:
            told = kept[chain.key(one.block_id)]
            if len(told) < _TOLD:
                told.append(chaincheck.told(chain, one))

    @property
    def findings(self) -> list[Finding]:
        """What is wrong in blocks, and what was until it was mended."""
        if self._repair is None:
            return [Finding(key, some) for key, some in self.found.items()]
        left = [
            Finding(key, some, reason="It is being changed all the time.") for key, some in self.left.items()
        ]
        mended = [
            Finding(key, some, repaired=True) for key, some in self.found.items() if key not in self.left
        ]
        return [*mended, *left]


def collections(
    table: Table, pool: ThreadPoolExecutor, partition_keys: Sequence[str]
) -> list[tuple[str, list[Item]]]:
    """All items under each of these keys, strongly consistent, side by side."""
    return list(pool.map(lambda key: (key, list(table.query_all(key, consistent=True))), partition_keys))


def _reason(mended: bool | Exception) -> str | None:
    """Why a repair cannot be done; None when it was, or may be later."""
    match mended:
        case DefinitionsMissing() | ItemTooLarge() | Underivable():
            return str(mended)
        case Overloaded() | Superseded() | Unreadable() | True:
            return None
        case Exception():
            raise mended
    return "It is not derived, so it is left for a person to look at."


def _project(key: str) -> tuple[str, str] | None:
    with suppress(ValueError):
        issue = keys.parse_issue(key)
        return issue.tenant, issue.project
    return None


class Defined(NamedTuple):
    """The definitions of a project; no catalog when it is deleted, and then whether that is still going on."""

    catalog: Catalog | None
    removing: bool
    as_of: str
    families: frozenset[str] = frozenset()
    """Those of which there may be blocks, be it that they are just being removed."""


class Definitions:
    """The definitions of the projects that issues belong to. A scan comes by all projects all the time, so many are kept."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._kept: dict[tuple[str, str], Defined] = {}
        self._fields = 0
        self._lock = Lock()

    def of(self, tenant: str, project: str) -> Defined:
        """As of any moment since the check began."""
        return self._kept.get((tenant, project)) or self.reload(tenant, project)

    def reload(self, tenant: str, project: str) -> Defined:
        """As of now, strongly consistent."""
        as_of = clock.now()
        try:
            catalog = to_catalog(tenant, project, read(self._table, tenant, project))
            families = frozenset((*families_of(catalog), *chaincheck.left(catalog)))
            defined = Defined(catalog, False, as_of, families)
        except (KeyError, NotFound):
            job = self._table.get(keys.project(tenant, project), keys.JOB, consistent=True)
            defined = Defined(None, job is not None, as_of)
        with self._lock:
            self._forget((tenant, project))
            self._kept[tenant, project] = defined
            self._fields += _fields(defined)
            while self._fields > _KEPT_FIELDS and len(self._kept) > 1:
                self._forget(next(iter(self._kept)))
        return defined

    def _forget(self, project: tuple[str, str]) -> None:
        if project in self._kept:
            self._fields -= _fields(self._kept.pop(project))


def _fields(defined: Defined) -> int:
    return 5 if defined.catalog is None else 5 + len(defined.catalog.attributes)
