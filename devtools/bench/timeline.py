"""Containers side by side in virtual time: the real code on a table in memory, with a given duration for each call.

So the result of many workers is the same on every machine. A call takes its time on the way, beside others. It also
takes time of the container's one processor, one call after the other.
"""

import heapq
from collections import Counter
from collections.abc import Callable
from itertools import count
from math import ceil
from typing import Any, Final

from typing_extensions import override

from devtools.proof.faults.strands import Strand, Strands, current
from devtools.proof.faults.virtual import Clock
from devtools.proof.faults.watched import Attempted, Watched
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_size, item_to_wire

CALL_SECONDS: Final = 0.005
_UNIT_BYTES: Final = 1024


class Timeline(Clock):
    """The time, which goes on to whatever is next."""

    def __init__(self) -> None:
        super().__init__()
        self._next: list[tuple[float, int, Strand]] = []
        self._order = count()

    def wake(self, strand: Strand, seconds: float) -> None:
        """Let a strand go on in so many seconds."""
        heapq.heappush(self._next, (self.seconds + seconds, next(self._order), strand))

    @override
    def sleep(self, seconds: float) -> None:
        strand = current()
        if strand is not None:
            self.wake(strand, seconds)
            strand.stop()

    def run(self) -> None:
        """Run until no container waits for a moment."""
        while self._next:
            moment, _, strand = heapq.heappop(self._next)
            self.seconds = max(self.seconds, moment)
            strand.strands.go_on(strand)


class Container:
    """A process that calls the table. `cpu` is how many seconds of its processor a call takes.

    `calls` are counted; `units` are write units, of the table and of GSI1, without transactions.
    """

    def __init__(self, time: Timeline, table: Table, cpu: float) -> None:
        self.time = time
        self.table = Watched(table, self._around)
        self.count: Counter[str] = Counter()
        self.ended = 0.0
        self._cpu = cpu
        self._free = 0.0
        self._strands = Strands()

    def begin(self, work: Callable[[], None]) -> None:
        """Do some work, from now on."""

        def noted() -> None:
            self.time.sleep(0)
            work()
            self.ended = self.time.passed

        self._strands.begin(noted)
        self._strands.go_on()

    def _around(self, call: Attempted, perform: Callable[[], Any]) -> Any:
        began = max(self.time.seconds, self._free)
        self._free = began + self._cpu
        self.time.sleep(self._free - self.time.seconds + CALL_SECONDS)
        self.count["calls"] += 1
        if call.item is not None:
            self.count["units"] += ceil(item_size(item_to_wire(call.item)) / _UNIT_BYTES) + (
                keys.SORT in call.item
            )
        return perform()
