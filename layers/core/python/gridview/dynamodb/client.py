"""The client of DynamoDB, and the threads for its calls side by side."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from botocore.config import Config

from gridview.dynamodb.fast_parser import parse_fast
from gridview.support import aws

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

CONCURRENCY = 16


class _Pool:
    """The threads for calls side by side. A process that was forked has none of its parent's, and begins its own."""

    def __init__(self) -> None:
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._threads = ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="table")

    def map(self, call: Callable[[Any], Any], things: Sequence[Any]) -> Iterator[Any]:
        """What each call gives, in order."""
        return self._threads.map(call, things)


POOL = _Pool()


def connect() -> "DynamoDBClient":
    """A client of the region and credentials of the environment, with short time-outs and retries of its own."""
    client: DynamoDBClient = aws.client(
        "dynamodb",
        Config(
            connect_timeout=1,
            read_timeout=10,
            max_pool_connections=2 * CONCURRENCY,
            retries={"mode": "standard", "total_max_attempts": 5},
        ),
    )
    parse_fast(client)
    return client
