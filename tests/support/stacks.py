"""Local stacks for tests: started, called and killed as a developer does it."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect

from devtools.local.folder import Folder
from devtools.local.processes import wait_until
from devtools.local.pump import Progress
from devtools.local.streams import StreamClient
from devtools.local.table import TABLE
from tests.support.commands import PLAIN, Done, dev

SECONDS = 300
"""Seconds to wait for anything: far longer than it takes, for slow or busy machines."""

TENANT = "0807"

_MEMORY = Path("/dev/shm")  # noqa: S108  (a folder of this test's own is made in it)


class LocalStack:
    """A local stack with its own data folder."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self._port = 0

    def dev(self, command: str, *arguments: str) -> Done:
        """A subcommand about this stack."""
        return dev(command, *arguments, "--data", self.data)

    def start(self, command: str, *arguments: str) -> subprocess.Popen[str]:
        """A subcommand in a process of its own, to be killed."""
        return subprocess.Popen(  # noqa: S603  (the arguments are those of the tests)
            [sys.executable, "-m", "devtools", command, *arguments, "--data", str(self.data)],
            env=os.environ | PLAIN | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def up(self, *arguments: str) -> dict[str, Any]:
        """Start it, on the same port each time. Returns the output of `status`."""
        done = self.dev("up", "--detach", "--port", str(self._port), *arguments)
        assert done.status == 0, done.stderr
        status = self.status()
        self._port = int(status["api"].rpartition(":")[2])
        return status

    def status(self) -> dict[str, Any]:
        """The output of `status`."""
        found: dict[str, Any] = json.loads(self.dev("status", "--json").stdout)
        return found

    def page(self) -> str:
        """The address of its page, with a key that is valid once."""
        done = self.dev("up")
        address = re.search(r"http://\S+/#key=\S+", done.stdout)
        assert address, f"The page was not built: {done.stderr}"
        return address[0]

    @property
    def state(self) -> Any:
        """The addresses and data of its running parts."""
        return Folder(self.data).require_running()

    def kill(self) -> None:
        """Kill all of its processes at once, by kill -9."""
        processes = Folder(self.data).processes()
        assert len(processes) == 5
        groups = {os.getpgid(process.pid) for process in processes}
        assert os.getpgid(0) not in groups
        for group in groups:
            os.killpg(group, signal.SIGKILL)
        assert wait_until(lambda: not any(process.lives() for process in processes), 20)

    def client(self, role: str = "admin", *, user: str | None = None, tenant: str = TENANT) -> httpx.Client:
        """The API for a user of this role. `user` None: the user that `./dev token` names by itself."""
        named = [] if user is None else ["--user", user]
        token = self.dev("token", "--tenant", tenant, "--role", role, *named).stdout.strip()
        return httpx.Client(
            base_url=self.state.api, headers={"Authorization": f"Bearer {token}"}, timeout=SECONDS
        )

    def caught_up(self) -> bool:
        """Whether the pump has recorded that all records of the stream are finished."""
        with closing(StreamClient(self.state.engine)) as client:
            stream = client.stream_of(TABLE)
            progress = Progress(Folder(self.data).progress, stream)
            return not any(
                client.read(stream, client.iterator(stream, shard.id, progress.after(shard.id)), 1).records
                for shard in client.shards(stream)
                if not progress.finished(shard.id)
            )

    def given_up(self) -> list[Path]:
        """Files of dead letters and of failed batches."""
        folder = Folder(self.data)
        return [path for path in (folder.dead_letters, *folder.failed_batches.rglob("*")) if path.is_file()]


@contextmanager
def running_stack(folder: Path, *, empty: bool = True) -> Iterator[LocalStack]:
    """A running stack, with the demo unless `empty`.

    In memory if possible: the engine waits for the disk at every write, and the disk is not under test.
    """
    with quick_folder(folder) as made:
        stack = LocalStack(made / "data")
        stack.up(*(["--empty"] if empty else []))
        try:
            yield stack
        finally:
            stack.dev("down")


@contextmanager
def quick_folder(folder: Path) -> Iterator[Path]:
    """A folder in memory if possible, else within this one."""
    parent = _MEMORY if os.access(_MEMORY, os.W_OK) else folder
    with tempfile.TemporaryDirectory(dir=parent, prefix="gridview-test-") as made:
        yield Path(made)


def socket_to(address: str, **options: Any) -> ClientConnection:
    """A connection to a stack's socket. A busy machine needs longer than the library's ten seconds, since the
    function that admits it may have to begin.
    """
    opened: ClientConnection = connect(address, open_timeout=SECONDS, **options)
    return opened


def until(holds: Any) -> None:
    """Wait for a result of background work."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)
