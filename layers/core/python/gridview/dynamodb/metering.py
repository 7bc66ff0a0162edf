"""The cost of calls to DynamoDB: the calls, their sequential rounds, and the capacity that it reported. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """One DynamoDB request: the operation, its target, its sequential round, and its cost."""

    operation: str
    target: str
    round: int
    items: int
    capacity: float


@dataclass(slots=True)
class Meter:
    """The calls of one piece of work. Parallel calls share a round; rounds follow each other."""

    calls: list[Call] = field(default_factory=list)
    rounds: int = 0
    recording: bool = True

    def record(self, call: Call) -> None:
        """Remember a call."""
        if self.recording:
            self.calls.append(call)

    @property
    def capacity(self) -> float:
        """Capacity units that DynamoDB reported, reads and writes alike."""
        return sum(call.capacity for call in self.calls)


def items_in(answer: Mapping[str, Any]) -> int:
    """Return how many items DynamoDB read for an answer."""
    if "ScannedCount" in answer:
        return int(answer["ScannedCount"])
    if "Responses" in answer:
        return sum(len(items) for items in answer["Responses"].values())
    return int("Item" in answer)


def capacity_in(consumed: Any) -> float:
    """Return the capacity units that an answer reports, of one table or of several."""
    if not consumed:
        return 0.0
    parts = consumed if isinstance(consumed, list) else [consumed]
    return float(sum(part.get("CapacityUnits", 0) for part in parts))
