"""Runs the page's tools that are no tests: the files `web/e2e/*.tool.ts`, in Chromium before a local stack of
their own.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from devtools import browser, paths
from devtools.failure import Failure
from devtools.local.folder import Folder, State

_ADDRESS: Final = re.compile(r"http://\S+/#key=\S+")


@contextlib.contextmanager
def stack(data: Path, fill: Callable[[Folder], None] | None = None) -> Iterator[str]:
    """A stack that is new; the address of its page, with a key. `fill` makes its tables; without it they are those of the demo."""
    _dev("reset", data)
    try:
        if fill is not None:
            folder = Folder(data)
            folder.make()
            fill(folder)
        _dev("up", data, "--detach", "--port", "0")
        address = _ADDRESS.search(_dev("up", data))
        if address is None:
            raise Failure("The page was not built. Run ./dev up to see the reason.")
        yield address[0]
    finally:
        _dev("reset", data)


@contextlib.contextmanager
def empty_stack(data: Path) -> Iterator[State]:
    """A stack that is new and has no projects; where it is."""
    _dev("reset", data)
    try:
        _dev("up", data, "--detach", "--port", "0", "--empty")
        yield Folder(data).require_running()
    finally:
        _dev("reset", data)


def run(tool: str, address: str, **variables: str) -> None:
    """Run a tool before a stack. It gets the named arguments as `GRIDVIEW_…`. Failure when it fails."""
    chromium, npm = browser.find(), shutil.which("npm")
    if chromium is None:
        raise Failure("Chromium is not on the PATH. Install it, then try again.")
    if npm is None:
        raise Failure("npm is not on the PATH. Install Node, which includes npm.")
    env = {f"GRIDVIEW_{name.upper()}": value for name, value in variables.items()}
    done = subprocess.run(
        [npm, "run", "--silent", "tool", "--workspace", "web", "--", tool],
        cwd=paths.ROOT,
        env=os.environ | env | {"GRIDVIEW_PAGE": address, "GRIDVIEW_CHROMIUM": chromium},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failure(f"web/e2e/{tool}.tool.ts failed:\n{done.stdout}")


def _dev(command: str, data: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "devtools", command, "--data", str(data), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failure(f"./dev {command} failed: {done.stderr.strip()}")
    return done.stdout
