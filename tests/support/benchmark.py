"""Runs of `./dev bench` in a process of their own, which loads the functions with its own environment."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from devtools import paths


def benched(file: Path, *arguments: str, columns: int, timeout: float) -> tuple[Any, str]:
    """The figures that a run writes to a file, and what it prints, in lines of so many characters.

    Fails after `timeout` seconds.
    """
    done = subprocess.run(  # noqa: S603  (the arguments are the tests')
        [sys.executable, "-m", "devtools", "bench", *arguments, "--json", str(file)],
        env=os.environ | {"PYTHONPATH": paths.PYTHONPATH, "COLUMNS": str(columns)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text()), done.stdout
