"""The stack that an operator's command works on, local or deployed: its table, dead letters and failed batches."""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from devtools.arguments import add_data
from devtools.failure import Failure
from devtools.local import engine
from devtools.local.environment import REGION
from devtools.local.folder import Folder
from devtools.local.table import TABLE
from gridview.dynamodb.table import Table
from gridview.support import aws, forms

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

DEFAULT_STACK = "Gridview"

_NEEDED = ("TableName", "DeadLetterQueueUrl", "FailedBatchesBucket", "StoredFormWritten")


class FailedBatches(Protocol):
    """The store of failed batches, each whole and under a name."""

    def names(self) -> Iterator[str]:
        """All names, in any order."""

    def read(self, name: str) -> bytes | None:
        """The content under a name; None when it is gone."""

    def remove(self, name: str) -> None:
        """Delete a batch; nothing happens when it is gone."""


class FolderBatches:
    """The failed batches of a local stack, a file each."""

    def __init__(self, folder: Path) -> None:
        """The folder need not exist yet."""
        self._folder = folder

    def names(self) -> Iterator[str]:
        """Paths below the folder."""
        return (
            path.relative_to(self._folder).as_posix() for path in self._folder.rglob("*") if path.is_file()
        )

    def read(self, name: str) -> bytes | None:
        """A file's content."""
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> None:
        """Delete a file. Its folder stays, since another file may be on its way there."""
        (self._folder / name).unlink(missing_ok=True)


class BucketBatches:
    """The failed batches of a deployed stack, an S3 object each."""

    def __init__(self, bucket: str, client: Any) -> None:
        """`client` is an S3 client."""
        self._bucket = bucket
        self._client = client

    def names(self) -> Iterator[str]:
        """The objects' keys: a request for each 1,000."""
        for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket):
            for found in page.get("Contents", []):
                yield found["Key"]

    def read(self, name: str) -> bytes | None:
        """An object's content."""
        try:
            content: bytes = self._client.get_object(Bucket=self._bucket, Key=name)["Body"].read()
        except self._client.exceptions.NoSuchKey:
            return None
        return content

    def remove(self, name: str) -> None:
        """Delete an object."""
        self._client.delete_object(Bucket=self._bucket, Key=name)


@dataclass(frozen=True, slots=True)
class Target:
    """A stack to work on. Calls of its table raise Overloaded; the others raise boto3's errors."""

    table: Table
    queue: "SQSClient"
    queue_url: str
    """The URL of the dead-letter queue."""
    batches: FailedBatches
    label: str
    """The stack's name, for people."""
    outputs: Mapping[str, str] = field(default_factory=dict)
    """The outputs of a deployed stack; the local one has none."""


def register(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose the stack: the local one unless `--deployed`."""
    group = parser.add_argument_group("stack (default: the local one)")
    add_data(group)
    group.add_argument(
        "--deployed", action="store_true", help="use the stack in the AWS account of the active credentials"
    )
    group.add_argument(
        "--stack-name",
        metavar="NAME",
        help=f"name of the deployed stack, with --deployed (default: {DEFAULT_STACK})",
    )
    group.add_argument("--profile", metavar="NAME", help="AWS profile, for --deployed")


def open(parsed: argparse.Namespace) -> Target:  # noqa: A001 - target.open() is what it is called as
    """The stack that the options name. Failure when there is none, it cannot be reached, or two are named."""
    if parsed.deployed:
        return _deployed(parsed.stack_name or DEFAULT_STACK, parsed.profile)
    if parsed.stack_name or parsed.profile:
        raise Failure(
            "--stack-name and --profile work with a deployed stack only. Add --deployed, or leave them out."
        )
    return _local(Folder(parsed.data))


def _local(folder: Folder) -> Target:
    state = folder.require_running()
    client = engine.signed(engine.client(state.engine))
    parts = urlsplit(state.queue)
    queue = boto3.client(
        "sqs",
        endpoint_url=f"{parts.scheme}://{parts.netloc}",
        region_name=REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 - the queue wants one and looks at none
    )
    return Target(Table(TABLE, client), queue, state.queue, FolderBatches(folder.failed_batches), state.api)


def _deployed(name: str, profile: str | None) -> Target:
    try:
        found = outputs(name, profile)
        missing = [output for output in _NEEDED if output not in found]
        if missing:
            raise Failure(
                f"The stack {name} has no output {missing[0]}. Name a stack of gridview with --stack-name."
            )
        # The stack's functions read the items that this command repairs.
        forms.write_up_to(min(int(found["StoredFormWritten"]), forms.NEWEST))
        return Target(
            Table(found["TableName"]),
            boto3.client("sqs"),
            found["DeadLetterQueueUrl"],
            BucketBatches(found["FailedBatchesBucket"], boto3.client("s3")),
            name,
            found,
        )
    except BotoCoreError as error:
        raise Failure(f"AWS cannot be used: {error}") from error


def outputs(name: str, profile: str | None) -> dict[str, str]:
    """The outputs of a deployed stack. Failure if there is none of that name; BotoCoreError.

    Clients that are made afterwards use the profile: boto3's, and those of the core, which makes the table's.
    """
    boto3.setup_default_session(profile_name=profile)
    aws.use_profile(profile)
    return {output["OutputKey"]: output["OutputValue"] for output in _described(name).get("Outputs", [])}


def _described(name: str) -> Any:
    """CloudFormation's description of a stack. Failure if there is none of that name."""
    try:
        return boto3.client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as error:
        message = error.response["Error"].get("Message", "")
        raise Failure(f"The stack {name} cannot be looked up: {message}") from error
