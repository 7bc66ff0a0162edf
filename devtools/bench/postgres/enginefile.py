"""Writes rows into the file of DynamoDB Local's tables, while it does not run: ten times as fast as through it.

Only for benchmarks. The engine's API takes 1,600 items a second on disk (`bulk.in_transactions`). So 100,000 issues
take some ten minutes and a million takes hours; this module takes minutes.

The format was found by a look at the engine's writes: its table of SQLite holds an item as JSON beside its keys. GSI1
is an index of the same rows; a test compares.
"""

import base64
import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import orjson

from devtools.failure import Failure
from gridview.dynamodb.expressions import Item
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_size, item_to_wire

_FILE: Final = "shared-local-instance.db"
_VERSION: Final = "v2.4.0"
_SALT: Final = b"LocalDdb"
_PAGE_BYTES: Final = 8_192
_INSERT: Final = """\
INSERT INTO "{table}" (hashKey, rangeKey, hashValue, rangeValue, itemSize, ObjectJSON, hashRangeValue, indexKey_0)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""

Row = tuple[bytes, bytes, bytes, bytes, int, bytes, bytes, bytes | None]


def write(tables: Path, table: str, items: Iterable[Item]) -> None:
    """Add items to a table of the engine whose files are in the folder `tables`.

    No key may exist yet. Indexes are made again.

    A load that is killed leaves a broken file.
    """
    with closing(sqlite3.connect(tables / _FILE, isolation_level=None)) as file:
        found = file.execute("SELECT version FROM cf").fetchall()
        if found != [(_VERSION,)]:
            raise Failure(f"The engine's file has version {found}; this tool knows version {_VERSION}.")
        for pragma in ("journal_mode = OFF", "synchronous = OFF", f"page_size = {_PAGE_BYTES}"):
            file.execute(f"PRAGMA {pragma}")
        file.execute("VACUUM")  # the file takes on the page size
        file.execute("PRAGMA cache_size = -500000")  # KB
        indexes = file.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
            (table,),
        ).fetchall()
        file.execute("BEGIN")
        for name, _ in indexes:
            file.execute(f'DROP INDEX "{name}"')
        file.executemany(_INSERT.format(table=table), _rows(items))
        for _, statement in indexes:
            file.execute(statement)
        file.execute("COMMIT")


def _rows(items: Iterable[Item]) -> Iterator[Row]:
    partition, hashed = b"", b""
    for item in items:
        pk, sk = item[keys.PK].encode(), item[keys.SK].encode()
        if pk != partition:
            partition, hashed = pk, _digest(pk)
        ranged = _digest(sk)
        size = sum(len(name.encode()) + item_size(value) for name, value in item.items())
        sort = item.get(keys.SORT)
        yield (
            pk,
            sk,
            hashed,
            ranged,
            size,
            orjson.dumps(item_to_wire(item), default=_binary),
            _digest(hashed + ranged),
            None if sort is None else sort.encode(),
        )


def _digest(content: bytes) -> bytes:
    return hashlib.sha1(_SALT + content, usedforsecurity=False).digest()


def _binary(value: Any) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} has no place in an item")
