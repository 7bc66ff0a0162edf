"""The subcommand `oracle`: many questions in several processes, or one."""

import argparse
import contextlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as Printed

from devtools.arguments import add_engine, add_jobs, count
from devtools.local import bulk
from devtools.local import engine as engines
from devtools.local import table as tables
from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.forks import forked
from devtools.proof.oracle import following, imports, relative, tokens, writers
from devtools.proof.oracle.compare import QUESTIONS_A_PROJECT, Asked, Player
from devtools.proof.oracle.limits import LIMITS
from devtools.proof.oracle.loading import Difference
from gridview.dynamodb.table import Table

_TABLE = "oracle"
_AT_ONCE = 10
"""Scenarios that a process is given at a time."""
_SHOWN = 10
"""Differences after which it stops."""

NewTable = Callable[[], Table]

SCENARIOS: dict[str, Callable[[int], tuple[Asked, Counter[str]]]] = {
    "tokens": tokens.play,
    "imports": imports.play,
    "changes": following.play,
    "relative": relative.play,
}
"""The modes in which a question is put in a scenario, and its answer has to be exact."""


@dataclass
class Tally:
    """The outcome of many questions. `rounds`: by plan, the most sequential calls of an answer.

    `rows`: how many rows and groups were compared, by the kind of the question.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    plans: Counter[str] = field(default_factory=Counter)
    rounds: dict[str, int] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    differences: list[tuple[int, str]] = field(default_factory=list)

    @property
    def questions(self) -> int:
        """How many were put."""
        return sum(self.kinds.values()) + len(self.differences)

    def count(self, asked: Asked) -> None:
        """Count in the outcome of a question."""
        self.kinds[asked.question.kind] += 1
        self.rows[asked.question.kind] += asked.rows
        self.plans += asked.plans
        for plan, rounds in asked.rounds.items():
            self.rounds[plan] = max(rounds, self.rounds.get(plan, 0))
        if asked.refused is not None:
            self.refused[asked.refused] += 1

    def update(self, other: "Tally") -> None:
        """Count in the counts of another tally."""
        self.kinds += other.kinds
        self.plans += other.plans
        self.refused += other.refused
        self.happened += other.happened
        self.rows += other.rows
        self.differences += other.differences
        for plan, rounds in other.rounds.items():
            self.rounds[plan] = max(rounds, self.rounds.get(plan, 0))


_DESCRIPTION = """\
Send the same random queries to the grid and to SQLite, over the same issues, and compare the answers. Rows, order,
counts, pages in both directions, groups with aggregates, summaries and positions have to be equal. The oracle shares
no code with the grid: it compares values by SQL, in normal forms of its own. A query has a number, its seed: the
same number gives the same query and the same project.

Most projects are random ones of a hundred issues, with limits so small that blocks split and budgets are exceeded.
One project is a real tracker's 2,501 issues. If the grid refuses a query (422), the oracle has to know a reason.
The output counts the refusals, and how often each plan was used. Some queries are in manual orders, in which users have
placed rows before.

