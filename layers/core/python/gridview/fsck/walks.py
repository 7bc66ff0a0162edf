"""The ways of a check (`fsck`) through issues: those of a project by number, or the whole table, part by part.

A part is committed when it has been looked at, not when it was read: so whoever takes up a walk at its position misses nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from gridview.dynamodb.expressions import Condition, Item, Key
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.support.errors import NotFound

NUMBERS = 128
"""Issues that are looked at between two positions, where they are read by number."""

_CHECKED = Condition(
    "PK >= :issue AND PK < :issues_end OR PK >= :block AND PK < :blocks_end OR SK = :catalog",
    values={
        ":issue": keys.ISSUES[0],
        ":issues_end": keys.ISSUES[1],
        ":block": keys.BLOCKS[0],
        ":blocks_end": keys.BLOCKS[1],
        ":catalog": keys.CATALOG,
    },
)
"""Of the table's items those of issues, blocks, and one of each project."""


class WalkStep(NamedTuple):
    """Item collections, each whole; what is to be called when they have been looked at; and what else was come by.

    `projects`: tenant and project of those whose blocks are to be looked at. `families`: those that blocks belong to.
    """

    collections: list[tuple[str, list[Item]]]
    commit: Callable[[], None]
    projects: Sequence[tuple[str, str]] = ()
    families: Iterable[tuple[str, str, str]] = ()


class IssueWalk(Protocol):
    """A way through issues, that can be taken up again at its last committed position."""

    @property
    def done(self) -> bool:
        """Whether all have been looked at."""

    @property
    def position(self) -> Any:
        """Where to take it up: None at the beginning, else what JSON can hold."""

    @property
    def meets_blocks(self) -> bool:
        """Whether it comes by every block."""

    def next(self, pool: ThreadPoolExecutor) -> WalkStep:
        """The next part. What was not committed comes again."""


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

    def next(self, pool: ThreadPoolExecutor) -> WalkStep:
        """The issues of the next numbers."""
        numbers = range(self._next, min(self._next + NUMBERS, max(self.last, 1) + 1))
        found = collections(self._table, pool, [keys.issue(*self._project, num) for num in numbers])

        def commit() -> None:
            self._next = numbers.stop

        projects = [self._project] if numbers.stop > self.last else []
        return WalkStep([(key, items) for key, items in found if items], commit, projects)


@dataclass(frozen=True, slots=True)
class _Segment:
    """A part of the table, and how far it has been looked at: up to the key `committed`, and read up to the key `at`.

    `held` are the items of the collection in between, of which more may follow.
    """

    number: int
    committed: Key | None = None
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
        committed = self.committed
        if not held:
            committed = scanned.last
        elif grouped:
            last = next(reversed(grouped.values()))[-1]
            committed = last[keys.PK], last[keys.SK]
        return list(grouped.items()), replace(self, committed=committed, at=scanned.last, held=held)


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
        return [[list(segment.committed or ()), segment.finished] for segment in self._segments]

    def next(self, pool: ThreadPoolExecutor) -> WalkStep:
        """A page of each segment."""
        before = [segment for segment in self._segments if not segment.finished]
        count = len(self._segments)
        pages = list(pool.map(lambda segment: segment.next(self._table, count, self._limit), before))

        def commit() -> None:
            for _, segment in pages:
                self._segments[segment.number] = segment

        issues, projects, families = [], [], set()
        for key, items in (one for page, _ in pages for one in page):
            if keys.is_issue(key):
                issues.append((key, items))
            elif keys.is_project(key):
                projects.append(keys.parse_project(key))
            elif keys.is_block(key):
                with suppress(ValueError):
                    families.add(keys.parse_block(key)[:3])
        return WalkStep(issues, commit, projects, families)


def collections(
    table: Table, pool: ThreadPoolExecutor, partition_keys: Sequence[str]
) -> list[tuple[str, list[Item]]]:
    """All items under each of these keys, strongly consistent, side by side."""
    return list(pool.map(lambda key: (key, list(table.query_all(key, consistent=True))), partition_keys))
