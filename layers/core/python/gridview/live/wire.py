"""The wire to the clients: messages go through the management API of the WebSocket API."""

import random
from functools import cached_property
from typing import Any, Final, Protocol

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from gridview.live import management_client
from gridview.live.push_shares import AT_ONCE
from gridview.support import aws, clock

SECONDS: Final = 0.5
"""After which a message that was not taken is given up. It is not tried again: the client is too slow. An
invocation waits for so long with each message to it.
"""

_CONNECT_SECONDS: Final = 1
"""For a connection to the management API, which all messages share."""

_CONFIG: Final = Config(
    connect_timeout=_CONNECT_SECONDS,
    read_timeout=SECONDS,
    retries={"mode": "standard", "total_max_attempts": 1},
    max_pool_connections=AT_ONCE,
)

_ATTEMPTS: Final = 3
_PAUSE: Final = 0.1
"""Seconds before the second attempt, where API Gateway itself refuses a message for now; twice that before the third.
"""


class Gone(Exception):
    """There is no such connection any more."""


class Slow(Exception):
    """The connection does not take a message."""


class SocketWire(Protocol):
    """Sends to connections, and ends them."""

    def post(self, connection: str, frame: bytes) -> None:
        """Send a message. Gone, Slow."""

    def end(self, connection: str) -> None:
        """Close a connection, if there still is one."""


class ApiGatewayWire:
    """Connections of API Gateway. AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI in the environment names the API
    and its stage.
    """

    @cached_property
    def _client(self) -> Any:
        return management_client.connect(_CONFIG)

    def post(self, connection: str, frame: bytes) -> None:
        """Send a message: one request of the management API, up to two more where API Gateway is busy. Gone, Slow."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._client.post_to_connection(ConnectionId=connection, Data=frame)
                return
            except ClientError as error:
                if _is_gone(error):
                    raise Gone from error
                if attempt == _ATTEMPTS:
                    raise Slow from error
            except BotoCoreError as error:
                raise Slow from error
            clock.sleep(_PAUSE * attempt * random.uniform(0.5, 1.0))  # noqa: S311  (not a secret)

    def end(self, connection: str) -> None:
        """Close a connection, if there still is one. If that fails, API Gateway closes it when it is idle."""
        try:
            self._client.delete_connection(ConnectionId=connection)
        except aws.FAILURES:
            return


def _is_gone(error: ClientError) -> bool:
    # A connection id that API Gateway never gave out is a bad request, and has no client either.
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return status in (400, 410) or error.response.get("Error", {}).get("Code") == "GoneException"
