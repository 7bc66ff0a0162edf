"""The client of DynamoDB, and the threads for its parallel calls."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore.config import Config

from gridview.dynamodb.sessions import SessionCredentials
from gridview.dynamodb.signed_client import OnFallback, SignedClient, refuse_damaged, unreported
from gridview.support import aws
from gridview.support.concurrency import in_context
from gridview.support.connections import is_direct

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

CONCURRENCY = 16


class Transport(NamedTuple):
    """The way of calls to the table: by the direct client, or (`direct` is false) by botocore's.

    `on_fallback` is called with the reason for each call that botocore carries out in the direct client's
    place.
    """

    direct: bool = True
    on_fallback: OnFallback = unreported


class _Pool:
    """The threads for parallel calls. A process that was forked has none of its parent's, and begins its own."""

    def __init__(self) -> None:
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._threads = ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="table")

    def map(self, call: Callable[[Any], Any], things: Sequence[Any]) -> Iterator[Any]:
        """Return the result of each call, in order."""
        return self._threads.map(in_context(call), things)


POOL = _Pool()


def connect(role: str = "", transport: Transport | None = None) -> "DynamoDBClient":
    """Return a client of the region of the environment, with short time-outs and retries of its own.

    Its credentials are the environment's, or with the ARN of a session `role` those of the tenant of each
    call (`sessions`). It is botocore's if a proxy is before DynamoDB, since botocore finds the way through,
    or if botocore signs differently.
    """
    wanted = transport or Transport()
    credentials = SessionCredentials(role) if role else aws.credentials()
    config = aws.PATIENT.merge(Config(max_pool_connections=64))
    client: Any = aws.client("dynamodb", config, credentials)
    refuse_damaged(client)
    if not wanted.direct or not is_direct(client.meta.endpoint_url):
        return client  # type: ignore[no-any-return]
    signed: Any = SignedClient(client, credentials, wanted.on_fallback)
    if signed.signs_as_botocore:
        return signed  # type: ignore[no-any-return]
    wanted.on_fallback("botocore signs differently")
    return client  # type: ignore[no-any-return]
