"""The report of how late changes are pushed."""

from devtools.bench import push


def test_the_report_contains_the_median_and_the_slowest() -> None:
    seconds = [0.1 * number for number in range(1, 41)]
    assert push.figures(seconds) == {"edits": 40, "median_ms": 2050, "p95_ms": 3895, "most_ms": 4000}
    assert "median 2050 ms" in push.report(seconds)
    assert "of 40 edits" in push.report(seconds)
