"""The WebSocket API on this machine: a process that does the work of API Gateway for sockets.

Clients connect to it; each of their actions is an event of the socket function. The function's messages come back
through the management API, as boto3 calls it. The process also reads the table's stream for the function, and has it
end sockets that are due.
"""

import argparse
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

from devtools.failure import FunctionError
from devtools.local import cors, pump
from devtools.local.containers import Pool
from devtools.local.delivery import Record
from devtools.local.folder import Folder
from devtools.local.hosts import joined
from devtools.local.service import Asked, Reply, Service
from devtools.local.socket_gateway import MAX_MESSAGE_BYTES, event, new_connection_id, why_refused
from gridview.encoding import derived_keys, keys
from infra.functions import FUNCTIONS
from infra.limits import PUSH_RETRIES

FUNCTION = "socket"

_ENVIRONMENTS = 6
"""Environments of the function, in some of which it waits for the second between two words about who looks where."""
_END_SECONDS = 60.0
_MANAGEMENT = "/@connections/"

Invoke = Callable[[dict[str, Any]], Any]
"""Calls the function with an event and returns its result. Raises FunctionError."""

_log = logging.getLogger("gridview.sockets")


class Connections:
    """The connections that are open, by the ids that the function knows them by. For use by many threads."""

    def __init__(self) -> None:
        self._open: dict[str, ServerConnection] = {}
        self.ever = threading.Event()
        """Set once a client has connected."""

    def add(self, connection: str, to: ServerConnection) -> None:
        """A client has connected."""
        self._open[connection] = to
        self.ever.set()

    def remove(self, connection: str) -> None:
        """A client has gone."""
        self._open.pop(connection, None)

    def send(self, connection: str, frame: bytes) -> bool:
        """Send a message; False if there is no such connection any more."""
        to = self._open.get(connection)
        if to is None:
            return False
        try:
            to.send(frame.decode())
        except ConnectionClosed:
            return False
        return True

    def close(self, connection: str) -> bool:
        """Close a connection; False if there is none."""
        to = self._open.get(connection)
        if to is None:
            return False
        # A client that takes nothing does not answer the closing handshake either.
        threading.Thread(target=to.close, daemon=True).start()
        return True

    def is_open(self, connection: str) -> bool:
        """Whether a client is connected under this id."""
        return connection in self._open


class Gateway:
    """Lets clients connect and hands on their actions."""

    def __init__(
        self, connections: Connections, invoke: Invoke, page_port: int, origins: Collection[str] = ()
    ) -> None:
        """`page_port`: the port of the page, whose origin may connect."""
        self._connections = connections
        self._invoke = invoke
        self._page_port = page_port
        self._origins = origins
        self._ids: dict[int, str] = {}

    def admit(self, to: ServerConnection, request: Request) -> Response | None:
        """The refusal of a request to connect; None: it is let through."""
        headers = joined(request.headers.raw_items())
        refused = why_refused(headers, self._page_port, self._origins)
        if refused is not None:
            return _refusal(HTTPStatus.FORBIDDEN, refused)
        connection = new_connection_id()
        asked = event("CONNECT", connection, query=urlsplit(request.path).query, headers=headers)
        try:
            status = int(self._invoke(asked)["statusCode"])
        except (FunctionError, TypeError, KeyError, ValueError):
            _log.exception("The function failed.")
            status = HTTPStatus.INTERNAL_SERVER_ERROR
        if status != HTTPStatus.OK:
            return _refusal(HTTPStatus(status), HTTPStatus(status).phrase)
        self._ids[id(to)] = connection
        return None

    def converse(self, to: ServerConnection) -> None:
        """Hand on a client's messages until it is gone."""
        connection = self._ids.pop(id(to))
        self._connections.add(connection, to)
        try:
            for message in to:
                self._call(event("MESSAGE", connection, message=message))
        except ConnectionClosed:
            pass
        finally:
            self._connections.remove(connection)
            self._call(event("DISCONNECT", connection))

    def _call(self, asked: dict[str, Any]) -> None:
        try:
            self._invoke(asked)
        except (FunctionError, OSError):
            _log.exception("The function failed.")


