"""The data folder of a local stack: everything it keeps, and the list of its processes."""

import contextlib
import fcntl
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from devtools import files
from devtools.failure import Failure
from devtools.local.processes import Known

_MARK = ".gridview"
_MARK_TEXT = "This folder belongs to a local gridview stack: `./dev reset` removes it.\n"


class State(NamedTuple):
    """A local stack that is ready for requests."""

    api: str
    engine: str
    pid: int
    """The supervisor's process id. Ending the supervisor ends the stack."""
    queue: str
    """The URL of the dead-letter queue."""
    files: str = ""
    """The URL of the bucket of exports."""


class Folder:
    """One data folder. Its files:

    - `*.key`, `*.secret`: secrets, made on first use
    - `page-keys/`: of the keys in the page's address, the unused ones
    - `engine/`: DynamoDB Local's configuration, log and tables
    - `seed.json`: the first content of the tables, and its form
    - `progress.json`: how far the stream has been consumed
    - `pushes.json`: how far the socket function has received the stream
    - `dead-letters.ndjson`: the messages that the consumer sent to the dead-letter queue
    - `exports/`: the bucket of exports
    - `restoring.json`: which copy is being restored; gone when all is done
    - `lost/`: the tables that a restore has replaced, and their failed batches
    - `failed-batches/`: the batches that the stream pump gave up, a file for each
    - `stack.log`: the log of the functions, the server and the pump
    - `state.json`, `processes.json`: while it runs
    """

    def __init__(self, path: Path) -> None:
        """Neither reads nor makes anything yet."""
        self.path = path.resolve()
        self.engine = self.path / "engine"
        self.tables = self.engine / "tables"
        self.seed = self.path / "seed.json"
        self.progress = self.path / "progress.json"
        self.pushes = self.path / "pushes.json"
        self.dead_letters = self.path / "dead-letters.ndjson"
        self.failed_batches = self.path / "failed-batches"
        self.exports = self.path / "exports"
        self.log = self.path / "stack.log"
        self.restoring = self.path / "restoring.json"
        self.lost = self.path / "lost"
        self._state = self.path / "state.json"
        self._processes = self.path / "processes.json"

    def make(self) -> None:
        """Make the folder if it is missing. Failure when a folder is there that `./dev up` did not make."""
        if not self.is_ours():
            try:
                self.path.mkdir(parents=True, mode=0o700, exist_ok=True)
                occupied = any(self.path.iterdir())
            except OSError as error:
                raise Failure(f"{self.path} cannot be used as the data folder: {error.strerror}.") from error
            if occupied:
                raise Failure(
                    f"{self.path} is not empty and was not made by ./dev up; choose another --data folder."
                )
            (self.path / _MARK).write_text(_MARK_TEXT)

    def is_ours(self) -> bool:
        """Whether `make` made it."""
        return (self.path / _MARK).is_file()

    def remove(self) -> bool:
        """Delete the folder with everything in it; False when there is none. Failure when `./dev up` did not make it."""
        if not self.path.exists():
            return False
        if not self.is_ours():
            raise Failure(f"{self.path} was not made by ./dev up, so it is not changed.")
        # The mark goes last: a removal that is interrupted can be taken up again.
        for entry in self.path.iterdir():
            if entry.name != _MARK:
                shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        shutil.rmtree(self.path)
        return True

    def require_whole(self) -> None:
        """Failure while a restore of the tables is not complete: versions would be given out a second time."""
        if self.restoring.exists():
            copy = (files.read_json(self.restoring) or {}).get("copy", "COPY")
            raise Failure(f"A restore is not complete. Repeat it: ./dev restore --copy {copy}")

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other supervisors out while this process lives. Failure when there is one already."""
        with (self.path / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Failure(
                    f"Another ./dev is starting, running or stopping the stack of {self.path}."
                ) from None
            yield

    def running(self) -> State | None:
        """The stack that is ready, or None."""
        kept = files.read_json(self._state)
        if not isinstance(kept, dict):
            return None
        try:
            state = State(**kept)
        except TypeError:  # written by another version of the tools
            return None
        return (
            state
            if any(process.pid == state.pid and process.lives() for process in self.processes())
            else None
        )

    def require_running(self) -> State:
        """The stack that is ready. Failure when none is."""
        state = self.running()
        if state is None:
            raise Failure("The local stack is not running; start it with ./dev up --detach.")
        return state

    def write_state(self, state: State) -> None:
        """Say that the stack is ready."""
        files.write_json(self._state, state._asdict())

    def processes(self) -> list[Known]:
        """The processes of the stack, or of a killed one, the supervisor first. Some may be gone."""
        kept = files.read_json(self._processes)
        return [Known(int(pid), str(started)) for pid, started in kept] if isinstance(kept, list) else []

    def write_processes(self, processes: list[Known]) -> None:
        """Write down the processes, the supervisor first."""
        files.write_json(self._processes, processes)

    def clear(self) -> None:
        """Forget the processes: none is running any more."""
        self._state.unlink(missing_ok=True)
        self._processes.unlink(missing_ok=True)
