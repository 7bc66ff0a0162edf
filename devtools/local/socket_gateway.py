"""The work of a WebSocket API of API Gateway between the network and a function: admission, and the function's
events.

Pure.
"""

import base64
import time
import uuid
from collections.abc import Collection, Mapping
from typing import Any, Literal

from devtools.local.gateway import query_parameters
from devtools.local.hosts import is_page_of_this_machine, is_this_machine

MAX_MESSAGE_BYTES = 128 * 1024
"""API Gateway takes no larger message in either direction."""

STAGE = "live"

EventType = Literal["CONNECT", "MESSAGE", "DISCONNECT"]
_ROUTES: Mapping[EventType, str] = {
    "CONNECT": "$connect",
    "MESSAGE": "$default",
    "DISCONNECT": "$disconnect",
}


def new_connection_id() -> str:
    """An id of the form that API Gateway gives a connection: 15 characters and a sign of equality."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes[:11]).decode()


def why_refused(headers: Mapping[str, str], page_port: int, origins: Collection[str]) -> str | None:
    """Why a request may not connect, None if it may: as for the page (decision 0022), pages of other origins are kept out.

    `headers` by lower-case names; `origins` are other pages that may call the API.
    """
    if not is_this_machine(headers.get("host", "")):
        return "This host is not this machine."
    origin = headers.get("origin")
    if origin is None or {origin, "*"} & set(origins):
        return None
    if is_page_of_this_machine(origin, page_port):
        return None
    return "Pages of this origin may not connect (--allowed-origins)."


def event(
    kind: EventType,
    connection: str,
    *,
    query: str = "",
    headers: Mapping[str, str] | None = None,
    message: str | bytes | None = None,
) -> dict[str, Any]:
    """The event that the function gets. A message of bytes is handed on in base64."""
    now = time.time()
    made: dict[str, Any] = {
        "requestContext": {
            "routeKey": _ROUTES[kind],
            "eventType": kind,
            "connectionId": connection,
            "requestId": str(uuid.uuid4()),
            "extendedRequestId": str(uuid.uuid4()),
            "messageDirection": "IN",
            "stage": STAGE,
            "apiId": "local",
            "domainName": "127.0.0.1",
            "requestTime": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now)),
            "requestTimeEpoch": int(now * 1000),
            "identity": {"sourceIp": "127.0.0.1"},
        },
        "isBase64Encoded": isinstance(message, bytes),
    }
    if headers is not None:
        made["headers"] = dict(headers)
    if parameters := query_parameters(query):
        made["queryStringParameters"] = parameters
    if message is not None:
        made["requestContext"]["messageId"] = str(uuid.uuid4())
        made["body"] = base64.b64encode(message).decode() if isinstance(message, bytes) else message
    return made
