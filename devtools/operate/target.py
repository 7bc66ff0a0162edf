"""What an operator's command works on: the local stack that runs, or a deployed one. Its table, dead letters and failed batches."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from devtools import paths
from devtools.failure import Failure
from devtools.local import engine, stack
from devtools.local.environment import REGION
from devtools.local.folder import Folder
from gridview.dynamodb.fast_parser import parse_fast
from gridview.dynamodb.table import Table

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

DEFAULT_STACK = "Gridview"

_CONNECTIONS = 32
_NEEDED = ("TableName", "DeadLetterQueueUrl", "FailedBatchesBucket")


class FailedBatches(Protocol):
    """Where batches are kept that the stream's mapping gave up, each whole, under a name."""

    def names(self) -> Iterator[str]:
        """The names of all, in any order."""

    def read(self, name: str) -> bytes | None:
        """What is kept under a name; None when it is gone."""

    def remove(self, name: str) -> None:
        """Forget one; nothing happens when it is gone."""


class FolderBatches:
    """Those of a local stack: a file each."""

    def __init__(self, folder: Path) -> None:
        """There may be no such folder yet."""
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
        """Unlink a file. The folder it was in stays: another one may be coming into it."""
        (self._folder / name).unlink(missing_ok=True)


class BucketBatches:
    """Those of a deployed stack: an object of S3 each."""

    def __init__(self, bucket: str, client: Any) -> None:
        """`client` is one of S3."""
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
    """A stack to work on. Calls of its table raise Overloaded, the other ones what boto3 raises."""

    table: Table
    queue: "SQSClient"
    queue_url: str
    """Of the dead letters."""
    batches: FailedBatches
    label: str
    """Names it for a person."""


def register(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which stack: the local one unless `--deployed`."""
    group = parser.add_argument_group("which stack (the local one unless --deployed)")
    group.add_argument(
        "--data",
        metavar="DIR",
        type=Path,
        default=paths.DEFAULT_DATA,
        help="the local stack's data folder (default: .data)",
    )
    group.add_argument(
        "--deployed", action="store_true", help="the stack in the AWS account whose credentials are active"
    )
    group.add_argument(
        "--stack-name",
        metavar="NAME",
        default=DEFAULT_STACK,
        help=f"of the deployed stack (default: {DEFAULT_STACK})",
    )
    group.add_argument("--profile", metavar="NAME", help="of the AWS credentials, for --deployed")


def open(parsed: argparse.Namespace) -> Target:  # noqa: A001 - target.open() is what it is called as
    """The stack that the options name. Failure when there is none, or it cannot be reached."""
    return _deployed(parsed.stack_name, parsed.profile) if parsed.deployed else _local(Folder(parsed.data))


def _local(folder: Folder) -> Target:
    state = folder.require_running()
    client = engine.client(state.engine, Config(max_pool_connections=_CONNECTIONS))
    parse_fast(client)
    parts = urlsplit(state.queue)
    queue = boto3.client(
        "sqs",
        endpoint_url=f"{parts.scheme}://{parts.netloc}",
        region_name=REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 - the queue wants one and looks at none
    )
    return Target(
        Table(stack.TABLE, client), queue, state.queue, FolderBatches(folder.failed_batches), state.api
    )


def _deployed(name: str, profile: str | None) -> Target:
    try:
        # `storage` and the others make their clients from the default session.
        boto3.setup_default_session(profile_name=profile)
        outputs = _outputs(name)
        missing = [output for output in _NEEDED if output not in outputs]
        if missing:
            raise Failure(
                f"The stack {name} has no output {missing[0]}: it is of an older version, or another stack."
            )
        return Target(
            Table(outputs["TableName"]),
            boto3.client("sqs"),
            outputs["DeadLetterQueueUrl"],
            BucketBatches(outputs["FailedBatchesBucket"], boto3.client("s3")),
            name,
        )
    except BotoCoreError as error:
        raise Failure(f"AWS cannot be used: {error}") from error


def _outputs(name: str) -> dict[str, str]:
    try:
        found = boto3.client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as error:
        message = error.response["Error"].get("Message", "")
        raise Failure(f"The stack {name} cannot be looked up: {message}") from error
    return {output["OutputKey"]: output["OutputValue"] for output in found.get("Outputs", [])}
