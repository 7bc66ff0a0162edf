"""`./dev synth`, `deploy` and `destroy` add nothing to `npx cdk` but a sentence where it has a page."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import botocore.session  # noqa: F401  (urllib3 tries a socket when it is imported; no test may)
import pytest

from devtools import cli
from infra.paths import ROOT

NPX = "/somewhere/npx"


class Npx:
    """Stands in for the CDK command line: notes how it was called and ends with `status`."""

    def __init__(self) -> None:
        self.called: list[tuple[list[str], Path]] = []
        self.status = 0

    def __call__(self, command: list[str], *, cwd: Path, check: bool) -> subprocess.CompletedProcess[Any]:
        assert not check
        self.called.append((command, cwd))
        return subprocess.CompletedProcess(command, self.status)


@pytest.fixture
def npx(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Npx:
    """A command line that only looks as if it ran, and an environment without AWS credentials."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"):
        monkeypatch.delenv(name, raising=False)
    stand_in = Npx()
    monkeypatch.setattr(subprocess, "run", stand_in)
    monkeypatch.setattr(shutil, "which", lambda program: NPX if program == "npx" else None)
    return stand_in


@pytest.fixture
def signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "one")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "two")


def test_synth_needs_no_account(npx: Npx) -> None:
    assert cli.main(["synth"]) == 0
    assert npx.called == [([NPX, "--no-install", "cdk", "synth", "--quiet"], ROOT)]


@pytest.mark.parametrize("command", ["deploy", "destroy"])
def test_arguments_are_passed_on_and_so_is_the_status(npx: Npx, signed_in: None, command: str) -> None:
    npx.status = 3
    assert cli.main([command, "-c", "protect=false", "--require-approval", "never", "Gridview"]) == 3
    arguments = ["-c", "protect=false", "--require-approval", "never", "Gridview"]
    assert npx.called == [([NPX, "--no-install", "cdk", command, *arguments], ROOT)]


@pytest.mark.parametrize("command", ["deploy", "destroy"])
def test_without_credentials_one_sentence_says_so(
    npx: Npx, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert cli.main([command]) == 1
    assert npx.called == []
    output = capsys.readouterr().err
    assert output.startswith("dev: There are no AWS credentials")
    assert len(output.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["--profile", "elsewhere"], ["--profile=elsewhere"]])
def test_a_profile_that_does_not_exist_is_named(
    npx: Npx, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert cli.main(["deploy", *arguments]) == 1
    assert npx.called == []
    assert "elsewhere" in capsys.readouterr().err


def test_the_credentials_of_a_profile_will_do(npx: Npx, tmp_path: Path) -> None:
    (tmp_path / "credentials").write_text(
        "[mine]\naws_access_key_id = one\naws_secret_access_key = two\n", "utf-8"
    )
    assert cli.main(["deploy", "--profile", "mine"]) == 0
    assert len(npx.called) == 1


def test_without_npx_one_sentence_says_so(
    npx: Npx, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert cli.main(["synth"]) == 1
    assert "npx" in capsys.readouterr().err
    assert npx.called == []


@pytest.mark.parametrize("command", ["synth", "deploy", "destroy"])
def test_help_names_every_setting_that_people_choose(
    npx: Npx, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([command, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    for setting in ("stack-name=", "architecture=", "runtime=", "snap-start=", "protect="):
        assert setting in text
    assert npx.called == []
