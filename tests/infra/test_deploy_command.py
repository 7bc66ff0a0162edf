"""`./dev synth`, `deploy` and `destroy`: the arguments for `npx cdk`, and the number of runs of the first and last
deployment.
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import botocore.session  # noqa: F401  (urllib3 tries a socket when it is imported; no test may)
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from devtools import cli
from devtools.deployed import arguments
from devtools.deployed.buckets import Buckets
from devtools.failure import Failure
from infra import protection
from infra.paths import ROOT
from infra.settings import described

NPX = "/somewhere/npx"


class Npx:
    """Replaces the CDK command line: records its calls and ends with `status`."""

    def __init__(self) -> None:
        self.called: list[tuple[list[str], Path]] = []
        self.status = 0
        self.after: Callable[[], object] = lambda: None

    def __call__(self, command: list[str], *, cwd: Path, check: bool) -> subprocess.CompletedProcess[Any]:
        assert not check
        self.called.append((command, cwd))
        self.after()
        return subprocess.CompletedProcess(command, self.status)


@pytest.fixture
def npx(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Npx:
    """A fake command line, and an environment without AWS credentials."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"):
        monkeypatch.delenv(name, raising=False)
    fake = Npx()
    monkeypatch.setattr(subprocess, "run", fake)
    monkeypatch.setattr(shutil, "which", lambda program: NPX if program == "npx" else None)
    return fake


@pytest.fixture
def signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "one")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "two")


def test_synth_needs_no_account(npx: Npx) -> None:
    assert cli.main(["synth"]) == 0
    assert npx.called == [([NPX, "--no-install", "cdk", "synth", "--quiet"], ROOT)]


@pytest.fixture
def account(npx: Npx, signed_in: None) -> Iterator[Any]:
    """An account without a stack, on moto."""
    with mock_aws():
        yield boto3.client("cloudformation", region_name="us-east-1")


def _create(account: Any, name: str, protected: str = protection.NO) -> None:
    """A stack with the outputs that `./dev destroy` reads."""
    body = {
        "Resources": {"Batches": {"Type": "AWS::S3::Bucket"}, "Files": {"Type": "AWS::S3::Bucket"}},
        "Outputs": {
            "FailedBatchesBucket": {"Value": {"Ref": "Batches"}},
            "PageBucket": {"Value": {"Ref": "Files"}},
            protection.OUTPUT: {"Value": protected},
        },
    }
    account.create_stack(StackName=name, TemplateBody=json.dumps(body))


def _bucket(account: Any, output: str) -> str:
    """The bucket of this output of the stack."""
    (stack,) = account.describe_stacks()["Stacks"]
    (name,) = (one["OutputValue"] for one in stack["Outputs"] if one["OutputKey"] == output)
    return str(name)


def _keys(bucket: str) -> list[str]:
    s3 = boto3.client("s3", region_name="us-east-1")
    return [one["Key"] for one in s3.list_objects_v2(Bucket=bucket).get("Contents", ())]


def _typed(npx: Npx) -> list[list[str]]:
    """The arguments of each `npx --no-install cdk`, without the file of outputs."""
    assert all(command[:3] == [NPX, "--no-install", "cdk"] and cwd == ROOT for command, cwd in npx.called)
    return [_without_file(command[3:]) for command, _ in npx.called]


def _without_file(command: list[str]) -> list[str]:
    if command[-2:-1] == ["--outputs-file"]:
        return command[:-2]
    return command


def _reports(npx: Npx, *protected: str) -> None:
    """Let the deployments write these values of the output `Protected`, one after another."""
    values = iter(protected)

    def write() -> None:
        command, _ = npx.called[-1]
        file = ROOT / command[command.index("--outputs-file") + 1]
        file.write_text(json.dumps({"Gridview": {"ApiUrl": "https://a", "Protected": next(values)}}))

    npx.after = write


def test_a_first_deployment_is_protected_when_it_has_succeeded(npx: Npx) -> None:
    _reports(npx, protection.NOT_YET, protection.YES)
    more = ["-c", "stage=staging", "--require-approval", "never"]
    assert cli.main(["deploy", *more]) == 0
    assert _typed(npx) == [["deploy", *more]] * 2


def test_the_outputs_are_read_where_the_caller_wants_them(npx: Npx, tmp_path: Path) -> None:
    _reports(npx, protection.NOT_YET, protection.YES)
    more = ["--outputs-file", str(tmp_path / "outputs.json")]
    assert cli.main(["deploy", *more]) == 0
    assert [command[3:] for command, _ in npx.called] == [["deploy", *more]] * 2
    assert json.loads((tmp_path / "outputs.json").read_text())["Gridview"]["Protected"] == protection.YES


@pytest.mark.parametrize("protected", [protection.YES, protection.NO])
def test_any_other_deployment_is_made_once(npx: Npx, protected: str) -> None:
    _reports(npx, protected)
    assert cli.main(["deploy"]) == 0
    assert _typed(npx) == [["deploy"]]


def test_a_first_deployment_that_was_asked_for_is_made_once(npx: Npx) -> None:
    _reports(npx, protection.NOT_YET)
    assert cli.main(["deploy", "-c", "first-deployment=true"]) == 0
    assert _typed(npx) == [["deploy", "-c", "first-deployment=true"]]


