"""A client of a DynamoDB stream on a local engine. It speaks the service's JSON itself.

botocore would turn each record into Python values, and the pump would turn them back, since Lambda's events hold the JSON that
the service sends. Most records of a stream are derived items that the filter drops; for them the conversion is nearly all the
work.
"""

import http.client
import json
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from devtools.local.delivery import Record
from devtools.local.environment import REGION

_TIMEOUT_SECONDS = 60
_STREAMS = "DynamoDBStreams_20120810"
_TABLES = "DynamoDB_20120810"

TRIMMED = "TrimmedDataAccessException"
EXPIRED = "ExpiredIteratorException"
NOT_FOUND = "ResourceNotFoundException"


class StreamError(Exception):
    """The engine refused a call; `code` is the name of the exception."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Shard(NamedTuple):
    """A part of a stream. Its records follow those of its parent."""

    id: str
    parent: str | None


class Page(NamedTuple):
    """Some records of a shard, and where to go on. Without `next` the shard is closed and read to its end."""

    records: list[Record]
    next: str | None


class Source(Protocol):
    """The calls of a stream that the pump needs."""

    def shards(self, stream: str) -> list[Shard]:
        """The shards of a stream."""

    def iterator(self, stream: str, shard: str, after: str | None) -> str:
        """The place from which to read a shard: after a sequence number, or from its oldest record."""

    def read(self, stream: str, iterator: str, limit: int) -> Page:
        """Up to `limit` records from an iterator, as Lambda delivers them."""


class StreamClient:
    """One connection to the engine. Two threads must not use it at once."""

    def __init__(self, endpoint: str) -> None:
        """Connects at the first call, and again after the connection is lost."""
        self._http = http.client.HTTPConnection(urlsplit(endpoint).netloc, timeout=_TIMEOUT_SECONDS)

    def stream_of(self, table: str) -> str:
        """The ARN of a table's stream."""
        arn: str = self._call(_TABLES, "DescribeTable", {"TableName": table})["Table"]["LatestStreamArn"]
        return arn

    def shards(self, stream: str) -> list[Shard]:
        """The shards of a stream."""
        found: list[Shard] = []
        request = {"StreamArn": stream}
        while True:
            description = self._call(_STREAMS, "DescribeStream", request)["StreamDescription"]
            found += [Shard(shard["ShardId"], shard.get("ParentShardId")) for shard in description["Shards"]]
            last = description.get("LastEvaluatedShardId")
            if not last:
                return found
            request = {"StreamArn": stream, "ExclusiveStartShardId": last}

    def iterator(self, stream: str, shard: str, after: str | None) -> str:
        """The place from which to read a shard: after a sequence number, or from its oldest record."""
        request = {"StreamArn": stream, "ShardId": shard}
        if after is None:
            request |= {"ShardIteratorType": "TRIM_HORIZON"}
        else:
            request |= {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": after}
        iterator: str = self._call(_STREAMS, "GetShardIterator", request)["ShardIterator"]
        return iterator

    def read(self, stream: str, iterator: str, limit: int) -> Page:
        """Up to `limit` records from an iterator, as Lambda delivers them."""
        answer = self._call(_STREAMS, "GetRecords", {"ShardIterator": iterator, "Limit": limit})
        return Page(
            [as_delivered(record, stream) for record in answer["Records"]], answer.get("NextShardIterator")
        )

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def _call(self, service: str, operation: str, request: dict[str, Any]) -> Any:
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"{service}.{operation}",
            # The engine reads the access key and the region, and does not look at the signature.
            "Authorization": f"AWS4-HMAC-SHA256 Credential=local/20000101/{REGION}/dynamodb/aws4_request, "
            "SignedHeaders=host, Signature=none",
        }
        body = json.dumps(request)
        try:
            status, answer = self._exchange(body, headers)
        except ConnectionError:  # closed by the engine meanwhile, which it does after half a minute
            status, answer = self._exchange(body, headers)
        if status != http.client.OK:
            raise StreamError(str(answer.get("__type", status)).rpartition("#")[2], answer.get("message", ""))
        return answer

    def _exchange(self, body: str, headers: dict[str, str]) -> tuple[int, Any]:
        try:
            self._http.request("POST", "/", body, headers)
            response = self._http.getresponse()
            return response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException):
            self._http.close()
            raise


def as_delivered(record: Record, stream: str) -> Record:
    """A record of GetRecords in the form of a Lambda event."""
    identity = record.get("userIdentity")
    delivered = record | {"eventSourceARN": stream}
    if identity:
        delivered["userIdentity"] = {name[0].lower() + name[1:]: value for name, value in identity.items()}
    return delivered
