"""The browser on this machine that shows the page to programs: to tests, to whoever takes screenshots, and to the benchmark."""

import shutil
from typing import Final

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")


def find() -> str | None:
    """The path of Chromium, or None where it is not installed."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)
