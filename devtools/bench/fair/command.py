"""The command: one viewer's worst in virtual time, at both concurrencies, with and without limits."""

import argparse
from typing import Final

from rich.console import Console

from devtools.bench import output
from devtools.bench.fair import report
from devtools.bench.fair.attack import KINDS
from devtools.bench.fair.virtual import CONCURRENCIES, Setting, loaded, measured

RUNS: Final = 5


def run(args: argparse.Namespace) -> int:
    """Measure; 0 when all was measured."""
    progress, runs = Console(stderr=True), args.repeat or RUNS
    table, found = loaded(Setting(0).size), []
    for concurrency in CONCURRENCIES:
        alone = [measured(Setting(concurrency, kinds=()), seed, table) for seed in range(runs)]
        for limited in (False, True):
            progress.print(
                f"Concurrency {concurrency:,}, {'with' if limited else 'without'} limits ...", highlight=False
            )
            # Without limits one run takes minutes, and five say the same.
            seeds = range(runs if limited else 1)
            beside = [measured(Setting(concurrency, limited=limited), seed, table) for seed in seeds]
            name = f"{concurrency:,} at once, {'with' if limited else 'without'} limits"
            found += report.rows(name, alone, beside)
        for kind in KINDS:
            beside = [measured(Setting(concurrency, kinds=(kind,)), seed, table) for seed in range(runs)]
            found += report.rows(f"{concurrency:,} at once, {kind}", alone, beside)
    report.show(output.console(), found)
    if args.json is not None:
        output.write_json(args.json, report.to_json(found))
    return 0
