"""The command line: its commands, the arguments that it passes on, and its failures."""

import argparse
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from devtools import checks, cli, paths
from devtools.failure import Failure
from devtools.local import command, tokens
from devtools.local.folder import Folder, State
from devtools.local.processes import known
from gridview.support.version import VERSION


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_subcommand_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([command, "--help"])
    assert ended.value.code == 0
    assert command in capsys.readouterr().out


def test_the_overview_names_every_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    overview = capsys.readouterr().out
    for name, (summary, *_) in cli.COMMANDS.items():
        assert name in overview
        assert summary in overview


def test_the_overview_needs_only_the_standard_library() -> None:
    status = subprocess.run(
        [sys.executable, "-S", "-m", "devtools", "--help"],
        env=os.environ | {"PYTHONPATH": paths.PYTHONPATH},
        capture_output=True,
        check=False,
    )
    assert status.returncode == 0, status.stderr


def test_the_version_is_that_of_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"gridview {VERSION}\n"


@pytest.mark.parametrize(("arguments", "status"), [([], 2), (["frobnicate"], 2)])
def test_no_or_an_unknown_subcommand_is_a_mistake(arguments: list[str], status: int) -> None:
    assert cli.main(arguments) == status


def test_unknown_arguments_are_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["down", "--frobnicate"])
    assert "--frobnicate" in capsys.readouterr().err


def test_a_failure_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(args: argparse.Namespace) -> int:
        raise Failure("It is too late.")

    monkeypatch.setattr(command, "down", fail)
    assert cli.main(["down"]) == 1
    assert capsys.readouterr().err == "dev: It is too late.\n"


ALL = ["tests/deploy", "tests/engine", "tests/web", "tests/infra", "tests/unit"]
SHARED = ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder"]
"""The arguments for several processes, if whole suites are run."""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], [*SHARED, *ALL]),
        (["all", "-x"], [*SHARED, *ALL, "-x"]),
        (["unit"], [*SHARED, "tests/unit"]),
        (["engine", "unit", "-k", "pump"], [*SHARED, "tests/engine", "tests/unit", "-k", "pump"]),
        (["unit", "-k", "engine"], [*SHARED, "tests/unit", "-k", "engine"]),
        (["--durations=3", "-k", "pump"], [*SHARED, *ALL, "--durations=3", "-k", "pump"]),
        (["tests/unit/test_ids.py::test_x"], ["tests/unit/test_ids.py::test_x"]),
    ],
)
def test_arguments_select_the_tests(
    arguments: list[str], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def run(*command: str) -> int:
        ran.append(list(command))
        return 5

    monkeypatch.setattr(checks, "_python", run)
    assert cli.main(["test", *arguments]) == 5
    assert ran == [["pytest", *expected]]


def test_every_check_is_run_and_the_worst_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []

    def run(module: str, *arguments: str) -> int:
        ran.append((module, *arguments[:1]))
        return int(arguments[:1] == ("check",))

    monkeypatch.setattr(checks, "_python", run)
    assert cli.main(["check"]) == 1
    assert ran == [("ruff", "check"), ("ruff", "format"), ("mypy", "--strict"), ("devtools.prose",)]


def test_every_folder_of_tests_is_a_suite() -> None:
    folders = {path.name for path in (paths.ROOT / "tests").iterdir() if list(path.rglob("test_*.py"))}
    assert folders <= set(checks.SUITES)


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_subcommand_can_be_run(command: str) -> None:
    assert callable(pkgutil.resolve_name(cli.COMMANDS[command].run))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "data")
    made.make()
    return made


def test_status_of_a_stack_that_does_not_run(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["status", "--data", str(folder.path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == dict.fromkeys(State._fields)


def test_status_of_one_that_does(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    state = State(
        "http://127.0.0.1:8420", "http://127.0.0.1:4000", os.getpid(), "http://127.0.0.1:4001/1/queue"
    )
    me = known(os.getpid())
    assert me is not None
    folder.write_processes([me])
    folder.write_state(state)
    assert cli.main(["status", "--data", str(folder.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == state._asdict()


def test_a_token_is_all_that_is_printed(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["token", "--data", str(folder.path), "--tenant", "0807", "--role", "admin", "--user", "ada"]
    assert cli.main(arguments) == 0
    claims = tokens.claims_of(tokens.key_in(folder.path), capsys.readouterr().out.strip())
    assert (claims["custom:tenant"], claims["custom:role"], claims["sub"]) == ("0807", "admin", "ada")


def test_no_token_without_a_stack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["token", "--data", str(tmp_path), "--tenant", "0807", "--role", "admin"]) == 1
    assert "no local stack" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_reset_keeps_other_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.tex").touch()
    assert cli.main(["reset", "--data", str(tmp_path)]) == 1
    assert (tmp_path / "thesis.tex").exists()


def test_reset_removes_the_data(folder: Folder) -> None:
    assert cli.main(["reset", "--data", str(folder.path)]) == 0
    assert not folder.path.exists()


@pytest.mark.parametrize("address", ["0.0.0.0", "localhost", "::1", "127.0.0.1:8000"])  # noqa: S104 - it is refused
def test_addresses_to_listen_on_that_are_none(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["up", "--listen", address])
    assert "argument --listen: must be" in capsys.readouterr().err


def test_an_engine_that_runs_is_not_moved(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    state = State("http://127.0.0.1:8420", "http://127.0.0.1:4000", os.getpid(), "http://127.0.0.1:4001/1/q")
    me = known(os.getpid())
    assert me is not None
    folder.write_processes([me])
    folder.write_state(state)
    assert cli.main(["up", "--data", str(folder.path), "--listen", "127.0.0.2"]) == 1
    assert "already listens at http://127.0.0.1:4000" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["-1", "65536", "http", "٣"])
def test_ports_that_are_none(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["up", "--port", port])
    assert "must be a number" in capsys.readouterr().err
