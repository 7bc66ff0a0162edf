"""`./dev prove`: the proofs that take too long for every change."""

import argparse

from devtools.arguments import add_jobs

DESCRIPTION = """\
Run every proof at full length: 20,000 fault scenarios and every mutant, 100 scenarios over DynamoDB Local, 50,000 queries against
SQLite, 1,000 more while others write, the recorded costs of queries at 100,000 issues, and the tests of the benchmark. It takes two
to three hours on two cores. Run it at the end of a piece of work, or each night; `./dev test` is for every change.

Each proof prints one line: its figures and the CPU minutes that it took. A proof that needs something this machine lacks does not
run, and its line says why. The exit status is 1 if any proof found a difference, and 0 otherwise.
"""


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand `prove`."""
    parser = subparsers.add_parser(
        "prove",
        help="run every proof at full length (two to three hours)",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", metavar="WORD", default="", help="run the proofs whose name contains this word"
    )
    parser.add_argument(
        "--million",
        action="store_true",
        help="also compare a million issues with PostgreSQL (some 6 GB of disk, and half an hour more)",
    )
    parser.add_argument("--list", action="store_true", help="list the proofs, and run none")
    add_jobs(parser)
    parser.set_defaults(func=_run)


def _run(args: argparse.Namespace) -> int:
    from devtools.proof.prove.command import run  # imports the core: not for every ./dev command

    return run(args)
