"""The pure parts of the comparison with PostgreSQL; tests/engine checks that both sides answer alike."""

import io
import shutil
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from rich.console import Console

from devtools.bench.postgres import cluster, compare, designs, report
from devtools.bench.postgres.questions import Condition, Kind, NumberSubject, Question
from devtools.bench.postgres.report import COLD, KEPT, THEIRS, Cost, Line, Section
from devtools.failure import Failure

PAGE = Question("a page", field="due", only=Condition("amount", 3, 5), offset=7, target=100, ours_first=True)


def line(ours: float, theirs: float, cold: float, kept: float) -> Line:
    costs = {
        COLD: Cost(ours, ours / 2, 4, cold),
        KEPT: Cost(ours, ours / 2, 4, kept),
        **dict.fromkeys(THEIRS, Cost(theirs, 0.0, 1, 0.0)),
    }
    return Line(PAGE, 100, costs)


def printed(section: Section) -> str:
    output = io.StringIO()
    report.show(Console(file=output, width=200), [section], [])
    return next(line for line in output.getvalue().splitlines() if line.startswith("a page"))


def test_questions_are_requests_of_the_api() -> None:
    assert PAGE.body() == {
        "sort": [{"field": "due", "nulls": "last"}],
        "filter": {"field": "amount", "op": "between", "value": [3, 5]},
        "limit": 100,
        "offset": 7,
        "count": False,
    }
    one = Condition("state", "open", "open")
    assert Question("groups", Kind.GROUPS, field="state", only=one).body() == {
        "by": ["state"],
        "filter": {"field": "state", "op": "eq", "value": "open"},
    }
    count = Question("count", Kind.COUNT, only=one).body()
    assert (count["sort"], count["limit"], count["count"]) == ([], 1, True)


def test_sums_are_requests_of_the_api() -> None:
    half = Condition("done", True, True)
    assert Question("sums", Kind.SUMS, only=half, sums=("cost", "price")).body() == {
        "fields": [{"field": one, "functions": ["count", "sum"]} for one in ("cost", "price")],
        "filter": {"field": "done", "op": "eq", "value": True},
    }
    assert Question("groups", Kind.GROUPED_SUMS, field="kind", sums=("cost",)).body() == {
        "by": ["kind"],
        "aggregates": [{"field": "cost", "function": "sum"}],
        "limit": 500,
    }


def test_questions_about_numbers_have_the_targets_of_their_size() -> None:
    few, half = Condition("share", 0, 0), Condition("done", True, True)
    targets = {
        size: [
            (one.target, one.kept_target)
            for one in NumberSubject(size, ("cost", "price"), "kind", few, half).questions()
        ]
        for size in (100_000, 1_000_000, 5_000)
    }
    assert targets[100_000] == [(6, 1.5), (65, 1.5), (70, 1.5), (None, None), (100, 1.5)]
    assert targets[1_000_000] == [(6, 1.5), (500, 1.5), (650, 1.5), (None, None), (850, 1.5)]
    assert targets[5_000] == [(None, None)] * 5


def test_rows_are_copied_with_what_copy_takes_for_its_own_signs_escaped() -> None:
    row = (1, None, "a\tb\\c\nd\re", True, False)
    assert designs.copied(row) == b"1\t\\N\ta\\tb\\\\c\\nd\\re\ttrue\tfalse\n"


def test_units_exclude_those_of_the_documents_shown() -> None:
    found = line(10, 20, cold=130, kept=59)
    assert (found.units(COLD), found.units(KEPT)) == (80, 9)
    assert not found.missed(COLD)
    assert not found.missed(KEPT)
    assert found.dollars == pytest.approx(130 * 0.125)
    # A page of the index returns documents for less than a read of each.
    assert line(10, 20, cold=40, kept=30).units(COLD) == 0


def test_a_missed_target_is_marked() -> None:
    assert line(10, 20, cold=151, kept=59).missed(COLD)
    assert line(10, 20, cold=130, kept=61).missed(KEPT)
    assert "101.0 ✗" in printed(Section("many", 100_000, 1.0, [line(10, 20, cold=151, kept=59)]))
    assert "11.0 ✗" in printed(Section("many", 100_000, 1.0, [line(10, 20, cold=130, kept=61)]))


def test_being_slower_is_marked_where_we_should_not_be() -> None:
    slow = line(30, 20, cold=130, kept=59)
    assert "30.0 ✗" in printed(Section("many", 1_000_000, 1.0, [slow]))
    assert "✗" not in printed(Section("few", 100_000, 1.0, [slow]))
    elsewhere = replace(slow, question=replace(PAGE, ours_first=False))
    assert "✗" not in printed(Section("many", 1_000_000, 1.0, [elsewhere]))


def test_a_sum_should_be_faster_than_both_designs_with_kept_reads() -> None:
    asked = Question("a page", Kind.SUMS, target=6, kept_target=1.5, ours_first_kept=True, sums=("cost",))
    found = replace(line(30, 20, cold=6, kept=1.5), question=asked)
    assert printed(Section("many", 1_000_000, 1.0, [found])).count("✗") == 1
    ahead = replace(found, costs={**found.costs, KEPT: Cost(5.0, 1.0, 1, 1.5)})
    assert "✗" not in printed(Section("many", 1_000_000, 1.0, [ahead]))
    one = replace(ahead, costs={**ahead.costs, THEIRS[1]: Cost(4.0, 0.0, 1, 0.0)})
    assert "5.0 ✗" in printed(Section("many", 1_000_000, 1.0, [one]))
    dear = replace(ahead, costs={**ahead.costs, KEPT: Cost(5.0, 1.0, 1, 1.6)})
    assert "1.6 ✗" in printed(Section("many", 1_000_000, 1.0, [dear]))
    assert "✗" not in printed(Section("few", 100_000, 1.0, [found]))


def test_answers_of_postgres_are_read_alike_from_one_row_and_from_several() -> None:
    asked = Question("sums", Kind.SUMS, sums=("cost", "price"))
    expected = [(2, Decimal("3.5")), (4, Decimal(7))]
    assert compare.answer_of(asked, ["2|3.50", "4|7"]) == expected
    assert compare.answer_of(asked, ["2|3.50|4|7"]) == expected
    grouped = Question("groups", Kind.GROUPED_SUMS, field="kind", sums=("cost",))
    assert compare.answer_of(grouped, ["a|b|2|3.50"]) == {"a|b": (2, Decimal("3.5"))}


def test_growth_is_reported_for_every_side_and_marked_above_the_target() -> None:
    small = Section("few", 100_000, 1.0, [line(10, 20, cold=130, kept=59)])
    large = Section("many", 1_000_000, 1.0, [line(14, 60, cold=130, kept=59)])
    (grown,) = report.growth([small, large])
    assert grown.milliseconds[COLD] == pytest.approx(1.4)
    assert grown.milliseconds[THEIRS[0]] == 3
    assert grown.read_units[COLD] == 1
    output = io.StringIO()
    report.show(Console(file=output, width=200), [small, large], [grown])
    assert "1.40 ✗" in output.getvalue()
    assert "3.00 ✗" not in output.getvalue()


def test_without_postgres_the_command_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(cluster, "PLACES", (str(tmp_path),))
    with pytest.raises(Failure, match="PostgreSQL is not installed"), cluster.running():
        pass
