"""The tables that a new data folder begins with: empty ones, or those with the demo.

They are made once for the same sources, which takes most of a minute with the demo, and copied from then on.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from devtools import files, paths
from devtools.failure import Failure
from devtools.local import bulk, demo, engine, journal, table
from devtools.local.folder import Folder

_WORK: Final = paths.ROOT / ".build"
_SOURCES: Final = (paths.CORE / "gridview", paths.ROOT / "devtools" / "local")
_LOCKED: Final = (paths.ROOT / "package-lock.json", paths.ROOT / "requirements" / "dev.txt")
_FILLING_BYTES: Final = 512 * 1024 * 1024
"""Bytes that the demo needs in memory, with a wide margin. A container may have far less."""
_FORM: Final = 1
"""The form of a data folder's tables. Another number refuses folders that were made before."""
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of this user's own is made in it


def fill(folder: Folder, *, empty: bool, say: Callable[[str], None]) -> None:
    """Give a data folder its tables, with the sample data unless `empty`. All or nothing, even when this is killed."""
    fresh = folder.path / "tables.new"
    shutil.rmtree(fresh, ignore_errors=True)
    with _locked():
        made = _WORK / "tables" / _digest() / ("empty" if empty else "demo")
        if not made.is_dir():
            say(
                "Making the table ..."
                if empty
                else "Making the table and filling it with the demo (once) ..."
            )
            _make(made, folder, empty=empty)
        shutil.copytree(made, fresh)
    note(folder, demo=not empty)
    folder.engine.mkdir(exist_ok=True)
    fresh.rename(folder.tables)


def note(folder: Folder, *, demo: bool) -> None:
    """Record that this version makes the tables of a data folder, and whether with the sample data."""
    files.write_json(folder.seed, {"demo": demo, "form": _FORM})


def require_readable(folder: Folder) -> None:
    """Failure when a version whose items this one does not read made the tables of a data folder."""
    seed = files.read_json(folder.seed) or {}
    if seed.get("form") != _FORM:
        raise Failure(
            f"An earlier version, whose projects may have no journal, made the data in {folder.path}. "
            "Delete them with `./dev reset`, then start again."
        )


def memory_folder(folder: Folder) -> Path:
    """The folder in memory in which the tables of a data folder are made.

    It is always the same, so a new start finds the remains of a killed one.
    """
    return _MEMORY / f"gridview-{os.getuid()}-{hashlib.sha256(str(folder.path).encode()).hexdigest()[:16]}"


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    """One process of this repository at a time."""
    _WORK.mkdir(exist_ok=True)
    with (_WORK / "tables.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(made: Path, folder: Folder, *, empty: bool) -> None:
    """Make the tables, and forget those of other sources.

    The engine waits for the disk at every write. If there is a file system in memory, the tables are made there and
    then moved.
    """
    memory = memory_folder(folder)
    roomy = os.access(memory.parent, os.W_OK) and shutil.disk_usage(memory.parent).free > _FILLING_BYTES
    work = memory if roomy else folder.path / "filling"
    fresh = made.with_name(f"{made.name}.new")
    for left_over in (work, fresh):
        shutil.rmtree(left_over, ignore_errors=True)
    work.mkdir(mode=0o700, parents=True)
    try:
        with engine.running(in_memory=False, folder=work) as filling:
            table.ensure_without_stream(filling.client(), table.TABLE)
            if not empty:
                demo.load(bulk.table_at(filling.endpoint, table.TABLE))
        journal.turn_on(work / "tables")
        for other in made.parent.parent.glob("*"):
            if other != made.parent:
                shutil.rmtree(other)
        shutil.copytree(work / "tables", fresh)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    fresh.rename(made)


def _digest() -> str:
    """A digest of everything that the tables are made from: the sources, and the versions of the engine and of the
    libraries.
    """
    digest = hashlib.sha256()
    for source in (*_LOCKED, *sorted(path for folder in _SOURCES for path in folder.rglob("*.py"))):
        digest.update(f"\0{source.relative_to(paths.ROOT)}\0".encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
