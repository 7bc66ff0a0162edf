"""The stack on which a command works."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, NoCredentialsError
from moto import mock_aws

from devtools.failure import Failure
from devtools.local.folder import Folder, State
from devtools.local.table import TABLE
from devtools.operate import target
from devtools.operate.target import BucketBatches, FailedBatches, FolderBatches
from devtools.restore import deployed as restore
from gridview.dynamodb.table import Table
from gridview.support import aws, forms

OUTPUTS = {
    "TableName": "Gridview-Table",
    "DeadLetterQueueUrl": "https://sqs/dead-letters",
    "FailedBatchesBucket": "failed-batches",
    "ApiUrl": "https://api",
    "StoredFormWritten": str(forms.NEWEST),
}


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    target.register(parser)
    return parser.parse_args(arguments)


class CloudFormation:
    """Knows one stack."""

    def __init__(self, outputs: dict[str, str], error: Exception | None = None) -> None:
        self.outputs, self.error = outputs, error

    def describe_stacks(self, StackName: str) -> dict[str, Any]:  # noqa: N803 - as boto3 has it
        if self.error is not None:
            raise self.error
        if StackName != "Gridview":
            message = f"Stack with id {StackName} does not exist"
            raise ClientError({"Error": {"Code": "ValidationError", "Message": message}}, "DescribeStacks")
        outputs = [{"OutputKey": key, "OutputValue": value} for key, value in self.outputs.items()]
        return {"Stacks": [{"Outputs": outputs}]}


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> CloudFormation:
    made = CloudFormation(dict(OUTPUTS))
    client = boto3.client
    monkeypatch.setattr(
        boto3,
        "client",
        lambda service, **named: made if service == "cloudformation" else client(service, **named),
    )
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # so that the one that is made is forgotten
    return made


@pytest.mark.parametrize("option", [("--stack-name", "Gridview-staging"), ("--profile", "ops")])
def test_a_deployed_stack_that_is_named_without_deployed_is_refused(
    tmp_path: Path, option: tuple[str, str]
) -> None:
    """Otherwise the command would act on the local stack, under the name of another."""
    with pytest.raises(Failure, match="Add --deployed"):
        target.open(parsed("--data", str(tmp_path), *option))


def test_the_deployed_stack_is_the_one_of_prod_unless_it_is_named(deployed: CloudFormation) -> None:
    assert target.open(parsed("--deployed")).label == "Gridview"
    with pytest.raises(Failure, match="Gridview-dev"):
        target.open(parsed("--deployed", "--stack-name", "Gridview-dev"))


def test_without_a_local_stack_that_runs_there_is_nothing_to_open(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="not running"):
        target.open(parsed("--data", str(tmp_path)))


def test_the_local_stack_that_runs_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = "http://127.0.0.1:9/000000000000/letters"
    state = State(api="http://127.0.0.1:7", engine="http://127.0.0.1:8", pid=1, queue=queue)
    monkeypatch.setattr(Folder, "running", lambda _: state)
    opened = target.open(parsed("--data", str(tmp_path)))
    assert (opened.table.name, opened.queue_url, opened.label) == (TABLE, queue, state.api)
    assert opened.queue.meta.endpoint_url == "http://127.0.0.1:9"
    assert list(opened.batches.names()) == []


def test_a_deployed_stack_is_known_by_its_outputs(deployed: CloudFormation) -> None:
    with mock_aws():
        client: Any = boto3.client("s3")
        client.create_bucket(Bucket="failed-batches")
        client.put_object(Bucket="failed-batches", Key="aws/lambda/x", Body=b"1")
        opened = target.open(parsed("--deployed"))
        assert (opened.table.name, opened.queue_url) == (OUTPUTS["TableName"], OUTPUTS["DeadLetterQueueUrl"])
        assert list(opened.batches.names()) == ["aws/lambda/x"]
        assert opened.label == "Gridview"


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deployed: CloudFormation) -> Iterator[None]:
    """An AWS configuration with a profile `ops`, of other credentials and another region than the environment's."""
    (tmp_path / "config").write_text("[profile ops]\nregion = eu-west-1\n")
    (tmp_path / "credentials").write_text("[ops]\naws_access_key_id = OPS\naws_secret_access_key = s\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    yield
    aws.use_profile(None)


def caller(client: Any) -> tuple[str, str]:
    """The access key and the region of a client."""
    return client._get_credentials().access_key, client.meta.region_name


@pytest.mark.usefixtures("profiles")
def test_every_client_of_a_deployed_stack_uses_the_profile() -> None:
    """Credentials in the environment are those of another account, perhaps with a table of the same name."""
    opened = target.open(parsed("--deployed", "--profile", "ops"))
    opened.table.connect()
    assert caller(opened.queue) == caller(opened.table._client) == ("OPS", "eu-west-1")


@pytest.mark.usefixtures("profiles")
def test_a_restore_uses_the_profile_for_the_table_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restore, "described", lambda *_: None)
    stack = restore.open_stack("Gridview", "ops")
    table = Table(stack.table_name)
    table.connect()
    assert caller(stack.client) == caller(table._client) == ("OPS", "eu-west-1")


def test_repairs_of_a_deployed_stack_write_the_form_of_its_functions(
    deployed: CloudFormation, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = forms.NEWEST + 1
    monkeypatch.setattr(forms, "NEWEST", newer)
    for said, written in ((newer, True), (forms.OLDEST, False), (newer + 7, True)):
        deployed.outputs["StoredFormWritten"] = str(said)
        target.open(parsed("--deployed"))
        assert forms.writes(newer) is written


def test_a_stack_that_is_not_there_or_of_another_kind_is_a_sentence(deployed: CloudFormation) -> None:
    with pytest.raises(Failure, match="Stack with id Other does not exist"):
        target.open(parsed("--deployed", "--stack-name", "Other"))
    del deployed.outputs["FailedBatchesBucket"]
    with pytest.raises(Failure, match="no output FailedBatchesBucket"):
        target.open(parsed("--deployed"))
    deployed.error = NoCredentialsError()
    with pytest.raises(Failure, match="AWS cannot be used"):
        target.open(parsed("--deployed"))


@pytest.mark.parametrize("kind", ["folder", "bucket"])
def test_failed_batches_are_named_read_and_removed(kind: str, tmp_path: Path) -> None:
    names = [f"aws/lambda/m/s/2026/01/0{day}/batch-{day}" for day in range(1, 4)]
    with mock_aws():
        batches: FailedBatches = FolderBatches(tmp_path / "batches")
        if kind == "bucket":
            client: Any = boto3.client("s3")
            client.create_bucket(Bucket="failed-batches")
            batches = BucketBatches("failed-batches", client)
            for name in names:
                client.put_object(Bucket="failed-batches", Key=name, Body=name.encode())
        assert kind == "bucket" or list(batches.names()) == []
        for name in names if kind == "folder" else []:
            path = tmp_path / "batches" / name
            path.parent.mkdir(parents=True)
            path.write_text(name)
        assert sorted(batches.names()) == names
        assert batches.read(names[0]) == names[0].encode()
        for _ in range(2):
            batches.remove(names[0])
        assert batches.read(names[0]) is None
        assert sorted(batches.names()) == names[1:]
