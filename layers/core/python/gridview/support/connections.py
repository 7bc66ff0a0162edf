"""Connections to one endpoint, kept alive, over which requests are sent: HTTP/1.1 as far as services of AWS
need it.

A call takes 0.1 ms of CPU time less than with http.client, which parses headers like headers of mail.
"""

import os
import select
import socket
import ssl
from collections import deque
from collections.abc import Callable, Mapping
from functools import cache
from http import HTTPStatus
from io import BufferedIOBase
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from botocore.httpsession import get_cert_path

_LONGEST_LINE = 65_536
_KEPT = 64
"""Connections that are kept while nobody uses them: as many as there are threads."""

Dial = Callable[[], socket.socket]
"""Makes a connection. OSError."""


class Patience(NamedTuple):
    """Seconds to wait for a connection, and for the next part of an answer."""

    connect: float
    read: float


class HttpAnswer(NamedTuple):
    """The answer to a request. `headers` have lower-case names."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Broken(Exception):
    """A connection could not be made, or gave no answer. Whether the request was carried out is not known."""


def is_direct(endpoint: str) -> bool:
    """Return whether the environment has no proxy before an endpoint."""
    parts = urlsplit(endpoint)
    return parts.scheme not in getproxies() or bool(proxy_bypass(parts.hostname or ""))


class _Connection(NamedTuple):
    socket: socket.socket
    incoming: BufferedIOBase

    def close(self) -> None:
        self.incoming.close()
        self.socket.close()

    @property
    def is_closed(self) -> bool:
        """Whether the other side has closed it: nothing else is to be read where nothing was asked."""
        waiting = select.poll()
        waiting.register(self.socket, select.POLLIN)
        return bool(waiting.poll(0))


class Connections:
    """The connections that are free. Threads may use it at the same time; each has a connection to itself for
    a request.
    """

    def __init__(
        self, endpoint: str, patience: Patience, dial: Dial | None = None, *, trusting: bool = False
    ) -> None:
        """`endpoint`: a URL without a path. `trusting`: an answer that does not come in time says nothing of the other
        connections.
        """
        self._dial = dial or (lambda: dialled(endpoint, patience))
        self._trusting = trusting
        self._free: deque[_Connection] = deque()

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
        """Return the answer to a request with a body. Broken."""
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        request = (
            f"{method} {path} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body
        )
        try:
            connection = self._taken()
        except OSError as error:
            raise Broken(f"no connection: {error}") from error
        reusable = False
        try:
            connection.socket.sendall(request)
            answer, reusable = _read(connection.incoming)
        except (OSError, ValueError, EOFError) as error:
            if not (self._trusting and isinstance(error, TimeoutError)):
                self._give_up()
            raise Broken(f"no answer: {error}") from error
        finally:
            if reusable and len(self._free) < _KEPT:
                self._free.append(connection)
            else:
                connection.close()
        return answer

    def _taken(self) -> _Connection:
        while (connection := self._popped()) is not None:
            if not connection.is_closed:
                return connection
            connection.close()
        made = self._dial()
        return _Connection(made, made.makefile("rb"))

    def _popped(self) -> _Connection | None:
        try:
            return self._free.pop()
        except IndexError:
            return None

    def _give_up(self) -> None:
        """Close all free ones: the cause that broke one may have broken the others too, and nobody should
        wait for each of them.
        """
        while (connection := self._popped()) is not None:
            connection.close()


def dialled(endpoint: str, patience: Patience) -> socket.socket:
    """Return a new connection to an endpoint, whose certificate is verified if it has one. OSError."""
    parts = urlsplit(endpoint)
    secure = parts.scheme == "https"
    host = parts.hostname or ""
    made = socket.create_connection((host, parts.port or (443 if secure else 80)), patience.connect)
    try:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if secure:
            made = _context().wrap_socket(made, server_hostname=host)
    except BaseException:
        made.close()
        raise
    made.settimeout(patience.read)
    return made


@cache
def _context() -> ssl.SSLContext:
    """Return the authorities that botocore trusts. They are read once: that takes 10 ms."""
    return ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE") or get_cert_path(True))


def _read(incoming: BufferedIOBase) -> tuple[HttpAnswer, bool]:
    """Return an answer, and whether the connection can be used again. ValueError, EOFError."""
    version, status, *_ = _line(incoming).split(None, 2)
    headers: dict[str, str] = {}
    while line := _line(incoming):
        name, _, value = line.partition(b":")
        headers[name.decode("latin-1").lower()] = value.strip().decode("latin-1")
    kept = version == b"HTTP/1.1" and headers.get("connection", "").lower() != "close"
    if int(status) == HTTPStatus.NO_CONTENT:
        return HttpAnswer(int(status), headers, b""), kept
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return HttpAnswer(int(status), headers, _chunks(incoming)), kept
    length = headers.get("content-length", "")  # without one, int raises ValueError
    return HttpAnswer(int(status), headers, _exactly(incoming, int(length))), kept


def _chunks(incoming: BufferedIOBase) -> bytes:
    parts = []
    while size := int(_line(incoming).partition(b";")[0], 16):
        parts.append(_exactly(incoming, size))
        _line(incoming)
    while _line(incoming):
        pass  # trailers
    return b"".join(parts)


def _line(incoming: BufferedIOBase) -> bytes:
    line = incoming.readline(_LONGEST_LINE)
    if not line.endswith(b"\n"):
        raise EOFError("a line is cut off")
    return line.rstrip(b"\r\n")


def _exactly(incoming: BufferedIOBase, size: int) -> bytes:
    body = incoming.read(size)
    if len(body) < size:
        raise EOFError("a body is cut off")
    return body
