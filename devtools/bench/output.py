"""Where the tables are printed, and the figures written."""

import json
import os
import sys
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from devtools.failure import Failure

_FILE_WIDTH: Final = 160
"""Characters of a line where the output is no terminal: the whole table."""


def console() -> Console:
    """The standard output, as wide as the terminal, as `COLUMNS` says, or wide enough."""
    told = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if told else _FILE_WIDTH)


def table(title: str) -> Table:
    """A table without columns."""
    return Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 3, 0, 0))


def columns(table: Table, first: str, *others: str) -> None:
    """Add a column of text, and columns of figures."""
    table.add_column(first)
    for heading in others:
        table.add_column(heading, justify="right")


def write_json(file: Path, figures: Any) -> None:
    """The figures for programs."""
    try:
        file.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error.strerror}.") from error
