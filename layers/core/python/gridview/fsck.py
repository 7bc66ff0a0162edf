"""The checker: all issues of a project, or of the table, compared with what is derived from them, while people write.

What looks wrong may only be on its way: the stream lags, reads may be old. So it is a suspect first, and counts as wrong when a
strongly consistent read after some time (`patience`) finds it wrong still, and nothing of the issue written meanwhile. Memory
is bounded: one page of the table is looked at at a time, and there are only so many suspects, then they are waited for.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from gridview import clock, keys
from gridview.catalog import Catalog
from gridview.catalogs import read, to_catalog
from gridview.derive import Superseded, Underivable
from gridview.differences import Collection, Difference, Kind, compared
from gridview.errors import NotFound, Overloaded
from gridview.passes import DefinitionsMissing
from gridview.storage import Condition, Item, ItemTooLarge, Key, Table

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

_ISSUES = Condition(
    "PK >= :first AND PK < :behind", values={":first": keys.ISSUE_PREFIX, ":behind": "issue."}
)
"""Of the table's items those of issues: `.` follows `-`."""


class Part(NamedTuple):
    """Item collections, each whole, and what is to be called when they have been looked at."""

    collections: list[tuple[str, list[Item]]]
    settle: Callable[[], None]


class Walk(Protocol):
    """A way through issues, that can be taken up again at its last settled position."""

    @property
    def done(self) -> bool:
        """Whether all have been looked at."""

    @property
    def position(self) -> Any:
        """Where to take it up: None at the beginning, else what JSON can hold."""

    def next(self, pool: ThreadPoolExecutor) -> Part:
        """The next part. What was not settled comes again."""


class ProjectWalk:
    """The issues of one project by number, as of now: a strongly consistent Query for each."""

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
        return self._next > self.last

    @property
    def position(self) -> list[int]:
        """The next number and the last."""
        return [self._next, self.last]

    def next(self, pool: ThreadPoolExecutor) -> Part:
        """The issues of the next numbers."""
        numbers = range(self._next, min(self._next + NUMBERS, self.last + 1))
        found = collections(self._table, pool, [keys.issue(*self._project, num) for num in numbers])

        def settle() -> None:
            self._next = numbers.stop

        return Part([(key, items) for key, items in found if items], settle)


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
        scanned = table.scan(after=self.at, segment=self.number, segments=segments, only=_ISSUES, limit=limit)
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

        return Part([one for page, _ in pages for one in page], settle)


class Suspect(NamedTuple):
    """An issue that looked wrong. It is looked at again at `due` (a stored instant)."""

    key: str
    fingerprint: str
    due: str
    moves: int = 0
    repairs: int = 0


class Finding(NamedTuple):
    """An issue that is wrong, or was until it was repaired; `reason` is why it could not be, if that was tried."""

    key: str
    differences: Sequence[Difference]
    repaired: bool = False
    reason: str = ""


@dataclass(slots=True)
class Tally:
    """How far a check has come: issues looked at, those found wrong and in how many places, repaired, and left for the next run
    because they were written all the time; and the suspects, the one that is due first first."""

    issues: int = 0
    wrong: int = 0
    differences: int = 0
    repaired: int = 0
    unsettled: int = 0
    suspects: dict[str, Suspect] = field(default_factory=dict)

    def to_state(self) -> dict[str, Any]:
        """As an item can hold it."""
        counts = {
            name: getattr(self, name) for name in ("issues", "wrong", "differences", "repaired", "unsettled")
        }
        return {**counts, "suspects": [list(suspect) for suspect in self.suspects.values()]}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Tally":
        """From what an item held."""
        suspects = [Suspect(*one) for one in state["suspects"]]
        counts = {name: count for name, count in state.items() if name != "suspects"}
        return cls(**counts, suspects={suspect.key: suspect for suspect in suspects})


class Check:
    """One check of the issues of a walk, done by steps. `tally` and `walk.position` are all that it takes to go on elsewhere.

    `patience`: seconds after which a suspect is judged. `found` is told of each issue that is wrong. `at_most`: suspects, or a
    page more. `repair` (`mend`) is given the key of an issue that is wrong; what it leaves wrong is found once more.
    """

    def __init__(
        self,
        table: Table,
        walk: Walk,
        found: Callable[[Finding], None],
        *,
        patience: float,
        at_most: int = 10_000,
        repair: Callable[[str], bool] | None = None,
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

    @property
    def done(self) -> bool:
        """Whether all have been looked at, and judged."""
        return self.walk.done and not self.tally.suspects

    @property
    def waits_until(self) -> str | None:
        """The instant at which there is something to do next; None: at once."""
        suspects = self.tally.suspects
        if not suspects or (not self.walk.done and len(suspects) < self._at_most):
            return None
        first = next(iter(suspects.values()))
        return first.due if first.due > clock.now() else None

    def step(self) -> None:
        """Judge the suspects that are due, a few at a time, or look at the next issues. Overloaded: nothing of it counts."""
        now = clock.now()
        due: list[Suspect] = []
        for suspect in self.tally.suspects.values():
            if suspect.due > now or len(due) == CONCURRENCY:
                break
            due.append(suspect)
        with ThreadPoolExecutor(CONCURRENCY) as pool:
            if due:
                self._judge(due, pool)
            elif not self.walk.done and len(self.tally.suspects) < self._at_most:
                self._look(self.walk.next(pool))

    def _look(self, part: Part) -> None:
        issues, suspects = 0, []
        for key, items in part.collections:
            fingerprint, found = self._compare(key, items)
            issues += any(item[keys.SK].startswith(keys.PROJECT_PREFIX) for item in items)
            if found:
                suspects.append((key, fingerprint))
        part.settle()
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
        reasons = list(pool.map(lambda one: _repaired(repair, one[0].key), proven))
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

    def _tell(self, finding: Finding) -> None:
        if finding.repaired:
            self.tally.repaired += 1
        else:
            self.tally.wrong += 1
            self.tally.differences += len(finding.differences)
        self._found(finding)


def collections(
    table: Table, pool: ThreadPoolExecutor, partition_keys: Sequence[str]
) -> list[tuple[str, list[Item]]]:
    """All items under each of these keys, strongly consistent, side by side."""
    return list(pool.map(lambda key: (key, list(table.query_all(key, consistent=True))), partition_keys))


def _repaired(repair: Callable[[str], bool], key: str) -> str | None:
    """Why a repair cannot be done; None when it was, or may be later."""
    try:
        written = repair(key)
    except (DefinitionsMissing, ItemTooLarge, Underivable) as error:
        return str(error)
    except (Overloaded, Superseded):
        return None
    return None if written else "It is not derived, so it is left for a person to look at."


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


class Definitions:
    """The definitions of the projects that issues belong to. A scan comes by all projects all the time, so many are kept."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._kept: dict[tuple[str, str], Defined] = {}
        self._fields = 0

    def of(self, tenant: str, project: str) -> Defined:
        """As of any moment since the check began."""
        return self._kept.get((tenant, project)) or self.reload(tenant, project)

    def reload(self, tenant: str, project: str) -> Defined:
        """As of now, strongly consistent."""
        as_of = clock.now()
        try:
            defined = Defined(to_catalog(tenant, project, read(self._table, tenant, project)), False, as_of)
        except (KeyError, NotFound):
            job = self._table.get(keys.project(tenant, project), keys.JOB, consistent=True)
            defined = Defined(None, job is not None, as_of)
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
