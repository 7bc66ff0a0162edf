"""`./dev bench`: the cost of pages, writes and background work on projects of growing size."""

import argparse
from pathlib import Path

from devtools.arguments import count

DESCRIPTION = """\
Measure the query, command and maintain handlers, in this process, on a DynamoDB Local in memory: projects of 20 attributes, 4 of
them indexed, are loaded by the bulk path, then a 100-row page by number, by date, by text and of the tail without a value, one
create, one edit of one field and one delete with all that the consumer writes for them; what the API and the consumer take for
each of many issues; what an edit costs by what is indexed, and what the history adds. In a project of the last size, issues are
changed one by one and many in a fold. The check of what is derived and the passes of a reindex run in a process each, whose memory
is measured; what would take minutes is measured in part, and says of how many issues.

Read units, write units and calls are those that DynamoDB reports. Milliseconds are of this machine and of DynamoDB Local: what
they prove is how they change with the size of the project. All sizes are measured in turn, so that they share good and bad moments.

With --compare postgres, other queries are measured: filtered, sorted and grouped ones, on engines on disk that are loaded through
their files, and in PostgreSQL. What was loaded is kept in .build/bench; a million issues take some 6 GB there, and minutes to load.

With --throughput, consumers of one project's new issues are measured side by side in virtual time: the real code on a table in
memory, where a call takes 5 ms. One container folds meanwhile.

With --pending, the baseline's questions are put to a project: quiet, with 200 changes that are not folded yet, and in a container
that was idle for a minute.

With --push, a socket follows edits on a local stack: how late each is told.

With --fair, one viewer does the worst that limits allow, while another tenant's page, write, feed and push are timed: the real
handlers in virtual time, in an account whose concurrency is 10 and 1,000, without the limits and with them; then a local stack. It
also prints what each kind of refused request costs. Five runs take a quarter of an hour.

With --page, the page is measured in a browser, with issues that are loaded in the same way, on a machine that does nothing else.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev bench`."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "--sizes",
        metavar="N,N",
        type=_sizes,
        help="issues in each project (default: 1000,10000,100000, of which the last takes a few minutes to load; "
        "compared: 100000)",
    )
    parser.add_argument("--size", metavar="N", type=count, help="one more size, such as 1000000")
    parser.add_argument(
        "--compare",
        choices=("postgres",),
        help="instead of all that: put the same queries to the same issues here and in a PostgreSQL that is started for "
        "it, in an attribute-value and in a JSONB design; real cases besides generated issues, where they are at hand",
    )
    parser.add_argument(
        "--throughput",
        action="store_true",
        help="instead of all that: how many new issues a second one project takes in, by 1 to 32 consumers",
    )
    parser.add_argument(
        "--pending",
        action="store_true",
        help="instead of all that: what questions cost in a quiet project, with changes that wait to be folded, and in a container "
        "that was idle (--size issues in memory, default: 100000)",
    )
    parser.add_argument(
        "--push",
        action="store_true",
        help="instead of all that: how late a change is pushed to a socket, from the answer to a write on (--repeat edits, "
        "default: 60)",
    )
    parser.add_argument(
        "--fair",
        action="store_true",
        help="instead of all that: what another tenant waits for while one viewer does its worst (--repeat runs, default: 5)",
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="instead of all that: measure the page in headless Chromium, before a local stack with --size issues "
        "(default: 300000), and print the table beside NocoDB's figures",
    )
    parser.add_argument(
        "--repeat",
        metavar="N",
        type=count,
        help="pages of each kind and size (default: 60; compared: 9 of each query)",
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures to a file as well")


def run(args: argparse.Namespace) -> int:
    """Run the measurements that the arguments name. Returns 0."""
    # They start an engine and import the handlers: not for every ./dev command.
    if args.page:
        from devtools.bench.page.command import run
    elif args.fair:
        from devtools.bench.fair.command import run
    elif args.push:
        from devtools.bench.push import run
    elif args.throughput:
        from devtools.bench.throughput import run
    elif args.pending:
        from devtools.bench.pending import run
    elif args.compare:
        from devtools.bench.postgres.compare import run
    else:
        from devtools.bench.command import run

    return run(args)


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(count(part) for part in text.split(","))
    if min(sizes) < MIN_SIZE or list(sizes) != sorted(set(sizes)):
        raise argparse.ArgumentTypeError(
            f"must be ascending numbers of at least {MIN_SIZE}, such as 1000,10000"
        )
    return sizes


MIN_SIZE = 200
"""Issues: more than a page of 100 rows, in every order."""
