"""The browser on this machine that shows the page to programs: to tests, to whoever takes screenshots, and to the benchmark."""

import shutil
from typing import Final

_NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The shell first: it is the same engine without the windows, tabs and menus that nobody looks at, and takes 30 % less of the
processor (`web/e2e`: 52 s of CPU time against 73 s for 13 tests)."""


def find() -> str | None:
    """The path of Chromium, or None where it is not installed."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)
