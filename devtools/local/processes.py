"""Starts, recognises and ends the processes of local tools."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

_TETHER = Path(__file__).with_name("tether.py")
_KILL_SECONDS = 5.0


class Known(NamedTuple):
    """A process. Its start time distinguishes it from a later process with the same id."""

    pid: int
    started: str

    def lives(self) -> bool:
        """Whether it is still there."""
        return _started(self.pid) == self.started


def known(pid: int) -> Known | None:
    """The process with this id, or None."""
    started = _started(pid)
    return None if started is None else Known(pid, started)


def start(
    program: Sequence[str], *, env: Mapping[str, str], log: IO[bytes] | int, pass_fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a program, given by absolute path, that ends when this process ends. Both its outputs go to `log`.

    Linux watches the calling thread, so call this from a thread that lasts.
    """
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(_TETHER), str(os.getpid()), *program],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=pass_fds,
        # A group of its own: Ctrl-C at the terminal reaches only the supervisor, and the program's children end with
        # it.
        process_group=0,
    )


def stop(process: subprocess.Popen[bytes], *, patience: float) -> None:
    """End what `start` started, with its children: TERM first, KILL after `patience` seconds."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
    # The group outlives its first process as long as anything is in it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def end(process: Known, *, patience: float) -> bool:
    """End a process that is no child of this one: TERM first, KILL after `patience` seconds. False when it is not there."""
    if not process.lives():
        return False
    for number, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, _KILL_SECONDS)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
        if wait_until(lambda: not process.lives(), seconds):
            break
    return True


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait until a condition holds; False when the time is over first."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _started(pid: int) -> str | None:
    """When a process started, in the system's terms; None when it is gone or only waits to be reaped."""
    if sys.platform == "linux":
        try:
            # After the program's name, which is in parentheses and may hold any character, come the state and other
            # fields. The 20th is the start in clock ticks since boot.
            fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] in {"Z", "X"} else fields[19]
    found = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.split(maxsplit=1)
    return None if len(found) < 2 or found[0].startswith("Z") else found[1].strip()
