"""`./dev bench`: the cost of pages, writes and background work on projects of growing size."""

import argparse
from pathlib import Path

from devtools.arguments import count

DESCRIPTION = """\
Measure the query, command and maintain handlers, in this process, on a DynamoDB Local in memory. The projects have
20 attributes, 4 of them indexed, and are loaded in bulk. All sizes take turns, so that they share good and bad
moments. The report has these tables.

  Pages of 100 rows: by number, by date, by text, and of the issues without a value.
  Writes: a create, an edit of one field and a delete, with everything that the consumer writes for them.
  Many writes: the cost of each issue, by API and consumer, and by the number of changes in a fold.
  Indexes: the cost of an edit by the fields that are indexed, and the cost of the history.
  Passes: time and memory of a check and of a reindex, each in a process. Long passes are measured in part.

DynamoDB Local reports the read units, write units and calls. Milliseconds are those of this machine and of DynamoDB
Local: compare them between the sizes only.

Each of these options measures something else instead:

With --compare postgres: filtered, sorted and grouped queries, and sums, here and in PostgreSQL. The loaded data is kept
in .build/bench. A million issues take some 6 GB there, and minutes to load. With --sums too: only the sums.

With --throughput: consumers of one project's new issues, side by side in virtual time. The real code runs on a table in
memory, where a call takes 5 ms. One container folds meanwhile.

With --pending: the queries of the baseline, in a quiet project and with 200 changes that wait for a fold. A third run
asks a container that was idle for a minute.

With --sums: sums and other functions of numbers over all issues, under filters and in groups, in read units and CPU time.
The project has only an index, in memory.

With --formulas: what formulas add to an edit, and the cost of building one, in write units; and their CPU time.

With --orders: pages, row numbers, counts and sums by a formula and in a manual order, beside those by a stored field. The
table has only what they read, in memory.

With --push: the delay between an edit and its message on a socket, on a local stack.

With --fair: another tenant's page, write, feed and push, while one viewer does the worst that limits allow. The real
handlers run in virtual time, with a concurrency of 10 and of 1,000, without and with the limits. Then they run on a
local stack. The report also shows the cost of each kind of refused request. Five runs take a quarter of an hour.

With --page: the web page in headless Chromium. Run it on a machine that does nothing else.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev bench`."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "--sizes",
        metavar="N,N",
        type=_sizes,
        help="issues in each project (default: 1000,10000,100000; the last takes a few minutes to load. With --compare: "
        "100000)",
    )
    parser.add_argument("--size", metavar="N", type=count, help="one more size, such as 1000000")
    parser.add_argument(
        "--compare",
        choices=("postgres",),
        help="instead: send the same queries to the same issues here and in a new PostgreSQL. It has an attribute-value "
        "and a JSONB design. Real cases are included if their file exists",
    )
    parser.add_argument(
        "--throughput",
        action="store_true",
        help="instead: measure how many new issues a second 1 to 32 consumers of one project process",
    )
    parser.add_argument(
        "--pending",
        action="store_true",
        help="instead: measure queries in a quiet project, before a fold, and in an idle container "
        "(--size issues in memory, default: 100000)",
    )
    parser.add_argument(
        "--sums",
        action="store_true",
        help="instead: measure functions of numbers in a project that has only an index (--size issues in memory, default: "
        "100000)",
    )
    parser.add_argument(
        "--formulas",
        action="store_true",
        help="instead: measure what formulas add to an edit, and the cost of a new one (--size issues in memory, default: "
        "100000)",
    )
    parser.add_argument(
        "--orders",
        action="store_true",
        help="instead: measure reads by a formula and in a manual order, beside a stored field's (--size issues in memory, "
        "default: 100000)",
    )
    parser.add_argument(
        "--push",
        action="store_true",
        help="instead: measure the delay from the answer to a write to its message on a socket (--repeat edits, default: 60)",
    )
    parser.add_argument(
        "--fair",
        action="store_true",
        help="instead: measure how long another tenant waits while one viewer does its worst (--repeat runs, default: 5)",
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="instead: measure the web page in headless Chromium, on a local stack with --size issues (default: 300000). "
        "Print the table with NocoDB's figures",
    )
    parser.add_argument(
        "--repeat",
        metavar="N",
        type=count,
        help="pages of each kind and size (default: 60; with --compare: 9 of each query)",
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the figures to this file")


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
    elif args.formulas:
        from devtools.bench.formula_writes import run
    elif args.orders:
        from devtools.bench.orders import run
    elif args.sums:
        from devtools.bench.sums import run
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
