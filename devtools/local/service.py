"""A small HTTP server: one function answers its requests, each in a thread. Queues, bucket and management API are such services."""

import http.server
import io
import shutil
import socket
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from devtools.local.hosts import is_beside, joined

_MAX_BODY = 128 * 1024 * 1024


class Asked(NamedTuple):
    """A request."""

    method: str
    target: str
    """Path and query, as sent."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


class Reply(NamedTuple):
    """An answer, with bytes or the content of a file."""

    status: HTTPStatus
    body: bytes | Path = b""
    headers: Mapping[str, str] = {}


Answer = Callable[[Asked], Reply]


class Service(http.server.ThreadingHTTPServer):
    """Serves a function from a request to a reply."""

    daemon_threads = True

    def __init__(self, answer: Answer, listener: socket.socket | None = None) -> None:
        """Use a listening socket, or listen on a port that the system chooses. `start` begins to answer."""
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=listener is None)
        if listener is not None:
            self.socket.close()
            self.socket = listener
            self.server_address = listener.getsockname()
        self.answer = answer

    @property
    def endpoint(self) -> str:
        """The URL of the service, without a path."""
        return endpoint(self.socket)

    def start(self) -> None:
        """Answer requests in a thread of its own."""
        threading.Thread(target=self.serve_forever, daemon=True, name=type(self).__name__).start()


def endpoint(listener: socket.socket) -> str:
    """The URL of a service on this socket, without a path."""
    host, port = listener.getsockname()
    return f"http://{host}:{port}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"
    # Head and body leave in one packet: the system would hold the second back for 40 ms.
    wbufsize = -1

    def _answer(self) -> None:
        if not is_beside(joined(self.headers.items()).get("host", "")):
            self.close_connection = True
            self._send(Reply(HTTPStatus.FORBIDDEN, b"This host is not this machine."))
            return
        length = int(self.headers.get("Content-Length") or 0)
        if length > _MAX_BODY:
            self.close_connection = True
            self._send(Reply(HTTPStatus.REQUEST_ENTITY_TOO_LARGE))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.answer(Asked(self.command, self.path, headers, self.rfile.read(length))))

    def _send(self, reply: Reply) -> None:
        body = reply.body
        with io.BytesIO(body) if isinstance(body, bytes) else body.open("rb") as content:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(content.seek(0, io.SEEK_END)))
            self.end_headers()
            content.seek(0)
            if self.command != "HEAD":
                shutil.copyfileobj(content, self.wfile)

    do_DELETE = do_GET = do_HEAD = do_POST = do_PUT = _answer  # noqa: N815 - http.server names them so

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Log nothing: links of exports would be in the log."""
