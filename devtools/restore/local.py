"""A restore of the local stack: a copy of its tables, made while it was down, replaces AWS's point-in-time recovery."""

import contextlib
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from devtools import files
from devtools.failure import Failure
from devtools.local import engine, journal
from devtools.local.bulk import table_at
from devtools.local.folder import Folder
from devtools.local.stack import end_all
from devtools.local.table import TABLE, is_streamed
from devtools.restore.table_pass import begun, raise_all

_FRESH: Final = "tables.restored"


def restore(folder: Folder, copy: Path, lost_writes: int | None, say: Callable[[str], None]) -> None:
    """Put a copy of the tables in the place of the present ones, and make it safe to go on with.

    Until all is done the stack does not start (`Folder.require_whole`), and the restore can be repeated after a kill. The lost
    tables stay in the folder `lost`. Failure: the stack runs, there is no such copy, or `lost` is of another restore.
    """
    if folder.running() is not None:
        raise Failure("The local stack is running. Stop it first: ./dev down.")
    if not folder.is_ours():
        raise Failure(f"There is no local stack in {folder.path}.")
    with folder.held():
        end_all(folder.processes())  # left by a killed supervisor
        name = _begin(folder, copy)
        _put_back(folder, copy, say)
        with contextlib.ExitStack() as engines:
            restored = engines.enter_context(engine.running(in_memory=False, folder=folder.engine))
            lost = None
            if lost_writes is None:
                lost = engines.enter_context(engine.running(in_memory=False, folder=folder.lost))
            client = restored.client()
            # Raised versions are no change for anyone, so the stream is ended. The stack's next start makes a new
            # one.
            if is_streamed(client.describe_table(TableName=TABLE)["Table"]):
                client.update_table(TableName=TABLE, StreamSpecification={"StreamEnabled": False})
            table = table_at(restored.endpoint, TABLE)
            pending = begun(table, name, lost_writes)
            if pending is not None:
                say("Raising versions, numbers and epochs ...")
                before = None if lost is None else table_at(lost.endpoint, TABLE)
                count = raise_all(table, before, pending, name)
                say(f"{count:,} items changed.")
        folder.restoring.unlink()


def _begin(folder: Folder, copy: Path) -> str:
    """Note the restore, unless it was noted before; returns its name."""
    noted = files.read_json(folder.restoring)
    if noted is not None:
        if noted["copy"] != str(copy.resolve()):
            raise Failure(f"Another restore is not complete. Repeat it with --copy {noted['copy']}.")
        return str(noted["name"])
    if not any(copy.glob("*.db")):
        raise Failure(f"{copy} is not a copy of a local stack's tables ({folder.tables}).")
    if folder.lost.exists():
        raise Failure(
            f"An earlier restore left the tables that it replaced in {folder.lost}. Move them away."
        )
    name = secrets.token_hex(8)
    files.write_json(folder.restoring, {"copy": str(copy.resolve()), "name": name})
    return name


def _put_back(folder: Folder, copy: Path, say: Callable[[str], None]) -> None:
    """Exchange the tables, in steps of which each can be the last: the present ones, then none, then the copy.

    Failed batches go with the tables that they are of. Both tables have the same name, so nothing else keeps them
    apart.
    """
    fresh, replaced = folder.engine / _FRESH, folder.lost / "tables"
    if not replaced.exists():
        say(f"Copying {copy} ...")
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.copytree(copy, fresh)
        journal.turn_on(fresh)
        folder.lost.mkdir(exist_ok=True)
        if folder.failed_batches.exists():
            folder.failed_batches.rename(folder.lost / folder.failed_batches.name)
        folder.tables.rename(replaced)
    if fresh.exists():
        fresh.rename(folder.tables)
