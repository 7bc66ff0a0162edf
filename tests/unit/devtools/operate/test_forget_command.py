"""`./dev forget`: the data outside the table that it removes, and its report."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import boto3
import pytest
from moto import mock_aws

from devtools import cli
from devtools.operate import target
from devtools.operate.forget import Bucket, FolderFiles, described, holding, remove_users
from devtools.operate.forgetting.person import NoFiles, Traces
from devtools.operate.forgetting.tenant import forget_tenant
from devtools.operate.target import FolderBatches, Target
from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands import projects
from gridview.commands.actor import Actor, Role
from gridview.encoding import keys
from gridview.maintenance.waiting import Batch
from gridview.schema.store import Catalogs
from gridview.support import clock


def in_a_minute() -> float:
    return datetime.now(UTC).timestamp() + 60


@pytest.fixture
def aws() -> Iterator[None]:
    with mock_aws():
        yield


class UserPool:
    """Replaces Cognito's client: two users of one tenant and one of another, a page each."""

    def __init__(self) -> None:
        self.users = {"ann": ("0807", "sub-a"), "bob": ("0807", "sub-b"), "cat": ("3cc8", "sub-c")}

    def get_paginator(self, operation: str) -> Self:
        assert operation == "list_users"
        return self

    def paginate(self, UserPoolId: str) -> Iterator[Any]:  # noqa: N803
        assert UserPoolId == "pool"
        for name, (tenant, sub) in list(self.users.items()):
            attributes = [{"Name": "custom:tenant", "Value": tenant}, {"Name": "sub", "Value": sub}]
            yield {"Users": [{"Username": name, "Attributes": attributes}]}

    def admin_delete_user(self, UserPoolId: str, Username: str) -> None:  # noqa: N803
        assert UserPoolId == "pool"
        del self.users[Username]


def test_a_person_or_all_of_a_tenant_leave_the_user_pool() -> None:
    client = UserPool()
    assert remove_users(client, "pool", "3cc8", "sub-a") == 0, "a user of another tenant"
    assert remove_users(client, "pool", "0807", "sub-a") == 1
    assert [*client.users] == ["bob", "cat"]
    assert remove_users(client, "pool", "0807", None) == 1
    assert [*client.users] == ["cat"]


def test_files_and_uploads_of_the_tenant_leave_the_bucket_unless_they_are_new(aws: None) -> None:
    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket="exports")
    for key in ("files/0807/35e9/a.csv", "tails/0807/35e9/a/b", "files/08071/35e9/a.csv"):
        client.put_object(Bucket="exports", Key=key, Body=b"x")
    client.create_multipart_upload(Bucket="exports", Key="files/0807/35e9/b.csv")
    bucket = Bucket(client, "exports")
    bucket.remove("0807", in_a_minute() - 3_600)
    assert len(client.list_objects_v2(Bucket="exports")["Contents"]) == 3
    bucket.remove("0807", in_a_minute())
    kept = [one["Key"] for one in client.list_objects_v2(Bucket="exports")["Contents"]]
    assert kept == ["files/08071/35e9/a.csv"]
    assert "Uploads" not in client.list_multipart_uploads(Bucket="exports")


def test_files_of_the_tenant_leave_the_folder_of_a_local_stack(tmp_path: Path) -> None:
    for path in ("files/0807/35e9/a.csv", "tails/0807/35e9/a/b", "files/3cc8/35e9/a.csv"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    FolderFiles(tmp_path).remove("0807", in_a_minute())
    FolderFiles(tmp_path / "none").remove("0807", in_a_minute())
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["a.csv"]
    assert (tmp_path / "files/3cc8/35e9/a.csv").is_file()


def test_failed_batches_that_hold_the_id_are_named(tmp_path: Path) -> None:
    (tmp_path / "one").write_text('{"by": {"S": "ann-1"}}')
    (tmp_path / "two").write_text("{}")
    assert holding(FolderBatches(tmp_path), "0807", "ann-1") == ["one"]


def test_a_tenant_is_in_the_failed_batches_of_its_own_issues_only(tmp_path: Path) -> None:
    """Its id may be a number that occurs in another tenant's values."""
    for name, tenant in (("own", "0807"), ("other", "3cc8")):
        item = {"PK": keys.issue(tenant, "35e9", 807), "SK": keys.project(tenant, "35e9"), "name": "08070807"}
        content = Batch([record(1, None, item)], recorded=False, reason="RetryAttemptsExhausted").encoded()
        (tmp_path / name).write_bytes(content)
    (tmp_path / "unreadable").write_text('{"issue": "0807"}')
    assert holding(FolderBatches(tmp_path), "0807", None) == ["own", "unreadable"]


def test_without_a_terminal_the_question_names_the_option(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(target, "open", lambda _: Target(MemoryTable(), None, "", None, "the test"))  # type: ignore[arg-type]
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert cli.main(["forget", "--tenant", "0807"]) == 1
    assert "add --yes" in capsys.readouterr().err


def test_a_pass_is_one_line() -> None:
    found = Traces()
    assert described(found) == "Rewritten: nothing. Waiting for background work: nothing."
    found.rewritten["issue"] += 1_200
    found.waiting["block"] += 2
    assert described(found) == "Rewritten: 1,200 issue. Waiting for background work: 2 block."


def test_a_deleted_project_that_only_upkeep_can_remove_is_left_to_the_next_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, admin = MemoryTable(), Actor("0807", "ada", Role.ADMIN)
    projects.create_project(table, admin, {"name": "Bridge", "id": "35e9"})
    projects.delete_project(table, Catalogs(), admin, "35e9", None)
    in_eight_days = clock.seconds() + 8 * 86_400
    monkeypatch.setattr(clock, "seconds", lambda: in_eight_days)
    monkeypatch.setattr(
        clock, "now", lambda: f"{datetime.fromtimestamp(in_eight_days, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
    )
    left = forget_tenant(table, "0807", wait=lambda _: None, files=NoFiles(), settling=0, tokens=0, most=1)
    assert left > 0
