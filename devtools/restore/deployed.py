"""A restore of a deployed stack, up to the deployment that puts the new table in place.

Each step is made once, however often the command is repeated: AWS is asked which steps are done.

1. A policy on the present table denies all writes to it, of any caller. Functions and their concurrency stay as they
   are, so nothing has to be allowed again later. The next deployment leads the functions to the new table, which has
   no such policy.
2. Point-in-time recovery makes the new table.
3. `table_pass` makes it safe to go on with. It has no stream yet, so nothing receives these changes.
4. The settings that a restored table lacks: stream, expiry, point-in-time recovery and protection. Limits of
   throughput are left to the operator.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from devtools.failure import Failure
from devtools.operate import target
from devtools.restore.table_pass import begun, raise_all
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.support import clock

_WRITES: Final = (
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
    "dynamodb:DeleteItem",
    "dynamodb:BatchWriteItem",
    "dynamodb:PartiQLInsert",
    "dynamodb:PartiQLUpdate",
    "dynamodb:PartiQLDelete",
)
"""Writes of transactions are judged as these."""

_DENIED: Final = "AccessDeniedException"
_NOT_FOUND: Final = ("ResourceNotFoundException", "TableNotFoundException")

_REFUSALS: Final = 10
"""Refused writes in succession, a second apart, after which the policy is taken to be in force everywhere."""
_POLICY_SECONDS: Final = 300
_LOOK_SECONDS: Final = 10.0


class Restored(NamedTuple):
    """A table that is ready, by its name and the ARN of its stream."""

    table: str
    stream: str


@dataclass(frozen=True, slots=True)
class Stack:
    """A deployed stack: its name, the table that it uses, and a client of DynamoDB. `described`: the table, None if it is gone."""

    name: str
    table_name: str
    client: Any
    described: dict[str, Any] | None


def open_stack(name: str, profile: str | None) -> Stack:
    """The stack of this name. Failure: it does not exist, or AWS does not answer."""
    try:
        outputs = target.outputs(name, profile)
        if "TableName" not in outputs:
            raise Failure(
                f"The stack {name} has no output TableName. Name a stack of gridview with --stack-name."
            )
        client = boto3.client("dynamodb")
        return Stack(name, outputs["TableName"], client, described(client, outputs["TableName"]))
    except (BotoCoreError, ClientError) as error:
        raise Failure(f"The stack {name} cannot be used: {error}") from error


def restore(
    stack: Stack, at: datetime | None, table: str | None, lost_writes: int | None, say: Callable[[str], None]
) -> Restored:
    """A new table with the data of an instant, ready to be put in place. Failure: see its message."""
    name = table or f"{stack.table_name}-{at:%Y%m%dT%H%M%SZ}"
    if name == stack.table_name:
        raise Failure(
            f"The stack already uses {name}. To restore it again, leave out --table and name another moment."
        )
    if stack.described is None and lost_writes is None:
        raise Failure(
            f"The table {stack.table_name} is gone, so its last issue numbers are unknown. "
            "Give the most issues that a project may have created since the moment: --lost-writes N."
        )
    try:
        if stack.described is not None:
            stop_writes(stack, say)
        _recover(stack, name, at, say)
        pending = begun(Table(name), name, lost_writes)
        if pending is not None:
            say("Raising versions, numbers and epochs ...")
            lost = Table(stack.table_name) if stack.described is not None and lost_writes is None else None
            count = raise_all(Table(name), lost, pending, name)
            say(f"{count:,} items changed.")
        return Restored(name, make_ready(stack, name))
    except (BotoCoreError, ClientError) as error:
        raise Failure(f"The restore stopped. Run the same command again. {error}") from error


def stop_writes(stack: Stack, say: Callable[[str], None]) -> None:
    """Deny all writes to the present table, and wait until a write is refused each time. Failure: it goes on being taken."""
    assert stack.described is not None  # noqa: S101  the caller looks
    arn = stack.described["TableArn"]
    policy = deny_writes(arn)
    if _policy_of(stack.client, arn) != policy:
        say(f"Denying writes to {stack.table_name} ...")
        stack.client.put_resource_policy(ResourceArn=arn, Policy=json.dumps(policy))
    refused, deadline = 0, clock.seconds() + _POLICY_SECONDS
    while refused < _REFUSALS:
        if clock.seconds() > deadline:
            raise Failure(f"Writes to {stack.table_name} still succeed. Run the same command again.")
        refused = refused + 1 if _is_refused(stack) else 0
        clock.sleep(1.0)


def resume_writes(stack: Stack) -> None:
    """Take the policy away again."""
    if stack.described is None:
        raise Failure(f"The table {stack.table_name} is gone.")
    try:
        stack.client.delete_resource_policy(ResourceArn=stack.described["TableArn"])
    except (BotoCoreError, ClientError) as error:
        raise Failure(f"The policy cannot be removed: {error}") from error


def deny_writes(table_arn: str) -> dict[str, Any]:
    """The policy that denies all writes to a table. Reads and the table's own settings stay allowed."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "GridviewRestore",
                "Effect": "Deny",
                "Principal": "*",
                "Action": [*_WRITES],
                "Resource": table_arn,
            }
        ],
    }


