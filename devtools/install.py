"""Install what the lock files name: `python install.py python node` fills .venv and node_modules, both at once.

`./dev` runs it with any Python it finds, so it uses the standard library only. It may be killed at any moment, and two may run
at once: a file lock makes the second wait. A copy of the lock file is written last; it says that an installation is complete.
"""

import argparse
import fcntl
import filecmp
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_WORK = ROOT / ".build"
_VENV = ROOT / ".venv"
_VENV_PYTHON = _VENV / "bin" / "python"
_COMPLETE = ".installed"


class Trouble(Exception):
    """Why something could not be installed."""


def main() -> None:
    """Entry point."""
    installers = {"python": install_python, "node": install_node}
    parser = argparse.ArgumentParser(description="Install the packages of the lock files.")
    parser.add_argument("what", nargs="+", choices=installers)
    wanted = parser.parse_args().what
    _WORK.mkdir(exist_ok=True)
    with (_WORK / "install.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("Waiting for another ./dev that is installing ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        with ThreadPoolExecutor() as pool:
            for running in [pool.submit(installers[what]) for what in wanted]:
                running.result()


def install_python() -> None:
    """Make .venv, and install the packages of requirements/dev.txt into it."""
    wanted, complete, begun = ROOT / "requirements" / "dev.txt", _VENV / _COMPLETE, _VENV / ".installing"
    if _same(wanted, complete) and _runs(_VENV_PYTHON):
        return
    _say("Installing the Python packages (once) ...")
    # An interrupted installation may have left half a package, which pip would take for a whole one.
    if begun.exists() or not _runs(_VENV_PYTHON):
        _run(
            [sys.executable, "-m", "venv", "--clear", str(_VENV)],
            "The virtual environment could not be made (on Debian and Ubuntu, install python3-venv)",
        )
    begun.touch()
    complete.unlink(missing_ok=True)
    _run(
        [
            *(
                str(_VENV_PYTHON),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-input",
            ),
            # The lock file is complete, so there is nothing to resolve. Only the imported modules are compiled later,
            # a tenth of all.
            *("--no-deps", "--no-compile", "--require-hashes", "-r", str(wanted)),
        ],
        "The Python packages could not be installed; check the network and try again",
    )
    _mark(wanted, complete)
    begun.unlink()


def install_node() -> None:
    """Install the packages of package-lock.json into node_modules."""
    wanted, complete = ROOT / "package-lock.json", ROOT / "node_modules" / _COMPLETE
    if _same(wanted, complete):
        return
    npm = shutil.which("npm")
    if npm is None:
        raise Trouble(
            "npm is needed, but is not on the PATH. Install Node, which includes npm, then run ./dev again."
        )
    _say("Installing the Node packages (once) ...")
    # npm removes node_modules first, and with it the mark of the last installation.
    _run(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
        "The Node packages could not be installed; check the network and try again",
    )
    _mark(wanted, complete)


def _same(wanted: Path, complete: Path) -> bool:
    return complete.is_file() and filecmp.cmp(wanted, complete, shallow=False)


def _mark(wanted: Path, complete: Path) -> None:
    fresh = complete.with_name(f"{_COMPLETE}.new")
    shutil.copyfile(wanted, fresh)
    fresh.replace(complete)


def _runs(python: Path) -> bool:
    try:
        return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _run(command: Sequence[str], trouble: str) -> None:
    """Run an installer quietly. Trouble, with its own words, when it fails."""
    log = _WORK / f"install-{Path(command[0]).name}.log"
    environment = {
        name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}
    }
    with log.open("wb") as output:
        status = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=False,
        ).returncode
    if status:
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
        errors = [line for line in lines if line.lower().startswith(("error", "npm error", "npm err!"))]
        said = (errors or [line for line in lines if line] or ["it printed nothing"])[0]
        raise Trouble(f"{trouble}: {said} (all of it: {log})")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        main()
    except Trouble as trouble:
        sys.exit(f"dev: {trouble}")
    except KeyboardInterrupt:
        sys.exit(130)
