"""One viewer's worst load, measured in virtual time, so the targets hold or break alike on every machine."""

import io
from functools import cache

import pytest
from rich.console import Console

from devtools.bench.fair import report
from devtools.bench.fair.account import Concurrency
from devtools.bench.fair.attack import ALL_KINDS, KINDS, Rates
from devtools.bench.fair.prices import Price
from devtools.bench.fair.virtual import Setting, Timed, loaded, measured
from devtools.proof.faults.memory_table import MemoryTable

RATES = Rates(polls=50, messages=50, connects=1, parallel=6, refusals=20)


@pytest.fixture(scope="module")
def table() -> MemoryTable:
    return loaded(40)


@cache  # a run is the same each time
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


def test_all_loads_together_within_lambdas_rate_leave_a_new_account_to_others(table: MemoryTable) -> None:
    beside = measured(Setting(10, rates=ALL_KINDS, seconds=6, size=40), 0, table)
    found = report.rows("all", [run(table, 10)], [beside])
    assert [row for row in found if not row.is_fair] == []
    assert beside.too_fast == 0


def test_an_account_takes_ten_requests_a_second_for_each_execution_however_short_they_are() -> None:
    account = Concurrency(10, {})

    def enters(now: float) -> bool:
        began = account.enter("query", now)
        if began:
            account.leave("query")
        return began

    assert sum(enters(5.0) for _ in range(150)) == 100
    assert sum(enters(5.5) for _ in range(150)) == 50
    assert (account.asked, account.too_fast, account.throttled["query"]) == (300, 150, 150)


def test_reserved_concurrency_has_its_own_rate() -> None:
    account = Concurrency(200, {"live": 2})
    assert [account.enter("live", 1.0) for _ in range(3)] == [True, True, False]
    assert account.enter("query", 1.0)
    assert account.too_fast == 0, "executions are lacking, not the rate"


def test_polls_without_limits_use_up_an_account(table: MemoryTable) -> None:
    """The bench's report without the limits."""
    without = run(table, 10, "polls", limited=False)
    assert without.throttled > 0
    assert without.worst("page") > report.WORST_SECONDS
    within = run(table, 10, "polls")
    assert within.worst("page") < report.WORST_SECONDS


def test_the_polls_of_the_load_last_as_long_as_they_may(table: MemoryTable) -> None:
    """No change of the colleague ends one, so without limits the account's 10 are in flight at each moment."""
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