def make_ready(stack: Stack, name: str) -> str:
    """Give a restored table the settings that it lacks, those of the present table where there is one; returns its stream's ARN."""
    client = stack.client
    table = _when_active(client, name)
    if not table.get("StreamSpecification", {}).get("StreamEnabled"):
        client.update_table(
            TableName=name,
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
        table = _when_active(client, name)
    expiry = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    if expiry.get("TimeToLiveStatus") not in {"ENABLED", "ENABLING"}:
        client.update_time_to_live(
            TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": keys.TTL_ATTRIBUTE}
        )
    client.update_continuous_backups(
        TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    protected = stack.described is None or stack.described.get("DeletionProtectionEnabled", False)
    if protected and not table.get("DeletionProtectionEnabled", False):
        client.update_table(TableName=name, DeletionProtectionEnabled=True)
        table = _when_active(client, name)
    stream: str = table["LatestStreamArn"]
    return stream


def described(client: Any, name: str) -> dict[str, Any] | None:
    """A table as DynamoDB describes it; None if there is none."""
    try:
        found: dict[str, Any] = client.describe_table(TableName=name)["Table"]
    except ClientError as error:
        if error.response["Error"]["Code"] in _NOT_FOUND:
            return None
        raise
    return found


def _recover(stack: Stack, name: str, at: datetime | None, say: Callable[[str], None]) -> None:
    """Restore the present table to a new one, unless that is there, and wait for it."""
    if described(stack.client, name) is None:
        if stack.described is None:
            raise Failure(
                f"The table {stack.table_name} is gone. Restore its last backup to a new table, and name that table with "
                "--table. A deleted table has a backup for 35 days."
            )
        if at is None:
            raise Failure(f"There is no table {name}. Name a table that exists, or the moment: --at INSTANT.")
        say(f"Restoring {stack.table_name} of {at:%Y-%m-%dT%H:%M:%SZ} to {name} ...")
        stack.client.restore_table_to_point_in_time(
            SourceTableName=stack.table_name, TargetTableName=name, RestoreDateTime=at
        )
    _when_active(stack.client, name)


def _when_active(client: Any, name: str) -> dict[str, Any]:
    """The table, when it and its index are active: a restore takes minutes to hours."""
    while True:
        table: dict[str, Any] = client.describe_table(TableName=name)["Table"]
        indexes = [one["IndexStatus"] for one in table.get("GlobalSecondaryIndexes", ())]
        if {table["TableStatus"], *indexes} == {"ACTIVE"}:
            return table
        clock.sleep(_LOOK_SECONDS)


def _policy_of(client: Any, arn: str) -> Any:
    try:
        return json.loads(client.get_resource_policy(ResourceArn=arn)["Policy"])
    except ClientError as error:
        if error.response["Error"]["Code"] == "PolicyNotFoundException":
            return None
        raise


def _is_refused(stack: Stack) -> bool:
    """Whether a write is refused. Its condition does not hold, so that it changes nothing where it is not."""
    try:
        stack.client.delete_item(
            TableName=stack.table_name,
            Key={keys.PK: {"S": keys.RESTORE}, keys.SK: {"S": "probe"}},
            ConditionExpression="attribute_exists(PK)",
        )
    except ClientError as error:
        return bool(error.response["Error"]["Code"] == _DENIED)
    return False
