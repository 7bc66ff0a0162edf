"""The part of folds that writes columns, and what it takes: nothing else of the product does."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final
from unittest import mock

from devtools.bench.capacity import CountedClient
from devtools.bench.work import NOTHING, Work
from gridview.journal import fold

_PART: Final = "fold_columns"


class ColumnWork:
    """The work on columns so far, of all folds of the process."""

    def __init__(self) -> None:
        self.so_far = NOTHING

    def taken(self, issues: int) -> Work:
        """Return the work so far as that of so many issues, and begin again."""
        work, self.so_far = replace(self.so_far, issues=issues), NOTHING
        return work


@contextmanager
def metered_columns() -> Iterator[ColumnWork]:
    """Meter the part in columns of each fold inside the block, also while `Functions.metered` meters all of the fold."""
    write: Callable[..., None] = vars(fold)[_PART]
    spent = ColumnWork()

    def metered(*arguments: Any) -> None:
        units = CountedClient.units
        calls, read, written = units.calls, units.read, units.write
        began, cpu_began = time.perf_counter(), time.process_time()
        write(*arguments)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu_began
        spent.so_far = spent.so_far.plus(
            Work(0, True, seconds, cpu, units.calls - calls, units.read - read, units.write - written)
        )

    with mock.patch.object(fold, _PART, metered):
        yield spent
