"""The effect of changes on the rows that a client follows, from the changes, the documents and later changes."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from gridview.derive.images import NOT_AN_ISSUE
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.journal.history import changes_after
from gridview.live.followed_rows import FollowedRows, RowMove
from gridview.live.images import Course
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import documents_by_number
from gridview.schema.fields import UnknownOption
from gridview.schema.history import Change
from gridview.schema.manual_orders import PLACED_AT
from gridview.support import clock

_PATIENCE = 60.0
"""Seconds for which to wait for later changes: they are remembered when the stream consumer has them."""

_MOST = 1_000
"""Later changes of an issue that are looked through."""


class Unjudged(Enum):
    """Why the effect of a change on the rows is unknown."""

    YET = "yet"
    """A later change touched a field that decides, and is not remembered yet: ask again."""
    FOREVER = "forever"
    """A deciding value is no longer remembered, or is no value of its field."""


Verdict = RowMove | Unjudged | None
"""The effect of a change on the rows; None: no effect."""


def moves_of(table: Table, catalog: Catalog, rows: FollowedRows, changes: Sequence[Change]) -> list[Verdict]:
    """Return the effect on the rows of each of these changes, which follow each other in a feed.

    A read unit for each 4 KB of the documents of issues whose changes do not contain all deciding fields. If
    such a document is ahead of the changes, a read unit for each 4 KB of its later changes. No other reads.
    """
    # A computed field is decided by the fields that it reads. A change has these, never the computed value.
    wanted = frozenset(path[-1] for field in rows.fields for path in field.paths if path != ("num",))
    of_issue: defaultdict[int, list[int]] = defaultdict(list)
    for place, change in enumerate(changes):
        of_issue[change.num].append(place)
    courses = {
        num: Course.of([changes[place] for place in places], wanted) for num, places in of_issue.items()
    }
    verdicts: list[Verdict] = [None] * len(changes)
    for num, found in _completed(table, catalog, courses, wanted):
        judged = _judged(rows, wanted, found) if isinstance(found, Course) else [found] * len(of_issue[num])
        for place, verdict in zip(of_issue[num], judged, strict=True):
            verdicts[place] = verdict
    return verdicts


def _judged(rows: FollowedRows, wanted: frozenset[str], course: Course) -> Iterator[Verdict]:
    for passage in course.passages(wanted):
        if passage is None:
            yield Unjudged.FOREVER
            continue
        try:
            yield rows.move(passage.before, passage.after)
        except (UnknownOption, *NOT_AN_ISSUE):  # written by someone outside the API
            yield Unjudged.FOREVER


def _completed(
    table: Table, catalog: Catalog, courses: Mapping[int, Course], wanted: frozenset[str]
) -> Iterator[tuple[int, Course | Unjudged]]:
    """Return the courses with all that was missing in them."""
    open_ones = [num for num, course in courses.items() if course.lacks(wanted)]
    documents = documents_by_number(table, catalog.tenant, catalog.project, open_ones) if open_ones else {}
    for num, course in courses.items():
        yield (
            num,
            _complete(table, catalog, course, wanted, documents.get(num)) if num in open_ones else course,
        )


def _complete(
    table: Table, catalog: Catalog, course: Course, wanted: frozenset[str], document: Item | None
) -> Course | Unjudged:
    num, version = course.changes[-1].num, course.version
    newest = course.changes[-1].at
    if document is not None:
        if document["version"] < version:  # someone has put an older one back
            return Unjudged.FOREVER
        newest = max(document["updated"], document.get(PLACED_AT, ""))
        course = course.with_document(document)
    if course.lacks(wanted):
        for place, later in enumerate(changes_after(table, catalog.tenant, catalog.project, num, version)):
            course = course.with_later([later])
            if not course.lacks(wanted) or place >= _MOST:
                break
    if not course.lacks(wanted):
        return course
    return Unjudged.YET if clock.seconds() - clock.instant(newest) < _PATIENCE else Unjudged.FOREVER
