"""Pieces of work done at the same time, whose calls share their rounds."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from gridview.dynamodb.table import Table
from gridview.support.concurrency import in_context

Result = TypeVar("Result")
Other = TypeVar("Other")


def side_by_side(
    table: Table, work: Callable[[], Result], other: Callable[[Table], Other]
) -> tuple[Result, Other]:
    """Return the results of both. `other` is handed a table whose calls are metered as made in the rounds
    that `work` takes.

    Both have ended when this does, and every call is metered, also when one of them fails. An error of
    `other` takes precedence over an error of `work`.
    """
    own = table.metered()
    own.meter.rounds = table.meter.rounds
    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(in_context(other), own)
        try:
            result = work()
        finally:
            wait((beside,))
            table.meter.calls = sorted([*table.meter.calls, *own.meter.calls], key=lambda call: call.round)
            table.meter.rounds = max(table.meter.rounds, own.meter.rounds)
            found = beside.result()
    return result, found
