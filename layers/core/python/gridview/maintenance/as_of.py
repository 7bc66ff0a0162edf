"""Issues as they were at an instant: the documents of now, without the changes that were made since.

    version      5 (09:58)     6 (10:01)       7 (10:02, the document)        as of 10:00
    cost         70            70 -> 80        80 -> 90                       70, version 5

Changes are remembered by the stream consumer, so those of the last second may not be told yet; and those of an issue that was
purged are gone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gridview.dynamodb.expressions import Bound
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.journal.history import whole
from gridview.schema.documents import Document, values_of
from gridview.schema.history import Change
from gridview.schema.trash import SET_BY_A_DELETE, is_trashed, living
from gridview.support.concurrency import in_threads

_PAGE = 20
_AT_ONCE = 16


class Untold(Exception):
    """What an issue was at the instant is not remembered: not yet, or not any more."""


def document_at(
    document: Document, newest: Callable[[], Iterable[Change]], instant: str, floor: int = 0
) -> Document | None:
    """An issue at a stored instant; None: there was none, or it was deleted. Untold.

    `floor`: a version that is known to have been there by then, whatever the clock of who wrote it said. `newest` gives the
    changes, the newest first; they are asked for only if there may be any since. Who made the version of then is None where that
    is not remembered any more.
    """
    version: int = document["version"]
    if document["updated"] <= instant or version <= floor:
        return living(document)
    values: Mapping[str, Any] | None = None if is_trashed(document) else values_of(document)
    at = ""
    for change in newest():
        if change.version != version:
            break
        if change.at <= instant or version <= floor:
            return _image(document, values, version, change.at, change.by)
        if change.kind == "create":
            return None
        before = {key: told.old for key, told in change.fields.items()}
        values = None if change.kind == "restore" else {**(values or {}), **before}
        version, at = version - 1, change.was
    if not at or (at > instant and version > floor):
        raise Untold
    return _image(document, values, version, at, document["created_by"] if version == 1 else None)


def _image(
    document: Document, values: Mapping[str, Any] | None, version: int, at: str, by: str | None
) -> Document | None:
    """The document of a version with these values."""
    if values is None:
        return None
    kept = {name: value for name, value in document.items() if name not in SET_BY_A_DELETE}
    fields = {
        key: value for key, value in values.items() if key not in ("name", "state") and value is not None
    }
    return {
        **kept,
        "name": values["name"],
        "state": values["state"],
        "fields": fields,
        "version": version,
        "updated": at,
        "updated_by": by,
    }


def documents_at(
    table: Table,
    project: tuple[str, str],
    documents: Iterable[Document],
    instant: str,
    floors: Mapping[int, int],
) -> dict[int, Document | Untold | None]:
    """These issues at a stored instant, by number (`document_at`).

    For each that was changed since a Query, strongly consistent: a read unit for each 4 KB of its last changes, up to 20 a call.
    """

    def found(document: Document) -> Document | Untold | None:
        num = document["num"]
        try:
            return document_at(document, lambda: _newest(table, project, num), instant, floors.get(num, 0))
        except Untold as untold:
            return untold

    changed, same = list[Document](), dict[int, Document | Untold | None]()
    for one in documents:
        if one["updated"] <= instant:
            same[one["num"]] = living(one)
        else:
            changed.append(one)
    results = in_threads(found, changed, _AT_ONCE) if changed else []
    return {**same, **{one["num"]: result for one, result in zip(changed, results, strict=True)}}


def _newest(table: Table, project: tuple[str, str], num: int) -> Iterator[Change]:
    """The changes of an issue that are remembered, the newest first."""
    version = derived_keys.MAX_VERSION
    while version > 0:
        page = table.query(
            derived_keys.history(*project, num),
            bound=Bound("between", derived_keys.history_item(1), derived_keys.history_item(version)),
            forward=False,
            limit=_PAGE,
            consistent=True,
        )
        for _, change in whole(table, page.items):
            yield change
        if page.last is None:
            return
        version = int(page.items[-1][keys.SK]) - 1
