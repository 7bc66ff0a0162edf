"""The CreateTable request of the local engine. It uses the same constants as the CDK construct, and a test compares the two."""

import time
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from gridview.encoding import keys

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import (
        CreateTableInputTypeDef,
        StreamSpecificationTypeDef,
        TableDescriptionTypeDef,
    )

TABLE = "gridview"
"""The name of the local stack's table."""

_WAIT_SECONDS = 30
_STREAM: "StreamSpecificationTypeDef" = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def create_table_input(name: str) -> "CreateTableInputTypeDef":
    """The CreateTable request for a table of this name."""
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": "S"} for attribute in (keys.PK, keys.SK, keys.SORT)
        ],
        "KeySchema": [
            {"AttributeName": keys.PK, "KeyType": "HASH"},
            {"AttributeName": keys.SK, "KeyType": "RANGE"},
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": keys.GSI1,
                "KeySchema": [
                    {"AttributeName": keys.SK, "KeyType": "HASH"},
                    {"AttributeName": keys.SORT, "KeyType": "RANGE"},
                ],
                "Projection": {
                    "ProjectionType": "INCLUDE",
                    "NonKeyAttributes": list(keys.PROJECTED_ATTRIBUTES),
                },
            }
        ],
        "StreamSpecification": _STREAM,
    }


def ensure(client: "DynamoDBClient", name: str) -> str:
    """Create the table, with expiry and a stream, unless it exists, and wait until it is active. Returns the ARN of its stream."""
    table = ensure_without_stream(client, name)
    if not is_streamed(table):
        client.update_table(TableName=name, StreamSpecification=_STREAM)
        table = _when_active(client, name)
    return table["LatestStreamArn"]


def ensure_without_stream(client: "DynamoDBClient", name: str) -> "TableDescriptionTypeDef":
    """The same for a table that is to be filled first: without a stream, and a write costs less."""
    request = create_table_input(name)
    del request["StreamSpecification"]
    try:
        client.create_table(**request)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceInUseException":
            raise
    table = _when_active(client, name)
    expiry = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    if expiry.get("TimeToLiveStatus") not in {"ENABLED", "ENABLING"}:
        client.update_time_to_live(
            TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": keys.TTL_ATTRIBUTE}
        )
    return table


def is_streamed(table: "TableDescriptionTypeDef") -> bool:
    """Whether a table has a stream. The ARN of one that was switched off stays with the table."""
    return table.get("StreamSpecification", {}).get("StreamEnabled", False)


def _when_active(client: "DynamoDBClient", name: str) -> "TableDescriptionTypeDef":
    deadline = time.monotonic() + _WAIT_SECONDS
    while (table := client.describe_table(TableName=name)["Table"])["TableStatus"] != "ACTIVE":
        if time.monotonic() > deadline:
            raise TimeoutError(f"the table is still {table['TableStatus']}")
        time.sleep(0.1)
    return table
