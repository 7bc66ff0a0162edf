"""`./dev synth`, `deploy` and `destroy`: what they hand to `npx cdk`, and in which order at the first and the last deployment."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import botocore.session  # noqa: F401  (urllib3 tries a socket when it is imported; no test may)
import pytest
from moto import mock_aws

from devtools import cli
from devtools.deployed import arguments
from devtools.deployed.account import Account
from devtools.failure import Failure
from devtools.local import page_build
from gridview.support import forms
from infra.paths import ROOT
from infra.settings import told

NPX = "/somewhere/npx"


class Npx:
    """Stands in for the CDK command line: notes how it was called and ends with `status`."""

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


@pytest.fixture(autouse=True)
def dist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A page that is built already."""
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / ".made-from").write_text("1f")
    (folder / "index.html").write_text("<!doctype html>")
    (folder / "assets" / "a-1f.js").write_text("1")
    monkeypatch.setattr(page_build, "DIST", folder)
    monkeypatch.setattr(page_build, "build", lambda say: say("Building the page ..."))
    return folder


@pytest.fixture
def signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "one")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "two")


def test_synth_needs_no_account(npx: Npx) -> None:
    assert cli.main(["synth"]) == 0
    assert npx.called == [([NPX, "--no-install", "cdk", "synth", "--quiet"], ROOT)]


@pytest.fixture
def account(npx: Npx, signed_in: None) -> Iterator[Any]:
    """An account without a stack, as moto has it."""
    with mock_aws():
        yield boto3.client("cloudformation", region_name="us-east-1")


def _create(account: Any, name: str, *, form: int = forms.NEWEST) -> None:
    """A stack with what these commands ask a stack for."""
    told = f""""Forms": {{"Value": "{form}"}},"""
    body = """{"Resources": {"Batches": {"Type": "AWS::S3::Bucket"}, "Files": {"Type": "AWS::S3::Bucket"}},
               "Outputs": {%s
                           "FailedBatchesBucket": {"Value": {"Ref": "Batches"}},
                           "PageBucket": {"Value": {"Ref": "Files"}},
                           "PageConfig": {"Value": "{\\"auth\\": \\"cognito\\"}"},
                           "PageUrl": {"Value": "https://page.example.org"}}}"""
    account.create_stack(StackName=name, TemplateBody=body % told)


def _bucket(account: Any, output: str) -> str:
    """The bucket of this output of the stack."""
    (stack,) = account.describe_stacks()["Stacks"]
    (name,) = (one["OutputValue"] for one in stack["Outputs"] if one["OutputKey"] == output)
    return str(name)


def _keys(bucket: str) -> list[str]:
    s3 = boto3.client("s3", region_name="us-east-1")
    return [one["Key"] for one in s3.list_objects_v2(Bucket=bucket).get("Contents", ())]


def _objects(bucket: str) -> dict[str, tuple[str, str, bytes]]:
    """The type, the `Cache-Control` and the content of each object in a bucket."""
    s3 = boto3.client("s3", region_name="us-east-1")
    answers = {key: s3.get_object(Bucket=bucket, Key=key) for key in _keys(bucket)}
    return {
        key: (one["ContentType"], one["CacheControl"], one["Body"].read()) for key, one in answers.items()
    }


def _typed(npx: Npx) -> list[list[str]]:
    """What was typed after `npx --no-install cdk`, each time."""
    assert all(command[:3] == [NPX, "--no-install", "cdk"] and cwd == ROOT for command, cwd in npx.called)
    return [command[3:] for command, _ in npx.called]


def test_a_first_deployment_is_protected_when_it_has_succeeded(npx: Npx, account: Any) -> None:
    npx.after = lambda: _create(account, "Gridview-staging") if len(npx.called) == 1 else None
    assert cli.main(["deploy", "-c", "stage=staging", "--require-approval", "never"]) == 0
    more = ["-c", "stage=staging", "--require-approval", "never"]
    assert _typed(npx) == [["deploy", "-c", "first=true", *more], ["deploy", *more]]


def test_a_failed_first_deployment_is_repeated_as_a_first_one(npx: Npx, account: Any) -> None:
    npx.status = 1
    assert cli.main(["deploy"]) == 1
    assert cli.main(["deploy"]) == 1
    assert _typed(npx) == [["deploy", "-c", "first=true"]] * 2


