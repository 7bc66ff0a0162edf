"""How much a test goes through: some of its cases or data in every run, all of them in `./dev prove`."""

import os

THOROUGH = "GRIDVIEW_THOROUGH" in os.environ


def one_of(every: int, *, thorough: int = 1) -> int:
    """The step from one case to the next, or the size of what a test works on."""
    return thorough if THOROUGH else every
