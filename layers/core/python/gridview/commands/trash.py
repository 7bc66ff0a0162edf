"""Takes deleted issues out of the trash: back into their project, or away permanently."""

from functools import partial
from uuid import UUID

from gridview.commands.actor import Actor
from gridview.commands.idempotency import Transact
from gridview.commands.issues import BUSY, MAX_ISSUES
from gridview.commands.preconditions import Expected, check
from gridview.commands.reads import trashed_json
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import put, version_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import get_trashed, issue_key
from gridview.schema.documents import Document
from gridview.schema.epoch import CONFIRMED, EpochCheck
from gridview.schema.trash import TRASHED
from gridview.support import clock
from gridview.support.errors import Conflict, LimitExceeded, RequestInProgress
from gridview.view.issue_count import issues_in

_ATTEMPTS = 8
"""How often a change that lost a race to another writer is tried again."""


def restore_issue(
    table: Table,
    catalog: Catalog,
    actor: Actor,
    num: int,
    *,
    change: UUID | None = None,
    transact: Transact | None = None,
    epoch: EpochCheck = CONFIRMED,
) -> Document:
    """Bring a deleted issue back under its number, with one more version (`documents.restored`).

    NotFound if it is not in the trash; LimitExceeded if the project is full. Two read units at least, and the
    write units of the document. With a `transact` it is written by that. The epoch is read beside the document.
    StaleDefinitions: nothing has been written.
    """
    for _ in range(_ATTEMPTS):
        found = epoch.beside(table, lambda: get_trashed(table, catalog, num))
        require_place(table, catalog)
        now = clock.now()
        document = documents.restored(catalog, found, user=actor.user, now=now, change=change)
        unchanged = version_is(found["version"])
        try:
            if transact is None:
                table.put(document, unchanged)
            else:
                transact(table, [put(document, unchanged)], documents.to_json(catalog, document))
        except ConditionFailed as error:
            if error.is_repeat_of(document):
                return document
            continue
        except TransactionFailed as error:
            if not error.failed:
                raise RequestInProgress(
                    "The same request is in progress. Send it again to get its answer."
                ) from error
            continue
        return document
    raise _overtaken(table, catalog, num)


def require_place(table: Table, catalog: Catalog) -> None:
    """Raise LimitExceeded if the project has all the issues that it can have. Only one that has used a million
    numbers is counted.
    """
    counter = table.get(keys.project(catalog.tenant, catalog.project), keys.COUNTER, consistent=True) or {}
    if counter.get("last", 0) > MAX_ISSUES and issues_in(table, catalog) >= MAX_ISSUES:
        raise LimitExceeded(f"A project can have at most {MAX_ISSUES:,} issues. Delete some first.")


def purge_issue(
    table: Table, catalog: Catalog, num: int, expected: Expected, *, epoch: EpochCheck = CONFIRMED
) -> None:
    """Permanently remove a deleted issue; the stream consumer removes its other data. NotFound,
    VersionMismatch.

    A read of the document, and of the epoch beside it, and its write units. StaleDefinitions: nothing has
    been written.
    """
    for _ in range(_ATTEMPTS):
        found = epoch.beside(table, lambda: get_trashed(table, catalog, num))
        check(expected, found["version"], partial(trashed_json, catalog, found))
        try:
            table.delete(*issue_key(catalog, num), TRASHED.also(version_is(found["version"])))
        except ConditionFailed as error:
            if error.item is None:
                return  # by this call, whose answer was lost, or by another that wanted the same
            continue
        return
    raise _overtaken(table, catalog, num)


def _overtaken(table: Table, catalog: Catalog, num: int) -> Conflict:
    return Conflict(BUSY, current=trashed_json(catalog, get_trashed(table, catalog, num)))
