"""The browser on this machine that shows the page to programs: to tests, to the tool for screenshots, and to the
benchmark.
"""

import shutil
from typing import Final

_NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Names of browsers, the preferred one first: the shell is the same engine without windows, tabs and menus.

It takes 30 % less of the processor (`web/e2e`: 52 s of CPU time against 73 s for 13 tests).
"""


def find() -> str | None:
    """The path of Chromium, or None where it is not installed."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)
