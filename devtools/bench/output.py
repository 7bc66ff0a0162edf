"""The output: printed tables, and the file of the figures."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from devtools.failure import Failure

_FILE_WIDTH: Final = 160
"""Characters of a line where the output is no terminal: the whole table."""


def console() -> Console:
    """The standard output, as wide as the terminal, as `COLUMNS` says, or wide enough."""
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if has_width else _FILE_WIDTH)


def table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int = 1) -> Table:
    """A table whose first `texts` columns are text, and whose others are figures."""
    made = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 3, 0, 0))
    for place, heading in enumerate(headings):
        made.add_column(heading, justify="left" if place < texts else "right")
    for row in rows:
        made.add_row(*row)
    return made


def write_json(file: Path, figures: Any) -> None:
    """The figures for programs."""
    try:
        file.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error.strerror}.") from error
