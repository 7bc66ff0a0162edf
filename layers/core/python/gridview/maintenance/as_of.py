"""Issues as they were at an instant: their present documents, without the changes made since.

```
version      5 (09:58)     6 (10:01)       7 (10:02, the document)        as of 10:00
cost         70            70 -> 80        80 -> 90                       70, version 5
```

The stream consumer records changes, so changes of the last second may be missing yet. The changes of a purged
issue are gone.
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


class Unrecorded(Exception):
    """The issue at the instant is not recorded: not yet, or not any more."""


def document_at(
    document: Document, newest: Callable[[], Iterable[Change]], instant: str, floor: int = 0
) -> Document | None:
    """Return an issue at a stored instant; None: there was none, or it was deleted. Unrecorded.

    `floor`: a version that is known to have existed by then, whatever its writer's clock said. `newest`
    returns the changes, newest first; it is called only if there may be any since.
    """
    version: int = document["version"]
    if document["updated"] <= instant or version <= floor:
        return living(document)
    values: Mapping[str, Any] | None = None if is_trashed(document) else values_of(document)
    at, by = "", ""
    for change in newest():
        if change.version != version:
            break
        if change.at <= instant or version <= floor:
            return _image(document, values, version, *change.updated)
        if change.kind == "create":
            return None
        before = {key: one.old for key, one in change.fields.items()}
        values = None if change.kind == "restore" else {**(values or {}), **before}
        version, at, by = version - 1, change.was, change.was_by
    if not (at and by) or (at > instant and version > floor):
        raise Unrecorded
    return _image(document, values, version, at, by)


def _image(
    document: Document, values: Mapping[str, Any] | None, version: int, at: str, by: str
) -> Document | None:
    """Return the document of a version with these values."""
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
) -> dict[int, Document | Unrecorded | None]:
    """Return these issues at a stored instant, by number (`document_at`).

    A strongly consistent Query for each issue that was changed since. It costs a read unit for each 4 KB of
    the last changes, up to 20 a call.
    """

    def found(document: Document) -> Document | Unrecorded | None:
        num = document["num"]
        try:
            return document_at(document, lambda: _newest(table, project, num), instant, floors.get(num, 0))
        except Unrecorded as unrecorded:
            return unrecorded

    changed, same = list[Document](), dict[int, Document | Unrecorded | None]()
    for one in documents:
        if one["updated"] <= instant:
            same[one["num"]] = living(one)
        else:
            changed.append(one)
    results = in_threads(found, changed, _AT_ONCE) if changed else []
    return {**same, **{one["num"]: result for one, result in zip(changed, results, strict=True)}}


def _newest(table: Table, project: tuple[str, str], num: int) -> Iterator[Change]:
    """Return the changes of an issue that are remembered, the newest first."""
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
