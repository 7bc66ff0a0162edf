"""Two pieces of work that read the table at the same time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from gridview.storage import Table

Result = TypeVar("Result")
Other = TypeVar("Other")


def beside(table: Table, work: Callable[[], Result], other: Callable[[Table], Other]) -> tuple[Result, Other]:
    """What `work` gives, which uses `table`, and what `other` gives with the table that it is handed: in the same rounds."""
    own = table.metered()
    own.meter.recording, own.meter.rounds = table.meter.recording, table.meter.rounds
    with ThreadPoolExecutor(1) as pool:
        others = pool.submit(other, own)
        result = work()
        found = others.result()
    table.meter.calls = sorted([*table.meter.calls, *own.meter.calls], key=lambda call: call.round)
    table.meter.rounds = max(table.meter.rounds, own.meter.rounds)
    return result, found
