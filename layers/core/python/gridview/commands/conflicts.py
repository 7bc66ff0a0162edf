"""`base`: how a change of an issue treats fields that others have changed since the version that its author
saw. Pure.

Two people who edit different fields both win. If two edit the same field to different values, the later one
receives both values, and nothing of that change is written. The document has, for each field, the version
that changed it (`schema.documents`).
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from gridview.commands.preconditions import Expected, check
from gridview.schema import documents, formats
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Changes, Document
from gridview.schema.fields import Field
from gridview.support.errors import EditConflict, FieldError, InvalidRequest, VersionMismatch


def require_mergeable(
    catalog: Catalog, document: Document, changes: Changes, expected: Expected = None
) -> None:
    """Raise unless the changes may be made to the document, by the version that the client saw.

    VersionMismatch if the document's version is not `expected`, or a restore of the table took back `base`.
    EditConflict if a field was changed since `base` to another value. InvalidRequest if there is no such
    version yet, or if both are given. UnknownOption: a stale catalog.
    """
    version = document["version"]
    if expected is not None and changes.base is not None:
        raise _invalid("cannot be combined with If-Match, or `version` in a batch")
    check(expected, version, partial(documents.to_json, catalog, document))
    if changes.base is None:
        return
    if documents.is_lost(document, changes.base):
        raise VersionMismatch(
            f"The table was restored to a time before version {changes.base}. Read the issue again, and send its "
            "version.",
            current=documents.to_json(catalog, document),
        )
    if changes.base > version:
        raise _invalid(f"must be a version that the issue has had; it is at version {version} now")
    patched = _patched(catalog, changes)
    conflicts = [
        _conflict(document, field, patched[field.key])
        for field in _changed_since(catalog, document, changes.base)
        if field.key in patched and not documents.same_value(field.value_in(document), patched[field.key])
    ]
    if conflicts:
        raise EditConflict(
            f"Others changed the same fields since version {changes.base}. Nothing was written. Resolve "
            "`conflicts`, and send the version of `current` as `base`.",
            conflicts=conflicts,
            current=documents.to_json(catalog, document),
        )


def merged_fields(catalog: Catalog, document: Document, changes: Changes) -> list[str] | None:
    """Return the ids of the fields that were changed since `base` and that the changes do not touch; None
    without a `base`.

    `document` is with the changes or without.
    """
    if changes.base is None:
        return None
    patched = _patched(catalog, changes)
    return [field.id for field in _changed_since(catalog, document, changes.base) if field.key not in patched]


def _changed_since(catalog: Catalog, document: Document, base: int) -> Iterable[Field]:
    for field in (*catalog.builtins, *catalog.attributes):
        if documents.changed_at(document, field.key) > base:
            yield field


def _patched(catalog: Catalog, changes: Changes) -> Mapping[str, Any]:
    """Return the values that the changes set, by internal key. They may clear all attributes without naming
    them.
    """
    unnamed = {field.key: None for field in catalog.attributes} if changes.replaces_fields else {}
    return {**unnamed, **changes.builtins, **changes.fields}


def _conflict(document: Document, field: Field, yours: Any) -> dict[str, Any]:
    theirs = field.value_in(document)
    # The document has the author of its version. The authors of older versions are unknown.
    newest = documents.changed_at(document, field.key) == document["version"]
    return {
        "field": field.id,
        "yours": None if yours is None else formats.value_json(field, yours),
        "theirs": None if theirs is None else formats.value_json(field, theirs),
        "by": document["updated_by"] if newest else None,
    }


def _invalid(expectation: str) -> InvalidRequest:
    return InvalidRequest(
        "The request is not valid. Fix what `errors` lists.", [FieldError("base", expectation)]
    )
