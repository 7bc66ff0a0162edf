"""`./dev faults`: the functions' handlers under a seeded adversary, thousands of times.

It proves that whatever is killed, delayed, repeated, refused or reordered between the handlers and the table, everything derived
becomes what the documents give, and that a batch's answer names the first record that is not done.

The threads of an invocation have calls under way side by side: which of them lands first is drawn, and a kill leaves some landed
and others not. In a third of what is drawn, two tenants have a project with the same id and one of them has a second one. Their
records share batches, and no work for one project reads or writes an item of another.

It cannot prove what it does not play. No thread interrupts another between two calls, as threads of the operating system do. The
table is one in memory, which `tests/unit/dynamodb/test_table.py` holds to what moto does; only `--engine local` runs the real
`Table`. The expected sort strings and tokens are those of the core: the oracle and the golden files judge them. Here the order of
the rows and the issues that pass a filter come from values and from SQLite alone.

Readers ask what the oracle asks, positions apart. While people write, reads may be as old as the scenario. What an answer leaves
out is not judged then, nor are sums, and counts are only held below all that issues have ever been. `./dev oracle --writers`
judges all of it, with a lag that is bounded.
"""

import argparse

from devtools.arguments import add_engine, add_jobs, count

DESCRIPTION = """\
Play scenarios: people write, read and change definitions, a stream is delivered, jobs run, and an adversary between all of them and
the table kills, delays, repeats, refuses and reorders. A scenario is a number; when all is quiet, everything derived has
to be what the documents give, and at any time each block is what the journal says up to its position, and the blocks of a
family chain without a gap. They are so small that a few issues split and merge them. First come points: writes at which the
consumer and the jobs are killed, and calls of a pass, a request, a consumer, a fold or a repair before which something else
happens. Two thirds of the scenarios are points, until all are among them; the rest is drawn.

With --seed one scenario is played and everything that happens in it is printed. With --mutants the core and the functions are
spoilt in many ways, one at a time, and each has to be found out, by a scenario or by a test.
"""


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand `faults`."""
    parser = subparsers.add_parser(
        "faults",
        help="play scenarios of faults, and look whether what is derived is right",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--scenarios", metavar="N", type=count, default=2000, help="how many (default: 2000)")
    parser.add_argument("--seed", metavar="S", type=int, help="play this one, and tell what happens in it")
    parser.add_argument("--mutants", action="store_true", help="look whether the scenarios find spoilt code")
    add_engine(parser)
    add_jobs(parser)
    parser.set_defaults(func=_run)


def _run(args: argparse.Namespace) -> int:
    from devtools.proof.faults.command import run  # imports the core: not for every ./dev command

    return run(args)