With --writers, users edit issues, and consumers and folds work, between any two calls of a query.
With --tokens, the index lacks some writes, and queries carry their tokens: answers have to be exact. One container,
with its cache, gets query after query while other code writes and folds the journal.
With --imports, the index lacks new issues, and there are no tokens: answers have to be exact.
With --changes, answers have to match the writes that their cursor of the changes counts.
With --relative, filters have `today`, `now` and `me`, and the clock moves between the requests of a question, often
over midnight.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev oracle`."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "--queries", metavar="N", type=count, default=1000, help="number of queries (default: 1000)"
    )
    parser.add_argument(
        "--seed", metavar="S", type=int, default=0, help="number of the first query (default: 0)"
    )
    add_engine(parser)
    parser.add_argument(
        "--data",
        choices=("both", "generated", "titanium"),
        default="both",
        help="random projects, the tracker's issues, or both (default)",
    )
    parser.add_argument("--writers", action="store_true", help="query while others write (in memory)")
    parser.add_argument(
        "--tokens", action="store_true", help="query with the tokens of unindexed writes (in memory)"
    )
    parser.add_argument(
        "--imports", action="store_true", help="query after an import that is not indexed (in memory)"
    )
    parser.add_argument(
        "--changes",
        action="store_true",
        help="compare answers with their cursor of the changes, while others write (in memory)",
    )
    parser.add_argument(
        "--relative",
        action="store_true",
        help="query with relative operands, while the clock moves over midnight (in memory)",
    )
    add_jobs(parser)


def run(args: argparse.Namespace) -> int:
    """Put the questions; 1 when an answer differs."""
    console = Console(highlight=False)
    seeds = range(args.seed, args.seed + args.queries)
    tally = Tally()
    columns = (TextColumn("Queries"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        new_tables(args.engine) as new_table,
        Progress(*columns, console=console, transient=True) as progress,
    ):
        task = progress.add_task("Queries", total=len(seeds))
        mode = _mode(args)
        if mode in SCENARIOS:
            found = in_scenarios(mode, seeds, args.jobs)
        elif mode == "writers":
            found = beside_writers(seeds, args.jobs)
        else:
            found = tallies(seeds, new_table, args.data, limits_of(args.engine), args.jobs)
        for some in found:
            tally.update(some)
            progress.update(task, advance=some.questions)
            if len(tally.differences) >= _SHOWN:
                break
    _print(console, tally, args)
    return 1 if tally.differences else 0


def limits_of(engine: str) -> tuple[str, ...]:
    """The limits that projects on an engine are held to."""
    return tuple(LIMITS) if engine == "memory" else ("real", "fine")


def tallies(
    seeds: range, new_table: NewTable, data: str, limits: tuple[str, ...], jobs: int
) -> Iterator[Tally]:
    """Yield the outcomes of the questions, project by project, in so many processes and in any order."""
    borders = [seeds.start, *(at for at in seeds[1:] if at % QUESTIONS_A_PROJECT == 0), seeds.stop]
    chunks = [range(first, last) for first, last in itertools.pairwise(borders)]
    start = partial(_prepare, new_table, data, limits)
    if jobs == 1 or len(chunks) == 1:
        start()
        yield from map(_play, chunks)
        return
    with forked(min(jobs, len(chunks)), start) as pool:
        yield from pool.imap_unordered(_play, chunks)


def scenarios(seeds: range, jobs: int, play: Callable[[range], Tally]) -> Iterator[Tally]:
    """Yield the outcomes of scenarios, some at a time, in so many processes and in any order."""
    chunks = [seeds[at : at + _AT_ONCE] for at in range(0, len(seeds), _AT_ONCE)]
    if jobs == 1:
        yield from map(play, chunks)
        return
    with forked(jobs) as pool:
        yield from pool.imap_unordered(play, chunks)


def beside_writers(seeds: range, jobs: int) -> Iterator[Tally]:
    """Yield the outcomes of the scenarios with writers."""
    return scenarios(seeds, jobs, _play_with_writers)


def in_scenarios(mode: str, seeds: range, jobs: int) -> Iterator[Tally]:
    """Yield the outcomes of the scenarios of a mode."""
    return scenarios(seeds, jobs, partial(_played, SCENARIOS[mode]))


def _mode(args: argparse.Namespace) -> str:
    """The kind of scenario; "" for questions without one."""
    return next((one for one in (*SCENARIOS, "writers") if getattr(args, one)), "")


def _play_with_writers(seeds: range) -> Tally:
    tally = Tally()
    for seed in seeds:
        try:
            played = writers.play(seed)
        except Difference as error:
            tally.differences.append((seed, str(error)))
            continue
        tally.kinds[played.kind] += 1
        tally.rows[played.kind] += played.rows
        tally.happened += played.happened
        tally.happened["requests"] += played.requests
        tally.happened["requests to try again"] += played.overloaded
        if played.refused is not None:
            tally.refused[played.refused] += 1
    return tally


def _played(play: Callable[[int], tuple[Asked, Counter[str]]], seeds: range) -> Tally:
    tally = Tally()
    for seed in seeds:
        try:
            asked, happened = play(seed)
        except Difference as error:
            tally.differences.append((seed, str(error)))
            continue
        tally.count(asked)
        tally.happened += happened
    return tally


_players: list[Player] = []
"""The one of this process."""


def _prepare(new_table: NewTable, data: str, limits: tuple[str, ...]) -> None:
    _players[:] = [Player(new_table, data, limits)]


def _play(seeds: range) -> Tally:
    tally = Tally()
    (player,) = _players
    for seed in seeds:
        try:
            asked = player.play(seed)
        except Difference as error:
            tally.differences.append((seed, str(error)))
            continue
        tally.count(asked)
    tally.happened += player.happened
    player.happened.clear()
    return tally


def _print(console: Console, tally: Tally, args: argparse.Namespace) -> None:
    console.print(_table(tally))
    for seed, difference in sorted(tally.differences)[:_SHOWN]:
        console.print(f"[red]{escape(difference)}[/red]", soft_wrap=True)
        console.print(f"  {replay(seed, args.engine, args.data, _mode(args))}")
    refused = sum(tally.refused.values())
    console.print(f"{refused:,} of {tally.questions:,} refused (422), each for a known reason")
    differing = len(tally.differences)
    console.print(f"{differing} answers differ" if differing else "no difference")


def _table(tally: Tally) -> Printed:
    table = Printed(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right")
    table.add_column()
    for name, number in tally.kinds.most_common():
        table.add_row(f"{number:,}", f"questions: {name}")
    table.add_row(f"{tally.rows.total():,}", "rows and groups compared")
    for name, number in tally.plans.most_common():
        table.add_row(f"{number:,}", f"answers by the plan {name!r}, in at most {tally.rounds[name]} rounds")
    for name, number in tally.happened.most_common():
        table.add_row(f"{number:,}", name)
    for name, number in tally.refused.most_common():
        table.add_row(f"{number:,}", f"refused (422): {name}")
    return table


def replay(seed: int, engine: str, data: str, mode: str = "") -> str:
    """The command that puts a question again. `mode`: of the scenario, if it was put in one."""
    if mode:
        return f"./dev oracle --{mode} --queries 1 --seed {seed}"
    chosen = "" if data == "both" else f" --data {data}"
    return f"./dev oracle --queries 1 --seed {seed}{chosen}" + (
        "" if engine == "memory" else f" --engine {engine}"
    )


@contextlib.contextmanager
def new_tables(engine: str) -> Iterator[NewTable]:
    """A function that makes a table for a project, for the time of a `with` block."""
    if engine == "memory":
        yield MemoryTable
        return
    with engines.running(in_memory=True) as running:
        tables.ensure(running.client(), _TABLE)
        yield partial(bulk.table_at, running.endpoint, _TABLE)