def test_a_failed_deployment_is_not_repeated(npx: Npx) -> None:
    _reports(npx, protection.NOT_YET)
    npx.status = 1
    assert cli.main(["deploy"]) == 1
    assert _typed(npx) == [["deploy"]]


def test_a_deployment_that_changes_nothing_writes_no_outputs(npx: Npx) -> None:
    assert cli.main(["deploy", "--no-execute"]) == 0
    assert _typed(npx) == [["deploy", "--no-execute"]]


def test_deploying_asks_the_account_nothing(npx: Npx) -> None:
    """The app does, for `npx cdk deploy` too. The tests have no sockets and no credentials."""
    assert cli.main(["deploy", "--profile", "elsewhere"]) == 0
    assert _typed(npx) == [["deploy", "--profile", "elsewhere"]]


@pytest.mark.parametrize(
    ("more", "answer", "deleted"), [([], "y", True), ([], "n", False), (["--force"], None, True)]
)
def test_destroy_empties_the_buckets_of_an_unprotected_stack(
    npx: Npx,
    account: Any,
    monkeypatch: pytest.MonkeyPatch,
    more: list[str],
    answer: str | None,
    deleted: bool,
) -> None:
    _create(account, "Gridview")
    buckets = _fill(account)
    monkeypatch.setattr("builtins.input", lambda _: answer)
    assert cli.main(["destroy", "-c", "protect=false", *more]) == (0 if deleted else 1)
    assert [len(_keys(bucket)) for bucket in buckets] == ([0, 0] if deleted else [1, 1])
    assert _typed(npx) == ([["destroy", "-c", "protect=false", "--force"]] if deleted else [])


class Backup:
    """Replaces AWS Backup, which moto does not keep: a vault with copies, which it deletes a moment later."""

    def __init__(self, *points: str, vault: str = "Gridview-backups", held: bool = False) -> None:
        self.vaults = [vault]
        self.points = list(points)
        self.held = held
        self.asked: list[str] = []

    def get_paginator(self, operation: str) -> Any:
        self.asked.append(operation)
        listed = {"BackupVaultList": [{"BackupVaultName": one} for one in self.vaults]}
        held = {"RecoveryPoints": [{"RecoveryPointArn": one} for one in self.points]}
        pages = [listed if operation == "list_backup_vaults" else held]
        return SimpleNamespace(paginate=lambda **_: pages)

    def delete_recovery_point(self, *, BackupVaultName: str, RecoveryPointArn: str) -> None:  # noqa: N803
        if self.held:
            raise ClientError({"Error": {"Code": "InvalidRequestException"}}, "DeleteRecoveryPoint")
        assert BackupVaultName in self.vaults
        self.points.remove(RecoveryPointArn)

    def delete_backup_vault(self, *, BackupVaultName: str) -> None:  # noqa: N803
        if self.points:
            raise ClientError({"Error": {"Code": "InvalidRequestException"}}, "DeleteBackupVault")
        self.vaults.remove(BackupVaultName)


@pytest.fixture
def backup(account: Any, monkeypatch: pytest.MonkeyPatch) -> Backup:
    """A vault with two copies of the table."""
    fake, made = Backup("arn:one", "arn:two"), Buckets.client
    monkeypatch.setattr(
        Buckets, "client", lambda self, service: fake if service == "backup" else made(self, service)
    )
    return fake


@pytest.mark.parametrize(
    ("more", "answers", "deleted"),
    [
        ([], ["y"], True),
        ([], ["n"], False),
        (["--backups"], [], True),
        (["--force"], [], False),
        (["--force", "--backups"], [], True),
    ],
)
def test_destroy_deletes_backups_only_when_asked_and_says_what_is_left(
    npx: Npx,
    backup: Backup,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    answers: list[str],
    deleted: bool,
) -> None:
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return answers[len(asked) - 1]

    monkeypatch.setattr("builtins.input", answer)
    assert cli.main(["destroy", "-c", "protect=false", *more]) == 0
    assert len(asked) == len(answers)
    assert all("2 backups" in question and "Gridview-backups" in question for question in asked)
    assert (backup.points, backup.vaults) == (
        ([], []) if deleted else (["arn:one", "arn:two"], ["Gridview-backups"])
    )
    said = capsys.readouterr().out
    assert ("was deleted" if deleted else "remains, with 2 backups") in said
    assert _typed(npx) == [["destroy", "-c", "protect=false", *(one for one in more if one != "--backups")]]


def test_backups_stay_when_the_stack_does(npx: Npx, backup: Backup) -> None:
    npx.status = 1
    assert cli.main(["destroy", "-c", "protect=false", "--force", "--backups"]) == 1
    assert backup.points == ["arn:one", "arn:two"]


def test_backups_that_are_held_are_left_and_said(
    npx: Npx, backup: Backup, capsys: pytest.CaptureFixture[str]
) -> None:
    backup.held = True
    assert cli.main(["destroy", "-c", "protect=false", "--force", "--backups"]) == 0
    assert "remains, with 2 backups" in capsys.readouterr().out


