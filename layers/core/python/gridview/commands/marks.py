"""Marks of the operations of a batch with an Idempotency-Key, by which its next attempt recognizes its writes.

A document has the mark of the operation that wrote it until the next write. Pure.
"""

from collections.abc import Container
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of the n-th operation of a request.

    `finished`: the operations that are known to be done. Their marks are evidence of nothing else.
    """

    request: str
    operation: int
    finished: Container[int] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"{self.request}:{self.operation}"

    def is_done(self, found: str | None) -> bool:
        """Return whether the operation is done, by the mark found on its issue: it is its own, or that of a later
        operation. Operations on one issue run in order.
        """
        request, _, operation = (found or "").rpartition(":")
        if request != self.request:
            return False
        at = int(operation)
        return at == self.operation or (at > self.operation and at not in self.finished)
