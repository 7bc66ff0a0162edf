"""Two concurrent pieces of work share their rounds, and their calls are listed in the order of these."""

import threading

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.dynamodb.side_by_side import side_by_side
from gridview.dynamodb.table import Table


def read(table: Table, times: int) -> int:
    for _ in range(times):
        table.get("a", "b")
    return times


@pytest.mark.parametrize(("own", "other"), [(0, 0), (2, 3), (3, 1), (0, 2), (2, 0)])
def test_the_longer_of_both_determines_the_rounds(own: int, other: int) -> None:
    table = MemoryTable()
    read(table, 2)
    assert side_by_side(table, lambda: read(table, own), lambda beside: read(beside, other)) == (own, other)
    assert table.meter.rounds == 2 + max(own, other)
    rounds = [call.round for call in table.meter.calls]
    assert rounds == sorted([1, 2, *range(3, 3 + own), *range(3, 3 + other)])


def test_both_run_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=20)
    assert side_by_side(MemoryTable(), lambda: meeting.wait() >= 0, lambda _: meeting.wait() >= 0) == (
        True,
        True,
    )


@pytest.mark.parametrize(
    ("fail", "raised"), [(["work"], "work"), (["other"], "other"), (["work", "other"], "other")]
)
def test_an_error_of_either_side_is_raised_and_every_call_is_metered(fail: list[str], raised: str) -> None:
    table = MemoryTable()

    def work() -> None:
        read(table, 2)
        if "work" in fail:
            raise LookupError("work")

    def other(beside: Table) -> None:
        read(beside, 1)
        if "other" in fail:
            raise LookupError("other")

    with pytest.raises(LookupError, match=raised):
        side_by_side(table, work, other)
    assert [call.round for call in table.meter.calls] == [1, 1, 2]
    assert table.meter.rounds == 2