def test_an_empty_vault_goes_without_a_question(npx: Npx, backup: Backup) -> None:
    backup.points = []
    assert cli.main(["destroy", "-c", "protect=false"]) == 0
    assert backup.vaults == []


def test_only_the_named_vault_of_an_unprotected_stack_is_destroyed(npx: Npx, backup: Backup) -> None:
    assert cli.main(["destroy", "--backups", "--force"]) == 0
    assert backup.asked == []
    backup.vaults = ["Others"]
    assert cli.main(["destroy", "-c", "protect=false", "--backups", "--force"]) == 0
    assert backup.points == ["arn:one", "arn:two"]
    assert (
        cli.main(["destroy", "-c", "protect=false", "-c", "backup-vault=Others", "--backups", "--force"]) == 0
    )
    assert (backup.vaults, backup.points) == ([], [])


def test_destroy_keeps_the_buckets_of_a_protected_stack(npx: Npx, account: Any) -> None:
    _create(account, "Gridview")
    buckets = _fill(account)
    npx.status = 1
    assert cli.main(["destroy", "--force"]) == 1
    assert [len(_keys(bucket)) for bucket in buckets] == [1, 1]
    assert _typed(npx) == [["destroy", "--force"]]


def test_destroy_refuses_a_stack_that_is_still_protected(
    npx: Npx, account: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """With protect=false in the arguments only, CloudFormation keeps the stack, so its buckets keep their objects."""
    _create(account, "Gridview", protection.YES)
    buckets = _fill(account)
    assert cli.main(["destroy", "-c", "protect=false", "--force"]) == 1
    assert [len(_keys(bucket)) for bucket in buckets] == [1, 1]
    assert npx.called == []
    assert "./dev deploy -c protect=false" in capsys.readouterr().err


def test_destroy_goes_on_after_a_bucket_is_gone(npx: Npx, account: Any) -> None:
    """A deletion that failed has deleted some of the buckets already."""
    _create(account, "Gridview")
    _, page = _fill(account)
    s3 = boto3.client("s3", region_name="us-east-1")
    s3.delete_object(Bucket=page, Key="one")
    s3.delete_bucket(Bucket=page)
    assert cli.main(["destroy", "-c", "protect=false", "--force"]) == 0
    assert _keys(_bucket(account, "FailedBatchesBucket")) == []


def test_destroy_reports_a_missing_right(
    npx: Npx, account: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: Any) -> Any:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "ListObjectsV2")

    _create(account, "Gridview")
    monkeypatch.setattr(Buckets, "keys_in", refuse)
    assert cli.main(["destroy", "-c", "protect=false", "--force"]) == 1
    assert "AccessDenied" in capsys.readouterr().err


def _fill(account: Any) -> list[str]:
    """The buckets of the stack, with an object in each."""
    buckets = [_bucket(account, output) for output in ("FailedBatchesBucket", "PageBucket")]
    for bucket in buckets:
        boto3.client("s3", region_name="us-east-1").put_object(Bucket=bucket, Key="one", Body=b"")
    return buckets


def test_an_invalid_setting_is_refused_before_anything_runs(
    npx: Npx, signed_in: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["deploy", "-c", "stage=production"]) == 1
    assert npx.called == []
    assert "stage: one of prod, staging, dev" in capsys.readouterr().err


def test_the_settings_of_the_command_line_are_read_as_cdk_reads_them() -> None:
    assert (
        arguments.settings(["-c", "stage=dev", "--context", "runtime=python3.12"]).stack_name
        == "Gridview-dev"
    )
    with pytest.raises(Failure, match=r"^protect: "):
        arguments.settings(["--context=protect=no"])


@pytest.mark.parametrize("command", ["deploy", "destroy"])
def test_arguments_are_passed_on_and_so_is_the_status(npx: Npx, account: Any, command: str) -> None:
    npx.status = 3
    arguments = ["-c", "protect=false", "--require-approval", "never", "Gridview"]
    assert cli.main([command, *arguments]) == 3
    assert _typed(npx) == [[command, *arguments]]


def test_without_credentials_one_sentence_says_so(npx: Npx, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["destroy"]) == 1
    assert npx.called == []
    output = capsys.readouterr().err
    assert output.startswith("dev: There are no AWS credentials")
    assert len(output.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["--profile", "elsewhere"], ["--profile=elsewhere"]])
def test_a_profile_that_does_not_exist_is_named(
    npx: Npx, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert cli.main(["destroy", *arguments]) == 1
    assert npx.called == []
    assert "elsewhere" in capsys.readouterr().err


def test_the_credentials_of_a_profile_will_do(npx: Npx, tmp_path: Path) -> None:
    (tmp_path / "credentials").write_text(
        "[mine]\naws_access_key_id = one\naws_secret_access_key = two\n", "utf-8"
    )
    assert cli.main(["destroy", "--profile", "mine"]) == 0
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
    assert {"stage", "stack-name", "protect", "first-deployment"} < {name for name, _, _ in described()}
    for name, default, _ in described():
        assert f"  {name}={default} " in text
    assert npx.called == []
