"""`./dev forget`: the data outside the table that it removes, and its report."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import boto3
import pytest
from moto import mock_aws

from devtools.operate.forget import Bucket, FolderFiles, described, holding, remove_users
from devtools.operate.forgetting.person import Traces
from devtools.operate.target import FolderBatches


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
    assert holding(FolderBatches(tmp_path), "ann-1") == ["one"]


def test_a_pass_is_one_line() -> None:
    found = Traces()
    assert described(found) == "Rewritten: nothing. Waiting for background work: nothing."
    found.rewritten["issue"] += 1_200
    found.waiting["block"] += 2
    assert described(found) == "Rewritten: 1,200 issue. Waiting for background work: 2 block."
