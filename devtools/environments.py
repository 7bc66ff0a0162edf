"""Virtual environments for programs that cannot share the repository's. Each is made on first need from a lock file."""

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

from devtools.failure import Failure
from devtools.paths import ROOT


def ensure(name: str) -> Path:
    """The Python of an environment with exactly the packages of requirements/NAME.txt. It is made again when that file changes.

    Raises:
        Failure: pip could not install it.
    """
    lock = ROOT / "requirements" / f"{name}.txt"
    folder = ROOT / ".build" / f"{name}-venv"
    python = folder / "bin" / "python"
    stamp = folder / "made-from"
    wanted = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()
    if stamp.is_file() and stamp.read_text("utf-8") == wanted:
        return python
    # Our own pip installs: one of its own would take longer than many a package.
    venv.create(folder, clear=True, with_pip=False)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--python", python),
            *("install", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--no-compile", "--require-hashes", "--requirement", lock),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failure(f"The packages of {lock.name} could not be installed: {done.stderr.strip()}")
    stamp.write_text(wanted, "utf-8")
    return python
