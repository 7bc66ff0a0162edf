"""The arguments of `./dev import`, and its help."""

import argparse
import re
from pathlib import Path

from devtools.arguments import add_data, count
from infra.limits import IMPORTED_PER_SECOND

_DESCRIPTION = """\
Import a CSV or NDJSON file (gzipped or not) into a project, through the HTTP API.

A first pass over the file infers the type of each column from its values. Types are date, datetime, number, bool,
enum, multi_enum (lists joined by ";") and text. Column names become attribute ids. If the project is missing, the
command creates it. If the project exists, its attributes must have the same types. The command then sends the rows
in batches. It retries after throttling, server errors and lost connections. You can kill it at any time: the same
command continues where it stopped and creates nothing twice. The API remembers a batch for a day only. If you continue
later, the command asks which of its last rows are in the project.
"""

_EPILOG = """\
The types file is a JSON object. It maps columns to text, number, date, datetime, bool, enum, multi_enum, user, or
"skip". Example:
  {"zip": "text", "assignee": "user", "row": "skip"}.

The command writes two files beside the input. If that folder is read-only, they are in .data/imports/. With --api,
they are in the current folder, and their names have the host before the tenant.
  FILE.<tenant>.<project>.progress.json     the batches that were sent.
  FILE.<tenant>.<project>.rejected.ndjson   the refused rows with reasons, if any.

Exit status: 0 if every row was imported, 3 if some were refused, 1 if the import stopped, 130 if interrupted.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev import`."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="a .csv, .ndjson or .jsonl file, or one of these with .gz"
    )
    parser.add_argument("--project", metavar="ID", help="project id (default: made from the file's name)")
    parser.add_argument(
        "--name-column",
        metavar="C",
        help="column of the issue's name (default: title, name or summary, else the first text)",
    )
    parser.add_argument(
        "--state-column",
        metavar="C",
        help="column of the issue's state (default: status or state, if it looks like an enum)",
    )
    parser.add_argument(
        "--types",
        metavar="FILE",
        type=Path,
        help="JSON file that sets the types of some columns",
    )
    parser.add_argument("--limit", metavar="N", type=count, help="import only the first N rows")
    parser.add_argument(
        "--format", choices=("csv", "ndjson"), help="format of the file (default: by its name)"
    )
    parser.add_argument(
        "--delimiter",
        metavar="CHAR",
        type=_character,
        default=",",
        help="delimiter of CSV cells (default: a comma)",
    )
    parser.add_argument("--dry-run", action="store_true", help="show the inferred columns and send nothing")
    parser.add_argument(
        "--again",
        action="store_true",
        help="import the whole file again, even rows that were imported before; after an interrupt, it continues",
    )
    parser.add_argument(
        "--existing-rows",
        metavar="ROWS",
        type=_ranges,
        help="when the command asks for it: the rows that are in the project, such as 501-1000,1200-1203, or none",
    )
    parser.add_argument("--rejects", metavar="PATH", type=Path, help="file for the refused rows")
    parser.add_argument("--progress", metavar="DIR", type=Path, help="folder for the progress file")
    parser.add_argument(
        "--workers", metavar="N", type=count, default=4, help="batches in progress at once (default: 4)"
    )
    parser.add_argument(
        "--rate",
        metavar="N",
        type=count,
        help=f"rows a second, at most (default: {IMPORTED_PER_SECOND} with --api, else as many as possible)",
    )
    there = parser.add_argument_group("destination (default: the running local stack)")
    there.add_argument(
        "--tenant", metavar="T", default="0807", help="tenant of the local stack (default: 0807)"
    )
    add_data(there)
    there.add_argument("--api", metavar="URL", help="URL of another API, such as a deployed one")
    there.add_argument(
        "--token",
        metavar="JWT",
        help="an admin's ID token for --api (default: $GRIDVIEW_TOKEN); $GRIDVIEW_REFRESH_TOKEN renews it",
    )


def _ranges(text: str) -> list[tuple[int, int]]:
    """Ranges of rows: first and last."""
    if text == "none":
        return []
    found = [re.fullmatch(r"(\d+)(?:-(\d+))?", one.strip()) for one in text.split(",")]
    ranges = [(int(one[1]), int(one[2] or one[1])) for one in found if one is not None]
    if len(ranges) < len(found) or any(first > last for first, last in ranges):
        raise argparse.ArgumentTypeError("must be rows such as 501-1000,1200-1203, or none")
    return ranges


def _character(text: str) -> str:
    if text == "\\t":
        return "\t"
    if len(text) != 1:
        raise argparse.ArgumentTypeError(r"must be one character (a tab: \t)")
    return text
