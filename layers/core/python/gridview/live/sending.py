"""Sends a message to a receiver: one attempt, which takes ten seconds at most.

The name in the URL is looked up here, and every address found is judged (`targets`). The connection is made
to one of these very addresses, without another lookup. TLS names the host and asks for its certificate. A
redirect is an answer like any other, and only the beginning of an answer is read.
"""

import http.client
import io
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from gridview.live.outbox import Reply
from gridview.live.targets import LOCALHOST, Target, target_of, vetted
from gridview.support.version import VERSION

SECONDS = 10.0
"""For a whole attempt."""

_LOOKUP_SECONDS = 4.0
_CONNECT_SECONDS = 4.0
_BODY_SECONDS = 1.0
"""For the beginning of an answer's body: its status has come by then, and decides."""

MOST_BYTES = 64 * 1024
"""Bytes of an answer that are read, until its headers are over."""

_KEPT_BYTES = 256
"""Bytes of an answer's body that are kept."""

_ADDRESSES = 3
"""Addresses of a host that are tried."""

_LONGEST_WAIT = 86_400

_END_OF_HEAD = b"\r\n\r\n"
_INTERIM = re.compile(rb"HTTP/1\.[01] 1\d\d ")
"""The beginning of an answer that another one follows."""

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host at a port. OSError if they cannot be found."""

Connect = Callable[[str, int, float], socket.socket]
"""A connection to an address and port that is made within so many seconds. OSError."""


def addresses_of(host: str, port: int) -> list[str]:
    """Return the addresses of a name, IPv4 first: Lambda reaches no other without a network of its own."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return sorted((str(address[0]) for *_, address in found), key=lambda one: ":" in one)


def connected(address: str, port: int, seconds: float) -> socket.socket:
    """Return a connection to this very address."""
    made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.settimeout(seconds)
        made.connect((address, port))
    except BaseException:
        made.close()
        raise
    return made


