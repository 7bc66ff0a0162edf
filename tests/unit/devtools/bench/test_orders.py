"""The benchmark of orders: a formula and a manual order cost what a stored field costs."""

import argparse
import json
from pathlib import Path

import pytest

from devtools.bench import orders


def test_reads_by_a_formula_and_in_a_manual_order_cost_those_of_a_stored_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    assert orders.run(argparse.Namespace(size=2_000, json=file)) == 0
    found = {(one["question"], one["order"]): one for one in json.loads(file.read_text())}
    assert len(found) == 8 + 8 + 6 + 6 + 4
    for (question, order), one in found.items():
        stored = {
            orders.NUMBER_FORMULA: orders.NUMBER,
            orders.TEXT_FORMULA: orders.TEXT,
            orders.BY_HAND: orders.TEXT,
        }.get(order, order)
        beside = found[question, stored]
        assert one["rounds"] == beside["rounds"], (question, order)
        # An order's block may be a little larger, and so half a unit dearer.
        assert one["warm"] == beside["warm"], (question, order)
        assert abs(one["cold"] - beside["cold"]) <= (3 if order == orders.BY_HAND else 1), (question, order)
    printed = capsys.readouterr().out
    assert all(question in printed for question, _ in found)
