"""How many of its cases a test that enumerates goes through: some in every run, all of them in `./dev prove`."""

import os

THOROUGH = "GRIDVIEW_THOROUGH" in os.environ


def one_of(every: int, *, thorough: int = 1) -> int:
    """The step from one case to the next."""
    return thorough if THOROUGH else every
