"""Folders that synthesis builds once, and finds again by a hash of their sources."""

import tempfile
from collections.abc import Callable
from pathlib import Path


def built_once(built: Path, build: Callable[[Path], None]) -> Path:
    """The folder `built`. If it is not there, `build` makes it under another name first: it is there whole or not at all."""
    if built.is_dir():
        return built
    built.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=built.parent) as working:
        folder = Path(working) / "made"
        build(folder)
        # NOTE: a rename is atomic; another process that was faster has made the same folder.
        try:
            folder.rename(built)
        except OSError:
            if not built.is_dir():
                raise
    return built
