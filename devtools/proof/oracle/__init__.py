"""`./dev oracle`: random queries, answered by the grid and by SQLite, and compared."""

import argparse

from devtools.arguments import add_engine, add_jobs, count

DESCRIPTION = """\
Ask the same random questions of the grid and of SQLite, over the same issues: rows, order, counts, pages both ways, groups with
aggregates, summaries and positions have to be equal. The oracle shares no code with the grid: values are compared by SQL, on normal
forms of its own. A question is a number, and the same number is the same question, project included.

The projects are random ones of a hundred issues, most of them held to limits so small that their blocks split and budgets are
passed, and a real tracker's 2,501 issues. What is refused with 422 has to be something that the oracle expects to be
refused; it is counted, and so is how often each plan was taken.

With --writers each question is a scenario: issues are edited, consumers and folds are at work while it is answered, call by call.
With --tokens writes are left half indexed or not at all, and questions carry their tokens: answers have to be exact. One container,
which keeps what it has read, is asked again and again while the journal is written and folded.
With --imports new issues are not indexed, or half, and there are no tokens: the answer has to be exact as well.
"""


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand `oracle`."""
    parser = subparsers.add_parser(
        "oracle",
        help="compare the answers to random queries with those of SQLite",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--queries", metavar="N", type=count, default=1000, help="how many (default: 1000)")
    parser.add_argument("--seed", metavar="S", type=int, default=0, help="the first one (default: 0)")
    add_engine(parser)
    parser.add_argument(
        "--data",
        choices=("both", "generated", "titanium"),
        default="both",
        help="random projects, the tracker's issues, or both (default)",
    )
    parser.add_argument("--writers", action="store_true", help="put them while others write (in memory)")
    parser.add_argument(
        "--tokens", action="store_true", help="put them with the tokens of what the index lacks (in memory)"
    )
    parser.add_argument(
        "--imports", action="store_true", help="put them after an import that the index lacks (in memory)"
    )
    parser.add_argument(
        "--changes",
        action="store_true",
        help="hold them to what their cursors of the changes say (in memory)",
    )
    add_jobs(parser)
    parser.set_defaults(func=_run)


def _run(args: argparse.Namespace) -> int:
    from devtools.proof.oracle.command import run  # imports the core: not for every ./dev command

    return run(args)
