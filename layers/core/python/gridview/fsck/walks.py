"""The walks of a check through issues: of a project by number, or of the whole table, part by part.

A part is confirmed when it has been checked, not when it was read. So a walk resumed from its progress misses
nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from gridview.dynamodb.expressions import Condition, Item, Key
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys

_CHECKED = Condition(
    "PK >= :issue AND PK < :issues_end OR PK >= :block AND PK < :blocks_end"
    " OR PK >= :column AND PK < :columns_end OR SK = :catalog",
    values={
        ":issue": keys.ISSUES[0],
        ":issues_end": keys.ISSUES[1],
        ":block": derived_keys.BLOCKS[0],
        ":blocks_end": derived_keys.BLOCKS[1],
        ":column": derived_keys.COLUMNS[0],
        ":columns_end": derived_keys.COLUMNS[1],
        ":catalog": keys.CATALOG,
    },
)
"""Filter for the items of issues, blocks and columns, and one item of each project."""


class WalkStep(NamedTuple):
    """Whole item collections; a function to call once they have been checked; and the other finds of the
    walk.

    `projects`: tenant and project whose blocks are to be checked. `families`: the families of the blocks and
    columns that it met.
    """

    collections: list[tuple[str, list[Item]]]
    confirm: Callable[[], None]
    projects: Sequence[tuple[str, str]] = ()
    families: Iterable[tuple[str, str, str]] = ()


class IssueWalk(Protocol):
    """A walk through issues that can be resumed at its last confirmed place."""

    @property
    def done(self) -> bool:
        """Whether all issues have been checked."""

    @property
    def progress(self) -> Any:
        """Return the place at which to resume: None at the beginning, else a JSON value."""

    @property
    def meets_blocks(self) -> bool:
        """Whether the walk meets every block."""

    def next(self, pool: ThreadPoolExecutor) -> WalkStep:
        """Return the next part. An unconfirmed part comes again."""


@dataclass(frozen=True, slots=True)
class _Segment:
    """A part of the table and its progress: checked up to the key `confirmed`, read up to the key `at`.

    `held` are the items of the last, possibly incomplete collection.
    """

    number: int
    confirmed: Key | None = None
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
        confirmed = self.confirmed
        if not held:
            confirmed = scanned.last
        elif grouped:
            last = next(reversed(grouped.values()))[-1]
            confirmed = last[keys.PK], last[keys.SK]
        return list(grouped.items()), replace(self, confirmed=confirmed, at=scanned.last, held=held)


class TableWalk:
    """All issues of all tenants: a Scan of the table in parallel segments, or of only one of them."""

    meets_blocks = True

    def __init__(
        self,
        table: Table,
        segments: int = 1,
        progress: Any = None,
        *,
        only: int | None = None,
        limit: int | None = None,
    ) -> None:
        """`progress` contains its segments. `limit`: items to read at a time from each, if a megabyte is too much."""
        self._table = table
        self._count = segments if progress is None or only is not None else len(progress)
        self._limit = limit
        chosen = range(self._count) if only is None else (only,)
        self._segments = {number: _Segment(number) for number in chosen}
        for number, (at, finished) in zip(chosen, progress or (), strict=progress is not None):
            last = tuple(at) if at else None
            self._segments[number] = _Segment(number, last, finished, last)

    @property
    def done(self) -> bool:
        """Whether all issues have been checked."""
        return all(segment.finished for segment in self._segments.values())

    @property
    def progress(self) -> list[Any]:
        """For each segment, the key to continue after, and whether it is complete."""
        return [[list(segment.confirmed or ()), segment.finished] for segment in self._segments.values()]

    def next(self, pool: ThreadPoolExecutor) -> WalkStep:
        """Return a page of each segment."""
        before = [segment for segment in self._segments.values() if not segment.finished]
        pages = list(pool.map(lambda segment: segment.next(self._table, self._count, self._limit), before))

        def confirm() -> None:
            for _, segment in pages:
                self._segments[segment.number] = segment

        issues, projects, families = [], [], set()
        for key, items in (one for page, _ in pages for one in page):
            if keys.is_issue(key):
                issues.append((key, items))
            elif keys.is_project(key):
                projects.append(keys.parse_project(key))
            elif derived_keys.is_block(key):
                with suppress(ValueError):
                    families.add(derived_keys.parse_block(key)[:3])
            elif derived_keys.is_column(key):
                with suppress(ValueError):
                    families.add(derived_keys.parse_column(key))
        return WalkStep(issues, confirm, projects, families)


def collections(
    table: Table, pool: ThreadPoolExecutor, partition_keys: Sequence[str]
) -> list[tuple[str, list[Item]]]:
    """Return all items under each of these keys, strongly consistent, in parallel."""
    return list(pool.map(lambda key: (key, list(table.query_all(key, consistent=True))), partition_keys))
