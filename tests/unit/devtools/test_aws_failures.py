"""Errors of AWS and of the table end an operator's command with one sentence."""

import pytest
from botocore.exceptions import ClientError, NoCredentialsError

from devtools import cli
from devtools.operate import target
from gridview.support.errors import NotFound, Overloaded

PROJECT = ("--tenant", "0807", "--project", "35e9")
COMMANDS = (
    ("fsck",),
    ("jobs",),
    ("journal", "list", "--all"),
    ("reindex", *PROJECT),
    ("analytics", *PROJECT, "--location", "s3://bucket/data/"),
    ("dlq", "list"),
    ("dlq", "redrive", "--all"),
    ("forget", "--tenant", "0807", "--yes"),
)
ERRORS = (
    (
        ClientError({"Error": {"Code": "ExpiredTokenException", "Message": "expired"}}, "Query"),
        "AWS cannot be used",
    ),
    (NoCredentialsError(), "AWS cannot be used"),
    (Overloaded("The table is busy; try again."), "The table is busy; try again."),
    (NotFound("There is no such project."), "There is no such project."),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(("error", "said"), ERRORS, ids=lambda one: type(one).__name__)
def test_an_error_is_one_sentence(
    command: tuple[str, ...],
    error: Exception,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr(target, "open", fail)
    assert cli.main(command) == 1
    output = capsys.readouterr().err
    assert output.startswith(f"dev: {said}")
    assert output.count("\n") == 1


def test_a_rotation_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object) -> None:
        raise NoCredentialsError

    monkeypatch.setattr(target, "outputs", fail)
    assert cli.main(["rotate", "cursors", "--deployed"]) == 1
    assert "AWS cannot be used" in capsys.readouterr().err
