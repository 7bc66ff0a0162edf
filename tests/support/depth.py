"""The share of cases or data that a test uses: some in every run, all of them in `./dev prove`."""

import os

THOROUGH = "GRIDVIEW_THOROUGH" in os.environ


def one_of(every: int, *, thorough: int = 1) -> int:
    """The step from one case to the next, or the size of a test's data."""
    return thorough if THOROUGH else every
