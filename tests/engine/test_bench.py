"""`./dev bench`: what it says of calls and units; never of time."""

import json
import os
import subprocess
import sys
from statistics import mean
from typing import Any

import pytest

from devtools import paths
from devtools.bench import issues

BUILTINS = 4
"""Orders that each issue is in: name, state, created and updated."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """The figures and what was printed. In a process of its own: it loads the handlers with its own environment."""
    file = tmp_path_factory.mktemp("bench") / "figures.json"
    done = subprocess.run(  # noqa: S603  (the arguments are this file's)
        [
            sys.executable,
            "-m",
            "devtools",
            "bench",
            "--sizes",
            "200,400",
            "--repeat",
            "3",
            "--json",
            str(file),
        ],
        env=os.environ | {"PYTHONPATH": paths.PYTHONPATH, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text()), done.stdout


def test_a_page_takes_as_many_calls_and_units_in_a_larger_project(
    measured: tuple[dict[str, Any], str],
) -> None:
    small, large = measured[0]["results"]
    assert (small["issues"], large["issues"]) == (200, 400)
    for kind, calls in (("by number", 1), ("by date", 2), ("by text", 2)):
        assert small["pages"][kind]["rows"] == large["pages"][kind]["rows"] == 100
        assert small["pages"][kind]["sequential_calls"] == large["pages"][kind]["sequential_calls"] == calls
        assert small["pages"][kind]["read_units"] == large["pages"][kind]["read_units"]
        assert (
            measured[0]["growth"][kind]["read_units"] == measured[0]["growth"][kind]["sequential_calls"] == 1
        )
    # 100 documents of up to 4 KB, and the entries that lead to them.
    assert 50 < large["pages"]["by date"]["read_units"] < 55
    assert large["pages"]["null tail"]["rows"] == 100


def test_writes_cost_what_the_design_counts(measured: tuple[dict[str, Any], str]) -> None:
    values = mean(
        sum(field in body["fields"] for field in issues.INDEXED) for body in issues.bodies(20, seed=1)
    )
    document, ledger, entry, counter = 2, 2, 2, 1
    moved_entry = 3  # in the table, out of the index, into the index
    for result in measured[0]["results"]:
        writes = result["writes"]
        assert writes["create"] == pytest.approx(counter + document + ledger + (BUILTINS + values) * entry)
        assert writes["edit"] == pytest.approx(document + ledger + 2 * moved_entry)
        assert writes["delete"] == pytest.approx(document + ledger + (BUILTINS + values) * entry)


def test_every_figure_is_printed(measured: tuple[dict[str, Any], str]) -> None:
    figures, printed = measured
    for result in figures["results"]:
        assert f"{result['issues']:,} issues (loaded in" in printed
        for kind, page in result["pages"].items():
            assert f"{kind}  " in printed
            assert f" {page['milliseconds']:,.1f} " in printed
            assert f" {page['cpu_milliseconds']:,.1f} " in printed
        assert f"edit of one field {result['writes']['edit']:.1f}" in printed
        assert (
            f"{result['per_second']['accepted']:,.0f} accepted, {result['per_second']['indexed']:,.0f} indexed"
            in printed
        )
    assert "400 issues against 200" in printed
    assert f" {figures['growth']['by date']['milliseconds']:.2f} x " in printed
