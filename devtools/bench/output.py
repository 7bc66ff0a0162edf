"""Where the tables are printed."""

import os
import sys
from typing import Final

from rich.console import Console

_FILE_WIDTH: Final = 160
"""Characters of a line where the output is no terminal: the whole table."""


def console() -> Console:
    """The standard output, as wide as the terminal, as `COLUMNS` says, or wide enough."""
    told = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if told else _FILE_WIDTH)
