"""One viewer's worst is measured in virtual time, so the targets hold or break in the same way on every machine."""

import io

import pytest
from rich.console import Console

from devtools.bench.fair import report
from devtools.bench.fair.attack import KINDS, Rates
from devtools.bench.fair.prices import Price
from devtools.bench.fair.virtual import Setting, Timed, loaded, measured
from devtools.proof.faults.memory_table import MemoryTable

RATES = Rates(polls=50, messages=50, connects=1, parallel=6, refusals=20)


@pytest.fixture(scope="module")
def table() -> MemoryTable:
    return loaded(40)


def run(table: MemoryTable, concurrency: int, *kinds: str, limited: bool = True) -> Timed:
    return measured(Setting(concurrency, kinds, limited, RATES, seconds=4, size=40), 0, table)


@pytest.mark.parametrize("kind", KINDS)
def test_no_load_of_a_viewer_slows_another_tenant_in_a_raised_account(table: MemoryTable, kind: str) -> None:
    found = report.rows(kind, [run(table, 1_000)], [run(table, 1_000, kind)])
    assert [row for row in found if not row.is_fair] == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_single_load_uses_up_a_new_account(table: MemoryTable, kind: str) -> None:
    found = report.rows(kind, [run(table, 10)], [run(table, 10, kind)])
    assert [row for row in found if not row.is_fair] == []


def test_polls_without_limits_use_up_an_account(table: MemoryTable) -> None:
    """What the bench would report if the limits were gone."""
    without = run(table, 10, "polls", limited=False)
    assert without.throttled > 0
    assert without.worst("page") > report.WORST_SECONDS
    within = run(table, 10, "polls")
    assert within.worst("page") < report.WORST_SECONDS


def test_the_polls_of_the_load_last_as_long_as_they_may(table: MemoryTable) -> None:
    """No change of the colleague ends one, so the account's 10 are in flight at each moment where nothing limits them."""
    assert run(table, 10, "polls", limited=False).throttled > 50


@pytest.mark.parametrize(
    ("write_units", "cpu", "is_cheap"), [(1, 0.002, True), (2, 0.001, False), (0, 0.0021, False)]
)
def test_a_price_is_cheap_or_not(write_units: int, cpu: float, is_cheap: bool) -> None:
    price = Price("a poll", 429, write_units, 2.0, 3, cpu)
    assert price.is_cheap is is_cheap
    output = io.StringIO()
    report.show_prices(Console(file=output, width=200), [price])
    assert ("met" in output.getvalue(), "missed" in output.getvalue()) == (is_cheap, not is_cheap)
    assert report.to_json([], [price])["prices"][0]["is_cheap"] is is_cheap