@pytest.mark.parametrize("status", ["ROLLBACK_COMPLETE", "REVIEW_IN_PROGRESS", "CREATE_FAILED"])
def test_what_is_left_of_a_failed_one_counts_as_new(
    account: Any, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    monkeypatch.setattr(Account, "status", lambda *_: status)
    assert Account(None).is_new("Gridview")


@pytest.mark.parametrize("status", ["UPDATE_ROLLBACK_COMPLETE", "UPDATE_COMPLETE", "DELETE_FAILED"])
def test_a_stack_with_data_does_not(account: Any, monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    monkeypatch.setattr(Account, "status", lambda *_: status)
    assert not Account(None).is_new("Gridview")


@pytest.mark.parametrize("more", [["-c", "protect=false"], ["-c", "stage=dev"], ["--context=first=true"]])
def test_what_is_not_to_be_protected_is_deployed_once(npx: Npx, account: Any, more: list[str]) -> None:
    npx.after = lambda: _create(account, "Gridview")
    assert cli.main(["deploy", *more]) == 0
    assert _typed(npx) == [["deploy", *more]]


def test_a_deployment_says_how_much_concurrency_there_is_unless_that_is_chosen(
    npx: Npx, account: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _create(account, "Gridview-dev")
    monkeypatch.setattr(Account, "concurrency", lambda *_: 640)
    assert cli.main(["deploy", "-c", "stage=dev"]) == 0
    assert cli.main(["deploy", "-c", "stage=dev", "-c", "account-concurrency=10"]) == 0
    assert _typed(npx) == [
        ["deploy", "-c", "stage=dev", "-c", "account-concurrency=640"],
        ["deploy", "-c", "stage=dev", "-c", "account-concurrency=10"],
    ]


class Functions:
    """Lambda's answers about an account in which this stack has reserved 360 of 1,000, and others 40."""

    def get_account_settings(self) -> dict[str, Any]:
        return {"AccountLimit": {"ConcurrentExecutions": 1_000, "UnreservedConcurrentExecutions": 600}}

    def get_function_concurrency(self, FunctionName: str) -> dict[str, int]:  # noqa: N803
        reserved = {"live": 270, "socket": 90}
        return {"ReservedConcurrentExecutions": reserved[FunctionName]} if FunctionName in reserved else {}


def test_what_the_stack_itself_has_reserved_is_there_for_it(
    account: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, client = Account(None), Account._client
    monkeypatch.setattr(
        Account, "_client", lambda self, name: Functions() if name == "lambda" else client(self, name)
    )
    monkeypatch.setattr(Account, "_functions", lambda *_: ["query", "live", "socket"])
    assert found.concurrency("Gridview") == 960
    monkeypatch.setattr(Account, "_functions", lambda *_: [])
    assert found.concurrency("Gridview") == 600


def test_a_deployment_of_a_stack_that_is_there_keeps_its_protection(npx: Npx, account: Any) -> None:
    _create(account, "Gridview")
    assert cli.main(["deploy"]) == 0
    assert _typed(npx) == [["deploy"]]


def test_the_deployment_that_brings_a_stored_form_does_not_write_it(
    npx: Npx, account: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it lasts, containers of the version before are at work, and read what is written."""
    present, brought = forms.NEWEST, forms.NEWEST + 1
    monkeypatch.setattr(forms, "NEWEST", brought)
    _create(account, "Gridview", form=present)
    chosen = ["-c", f"forms={brought}"]
    assert cli.main(["deploy", *chosen]) == 0
    assert cli.main(["deploy"]) == 0
    assert _typed(npx) == [["deploy", *chosen, "-c", f"forms={present}"], ["deploy"]]
    assert capsys.readouterr().out.count(f"This deployment brings the stored form {brought}") == 1


def test_the_page_is_uploaded_once_the_stack_is_there(
    npx: Npx, account: Any, dist: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    npx.after = lambda: _create(account, "Gridview")
    assert cli.main(["deploy", "-c", "protect=false"]) == 0
    fresh, kept = "no-cache", "public, max-age=31536000, immutable"
    assert _objects(_bucket(account, "PageBucket")) == {
        "index.html": ("text/html; charset=utf-8", fresh, b"<!doctype html>"),
        "config.json": ("application/json", fresh, b'{"auth": "cognito"}'),
        "assets/a-1f.js": ("text/javascript; charset=utf-8", kept, b"1"),
    }
    assert capsys.readouterr().out.endswith("The page is at https://page.example.org\n")


def test_what_only_an_older_page_had_goes_when_the_newer_one_is_whole(
    npx: Npx, account: Any, dist: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _create(account, "Gridview")
    assert cli.main(["deploy"]) == 0
    (dist / "assets" / "a-1f.js").rename(dist / "assets" / "a-2e.js")
    noted: list[str] = []
    put, remove = Account.put, Account.remove

    def noting_put(self: Account, bucket: str, key: str, content: bytes, **headers: str) -> None:
        noted.append(key)
        put(self, bucket, key, content, **headers)

    def noting_remove(self: Account, bucket: str, keys: list[str]) -> None:
        noted.extend(keys)
        remove(self, bucket, keys)

    monkeypatch.setattr(Account, "put", noting_put)
    monkeypatch.setattr(Account, "remove", noting_remove)
    assert cli.main(["deploy"]) == 0
    assert noted[-2:] == ["index.html", "assets/a-1f.js"]
    assert set(_objects(_bucket(account, "PageBucket"))) == {"index.html", "config.json", "assets/a-2e.js"}


@pytest.mark.parametrize(("more", "status"), [([], 1), (["-c", "page=false"], 0)])
def test_nothing_is_uploaded_for_a_failed_deployment_or_without_a_page(
    npx: Npx, account: Any, more: list[str], status: int
) -> None:
    _create(account, "Gridview")
    npx.status = status
    assert cli.main(["deploy", *more]) == status
    assert _objects(_bucket(account, "PageBucket")) == {}


def test_a_page_that_cannot_be_built_stops_the_deployment_before_it_begins(
    npx: Npx, account: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(say: object) -> None:
        raise Failure("The page could not be built; see web.log.")

    monkeypatch.setattr(page_build, "build", build)
    assert cli.main(["deploy"]) == 1
    assert npx.called == []


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


def test_destroy_leaves_the_buckets_of_a_protected_stack_alone(npx: Npx, account: Any) -> None:
    _create(account, "Gridview")
    buckets = _fill(account)
    npx.status = 1
    assert cli.main(["destroy", "--force"]) == 1
    assert [len(_keys(bucket)) for bucket in buckets] == [1, 1]
    assert _typed(npx) == [["destroy", "--force"]]


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


def test_the_credentials_of_a_profile_will_do(
    npx: Npx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Account, "status", lambda *_: "UPDATE_COMPLETE")
    monkeypatch.setattr(Account, "outputs", lambda *_: {})
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
    assert {"stage", "stack-name", "protect", "first"} < {name for name, _, _ in told()}
    for name, default, _ in told():
        assert f"  {name}={default} " in text
    assert npx.called == []
