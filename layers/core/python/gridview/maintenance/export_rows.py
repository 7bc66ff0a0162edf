"""Issues as lines of a file: NDJSON as the API returns rows, or CSV as the importers read it. Pure.

In CSV instants are in UTC and numbers have all their digits. Options are joined by semicolons, with a
backslash before one that is part of a value. Text that a spreadsheet would run is guarded, unless `raw`
(`csv_lines`).
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from gridview.encoding.json_codec import dumps
from gridview.encoding.values import number_json
from gridview.maintenance import csv_lines
from gridview.maintenance.export_request import ExportFormat
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Document
from gridview.schema.fields import NUM, Field
from gridview.schema.formats import value_json

_IN_A_LIST = re.compile(r"[\\;]")


class Lines:
    """Makes the lines of one export, under one version of the definitions.

    `columns`: the keys of the fields; None: all, which only NDJSON may say. CSV keeps the column of a deleted
    field.
    """

    def __init__(
        self, catalog: Catalog, form: ExportFormat, columns: Sequence[str] | None, *, raw: bool
    ) -> None:
        self._catalog = catalog
        self._form = form
        self._raw = raw
        self._fields = [(key, catalog.living(key)) for key in columns or ()]
        shown = frozenset(field.id for _, field in self._fields if field is not None)
        self._shown = None if columns is None else shown

    def head(self) -> bytes:
        """Return the bytes before all rows: in CSV the names of the columns, no two the same."""
        if self._form == "ndjson":
            return b""
        ids = [key if field is None else field.id for key, field in self._fields]
        names = [key if field is None or field.builtin else field.name for key, field in self._fields]
        return self._line(_apart(names, ids))

    def row(self, document: Document) -> bytes:
        """Return an issue. UnknownOption: the definitions are older than the issue."""
        if self._form == "ndjson":
            return dumps(documents.to_json(self._catalog, document, self._shown)) + b"\n"
        return self._line([self._cell(key, field, document) for key, field in self._fields])

    def _cell(self, key: str, field: Field | None, document: Document) -> str:
        if key == NUM:
            return str(document["num"])
        stored = None if field is None else field.value_in(document)
        if field is None or stored is None:
            return ""
        return _text(value_json(field, stored))

    def _line(self, cells: Sequence[str]) -> bytes:
        return csv_lines.line(cells, raw=self._raw).encode()


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ";".join(_IN_A_LIST.sub(r"\\\g<0>", item) for item in value)
    return number_json(value) if isinstance(value, Decimal) else str(value)


def _apart(names: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Return names for columns, no two the same: an id follows each name that would occur twice."""
    found: list[str] = []
    for name, field_id in zip(names, ids, strict=True):
        unique = name if names.count(name) == 1 else f"{name} ({field_id})"
        while unique in found:
            unique += "_"
        found.append(unique)
    return found
