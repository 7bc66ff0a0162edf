"""Lists of changes, newest first: of one issue, or of a project by person, field and time.

A result page may be shorter than asked for; only `"next": null` ends a list. Changes appear when the stream consumer has
recorded them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

from orjson import Fragment

from gridview.dynamodb.expressions import Bound, Item
from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps, size_in_response
from gridview.journal.history import read_changes, whole
from gridview.query import change_request
from gridview.query.activity_pages import PageStart, read_back
from gridview.schema.catalog import Catalog
from gridview.schema.comments import COMMENTED, Comment, comment_event
from gridview.schema.document_store import get_issue
from gridview.schema.history import Change, event_json, floor_of
from gridview.schema.ids import MAX_COMMENT_ID
from gridview.support import clock
from gridview.view import freshness
from gridview.view.block_cache import BlockCache
from gridview.view.context import ReadContext
from gridview.view.shown_versions import Answered, Shown, ShownVersion

_EXAMINED = 500
"""Entries of the activity after which a page ends, however few its filters keep: some 20 read units."""

_ANSWER_BYTES = 5_000_000
_READ_AT_ONCE = 100


class _Listed(NamedTuple):
    """The event of a change or a comment, and the place in its list after which the next page begins."""

    event: dict[str, Any]
    place: object
    change: Change | None = None


class _Reached(NamedTuple):
    """The sort key of the change and the id of the comment after which the next page of an issue's history begins.

    Each list continues by itself, whatever is written meanwhile, or at the same instant. Empty, and 0: the first page.
    """

    change: str = ""
    comment: int = 0

    @property
    def changes(self) -> Bound:
        """The changes that are still to come."""
        if self.change:
            return Bound("<", self.change)
        return Bound("<=", derived_keys.history_item(derived_keys.MAX_VERSION))

    def comments(self, num: int) -> Bound:
        """The comments on an issue that are still to come, and the one after which they begin."""
        return Bound("between", keys.comment(num, 1), keys.comment(num, self.comment or MAX_COMMENT_ID))

    @classmethod
    def ahead_of(cls, changes: Sequence[Item], comments: Sequence[Comment]) -> Self:
        """The start before these: no page of this list contains newer ones."""
        newest = int(changes[0][keys.SK]) if changes else 0
        return cls(derived_keys.history_item(newest + 1), comments[0].id + 1 if comments else 1)


def issue_history(
    context: ReadContext, num: int, parameters: Mapping[str, str], cursors: Cursors
) -> Answered:
    """Return a page of an issue's changes and of its comments: two parallel Queries, 0.5 read units for each 4 KB of each.

    Raises NotFound for a number without an issue and without any history; finding that out takes a second read.
    """
    table, catalog = context.table, context.catalog
    request = change_request.of_an_issue(parameters)
    binding = dumps([catalog.tenant, catalog.project, num])
    begin = _Reached()
    if request.cursor is not None:
        sealed: Any = cursors.open(request.cursor, binding)
        begin = _Reached(*sealed)
    changes, comments = context.epoch.beside(
        table,
        lambda: side_by_side(
            table,
            lambda: table.query(
                derived_keys.history(catalog.tenant, catalog.project, num),
                bound=begin.changes,
                forward=False,
                limit=request.limit,
            ),
            lambda own: own.query(
                keys.comments(catalog.tenant, catalog.project),
                bound=begin.comments(num),
                forward=False,
                limit=request.limit + 1,
            ),
        ),
    )
    said = [one for one in map(Comment.from_item, comments.items) if one.id != begin.comment]
    if not changes.items and not said and request.cursor is None:
        get_issue(table, catalog, num)
    if request.cursor is None:
        begin = _Reached.ahead_of(changes.items, said)
    remembered = whole(table, _remembered(catalog, changes.items))
    unfinished = _Unfinished(changes.last is not None, comments.last is not None)
    merged = list(_merged(catalog, remembered, said, begin, unfinished))
    listed = merged[: request.limit]
    more = len(merged) > len(listed) or changes.last is not None or comments.last is not None
    # If a page has only expired changes, so have all later ones.
    last = listed[-1].place if more and listed else None
    return _result_page(listed, last, cursors, binding, context.cache)


class _Unfinished(NamedTuple):
    """Which of the lists of an issue's changes and comments continue after what was read: a Query ends at 1 MB."""

    changes: bool
    comments: bool


