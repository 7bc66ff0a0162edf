"""Environments made from a lock file, with a pip that only records."""

import subprocess
import venv
from pathlib import Path
from typing import Any

import pytest

from devtools import environments
from devtools.failure import Failure


class Pip:
    def __init__(self) -> None:
        self.runs: list[list[str]] = []
        self.status = 0

    def __call__(self, command: list[Any], **_: Any) -> subprocess.CompletedProcess[str]:
        self.runs.append([str(word) for word in command])
        return subprocess.CompletedProcess(command, self.status, "", "no such package")


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    (tmp_path / "requirements").mkdir()
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    monkeypatch.setattr(venv, "create", lambda folder, **_: Path(folder).mkdir(parents=True, exist_ok=True))
    return tmp_path


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Pip:
    made = Pip()
    monkeypatch.setattr(subprocess, "run", made)
    return made


def test_it_is_made_once_and_again_when_its_lock_file_changes(root: Path, pip: Pip) -> None:
    lock = root / "requirements" / "tool.txt"
    lock.write_text("tool==1")
    python = root / ".build" / "tool-venv" / "bin" / "python"
    assert environments.ensure("tool") == environments.ensure("tool") == python
    (run,) = pip.runs
    assert run[1:5] == ["-m", "pip", "--python", str(python)]
    assert {"--require-hashes", "--no-deps", str(lock)} <= set(run)
    lock.write_text("tool==2")
    environments.ensure("tool")
    assert len(pip.runs) == 2


def test_a_failed_installation_is_tried_again(root: Path, pip: Pip) -> None:
    (root / "requirements" / "tool.txt").write_text("tool==1")
    pip.status = 1
    with pytest.raises(Failure, match=r"tool\.txt could not be installed: no such package"):
        environments.ensure("tool")
    pip.status = 0
    environments.ensure("tool")
    assert len(pip.runs) == 2
