"""`dev` and devtools/install.py, in a copy of the repository's front that has nothing installed."""

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from devtools import paths


@pytest.fixture
def front(tmp_path):
    """A folder with `dev`, the installer, lock files, and tools that are stand-ins."""
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
def tools(tmp_path):
    """A folder for the PATH, with the shell's own tools and nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "dirname", "cmp", "env"):
        (folder / name).symlink_to(shutil.which(name))
    return folder


def tool(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def run(front, tools, *arguments):
    return subprocess.run(  # noqa: S603
        [str(front / "dev"), *arguments],
        env={"PATH": str(tools), "HOME": str(front)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def python(tools):
    (tools / "python3").symlink_to(sys.executable)


def python_packages(front):
    """Stands for a virtual environment in which everything is installed."""
    (front / ".venv" / "bin").mkdir(parents=True)
    tool(front / ".venv" / "bin", "python", f'exec "{sys.executable}" "$@"')
    shutil.copy(front / "requirements" / "dev.txt", front / ".venv" / ".installed")


def one_sentence(done, *words):
    assert done.returncode == 1
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("Installing")]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("dev: ")
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in lines[0]


def test_no_python(front, tools):
    one_sentence(run(front, tools, "status"), "Python 3.11 or newer")


def test_only_an_old_python_or_one_that_does_not_run(front, tools):
    tool(tools, "python3", "exit 1")
    tool(tools, "python", "exit 127")
    one_sentence(run(front, tools, "status"), "Python 3.11 or newer")


@pytest.mark.parametrize("node", [None, "exit 1"])
@pytest.mark.parametrize("command", ["up", "test", "deploy", "bench"])
def test_no_node_or_an_old_one(front, tools, node, command):
    python_packages(front)
    if node:
        tool(tools, "node", node)
    one_sentence(run(front, tools, command), "Node 20 or newer")


def test_no_npm(front, tools):
    python_packages(front)
    tool(tools, "node", "exit 0")
    one_sentence(run(front, tools, "up"), "npm is needed")


def test_a_broken_download_of_node_packages(front, tools):
    python_packages(front)
    tool(tools, "node", "exit 0")
    tool(tools, "npm", "echo 'npm warn old' >&2; echo 'npm error network request failed' >&2; exit 1")
    one_sentence(run(front, tools, "up"), "Node packages could not be installed", "network request failed")
    assert not (front / "node_modules" / ".installed").exists()


def test_a_broken_download_of_python_packages(front, tools):
    python(tools)
    (front / "requirements" / "dev.txt").write_text("./there-is-no-such-folder\n")
    one_sentence(run(front, tools, "status"), "Python packages could not be installed")
    assert not (front / ".venv" / ".installed").exists()


def test_help_installs_nothing(front, tools):
    python(tools)
    assert run(front, tools, "--help").stdout == "ran ['--help']\n"
    assert not (front / ".venv").exists()


def test_everything_is_installed_once_and_again_when_a_lock_file_changes(front, tools):
    python(tools)
    tool(tools, "node", "exit 0")
    tool(tools, "npm", f'echo "$@" >> "{front}/npm.log"; "{shutil.which("mkdir")}" -p node_modules')
    first = run(front, tools, "up", "--port", "1 2")
    assert first.stdout == "ran ['up', '--port', '1 2']\n", first.stderr
    assert first.stderr.splitlines() == [
        "Installing the Python packages (once) ...",
        "Installing the Node packages (once) ...",
    ]
    second = run(front, tools, "up")
    assert second.stderr == ""
    (front / "package-lock.json").write_text('{"changed": true}')
    assert "Node packages" in run(front, tools, "up").stderr
    (front / "requirements" / "dev.txt").write_text("# nothing else\n")
    assert "Python packages" in run(front, tools, "up").stderr
    assert run(front, tools, "up").stderr == ""
    assert [line.split()[0] for line in (front / "npm.log").read_text().splitlines()] == ["ci", "ci"]


def test_python_is_the_environments_with_the_repositorys_path_and_says_nothing_itself(front, tools):
    python_packages(front)
    code = "import os, sys; print(os.environ['PYTHONPATH']); print(sys.argv[1:])"
    done = run(front, tools, "python", "-c", code, "a b", "--help")
    assert done.stdout.splitlines() == [f"{front}:{front}/layers/core/python", "['a b', '--help']"]
    assert done.stderr == ""


def test_the_second_of_two_at_once_waits_and_a_killed_one_is_repaired(front, tools):
    python(tools)
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
        assert not (front / ".venv").exists()
        fcntl.flock(lock, fcntl.LOCK_UN)
        stdout, _ = second.communicate(timeout=60)
    assert stdout == "ran ['status']\n"

    # And one that was killed in the middle is made anew, not taken for whole.
    half = front / ".venv" / "half-a-package"
    half.touch()
    (front / ".venv" / ".installed").unlink()
    (front / ".venv" / ".installing").touch()
    assert run(front, tools, "status").stdout == "ran ['status']\n"
    assert not half.exists()
    assert not (front / ".venv" / ".installing").exists()
