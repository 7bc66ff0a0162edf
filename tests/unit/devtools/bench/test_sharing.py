"""The gain by slices and the cost of a neighbour, in virtual time, so the order of the figures is always the same."""

import pytest

from devtools.bench import sharing


def test_several_workers_do_a_pass_faster_than_one_for_about_the_same_units() -> None:
    alone, two, four, *with_cpu = sharing.slices(300)
    assert alone.per_second < 0.7 * two.per_second < 0.5 * four.per_second
    assert four.write_units < 1.1 * alone.write_units
    assert [one.per_second for one in with_cpu] < [alone.per_second, two.per_second, four.per_second]
    assert sharing.slices(300, (4,))[0] == four, "on every machine"


def test_the_index_of_a_tenant_lags_more_beside_a_busy_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "_STOCK", 200)
    monkeypatch.setattr(sharing, "_EDITS", 10)
    quiet, busy, long = sharing.lags(imported=600)
    assert [one.neighbour.imports for one in (quiet, busy, long)] == [0, 200, 600]
    assert 10 < quiet.median <= quiet.worst < busy.worst
    assert quiet.records < busy.records
    assert quiet.worst < long.worst
