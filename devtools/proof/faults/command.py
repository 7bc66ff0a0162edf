"""The subcommand `faults`: many scenarios in several processes, or one with everything that happens in it."""

import argparse
import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from devtools.arguments import add_engine, add_jobs, count
from devtools.proof.faults import judging, local, scenarios
from devtools.proof.faults.project import MEMORY, Engine
from devtools.proof.faults.scenarios import Played
from devtools.proof.forks import forked
from gridview.support.concurrency import chunked

_AT_ONCE = 20
"""Scenarios that a process is given at a time."""

_SHOWN = 10
"""Failing scenarios that are printed."""

_DESCRIPTION = """\
Play fault scenarios over the real functions, and check that the index stays right. Users write, read and change
definitions; a stream is delivered; jobs run. Between the functions and the table, an adversary kills, delays,
repeats, refuses and reorders calls.

A scenario has a number, its seed. Blocks are so small that a few issues split and merge them. At any time, each
block has to match the journal up to the block's position. The blocks of a family have to chain without a gap. When
all is quiet, all derived data has to match the documents.

Up to three fifths of the scenarios are points, until every point is among them. A point kills the consumer or a job at one
write. Or it lets something else happen before one call of a pass, a request, a consumer, a fold or a repair. The
other scenarios are drawn at random.

With --seed, play one scenario and print its events. With --mutants, spoil the core and the functions in many ways,
one at a time. A scenario or a test has to find each mutant.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev faults`."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "--scenarios", metavar="N", type=count, default=2000, help="number of scenarios (default: 2000)"
    )
    parser.add_argument("--seed", metavar="S", type=int, help="play only this scenario, and print its events")
    parser.add_argument(
        "--mutants", action="store_true", help="check that scenarios or tests find each mutant"
    )
    add_engine(parser)
    add_jobs(parser)


def run(args: argparse.Namespace) -> int:
    """Play the scenarios or mutants that the arguments name; 1 when something differs, or a mutant survives."""
    console = Console(highlight=False)
    if args.mutants:
        return judging.run(console, args.jobs)
    with engine(args.engine) as chosen:
        if args.seed is not None:
            return play_one(console, args.seed, chosen)
        return play_many(console, list(scenarios.seeds(args.scenarios)), chosen, args.jobs)


@contextlib.contextmanager
def engine(name: str) -> Iterator[Engine]:
    """The engine of the scenarios, for the time of a `with` block."""
    if name == MEMORY.name:
        yield MEMORY
        return
    with local.running() as started:
        yield started


def replay(played: Played, engine: str) -> str:
    """The command that plays a scenario again."""
    return f"./dev faults --seed {played.seed}" + ("" if engine == MEMORY.name else f" --engine {engine}")


def play_one(console: Console, seed: int, engine: Engine) -> int:
    """Play one scenario, and print its events."""
    played = scenarios.play(seed, engine, verbose=True)
    for line in played.log:
        console.print(line, markup=False, soft_wrap=True)
    if played.difference is None:
        console.print(f"{played.family} {seed}: no difference")
        return 0
    console.print(f"[red]{played.family} {seed}: {escape(played.difference)}[/red]", soft_wrap=True)
    return 1


def play_many(console: Console, seeds: Sequence[int], engine: Engine, jobs: int) -> int:
    """Play scenarios side by side, and print how many calls, kills and so on there were, and which seeds differ."""
    totals: Counter[str] = Counter()
    families: Counter[str] = Counter()
    failed: list[Played] = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failed]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("Scenarios", total=len(seeds), failed="")
        for played in results(seeds, engine, jobs):
            totals.update(played.totals)
            families[played.family] += 1
            if played.difference is not None:
                failed.append(played)
            progress.update(task, advance=1, failed=f"[red]{len(failed)} differ[/red]" if failed else "")
    console.print(_table(totals, families))
    for one in sorted(failed)[:_SHOWN]:
        console.print(f"[red]{one.family}: {escape(one.difference or '')}[/red]", soft_wrap=True)
        console.print(f"  {replay(one, engine.name)}")
    if len(failed) > _SHOWN:
        console.print(f"... and {len(failed) - _SHOWN} more")
    console.print(f"{len(failed)} scenarios differ" if failed else "no difference")
    return 1 if failed else 0


def results(seeds: Sequence[int], engine: Engine, jobs: int) -> Iterator[Played]:
    """Play scenarios in so many processes, in any order."""
    if jobs == 1:
        yield from (scenarios.play(seed, engine) for seed in seeds)
        return
    with forked(jobs) as pool:
        chunks = [(some, engine) for some in chunked(seeds, _AT_ONCE)]
        for some in pool.imap_unordered(_play_some, chunks):
            yield from some


def _play_some(given: tuple[Sequence[int], Engine]) -> list[Played]:
    seeds, engine = given
    return [scenarios.play(seed, engine) for seed in seeds]


def _table(totals: Counter[str], families: Counter[str]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right")
    table.add_column()
    for name, times in families.most_common():
        table.add_row(f"{times:,}", f"scenarios: {name}")
    for name, times in totals.most_common():
        if name != "scenarios":
            table.add_row(f"{times:,}", name)
    return table
