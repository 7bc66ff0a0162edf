"""Files that survive being killed: whole ones that are replaced at once, and ones that only ever grow by a line."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any


def write_json(path: Path, value: Any) -> None:
    """Replace a file by `value`: a reader, or a restart, sees the old or the new one, never a part."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(json.dumps(value), encoding="utf-8")
    fresh.replace(path)


def read_json(path: Path) -> Any:
    """What is in a file; None when there is none, or no JSON in it."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads(path.read_text(encoding="utf-8"))
    return None


def append_line(path: Path, value: Any) -> None:
    """Add a line of JSON to a file, on the disk before this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, json.dumps(value).encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
