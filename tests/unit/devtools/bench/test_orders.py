"""The benchmark of orders: a formula and a manual order cost what a stored field costs."""

import json
import os
import subprocess
import sys
from pathlib import Path

from devtools import paths
from devtools.bench import orders

_STORED = {
    orders.NUMBER_FORMULA: orders.NUMBER,
    orders.TEXT_FORMULA: orders.TEXT,
    orders.BY_HAND: orders.TEXT,
}


def test_reads_by_a_formula_and_in_a_manual_order_cost_those_of_a_stored_field(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    # In a process of its own, which loads the query function with its own environment.
    done = subprocess.run(  # noqa: S603  (the arguments are this file's)
        [sys.executable, "-m", "devtools", "bench", "--orders", "--size", "2000", "--json", str(file)],
        env=os.environ | {"PYTHONPATH": paths.PYTHONPATH, "COLUMNS": "160"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = {(one["question"], one["order"]): one for one in json.loads(file.read_text())}
    assert len(found) == 7 + 7 + 5 + 5 + 4
    for (question, order), one in found.items():
        beside = found[question, _STORED.get(order, order)]
        assert one["rounds"] == beside["rounds"], (question, order)
        # An order's block may be a little larger, and so half a unit dearer.
        assert one["warm"] == beside["warm"], (question, order)
        assert abs(one["cold"] - beside["cold"]) <= (3 if order == orders.BY_HAND else 1), (question, order)
    assert all(question in done.stdout for question, _ in found)
