"""Cuts rows into batches. The same file and plan always give the same batches, so a batch can be sent again."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from devtools.importer.plan import Plan, RowRefusedError
from devtools.importer.source import Row

MAX_OPERATIONS: Final = 500
MAX_BYTES: Final = 1_000_000
"""Bytes of the operations of a batch. The answer repeats them, and Lambda answers 6 MB at most."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row that did not become an issue, and why."""

    row: int
    reason: str
    values: dict[str, Any]
    errors: list[dict[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Batch:
    """Rows that are sent together.

    `operations` are JSON, `sent` are their rows, and `refused` are rows that cannot even be sent.
    """

    index: int
    operations: list[bytes] = field(default_factory=list)
    sent: list[Row] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    size: int = 0
    existing: int = 0
    """Further rows, which an earlier attempt has created."""

    @property
    def rows(self) -> int:
        """The number of the file's rows in this batch."""
        return len(self.sent) + len(self.refused) + self.existing

    @property
    def name(self) -> str:
        """The same for the same operations of an import."""
        return f"{self.index}-without-{self.existing}" if self.existing else str(self.index)

    def without(self, existing: Callable[[int], bool]) -> "Batch":
        """The batch without the rows that exist in the project."""
        kept = [
            (operation, row)
            for operation, row in zip(self.operations, self.sent, strict=True)
            if not existing(row.number)
        ]
        return Batch(
            self.index,
            [operation for operation, _ in kept],
            [row for _, row in kept],
            self.refused,
            existing=len(self.sent) - len(kept),
        )

    def has_room(self, operation: bytes) -> bool:
        """Whether the batch has room for one more operation."""
        return self.rows < MAX_OPERATIONS and (not self.operations or self.size + len(operation) <= MAX_BYTES)


def cut(rows: Iterable[Row], plan: Plan) -> Iterator[Batch]:
    """The batches of all rows, in order. None is empty."""
    batch = Batch(0)
    for row in rows:
        try:
            operation = plan.operation(row)
            refusal = None
        except RowRefusedError as error:
            operation = b""
            refusal = Refusal(row.number, str(error), dict(row.cells))
        if not batch.has_room(operation):
            yield batch
            batch = Batch(batch.index + 1)
        if refusal is not None:
            batch.refused.append(refusal)
            continue
        batch.operations.append(operation)
        batch.sent.append(row)
        batch.size += len(operation)
    if batch.rows:
        yield batch


def body(operations: Iterable[bytes]) -> bytes:
    """The body of a batch request."""
    return b'{"operations":[' + b",".join(operations) + b"]}"
