"""Counts the cost of calls to DynamoDB, in all clients of the process."""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from typing_extensions import override

from gridview.dynamodb import client
from gridview.dynamodb.signed_client import SignedClient

_WRITES: Final = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})


@dataclass(slots=True)
class Units:
    """Calls, and the capacity units that DynamoDB reported for them, of the table and its index together.

    Calls of several threads at a time are all counted. A write whose condition did not hold is a call of no units.
    """

    calls: int = 0
    read: float = 0.0
    write: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, operation: str, answer: Mapping[str, Any]) -> None:
        """Count a call by its answer."""
        consumed = answer.get("ConsumedCapacity") or []
        units = sum(
            part.get("CapacityUnits", 0.0)
            for part in (consumed if isinstance(consumed, list) else [consumed])
        )
        with self._lock:
            self.calls += 1
            if operation in _WRITES:
                self.write += units
            else:
                self.read += units


class CountedClient(SignedClient):
    """A client that counts its calls. Those of a class share `units`, until one has its own."""

    units = Units()

    @override
    def answer(self, operation: str, body: bytes) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        try:
            answer = super().answer(operation, body)
        finally:
            self.units.add(operation, answer)
        return answer


class Counter:
    """Counts the calls of all clients that the core makes from now on."""

    def __init__(self) -> None:
        """Replaces the client's class."""
        client.SignedClient = CountedClient  # type: ignore[attr-defined]

    @contextlib.contextmanager
    def metered(self) -> Iterator[Units]:
        """The units used up by calls inside the block."""
        CountedClient.units = Units()
        yield CountedClient.units
        CountedClient.units = Units()
