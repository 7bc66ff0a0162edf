"""The subcommand `oracle`: many questions, or one."""

import argparse
import contextlib
from collections import Counter
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.markup import escape

from devtools import bulk
from devtools import engine as engines
from devtools import table as tables
from devtools.faults.memory_table import MemoryTable
from devtools.oracle.compare import Difference, Player
from gridview.storage import Table

_TABLE = "oracle"
_SHOWN = 10
"""Differences after which it stops."""


def run(args: argparse.Namespace) -> int:
    """Put the questions; 1 when an answer differs."""
    console = Console(highlight=False)
    compared: Counter[str] = Counter()
    failed: list[int] = []
    with new_tables(args.engine) as new_table:
        player = Player(new_table)
        for seed in range(args.seed, args.seed + args.queries):
            try:
                question, rows = player.play(seed)
            except Difference as error:
                failed.append(seed)
                console.print(f"[red]{escape(str(error))}[/red]", soft_wrap=True)
                console.print(f"  {replay(seed, args.engine)}")
                if len(failed) == _SHOWN:
                    break
            else:
                compared[question.kind] += 1
                compared["rows and groups"] += rows
    for name, count in compared.most_common():
        console.print(f"{count:>10,}  {name}")
    console.print(f"{len(failed)} answers differ" if failed else "no difference")
    return 1 if failed else 0


def replay(seed: int, engine: str) -> str:
    """The command that puts a question again."""
    return f"./dev oracle --queries 1 --seed {seed}" + ("" if engine == "memory" else f" --engine {engine}")


@contextlib.contextmanager
def new_tables(engine: str) -> Iterator[Callable[[], Table]]:
    """What gives a table for a project, for the time of a `with` block."""
    if engine == "memory":
        yield MemoryTable
        return
    with engines.running(in_memory=True) as running:
        tables.ensure(running.client(), _TABLE)
        yield lambda: bulk.table_at(running.endpoint, _TABLE)
