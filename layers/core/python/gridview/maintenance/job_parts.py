"""Reads the further items of a job: its order, and the chunks of the issues that it froze."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.support.errors import NotFound

Decoded = TypeVar("Decoded")


class JobParts:
    """The further items of one job, in a partition of its own."""

    def __init__(self, table: Table, partition: str) -> None:
        self._table = table
        self._partition = partition

    def asked(self) -> Mapping[str, Any]:
        """Return the job's order, in stored form: a read unit for each 4 KB. NotFound."""
        asked: Mapping[str, Any] = self.item(keys.ASKED)["asked"]
        return asked

    def item(self, sort_key: str) -> Item:
        """Return an item, strongly consistent: a read unit for each 4 KB. NotFound."""
        item = self._table.get(self._partition, sort_key, consistent=True)
        if item is None:
            raise NotFound("Job not found.")
        return item


class FrozenChunks(Generic[Decoded]):
    """The chunks of a job, of which it keeps the last one in memory: a turn works through one after the other."""

    def __init__(self, parts: JobParts, decode: Callable[[Item], Decoded]) -> None:
        self._parts = parts
        self._decode = decode
        self._last: tuple[str, Decoded] | None = None

    def at(self, frozen: int, chunk: int) -> Decoded:
        """Return a chunk of the attempt `frozen`: a read unit for each 4 KB, once a turn. NotFound."""
        sort_key = keys.frozen_numbers(frozen, chunk)
        if self._last is None or self._last[0] != sort_key:
            self._last = sort_key, self._decode(self._parts.item(sort_key))
        return self._last[1]
