"""The command: one viewer's worst in virtual time, the cost of refusals, and the same load on a local stack."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console

from devtools.bench import output
from devtools.bench.fair import attack, local, prices, report
from devtools.bench.fair.attack import KINDS
from devtools.bench.fair.report import Row
from devtools.bench.fair.virtual import CONCURRENCIES, Setting, Timed, loaded, measured
from devtools.proof.faults.memory_table import MemoryTable
from infra.settings import NEW_ACCOUNT

RUNS: Final = 5


def run(args: argparse.Namespace) -> int:
    """Measure; 0 when all was measured."""
    progress, runs = Console(stderr=True, highlight=False), args.repeat or RUNS
    progress.print("Refusing requests ...")
    paid = prices.prices()
    found = [*_in_virtual_time(progress, runs), *_on_a_local_stack(progress, runs)]
    console = output.console()
    report.show(console, found)
    report.show_prices(console, paid)
    if args.json is not None:
        output.write_json(args.json, report.to_json(found, paid))
    return 0


def _in_virtual_time(progress: Console, runs: int) -> Iterator[Row]:
    table = loaded(Setting(0).size)
    for concurrency in CONCURRENCIES:
        alone = _runs(Setting(concurrency, kinds=()), runs, table)
        for loads, setting in _settings(concurrency):
            name = f"{concurrency:,} at once, {loads}"
            progress.print(f"{name} ...")
            beside = _runs(setting, runs, table)
            progress.print(f"  {_invocations(beside)}")
            yield from report.rows(name, alone, beside)
        progress.print("The same without limits ...")
        # One run takes a minute without limits, and five say the same.
        beside = _runs(Setting(concurrency, limited=False), 1, table)
        yield from report.rows(f"{concurrency:,} at once, all, without limits", alone, beside)


def _settings(concurrency: int) -> Iterator[tuple[str, Setting]]:
    """The loads of an account by their names.

    If Lambda takes fewer requests a second than the viewer can send, some loads are within that rate, and one is
    beyond it.
    """
    slow = concurrency <= NEW_ACCOUNT
    for kind in KINDS:
        yield kind, Setting(concurrency, (kind,), rates=attack.ONE_KIND if slow else attack.Rates())
    if slow:
        yield "all, within Lambda's rate", Setting(concurrency, rates=attack.ALL_KINDS)
    yield "all", Setting(concurrency)


def _invocations(runs: Sequence[Timed]) -> str:
    """The numbers of invocations, asked for and refused, as a text."""
    asked, throttled, too_fast = (
        sum(getattr(run, name) for run in runs) / len(runs) for name in ("asked", "throttled", "too_fast")
    )
    return f"{asked:.0f} invocations a second, {throttled:.0f} refused, {too_fast:.0f} of them for the rate"


def _runs(setting: Setting, runs: int, table: MemoryTable) -> list[Timed]:
    return [measured(setting, seed, table) for seed in range(runs)]


def _on_a_local_stack(progress: Console, runs: int) -> Iterator[Row]:
    with local.stack() as measured_beside:
        alone = [measured_beside(()) for _ in range(runs)]
        for kinds in (*((kind,) for kind in KINDS), (local.FORMER,), KINDS):
            name = f"local stack, {_named(kinds)}"
            progress.print(f"{name} ...")
            beside = [measured_beside(kinds) for _ in range(runs)]
            yield from report.rows(name, alone, beside)
            for one in beside:
                progress.print(f"  answers to the viewer: {dict(one.statuses)}")


def _named(kinds: Sequence[str]) -> str:
    return "all" if len(kinds) > 1 else kinds[0]
