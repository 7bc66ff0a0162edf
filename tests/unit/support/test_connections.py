"""Connections to an endpoint: answers as servers write them, reused connections, and broken ones."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from botocore.httpsession import get_cert_path

from gridview.support import connections
from gridview.support.connections import Broken, Connections, Patience, is_direct

Reply = Callable[[bytes], bytes | None]
"""The bytes that a server writes after a request; None: it closes the connection."""


PATIENCE = Patience(1, 10)


def plain(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    lines = (b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *headers)
    return b"\r\n".join((*lines, b"", body))


class Server:
    """Answers over socket pairs, a thread for each connection."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._stack = ExitStack()
        self.dialled = 0
        self.requests: list[bytes] = []
        self.sides: list[socket.socket] = []

    def dial(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        self.dialled += 1
        self.sides.append(theirs)
        thread = threading.Thread(target=self._serve, args=(theirs,))
        thread.start()
        self._stack.callback(thread.join)
        self._stack.callback(theirs.close)
        return ours

    def close(self) -> None:
        for side in self.sides:
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        self._stack.close()

    def _serve(self, side: socket.socket) -> None:
        incoming = side.makefile("rb")
        while head := b"".join(iter(incoming.readline, b"\r\n")) if (first := incoming.readline()) else b"":
            length = next(
                int(line.partition(b":")[2])
                for line in head.splitlines()
                if line.lower().startswith(b"content-length")
            )
            request = first + head + b"\r\n" + incoming.read(length)
            self.requests.append(request)
            answer = self._reply(request)
            if answer is None:
                break
            side.sendall(answer)
        side.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def serve() -> Iterator[Callable[[Reply], tuple[Connections, Server]]]:
    servers: list[Server] = []

    def begin(reply: Reply) -> tuple[Connections, Server]:
        servers.append(Server(reply))
        return Connections("http://engine", PATIENCE, servers[-1].dial), servers[-1]

    yield begin
    for server in servers:
        server.close()


Serve = Callable[[Reply], tuple[Connections, Server]]


def send_together(connections: Connections) -> None:
    """Two requests at once, each on a connection of its own."""
    threads = [
        threading.Thread(target=connections.send, args=("POST", "/", {}, b"together")) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_request_is_posted_with_its_headers_and_its_length(serve: Serve) -> None:
    connections, server = serve(lambda _: plain(b'{"a":1}', b"x-amzn-RequestId: 4Q"))
    answer = connections.send("POST", "/", {"Host": "engine", "X-Amz-Target": "T.Get"}, b'{"b":2}')
    assert (answer.status, answer.body, answer.headers["x-amzn-requestid"]) == (200, b'{"a":1}', "4Q")
    assert server.requests == [
        b'POST / HTTP/1.1\r\nHost: engine\r\nX-Amz-Target: T.Get\r\nContent-Length: 7\r\n\r\n{"b":2}'
    ]


def test_a_refusal_is_an_answer(serve: Serve) -> None:
    connections, _ = serve(lambda _: plain(b"no", status=b"400 Bad Request"))
    assert connections.send("POST", "/", {}, b"")[::2] == (400, b"no")


def test_a_body_in_chunks_is_put_together(serve: Serve) -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: t\r\n\r\n"
    connections, server = serve(lambda _: chunked)
    for _ in range(2):
        assert connections.send("POST", "/", {}, b"").body == b"abc0123456789"
    assert server.dialled == 1


def test_a_connection_is_used_again(serve: Serve) -> None:
    connections, server = serve(plain)
    assert [connections.send("POST", "/", {}, body).body[-1:] for body in (b"1", b"2", b"3")] == [
        b"1",
        b"2",
        b"3",
    ]
    assert server.dialled == 1


@pytest.mark.parametrize(
    "last", [plain(b"x", b"Connection: close"), plain(b"x").replace(b"HTTP/1.1", b"HTTP/1.0")]
)
def test_a_connection_that_is_not_kept_is_not_used_again(serve: Serve, last: bytes) -> None:
    connections, server = serve(lambda _: last)
    for _ in range(2):
        assert connections.send("POST", "/", {}, b"").body == b"x"
    assert server.dialled == 2


def test_a_connection_that_the_other_side_closes_meanwhile_is_opened_again(serve: Serve) -> None:
    connections, server = serve(lambda _: plain(b"x"))
    connections.send("POST", "/", {}, b"")
    server.sides[0].shutdown(socket.SHUT_RDWR)
    assert connections.send("POST", "/", {}, b"").body == b"x"
    assert server.dialled == 2


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nF\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Amz",
        b"HTTP/1.1 200 OK\r\nno length\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n\r\n",
    ],
)
def test_an_invalid_answer_is_broken_and_its_connection_is_closed(serve: Serve, answer: bytes | None) -> None:
    broken = [answer]

    def reply(_: bytes) -> bytes | None:
        if not broken:
            return plain(b"x")
        found = broken.pop()
        if found is not None:
            server.sides[0].sendall(found)
        return None

    connections, server = serve(reply)
    with pytest.raises(Broken):
        connections.send("POST", "/", {}, b"")
    assert connections.send("POST", "/", {}, b"").body == b"x"
    assert server.dialled == 2


