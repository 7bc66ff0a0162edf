"""What `explain` tells: the plan in words, and what each round of calls was for."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gridview.dynamodb.metering import Meter


class Steps:
    """The titles of the rounds of calls that are metered from now on."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._titles: dict[int, list[str]] = {}

    @contextmanager
    def titled(self, title: str) -> Iterator[None]:
        """The rounds of calls that are made meanwhile are for this."""
        before = self._meter.rounds
        yield
        for number in range(before + 1, self._meter.rounds + 1):
            self._titles.setdefault(number, []).append(title)

    def title(self, number: int) -> str:
        """What a round was for."""
        said = "; ".join(self._titles.get(number, ()))
        return said[:1].upper() + said[1:]


def explanation(plan: Sequence[str], meter: Meter, steps: Steps | None = None) -> dict[str, Any]:
    """What was done for an answer, and what it cost."""
    made: dict[str, Any] = {"plan": list(plan)}
    if steps is not None:
        made["rounds"] = [
            {
                "round": number,
                "title": steps.title(number),
                "calls": sum(call.round == number for call in meter.calls),
                "read_units": sum(call.capacity for call in meter.calls if call.round == number),
            }
            for number in range(1, meter.rounds + 1)
        ]
    return {
        **made,
        "calls": [
            {
                "operation": call.operation,
                "target": call.target,
                "round": call.round,
                "items_read": call.items,
                "read_units": call.capacity,
            }
            for call in meter.calls
        ],
        "sequential_calls": meter.rounds,
        "items_read": sum(call.items for call in meter.calls),
        "read_units": meter.capacity,
    }
