"""The client of DynamoDB, and the threads for its calls side by side."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from botocore.config import Config

from gridview.dynamodb.sessions import SessionCredentials
from gridview.dynamodb.signed_client import SignedClient
from gridview.support import aws
from gridview.support.concurrency import in_context
from gridview.support.connections import is_direct

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
        return self._threads.map(in_context(call), things)


POOL = _Pool()


def connect(role: str = "") -> "DynamoDBClient":
    """A client of the region of the environment, with short time-outs and retries of its own.

    Its credentials are those of the environment, or with the ARN of a session `role` those of the tenant of each call (`sessions`).
    Where a proxy stands before DynamoDB it is botocore's, which finds the way through.
    """
    credentials = SessionCredentials(role) if role else aws.credentials()
    config = aws.PATIENT.merge(Config(max_pool_connections=64))
    client: Any = aws.client("dynamodb", config, credentials)
    signed: Any = SignedClient(client, credentials)
    return signed if is_direct(client.meta.endpoint_url) else client  # type: ignore[no-any-return]
