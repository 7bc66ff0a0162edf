"""Builds the page of `web/` where its sources have changed since it was built."""

import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from infra.paths import ROOT

WEB = ROOT / "web"
DIST = WEB / "dist"

_MADE_FROM = DIST / ".made-from"
"""Holds the digest of the sources of the built page. A build removes it with all else in `dist`."""
_NO_SOURCES = frozenset({"dist", "e2e", "node_modules", "tests"})
_GENERATED = WEB / "src" / "api" / "schema.d.ts"
_WORK = ROOT / ".build"


class PageError(RuntimeError):
    """The page could not be built; the message says why in one line."""


def build(say: Callable[[str], None]) -> None:
    """Build the page into `DIST`, unless it is the one of the present sources.

    Raises:
        PageError: it cannot be built.
    """
    if not (WEB / "package.json").is_file():
        raise PageError(
            "There is no page to build: web/ has no package.json. Deploy with -c page=false, or restore web/."
        )
    npm = shutil.which("npm")
    if npm is None:
        raise PageError("The page cannot be built: npm is not on the PATH. Install Node, which includes it.")
    _WORK.mkdir(exist_ok=True)
    with (_WORK / "web.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = _digest()
        if _MADE_FROM.is_file() and _MADE_FROM.read_text() == wanted:
            return
        say("Building the page ...")
        log = _WORK / "web.log"
        with log.open("wb") as output:
            done = subprocess.run(  # noqa: S603
                [npm, "run", "build", "--workspace", "web"],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=False,
            )
        if done.returncode:
            raise PageError(f"The page could not be built. Read {log}.")
        _MADE_FROM.write_text(wanted)


def _digest() -> str:
    """Return a digest of the page's sources and its locked packages.

    Generated types are left out: they do not reach the page.
    """
    digest = hashlib.sha256()
    for source in (ROOT / "package-lock.json", *sorted(_sources(WEB))):
        digest.update(f"\0{source.relative_to(ROOT)}\0".encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _sources(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name not in _NO_SOURCES:
                yield from _sources(entry)
        elif entry != _GENERATED:
            yield entry