def _merged(
    catalog: Catalog,
    changes: Sequence[tuple[Item, Change]],
    comments: Sequence[Comment],
    begin: _Reached,
    unfinished: _Unfinished,
) -> Iterator[_Listed]:
    """Changes and comments, newest first, each with the place that a page reaches with it.

    They end with the last one of an unfinished list: what follows it there may be newer than the rest of the other.
    """
    reached, left, said = begin, list(changes), list(comments)
    pairs = ((left, unfinished.changes), (said, unfinished.comments))
    awaited = [known for known, continues in pairs if known and continues]
    while (left or said) and all(awaited):
        if not said or (left and left[0][1].at >= said[0].created):
            item, change = left.pop(0)
            reached = reached._replace(change=item[keys.SK])
            yield _Listed(event_json(catalog, change), [*reached], change)
        else:
            comment = said.pop(0)
            reached = reached._replace(comment=comment.id)
            yield _Listed(comment.event(), [*reached])


def activity(context: ReadContext, parameters: Mapping[str, str], cursors: Cursors) -> Answered:
    """Return a page of a project's changes.

    0.5 read units for each 4 KB of at most some 500 entries, and of each change in the page.
    """
    table, catalog = context.table, context.catalog
    request = change_request.of_a_project(catalog, parameters)
    asked = [request.by, request.field, request.mentions, request.since, request.to]
    binding = dumps([catalog.tenant, catalog.project, *asked])
    lower = max(request.since or "", floor_of(catalog.history))
    begin = PageStart.before(request.to or derived_keys.ACTIVITY_END)
    if request.cursor is not None:
        place: Any = cursors.open(request.cursor, binding)
        begin = PageStart(*place)
    if lower >= (begin.item or begin.place):
        context.epoch.confirm(table)
        return Answered({"items": [], "next": None}, Shown())

    def shown_of(entries: Iterable[Item]) -> list[Item]:
        return [entry for entry in _remembered(catalog, entries) if request.shows(catalog, entry)]

    stretch = context.epoch.beside(
        table,
        lambda: read_back(
            table,
            derived_keys.activity(catalog.tenant, catalog.project),
            lower,
            begin,
            lambda entries: len(entries) >= _EXAMINED or len(shown_of(entries)) > request.limit,
        ),
    )
    found = shown_of(stretch.entries)
    entries = found[: request.limit]
    rest = begin.at(entries[-1]) if len(found) > len(entries) else stretch.rest
    last = None if rest is None else [*rest]
    return _result_page(_listed(table, catalog, entries, begin), last, cursors, binding, context.cache)


def _remembered(catalog: Catalog, items: Iterable[Item]) -> list[Item]:
    """The items that the project still remembers, without expired ones that the table has not yet removed."""
    now = clock.seconds()
    floor = floor_of(catalog.history)
    return [item for item in items if item[keys.TTL_ATTRIBUTE] > now and item["at"] >= floor]


def _listed(table: Table, catalog: Catalog, entries: Sequence[Item], begin: PageStart) -> Iterable[_Listed]:
    """The events of these entries, read some at a time as they are asked for: an answer may be full before the end.

    `begin`: the start after which they were read.
    """
    for first in range(0, len(entries), _READ_AT_ONCE):
        some = entries[first : first + _READ_AT_ONCE]
        wanted = [(item["num"], item["version"]) for item in some if "version" in item]
        read = partial(read_changes, table, catalog.tenant, catalog.project)
        changes = read(wanted)
        if missing := [version for version in wanted if version not in changes]:
            changes |= read(missing, consistent=True)  # an entry may be seen before its change
        for item in some:
            change = changes.get((item["num"], item.get("version", 0)))
            if change is not None:
                yield _Listed(event_json(catalog, change), [*begin.at(item)], change)
            elif item["kind"] == COMMENTED:
                yield _Listed(comment_event(item), [*begin.at(item)])


def _result_page(
    listed: Iterable[_Listed], last: object, cursors: Cursors, binding: bytes, cache: BlockCache
) -> Answered:
    """The page of these events, as many as an answer holds; `last`: where the next one begins if all of them fit."""
    fragments: list[Fragment] = []
    versions: list[ShownVersion] = []
    size = 0
    place: object = None
    for one in listed:
        if one.change is not None and one.change.only_places:
            place = one.place
            continue
        encoded = dumps(one.event)
        size += size_in_response(encoded)
        if fragments and size > _ANSWER_BYTES:
            last = place
            break
        fragments.append(Fragment(encoded))
        place, change = one.place, one.change
        if change is not None:
            removed = change.kind == "delete"
            versions.append(ShownVersion(change.num, change.version, change.at, removed))
    body = {"items": fragments, "next": None if last is None else cursors.seal(last, binding)}
    return Answered(body, Shown.of(versions, freshness.kept(cache)))
