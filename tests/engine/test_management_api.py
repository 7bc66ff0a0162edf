"""Messages to clients over real connections to a management API: reused connections, and clients that take nothing."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gridview.live.wire import ApiGatewayWire, Slow


class Clients(ThreadingHTTPServer):
    """A management API. A client of the name `stuck=` takes a message once the test is over."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.over = threading.Event()
        self.asked: list[tuple[str, str, bytes]] = []
        self.ports: list[int] = []


class _Handler(BaseHTTPRequestHandler):
    server: Clients
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.server.ports.append(self.client_address[1])
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.command, self.path, body))
        if "stuck" in self.path:
            self.server.over.wait(20)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_DELETE(self) -> None:
        self.server.ports.append(self.client_address[1])
        self.server.asked.append((self.command, self.path, b""))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clients]:
    with Clients() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/live"
        monkeypatch.setenv("AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI", address)
        yield server
        server.over.set()
        server.shutdown()


def test_a_client_that_takes_nothing_is_slow_and_the_connection_of_the_others_stays(clients: Clients) -> None:
    wire = ApiGatewayWire()
    wire.post("a=", b"1")
    with pytest.raises(Slow):
        wire.post("stuck=", b"2")
    wire.post("b=", b"3")
    wire.end("stuck=")
    wire.post("b=", b"4")
    path = "/live/@connections/"
    assert clients.asked == [
        ("POST", f"{path}a%3D", b"1"),
        ("POST", f"{path}stuck%3D", b"2"),
        ("POST", f"{path}b%3D", b"3"),
        ("DELETE", f"{path}stuck%3D", b""),
        ("POST", f"{path}b%3D", b"4"),
    ]
    first, stuck, *others = clients.ports
    assert first == stuck, "it was free"
    assert len({*others}) == 1


def test_a_client_without_an_answer_is_slow(clients: Clients) -> None:
    clients.server_close()
    with pytest.raises(Slow):
        ApiGatewayWire().post("a=", b"1")
    ApiGatewayWire().end("a=")
