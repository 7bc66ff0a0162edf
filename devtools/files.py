"""Files that survive a kill: files that are replaced as a whole, and files that only grow, line by line."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any


def write_json(path: Path, value: Any) -> None:
    """Replace a file by `value`. A reader sees the old file or the new one, never a part."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(json.dumps(value), encoding="utf-8")
    fresh.replace(path)


def read_json(path: Path) -> Any:
    """The value in a file; None when there is no file or no JSON in it."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads(path.read_text(encoding="utf-8"))
    return None


def append_line(path: Path, value: Any) -> None:
    """Add a line of JSON to a file. It is on the disk before this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, json.dumps(value).encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
