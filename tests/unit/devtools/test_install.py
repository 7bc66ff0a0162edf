"""`dev` and devtools/install.py, in a copy of the repository's front that has nothing installed."""

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from devtools import paths


@pytest.fixture
def front(tmp_path: Path) -> Path:
    """A folder with `dev`, the installer, lock files, and fake tools."""
    root = tmp_path / "with space"
    for name in ("dev", "devtools/install.py", "devtools/__init__.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(paths.ROOT / name, root / name)
    (root / "requirements").mkdir()
    (root / "requirements" / "dev.txt").write_text("# nothing\n")
    (root / "package-lock.json").write_text("{}")
    (root / "devtools" / "__main__.py").write_text("import sys; print('ran', sys.argv[1:])")
    return root


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder for the PATH, with only the shell's own tools."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "dirname", "cmp", "env"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return folder


def tool(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def run(front: Path, tools: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        [str(front / "dev"), *arguments],
        env={"PATH": str(tools), "HOME": str(front)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def python(tools: Path) -> None:
    (tools / "python3").symlink_to(sys.executable)


def python_packages(front: Path, *, pip: str = "exit 1", current: bool = True) -> None:
    """Make a fake virtual environment, with the required packages installed: present ones, or old ones."""
    (front / ".venv" / "bin").mkdir(parents=True)
    script = f'case "$*" in "-m pip "*) {pip} ;; esac\nexec "{sys.executable}" "$@"'
    tool(front / ".venv" / "bin", "python", script)
    (front / ".venv" / ".installed").write_text(
        (front / "requirements" / "dev.txt").read_text() if current else ""
    )


def one_sentence(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 1
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("Installing")]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("dev: ")
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in lines[0]


def test_no_python(front: Path, tools: Path) -> None:
    one_sentence(run(front, tools, "status"), "Python 3.11 or newer")


def test_only_an_old_python_or_one_that_does_not_run(front: Path, tools: Path) -> None:
    tool(tools, "python3", "exit 1")
    tool(tools, "python", "exit 127")
    one_sentence(run(front, tools, "status"), "Python 3.11 or newer")


@pytest.mark.parametrize("node", [None, "exit 1"])
@pytest.mark.parametrize(
    "command",
    [
        "up",
        "test",
        "deploy",
        "bench",
        "soak --minutes 1",
        "screenshots",
        "faults --engine local",
        "oracle --engine=local",
    ],
)
def test_no_node_or_an_old_one(front: Path, tools: Path, node: str | None, command: str) -> None:
    python_packages(front)
    python(tools)
    if node:
        tool(tools, "node", node)
    one_sentence(run(front, tools, *command.split()), "Node 22")


@pytest.mark.parametrize("command", ["faults", "oracle --queries 1", "faults --engine memory", "status"])
def test_what_needs_no_node_runs_without_it(front: Path, tools: Path, command: str) -> None:
    python_packages(front)
    python(tools)
    assert run(front, tools, *command.split()).returncode == 0


def test_no_npm(front: Path, tools: Path) -> None:
    python_packages(front)
    python(tools)
    tool(tools, "node", "exit 0")
    one_sentence(run(front, tools, "up"), "npm is needed")


def test_a_broken_download_of_node_packages(front: Path, tools: Path) -> None:
    python_packages(front)
    python(tools)
    tool(tools, "node", "exit 0")
    tool(tools, "npm", "echo 'npm warn old' >&2; echo 'npm error network request failed' >&2; exit 1")
    one_sentence(run(front, tools, "up"), "Node packages could not be installed", "network request failed")
    assert not (front / "node_modules" / ".installed").exists()


def test_a_broken_download_of_python_packages(front: Path, tools: Path) -> None:
    python(tools)
    python_packages(front, pip="echo 'ERROR: No matching distribution' >&2; exit 1", current=False)
    one_sentence(
        run(front, tools, "status"), "Python packages could not be installed", "No matching distribution"
    )
    assert not (front / ".venv" / ".installed").exists()
    # The next attempt does not trust the remains of this one.
    assert (front / ".venv" / ".installing").exists()


def test_help_installs_nothing(front: Path, tools: Path) -> None:
    python(tools)
    assert run(front, tools, "--help").stdout == "ran ['--help']\n"
    assert not (front / ".venv").exists()


def test_everything_is_installed_once_and_again_when_it_must_be(front: Path, tools: Path) -> None:
    python(tools)
    tool(tools, "node", "exit 0")
    tool(tools, "npm", f'echo "$@" >> "{front}/npm.log"; "{shutil.which("mkdir")}" -p node_modules')
    first = run(front, tools, "up", "--port", "1 2")
    assert first.stdout == "ran ['up', '--port', '1 2']\n", first.stderr
    assert sorted(first.stderr.splitlines()) == [
        "Installing the Node packages (once) ...",
        "Installing the Python packages (once) ...",
    ]
    second = run(front, tools, "up")
    assert second.stderr == ""
    (front / "package-lock.json").write_text('{"changed": true}')
    assert "Node packages" in run(front, tools, "up").stderr
    (front / "requirements" / "dev.txt").write_text("# nothing else\n")
    assert "Python packages" in run(front, tools, "up").stderr
    assert run(front, tools, "up").stderr == ""
    # The remains of a killed installation are replaced, not taken for complete.
    half = front / ".venv" / "half-a-package"
    half.touch()
    (front / ".venv" / ".installed").unlink()
    (front / ".venv" / ".installing").touch()
    assert run(front, tools, "status").stdout == "ran ['status']\n"
    assert not half.exists()
    assert not (front / ".venv" / ".installing").exists()
    assert [line.split()[0] for line in (front / "npm.log").read_text().splitlines()] == ["ci", "ci"]


def test_python_is_the_environments_with_the_repositorys_path_and_says_nothing_itself(
    front: Path, tools: Path
) -> None:
    python_packages(front)
    code = "import os, sys; print(os.environ['PYTHONPATH']); print(sys.argv[1:])"
    done = run(front, tools, "python", "-c", code, "a b", "--help")
    assert done.stdout.splitlines() == [f"{front}:{front}/layers/core/python", "['a b', '--help']"]
    assert done.stderr == ""


def test_the_second_of_two_at_once_waits(front: Path, tools: Path) -> None:
    python(tools)
    python_packages(front, pip="exit 0", current=False)
    (front / ".build").mkdir()
    with (front / ".build" / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = subprocess.Popen(  # noqa: S603
            [str(front / "dev"), "status"],
            env={"PATH": str(tools)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert second.stderr is not None
        assert "Waiting for another" in second.stderr.readline()
        assert (front / ".venv" / ".installed").read_text() == ""
        fcntl.flock(lock, fcntl.LOCK_UN)
        stdout, _ = second.communicate(timeout=60)
    assert stdout == "ran ['status']\n"