def test_when_one_connection_breaks_no_other_is_trusted(serve: Serve) -> None:
    """A container that was frozen finds all of them dead, and would wait for each."""
    meeting = threading.Barrier(2, timeout=20)
    cut = False

    def reply(request: bytes) -> bytes | None:
        if request.endswith(b"together"):
            meeting.wait()
        return None if cut else plain(b"x")

    connections, server = serve(reply)
    send_together(connections)
    assert server.dialled == 2
    cut = True
    with pytest.raises(Broken):
        connections.send("POST", "/", {}, b"")
    cut = False
    assert connections.send("POST", "/", {}, b"").body == b"x"
    assert server.dialled == 3


@pytest.mark.parametrize(("trusting", "dialled"), [(True, 2), (False, 3)])
def test_an_answer_that_is_late_ends_the_other_connections_unless_they_are_trusted(
    serve: Serve, trusting: bool, dialled: int
) -> None:
    late, meeting = threading.Event(), threading.Barrier(2, timeout=20)

    def reply(request: bytes) -> bytes | None:
        if request.endswith(b"late"):
            late.wait(20)
            return None
        if request.endswith(b"together"):
            meeting.wait()
        return plain(b"x")

    def dial() -> socket.socket:
        made = server.dial()
        made.settimeout(0.2)
        return made

    _, server = serve(reply)
    connections = Connections("http://engine", PATIENCE, dial, trusting=trusting)
    send_together(connections)
    with pytest.raises(Broken, match="timed out"):
        connections.send("POST", "/", {}, b"late")
    late.set()
    assert connections.send("POST", "/", {}, b"").body == b"x"
    assert server.dialled == dialled


def test_an_answer_without_a_body_is_whole(serve: Serve) -> None:
    connections, server = serve(lambda _: b"HTTP/1.1 204 No Content\r\nx: y\r\n\r\n")
    for _ in range(2):
        assert connections.send("DELETE", "/a%3D", {}, b"") == (204, {"x": "y"}, b"")
    assert server.dialled == 1
    assert server.requests[0] == b"DELETE /a%3D HTTP/1.1\r\nContent-Length: 0\r\n\r\n"


def test_a_refused_connection_is_broken() -> None:
    def dial() -> socket.socket:
        raise ConnectionRefusedError("nobody")

    with pytest.raises(Broken, match="nobody"):
        Connections("http://engine", PATIENCE, dial).send("POST", "/", {}, b"")


def test_requests_at_the_same_time_have_a_connection_each(serve: Serve) -> None:
    meeting = threading.Barrier(3, timeout=20)

    def reply(request: bytes) -> bytes:
        meeting.wait()
        return plain(request[-1:])

    connections, server = serve(reply)
    found: dict[bytes, bytes] = {}
    threads = [
        threading.Thread(
            target=lambda body=body: found.update({body: connections.send("POST", "/", {}, body).body})
        )
        for body in (b"1", b"2", b"3")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {body: body for body in (b"1", b"2", b"3")}
    assert server.dialled == 3


def test_a_proxy_of_the_environment_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert is_direct("https://dynamodb.eu-west-1.amazonaws.com")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    assert not is_direct("https://dynamodb.eu-west-1.amazonaws.com")
    assert is_direct("http://127.0.0.1:8000")
    monkeypatch.setenv("NO_PROXY", ".amazonaws.com")
    assert is_direct("https://dynamodb.eu-west-1.amazonaws.com")


@pytest.mark.parametrize("bundle", ["", "/etc/own.pem"])
def test_authorities_are_those_of_the_environment_or_else_botocores(
    monkeypatch: pytest.MonkeyPatch, bundle: str
) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", bundle)
    monkeypatch.setattr("ssl.create_default_context", lambda cafile: cafile)
    chosen: Any = connections._context.__wrapped__()
    assert chosen == (bundle or get_cert_path(True))
