"""Creates, reads, changes and deletes issues. Each write is one conditional write of one document."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from gridview.commands.conflicts import merged_fields, require_mergeable
from gridview.commands.context import WriteContext
from gridview.commands.idempotency import Transact
from gridview.commands.marks import Mark
from gridview.commands.preconditions import Expected, check
from gridview.derive.room import require_room
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import ABSENT, Condition, put, version_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import get_issue, issue_key
from gridview.schema.documents import Changes, Document
from gridview.schema.fields import UnknownOption
from gridview.schema.ids import MAX_ISSUE_NUMBER
from gridview.schema.numbering import marking
from gridview.schema.trash import DELETED_AT, LIVING, changed_before, living, mark_of
from gridview.support import clock
from gridview.support.errors import Conflict, LimitExceeded, NotFound, RequestInProgress
from gridview.view.issue_count import issues_in

MAX_ISSUES = 1_000_000
"""The most issues of a project, counted by the index: while it lags, as many more may be created."""

_ATTEMPTS = 8
"""How often a change that lost a race to another writer is tried again."""


class Updated(NamedTuple):
    """An issue as a write leaves it. `merged`: the ids of fields that were changed since the write's `base`,
    if it has one.
    """

    document: Document
    merged: list[str] | None = None


BUSY = "Other requests are changing this issue. Try again."

Guard = Callable[[Updated], None]
"""Inspects a write before it is made, and raises to forbid it."""


def _anything(_: Updated) -> None:
    return


def reserve_numbers(table: Table, catalog: Catalog, count: int) -> range:
    """Return the next `count` issue numbers, in one call of 1 write unit. NotFound for a deleted project;
    LimitExceeded past a million.

    Once a million numbers are used it takes three calls: one more that fails (1 write unit), and the issue
    count (0.5 read units).
    """
    taken = _take_numbers(table, catalog, count, MAX_ISSUES)
    if taken is not None:
        return taken
    if issues_in(table, catalog) + count > MAX_ISSUES:
        raise LimitExceeded(
            f"A project can have at most {MAX_ISSUES:,} issues. Delete some, or use another project."
        )
    taken = _take_numbers(table, catalog, count, MAX_ISSUE_NUMBER)
    if taken is None:
        raise LimitExceeded(
            f"The project has used all issue numbers, up to {MAX_ISSUE_NUMBER:,}. Create another project."
        )
    return taken


def _take_numbers(table: Table, catalog: Catalog, count: int, highest: int) -> range | None:
    """Return the next numbers; None if they would exceed the highest."""
    condition = Condition(
        "attribute_exists(PK) AND attribute_not_exists(closed) AND #last <= :room",
        {"#last": "last"},
        {":room": highest - count},
    )
    try:
        counter = table.update(
            keys.project(catalog.tenant, catalog.project),
            keys.COUNTER,
            condition,
            add={"last": count},
            **marking(clock.seconds())._asdict(),
        )
    except ConditionFailed as error:
        if error.item is None or error.item.get("closed"):
            raise NotFound("Project not found.") from error
        return None
    last: int = counter["last"]
    return range(last - count + 1, last + 1)


def create_issue(context: WriteContext, body: Any, *, transact: Transact | None = None) -> Document:
    """Validate a new issue, give it the next number and write it: two calls, 1 write unit plus that of the document.

    With a `transact` it is written by that. The epoch is read beside the number. StaleDefinitions: nothing has
    been written, but a number is spent.
    """
    table, catalog = context.table, context.catalog
    changes = parse_new(catalog, body)
    (num,) = context.epoch.beside(table, lambda: reserve_numbers(table, catalog, 1))
    if transact is None:
        return write_new(context, num, changes)
    document = _new_document(context, num, changes)
    try:
        transact(table, [put(document, ABSENT)], documents.to_json(catalog, document))
    except TransactionFailed as error:
        if error.failed:
            raise Conflict("The number of the new issue is already in use. Try again.") from error
        # Nobody else has this number, so the conflict is with the record of the request.
        raise RequestInProgress(
            "The same request is in progress. Send it again to get its answer."
        ) from error
    return document


def parse_new(catalog: Catalog, body: Any) -> Changes:
    """Return the values of a new issue, validated as a whole document too, so that no number is spent on one
    that cannot be written.
    """
    changes = documents.parse_create(catalog, body)
    require_room(catalog, documents.new_document(catalog, MAX_ISSUES, changes, user="", now=clock.now()))
    return changes


def write_new(
    context: WriteContext,
    num: int,
    changes: Changes,
    *,
    mark: Mark | None = None,
    again: bool = False,
    guard: Guard = _anything,
) -> Document:
    """Write version 1 under a reserved number.

    `mark` identifies the operation. If it is done, its document is the answer. With `again`, a document without a
    mark is too: an edit since takes the mark away.
    """
    document = _new_document(context, num, changes) | _marked(mark)
    guard(Updated(document))
    try:
        context.table.put(document, ABSENT)
    except ConditionFailed as error:
        found = error.item or {}
        ours = mark is not None and ((again and "mark" not in found) or mark.is_done(found.get("mark")))
        if not ours and not error.is_repeat_of(document):
            raise Conflict("The number of the new issue is already in use. Try again.") from error
        return found
    return document


def update_issue(
    context: WriteContext,
    num: int,
    body: Any,
    expected: Expected,
    *,
    mark: Mark | None = None,
    guard: Guard = _anything,
) -> Updated:
    """Read, merge, validate and write under the version read. A lost race is retried if the caller accepts
    any version.

    With a `base` in the body, changes by others since that version stay, and a field that both changed is an
    EditConflict.

    If nothing changes, nothing is written, and the answer has the version read. The epoch is read, and the
    request counted, beside the document. StaleDefinitions, TooManyWrites: nothing has been written.
    """
    table, catalog, user = context.table, context.catalog, context.actor.user

    def read() -> Document:
        return context.epoch.beside(table, lambda: get_issue(table, catalog, num))

    changes = documents.parse_patch(catalog, body)
    for _ in range(_ATTEMPTS):
        found = context.admission.beside(table, read)
        if mark is not None and mark.is_done(found.get("mark")):
            return Updated(found, merged_fields(catalog, found, changes))
        require_mergeable(catalog, found, changes, expected)
        bare = {name: value for name, value in found.items() if name != "mark"}
        document = documents.merged(catalog, bare, changes, user=user, now=clock.now(), change=context.change)
        updated = Updated(document, merged_fields(catalog, document, changes))
        guard(updated)
        if document is bare:
            return updated
        require_room(catalog, document)
        document |= _marked(mark)
        try:
            table.put(document, version_is(found["version"]))
        except ConditionFailed as error:
            if error.is_repeat_of(document):
                return updated
            continue
        return updated
    raise _overtaken(table, catalog, num)


def delete_issue(context: WriteContext, num: int, expected: Expected) -> None:
    """Put an issue into the trash: it is gone for everybody, and the stream consumer removes its derived
    items.

    One update in place, of as many write units as its document; NotFound. With `expected` versions the
    document is read before, and the epoch beside it; VersionMismatch, StaleDefinitions.
    """
    table, catalog, change = context.table, context.catalog, context.change
    seen: int | None = None
    for _ in range(_ATTEMPTS):
        if expected is not None:
            found = context.epoch.beside(table, lambda: get_issue(table, catalog, num))
            seen = found["version"]
            check(expected, seen, partial(documents.to_json, catalog, found))
        mark = mark_of(context.actor.user, clock.now())
        # A repetition of this call that comes late must not delete an issue that was restored meanwhile.
        unchanged = changed_before(mark[DELETED_AT]) if seen is None else version_is(seen)
        assign, dropped = (mark, ("change",)) if change is None else ({**mark, "change": change.bytes}, ())
        try:
            table.update(
                *issue_key(catalog, num),
                LIVING.also(unchanged),
                add={"version": 1},
                assign=assign,
                drop=(keys.SORT, "mark", *dropped),
            )
        except ConditionFailed as error:
            current = living(error.item)
            if current is not None:
                seen = current["version"]  # the clock of the last writer may be ahead
                continue
            if error.item is not None and mark.items() <= error.item.items():
                return  # by this call, whose answer was lost
            raise NotFound("Issue not found.") from error
        return
    raise _overtaken(table, catalog, num)


def _new_document(context: WriteContext, num: int, changes: Changes) -> Document:
    user, change = context.actor.user, context.change
    return documents.new_document(context.catalog, num, changes, user=user, now=clock.now(), change=change)


def _overtaken(table: Table, catalog: Catalog, num: int) -> Conflict:
    """Return the Conflict of a change that lost every race, with the present issue. NotFound: it was deleted."""
    found = get_issue(table, catalog, num)
    try:
        return Conflict(BUSY, current=documents.to_json(catalog, found))
    except UnknownOption:  # of younger definitions
        return Conflict(BUSY)


def _marked(mark: Mark | None) -> Document:
    return {} if mark is None else {"mark": str(mark)}
