"""Run a program that dies with its parent, even when the parent is killed: `python tether.py PARENT_PID PROGRAM
ARGS...`.

Linux ends the program (PR_SET_PDEATHSIG survives an exec). Other systems do not; there the next start ends the
processes on the list (`devtools.local.processes`). This file is run by its path and imports nothing of the
repository.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, program: list[str]) -> None:
    """Tie this process to its parent and become `program`."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the call above: nothing would end this process any more
            sys.exit(1)
    os.execv(program[0], program)  # noqa: S606 - no shell is what is wanted


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
