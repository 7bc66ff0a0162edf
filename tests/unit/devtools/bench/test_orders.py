"""The benchmark of orders: a formula and a manual order cost what a stored field costs."""

from pathlib import Path

from devtools.bench import orders
from tests.support.benchmark import benched

_STORED = {
    orders.NUMBER_FORMULA: orders.NUMBER,
    orders.TEXT_FORMULA: orders.TEXT,
    orders.BY_HAND: orders.TEXT,
}


def test_reads_by_a_formula_and_in_a_manual_order_cost_those_of_a_stored_field(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    figures, printed = benched(file, "--orders", "--size", "2000", columns=160, timeout=300)
    found = {(one["question"], one["order"]): one for one in figures}
    assert len(found) == 7 + 7 + 5 + 5 + 4
    for (question, order), one in found.items():
        beside = found[question, _STORED.get(order, order)]
        assert one["rounds"] == beside["rounds"], (question, order)
        # An order's block may be a little larger, and so half a unit dearer.
        assert one["warm"] == beside["warm"], (question, order)
        assert abs(one["cold"] - beside["cold"]) <= (3 if order == orders.BY_HAND else 1), (question, order)
    assert all(question in printed for question, _ in found)