class Sender:
    """Sends messages. `localhost`: servers of this machine may be receivers too (`targets`)."""

    def __init__(
        self,
        *,
        localhost: bool = False,
        resolve: Resolve = addresses_of,
        connect: Connect = connected,
        context: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        seconds: float = SECONDS,
    ) -> None:
        self._localhost = localhost
        self._resolve = resolve
        self._connect = connect
        self._make_context = context
        self._seconds = seconds

    @cached_property
    def _context(self) -> ssl.SSLContext:
        return self._make_context()

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Post a body of JSON to a URL with these headers and the usual ones; never raises."""
        try:
            target = target_of(url, localhost=self._localhost)
        except ValueError as error:
            return Reply(problem=f"Nothing was sent: the URL {error}.")
        deadline = _Deadline(self._seconds)
        try:
            addresses = vetted(self._addresses(target, deadline), localhost=self._localhost and target.here)
        except TimeoutError:
            return Reply(problem="Nothing was sent: the host's name could not be looked up in time.")
        except OSError:
            return Reply(problem="Nothing was sent: the host's name cannot be looked up.")
        except ValueError as error:
            return Reply(problem=f"Nothing was sent: {error}.")
        try:
            with self._connection(target, addresses, deadline) as connection:
                _send(connection, _request(target, headers, body), deadline)
                return _reply(connection, deadline)
        except TimeoutError:
            return Reply(problem="The receiver did not answer in time.")
        except ssl.SSLCertVerificationError as error:
            return Reply(problem=f"The receiver's certificate is not valid: {error.verify_message}.")
        except ssl.SSLError as error:
            return Reply(problem=f"TLS failed: {error.reason or 'unknown'}.")
        except (http.client.HTTPException, ValueError):
            return Reply(problem="The receiver's answer is not HTTP.")
        except OSError as error:
            return Reply(problem=f"The connection failed: {(error.strerror or 'closed').lower()}.")

    def _addresses(self, target: Target, deadline: "_Deadline") -> Sequence[str]:
        """Looked up in a thread, since nothing else ends a look-up that hangs."""
        if target.here:
            return LOCALHOST[:1]
        found: list[Sequence[str]] = []
        failed: list[OSError | UnicodeError] = []

        def look_up() -> None:
            try:
                found.append(self._resolve(target.host, target.port))
            except (OSError, UnicodeError) as error:
                failed.append(error)

        thread = threading.Thread(target=look_up, daemon=True)
        thread.start()
        thread.join(min(_LOOKUP_SECONDS, deadline.left()))
        if found:
            return found[0]
        if failed:
            raise OSError("not found")
        raise TimeoutError

    def _connection(self, target: Target, addresses: Sequence[str], deadline: "_Deadline") -> socket.socket:
        for place, address in enumerate(addresses[:_ADDRESSES], 1):
            try:
                plain = self._connect(address, target.port, min(_CONNECT_SECONDS, deadline.left()))
                break
            except OSError:
                if place == min(_ADDRESSES, len(addresses)):
                    raise
        if not target.secure:
            return plain
        try:
            plain.settimeout(deadline.left())
            return self._context.wrap_socket(plain, server_hostname=target.host)
        except BaseException:
            plain.close()
            raise


class _Deadline:
    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds that are left. TimeoutError if none are."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


def _request(target: Target, headers: Mapping[str, str], body: bytes) -> bytes:
    lines_by_name = {
        "Host": target.authority,
        "User-Agent": f"gridview/{VERSION}",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Accept-Encoding": "identity",
        "Connection": "close",
        **headers,
    }
    lines = [
        f"POST {target.resource} HTTP/1.1",
        *(f"{name}: {value}" for name, value in lines_by_name.items()),
    ]
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("ascii") + body


def _send(connection: socket.socket, message: bytes, deadline: _Deadline) -> None:
    left = memoryview(message)
    while left:
        connection.settimeout(deadline.left())
        left = left[connection.send(left) :]


def _reply(connection: socket.socket, deadline: _Deadline) -> Reply:
    response = http.client.HTTPResponse(_Received(_beginning(connection, deadline)), method="POST")  # type: ignore[arg-type]
    response.begin()
    code = response.status
    try:
        answer = response.read1(_KEPT_BYTES).decode("utf-8", errors="replace")
    except (ValueError, http.client.HTTPException):
        answer = ""
    if 200 <= code < 300:
        return Reply(code, answer)
    problem = f"The receiver answered {code}."
    if 300 <= code < 400:
        problem = f"The receiver answered {code}; redirects are not followed."
    return Reply(code, answer, problem, _seconds_in(response.getheader("retry-after") or ""))


class _Received(NamedTuple):
    """The beginning of an answer, in the place of a socket."""

    content: bytes

    def makefile(self, _: str) -> io.BytesIO:
        """As a socket has it."""
        return io.BytesIO(self.content)


def _beginning(connection: socket.socket, deadline: _Deadline) -> bytes:
    """Return the status and the headers of an answer, and the part of its body that came along, or comes in a
    moment.
    """
    content, left = b"", MOST_BYTES
    while True:
        head, end, body = content.partition(_END_OF_HEAD)
        if end and _INTERIM.match(head):
            content = body
            continue
        if end:
            return content if body else content + _in_a_moment(connection)
        if not left:
            raise ValueError("the headers are too long")
        connection.settimeout(deadline.left())
        part = connection.recv(min(left, 16_384))
        if not part:
            raise ConnectionError
        content, left = content + part, left - len(part)


def _in_a_moment(connection: socket.socket) -> bytes:
    try:
        connection.settimeout(_BODY_SECONDS)
        return connection.recv(_KEPT_BYTES)
    except OSError:
        return b""


def _seconds_in(text: str) -> float:
    return (
        float(min(int(text), _LONGEST_WAIT)) if text.isascii() and text.isdigit() and len(text) < 10 else 0.0
    )
