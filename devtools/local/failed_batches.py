"""The on-failure destination of the stream's consumer: files, named and written as Lambda does in a bucket."""

import json
import os
import uuid
from datetime import UTC, datetime
from pathlib import Path

from devtools.local.delivery import Reason, Record, sequence_number

_MAPPING = "00000000-0000-0000-0000-000000000000"
"""Names the event source mapping in the names of failed batches. There is only one."""


def keep_batch(
    folder: Path,
    *,
    stream: str,
    shard: str,
    function: str,
    records: list[Record],
    reason: Reason,
    invocations: int,
) -> Path:
    """Keep the records of a failed batch: one file below `folder`, named and written as Lambda does in a bucket.

    All or nothing: the file reaches the folder by a rename, on the disk.
    """
    now = datetime.now(UTC)
    name = f"aws/lambda/{_MAPPING}/{shard}/{now:%Y/%m/%d}/{now:%Y-%m-%dT%H.%M.%S}-{uuid.uuid4()}"
    invocation = {
        "requestContext": {
            "requestId": str(uuid.uuid4()),
            "functionArn": function,
            "condition": reason,
            "approximateInvokeCount": invocations,
        },
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
        "version": "1.0",
        "timestamp": f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z",
        "DDBStreamBatchInfo": {
            "shardId": shard,
            "startSequenceNumber": sequence_number(records[0]),
            "endSequenceNumber": sequence_number(records[-1]),
            "approximateArrivalOfFirstRecord": _arrival(records[0]),
            "approximateArrivalOfLastRecord": _arrival(records[-1]),
            "batchSize": len(records),
            "streamArn": stream,
        },
        "payload": json.dumps({"Records": records}),
    }
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = folder.with_name(f"{folder.name}.new")
    with fresh.open("w", encoding="utf-8") as file:
        json.dump(invocation, file)
        file.flush()
        os.fsync(file.fileno())
    return fresh.replace(path)


def _arrival(record: Record) -> str:
    written = datetime.fromtimestamp(record["dynamodb"]["ApproximateCreationDateTime"], UTC)
    return f"{written:%Y-%m-%dT%H:%M:%SZ}"
