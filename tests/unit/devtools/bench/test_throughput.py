"""The throughput of consumers for one project's new issues, in virtual time: the same everywhere."""

import io

from rich.console import Console

from devtools.bench import throughput
from devtools.bench.throughput import Taken


def test_consumers_of_one_project_never_meet() -> None:
    alone, four = throughput.throughput((1, 4), stock=100, batches=2, batch=20)
    assert [one.consumers for one in (alone, four)] == [1, 4]
    assert four.per_second > 3.5 * alone.per_second
    assert alone.failed == four.failed == 0
    assert four.calls < alone.calls + 0.5, "nothing is written twice"
    # The fold comes later.
    assert 0 < four.per_second_in_blocks < four.per_second
    assert throughput.throughput((4,), stock=100, batches=2, batch=20)[0] == four


def test_measurements_are_printed() -> None:
    sink = io.StringIO()
    measured = [Taken(16, 2_412.4, 903.2, 0.0, 8.52), Taken(32, 2_870.0, 287.0, 0.444, 12.0)]
    throughput.show(Console(file=sink, width=140), measured)
    rows = [line.split() for line in sink.getvalue().splitlines()]
    assert ["16", "2,412", "903", "8.5", "0%"] in rows
    assert ["32", "2,870", "287", "12.0", "44%"] in rows
