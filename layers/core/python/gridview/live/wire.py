"""The wire to the clients: what is sent goes through the management API of the WebSocket API."""

from functools import cached_property
from typing import Any, Final, Protocol

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from gridview.support import aws

_CONFIG: Final = Config(
    connect_timeout=1,
    read_timeout=3,
    retries={"mode": "standard", "total_max_attempts": 3},
    max_pool_connections=16,
)
"""Three attempts: a client that takes none of them is too slow."""


class Gone(Exception):
    """There is no such connection any more."""


class Slow(Exception):
    """The connection does not take what is sent."""


class SocketWire(Protocol):
    """Sends to connections, and ends them."""

    def post(self, connection: str, frame: bytes) -> None:
        """Send a message. Gone, Slow."""

    def end(self, connection: str) -> None:
        """Close a connection, if there still is one."""


class ApiGatewayWire:
    """Connections of API Gateway. AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI in the environment names the API and its stage."""

    @cached_property
    def _client(self) -> Any:
        return aws.client("apigatewaymanagementapi", _CONFIG)

    def post(self, connection: str, frame: bytes) -> None:
        """Send a message: one request of the management API, and up to two more where it is refused. Gone, Slow."""
        try:
            self._client.post_to_connection(ConnectionId=connection, Data=frame)
        except ClientError as error:
            if _is_gone(error):
                raise Gone from error
            raise Slow from error
        except BotoCoreError as error:
            raise Slow from error

    def end(self, connection: str) -> None:
        """Close a connection, if there still is one. Where that fails, API Gateway closes it when it is idle."""
        try:
            self._client.delete_connection(ConnectionId=connection)
        except aws.FAILURES:
            return


def _is_gone(error: ClientError) -> bool:
    # A connection id that API Gateway never gave out is a bad request, and there is nobody behind it either.
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return status in (400, 410) or error.response.get("Error", {}).get("Code") == "GoneException"