def gateway_server(gateway: Gateway, listener: socket.socket) -> Server:
    """A server that lets clients connect on a socket once it serves."""
    return serve(
        gateway.converse,
        sock=listener,
        process_request=gateway.admit,
        max_size=MAX_MESSAGE_BYTES,
        compression=None,
        server_header=None,
    )


def _refusal(status: HTTPStatus, why: str) -> Response:
    body = json.dumps({"message": why}).encode()
    headers = Headers({"Content-Type": "application/json", "Content-Length": str(len(body))})
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, body)


def management(connections: Connections) -> Service:
    """The management API: POST sends to a connection, DELETE closes it, GET answers whether it is open."""

    def answer(asked: Asked) -> Reply:
        if asked.method == "POST" and len(asked.body) > MAX_MESSAGE_BYTES:
            return _error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "PayloadTooLargeException")
        connection = unquote(asked.target.removeprefix(_MANAGEMENT))
        match asked.method:
            case "POST":
                is_there = connections.send(connection, asked.body)
            case "DELETE":
                is_there = connections.close(connection)
            case _:
                is_there = connections.is_open(connection)
        if not is_there:
            return _error(HTTPStatus.GONE, "GoneException")
        return Reply(HTTPStatus.OK, b"{}", {"Content-Type": "application/json"})

    return Service(answer)


def _error(status: HTTPStatus, name: str) -> Reply:
    headers = {"x-amzn-ErrorType": name, "Content-Type": "application/json"}
    return Reply(status, json.dumps({"message": name}).encode(), headers)


def wanted(record: Record) -> bool:
    """Whether the mapping's filters accept a record (`infra.functions.socket`): items of journals, definitions, and
    views.
    """
    stream = record["dynamodb"]
    pk, sk = (stream["Keys"].get(name, {}).get("S", "") for name in (keys.PK, keys.SK))
    if derived_keys.is_journal(pk):
        return record["eventName"] == "INSERT" and "made" in stream.get("NewImage", {})
    of_a_view = keys.is_views(pk) and sk.startswith(("shared/", "private/"))
    return bool(of_a_view or (keys.is_project(pk) and sk == keys.CATALOG))


class _Times(NamedTuple):
    """When the function is to end sockets that are due."""

    connections: Connections
    invoke: Invoke

    def run(self) -> None:
        """For ever, from the first connection on."""
        self.connections.ever.wait()
        while True:
            time.sleep(_END_SECONDS)
            try:
                self.invoke({"task": "end"})
            except (FunctionError, OSError):
                _log.exception("Sockets that are due were not ended.")


def main() -> None:
    """`python -m devtools.local.socket_server`, started by the supervisor in the function's environment."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--listen", type=int, required=True, help="file descriptor of the bound socket")
    parser.add_argument("--page-port", type=int, required=True, help="port of the API and the page")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    logging.getLogger("websockets").setLevel(logging.WARNING)
    connections = Connections()
    manager = management(connections)
    manager.start()
    env = os.environ | {
        "POWERTOOLS_SERVICE_NAME": FUNCTION,
        "AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI": manager.endpoint,
    }
    pool = Pool(FUNCTION, env=env, size=_ENVIRONMENTS, timeout=FUNCTIONS[FUNCTION].timeout_seconds)
    pushing = Pool(FUNCTION, env=env, size=1, timeout=FUNCTIONS[FUNCTION].timeout_seconds)
    origins = os.environ.get(cors.ORIGINS, "").split()
    gateway = Gateway(connections, pool.invoke, arguments.page_port, origins)
    threading.Thread(target=_Times(connections, pushing.invoke).run, daemon=True, name="end").start()
    server = gateway_server(gateway, socket.socket(fileno=arguments.listen))
    threading.Thread(target=server.serve_forever, daemon=True, name="sockets").start()
    folder = Folder(arguments.data)
    mapping = pump.Mapping(
        FUNCTION, wanted, folder.pushes, replace(pump.POLICY, retries=PUSH_RETRIES), keep=False
    )
    pump.run(
        os.environ["AWS_ENDPOINT_URL_DYNAMODB"], os.environ["TABLE_NAME"], folder, pushing.invoke, mapping
    )


if __name__ == "__main__":
    main()
