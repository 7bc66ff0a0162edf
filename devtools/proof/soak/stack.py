"""The local stack of a soak: it is started, its processes are killed, and their memory is measured."""

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from devtools.failure import Failure
from devtools.local import tokens
from devtools.local.folder import Folder
from devtools.local.processes import wait_until

_FUNCTION: Final = re.compile(r"devtools\.local\.container (\w+)")
_MODULE: Final = re.compile(r"devtools\.local\.(\w+)")
_PROC: Final = Path("/proc")
_END_SECONDS: Final = 30.0
_SUPERVISOR: Final = "supervisor"
_FUNCTIONS: Final = "function "


class Stack:
    """A stack with a data folder of its own, always at the same address."""

    def __init__(self, data: Path) -> None:
        """Failure where processes cannot be seen."""
        if not (_PROC / "self" / "smaps_rollup").exists():
            raise Failure("A soak needs Linux: it looks at the memory of processes.")
        self.data = data
        self.api = ""

    def start(self) -> None:
        """Start it, or start it again after a kill."""
        port = self.api.rpartition(":")[2] or "0"
        self.dev("up", "--detach", "--empty", "--port", port)
        self.api = Folder(self.data).require_running().api

    def token(self, tenant: str, user: str) -> str:
        """A token of an administrator."""
        return tokens.issue(tokens.key_in(self.data), tenant=tenant, role="admin", user=user)

    def kill(self) -> None:
        """Kill all processes at once."""
        processes = Folder(self.data).processes()
        for group in {os.getpgid(process.pid) for process in processes if process.lives()}:
            os.killpg(group, signal.SIGKILL)
        if not wait_until(lambda: not any(process.lives() for process in processes), _END_SECONDS):
            raise Failure("Processes of the stack are still alive after kill -9.")

    def kill_function(self, chance: random.Random) -> str:
        """Kill one execution environment, with the event that it may have. Returns the name of its function."""
        found = sorted((pid, name) for pid, name in self._processes() if name.startswith(_FUNCTIONS))
        if not found:
            return "none"
        pid, name = chance.choice(found)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return name

    def memory(self) -> dict[str, float]:
        """Megabytes by part of the stack. Those of a function are the mean of its execution environments."""
        sums: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        for pid, name in self._processes():
            with contextlib.suppress(OSError):
                text = (_PROC / str(pid) / "smaps_rollup").read_text()
                sums[name] += int(text.partition("Pss:")[2].split()[0])
                counts[name] += 1
        return {name: sums[name] / counts[name] / 1000 for name in sorted(sums)}

    def dev(self, command: str, *arguments: str, statuses: tuple[int, ...] = (0,)) -> str:
        """The output of a subcommand of `./dev` on this stack. Failure at another exit status."""
        program = [sys.executable, "-P", "-m", "devtools", command, *arguments, "--data", str(self.data)]
        # Indexes of new fields need not wait until no container has earlier definitions.
        env = {"SETTLE_SECONDS": "2", **os.environ}
        done = subprocess.run(program, env=env, capture_output=True, text=True, check=False)
        if done.returncode not in statuses:
            raise Failure(f"./dev {command} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def given_up(self) -> list[str]:
        """The files of dead letters and of failed batches."""
        folder = Folder(self.data)
        files = (folder.dead_letters, *folder.failed_batches.rglob("*"))
        return [str(path.relative_to(self.data)) for path in files if path.is_file() and path.stat().st_size]

    def _processes(self) -> Iterator[tuple[int, str]]:
        """The process ids and names of all processes of the stack."""
        known = Folder(self.data).processes()
        groups = {os.getpgid(process.pid) for process in known if process.lives()}
        for path in _PROC.iterdir():
            if not path.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                if os.getpgid(int(path.name)) in groups:
                    line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    yield int(path.name), _name(line)


def _name(line: str) -> str:
    if "DynamoDBLocal" in line:
        return "DynamoDB Local"
    if function := _FUNCTION.search(line):
        return _FUNCTIONS + function[1]
    module = _MODULE.search(line)
    return module[1] if module else _SUPERVISOR
