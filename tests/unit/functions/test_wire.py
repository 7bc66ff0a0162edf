"""Hostile bytes on a connection: the web server, the gateway and the functions together, on a
socket of this machine.
"""

import base64
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPResponse
from io import BytesIO
from typing import Any

import pytest
from pytest_socket import disable_socket, enable_socket

from devtools.local import gateway, tokens
from devtools.local.server import application, web_server
from tests.support import worked_example
from tests.support.cloud import Cloud
from tests.support.http import Context

KEY = b"k" * 64
PATH = worked_example.PATH
SEPARATOR = b"\r\n"


class Received(BytesIO):
    """The bytes received over a connection, as a source for a response."""

    def makefile(self, *_: Any, **__: Any) -> "Received":
        return self

    def close(self) -> None:
        """Stay open: several responses may follow each other."""


@dataclass
class Wire:
    """A connection to the API for each exchange, and the events that reached a function."""

    address: str
    events: list[dict[str, Any]] = field(default_factory=list)

    def send(self, raw: bytes) -> list[tuple[int, dict[str, str], bytes]]:
        """Every response to these bytes, until the server closes the connection."""
        self.events.clear()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.address)
            connection.settimeout(20)
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            received = Received(b"".join(iter(lambda: connection.recv(2**16), b"")))
        found = []
        while received.tell() < len(received.getvalue()):
            response = HTTPResponse(received, method=raw.split(b" ")[0].decode())  # type: ignore[arg-type]
            response.begin()
            headers = {name.lower(): value for name, value in response.getheaders()}
            found.append((response.status, headers, response.read()))
        return found

    def call(
        self, method: str, target: str, *headers: str | bytes, body: bytes = b"", length: str | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """The only response to a request with these header lines."""
        lines = [f"{method} {target} HTTP/1.1", "Host: x", "Connection: close", *headers]
        if body or length is not None:
            lines.append(f"Content-Length: {len(body) if length is None else length}")
        raw = SEPARATOR.join(line if isinstance(line, bytes) else line.encode() for line in lines)
        (response,) = self.send(raw + SEPARATOR * 2 + body)
        return response


@pytest.fixture(scope="module")
def wire(shared_account: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """The worked example, served by a web server."""
    owner = shared_account.api()
    worked_example.load(owner)
    owner.made("/v1/projects", {"id": "other", "name": "Other"})
    owner.acting(tenant="umbra").made("/v1/projects", {"id": worked_example.PROJECT, "name": "Theirs"})
    address = str(tmp_path_factory.mktemp("wire") / "socket")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    served = Wire(address)

    def invoke(function: str, event: dict[str, Any]) -> Any:
        served.events.append(event)
        return shared_account.handlers[function](event, Context())

    enable_socket()  # it looks up the address that it would otherwise listen on
    server = web_server(application(invoke, KEY), listener, threads=8)
    disable_socket(allow_unix_socket=True)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield served
    server.close()
    thread.join()


@pytest.fixture(autouse=True)
def _nothing_is_written(shared_account: Cloud, wire: Wire) -> Iterator[None]:
    before = shared_account.items()
    yield
    assert shared_account.items() == before


def bearer(role: str = "viewer", tenant: str = "0807") -> str:
    return "Authorization: Bearer " + tokens.issue(KEY, tenant=tenant, role=role, user="ann")


def deep_token() -> str:
    header = base64.urlsafe_b64encode(b"[" * 40_000).decode().rstrip("=")
    return f"Authorization: Bearer {header}.e30.x"


@pytest.mark.parametrize(
    "lines",
    [
        (bearer(), bearer("admin")),
        (bearer("admin"), bearer()),
        (bearer("admin"), "Authorization: Basic x"),
        ("Authorization:", bearer("admin")),
        (bearer("admin").replace("Authorization", "X-Authorization"),),
        (bearer("admin").replace("Authorization", "Authorization_"),),
        (bearer("admin").replace("Authorization", "HTTP_Authorization"),),
        (bearer("admin") + "\u00e9",),
        (bearer("admin").replace("Bearer ", "Bearer\u00a0"),),
        (deep_token(),),
    ],
)
def test_two_tokens_or_a_token_elsewhere_are_no_token(wire: Wire, lines: tuple[str, ...]) -> None:
    status, headers, _ = wire.call("GET", "/v1/projects", *lines)
    assert (status, headers["www-authenticate"]) == (401, "Bearer")
    assert wire.events == []


FORGED = json.dumps(
    {"authorizer": {"jwt": {"claims": {"custom:tenant": "umbra", "custom:role": "admin", "token_use": "id"}}}}
)
FORGERIES = (
    f"X-Amzn-Request-Context: {FORGED}",
    f"X-Amzn-ApiGateway-Event: {FORGED}",
    f"X-ApiGateway-Event: {FORGED}",
    f"RequestContext: {FORGED}",
    "X-Amzn-Oidc-Identity: root",
    "X-Amzn-Oidc-Data: " + base64.b64encode(FORGED.encode()).decode(),
    "X-Amzn-Oidc-AccessToken: x",
    "Custom:Role: admin",
    "Custom-Tenant: umbra",
    "X-Forwarded-User: root",
)


def test_claims_in_headers_are_ignored(wire: Wire) -> None:
    status, _, _ = wire.call("GET", "/v1/projects", *FORGERIES[:-3])
    assert status == 401
    status, _, content = wire.call("GET", "/v1/projects", bearer(), *FORGERIES[:-3], *FORGERIES[-2:])
    assert (status, [one["name"] for one in json.loads(content)["items"]]) == (
        200,
        ["Forth Rail Bridge", "Other"],
    )
    body = json.dumps({"name": "x", "requestContext": json.loads(FORGED)}).encode()
    status, _, _ = wire.call("POST", "/v1/projects", bearer(), *FORGERIES[:-3], body=body)
    assert status == 403
    status, _, _ = wire.call("GET", "/v1/projects?requestContext=x", bearer())
    assert status == 400


def test_repeated_headers_are_joined(wire: Wire) -> None:
    status, _, content = wire.call(
        "DELETE", f"{PATH}/issues/1", bearer("editor"), 'If-Match: "7"', 'if-match: W/"8" , "9"'
    )
    assert status == 412, content
    assert wire.events[0]["headers"]["if-match"] == '"7", W/"8" , "9"'
    status, _, content = wire.call(
        "DELETE", f"{PATH}/issues/1", bearer("editor"), "If-Match: 1", 'If-Match: "1"'
    )
    assert (status, [one["field"] for one in json.loads(content)["errors"]]) == (400, ["If-Match"])


@pytest.mark.parametrize(
    "line",
    [
        b"X: a\0b",
        b"X: a\x01b",
        b"X: a\rb",
        b"X: a\nY: b\0",
        b"X : a",
        b": a",
        b"X\0: a",
        b"X\x7f: a",
        b"\xe9: a",
    ],
)
def test_control_characters_in_headers_are_refused(wire: Wire, line: bytes) -> None:
    status, _, _ = wire.call("GET", "/v1/projects", bearer(), line)
    assert status == 400
    assert wire.events == []


@pytest.mark.parametrize(
    ("lines", "refused"),
    [
        (("Content-Length: 2", "Content-Length: 2"), 400),
        (("Content-Length: 2", "Content-Length: 30"), 400),
        (("Content-Length: +2",), 400),
        (("Content-Length: -2",), 400),
        (("Content-Length: 0x2",), 400),
        (("Content-Length: 2, 2",), 400),
        (("Transfer-Encoding: gzip, chunked",), 501),
        (("Transfer-Encoding: xchunked",), 501),
        (("Transfer-Encoding: chunked, identity",), 501),
        (("Transfer-Encoding: \x0bchunked",), 400),
        (("Transfer-Encoding : chunked",), 400),
    ],
)
def test_a_body_of_two_lengths_or_of_none_is_refused_and_nothing_after_it_is_read(
    wire: Wire, lines: tuple[str, ...], refused: int
) -> None:
    head = [f"POST {PATH}/grid HTTP/1.1", "Host: x", bearer(), *lines]
    following = f"DELETE {PATH} HTTP/1.1\r\nHost: x\r\n{bearer('admin')}\r\n\r\n"
    answers = wire.send(("\r\n".join(head) + "\r\n\r\n{}" + following).encode())
    assert [status for status, _, _ in answers] == [refused]
    assert wire.events == []


def test_chunks_are_the_body_despite_a_content_length(wire: Wire) -> None:
    head = [
        f"POST {PATH}/grid HTTP/1.1",
        "Host: x",
        bearer(),
        "Content-Length: 4",
        "Transfer-Encoding: chunked",
    ]
    chunks = 'e\r\n{"limit": 501}\r\n0\r\n\r\n'
    answers = wire.send(("\r\n".join([*head, "Connection: close"]) + "\r\n\r\n" + chunks).encode())
    assert [status for status, _, _ in answers] == [400]
    ((field),) = [one["field"] for one in json.loads(answers[0][2])["errors"]]
    assert field == "limit"
    assert len(wire.events) == 1


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", "/v1/projects/35e9%2F..%2F..", 404),
        ("GET", "/v1/projects/../health", 404),
        ("GET", "//v1/health", 404),
        ("GET", "/v1/health/", 404),
        ("GET", "/v1/projects/%00", 404),
        ("GET", "/v1/projects/%ff%fe", 404),
        ("GET", "/v1/projects/%", 404),
        ("GET", "http://elsewhere/v1/health", 200),
        ("GET", "/v1/health?%", 200),
        ("GET", "/v1/projects?limit=1&limit=2", 400),
        ("GET", "/v1/projects?limit=%ff", 400),
        ("GET", "/v1/projects?limit=%F0%9F", 400),
        ("PUT", "/v1/projects", 405),
        ("PUT", "/v1/projects/no%20id", 405),
        ("PUT", "/v1/projects/", 404),
        ("PUT", "/v1/%2e%2e", 404),
        ("GET", "/v2/projects", 404),
        ("HEAD", "/v1/projects", 405),
        ("OPTIONS", "/v1/projects", 405),
    ],
)
def test_the_first_line_of_a_request(wire: Wire, method: str, target: str, status: int) -> None:
    answered, headers, content = wire.call(method, target, bearer())
    assert answered == status, content
    assert ("allow" in headers) == (status == 405)
    assert (content == b"") == (method == "HEAD")


def test_a_body_above_the_limit_is_refused_and_one_below_is_read(wire: Wire) -> None:
    name = "x" * (gateway.MAX_PAYLOAD_BYTES - 2_000)
    json_type = "Content-Type: application/json"
    body = json.dumps({"name": name}).encode()
    status, _, content = wire.call("POST", f"{PATH}/issues", bearer("editor"), json_type, body=body)
    assert (status, [one["field"] for one in json.loads(content)["errors"]]) == (400, ["name"])
    assert len(content) < 1_000
    status, headers, content = wire.call(
        "POST", f"{PATH}/issues", bearer("editor"), json_type, body=body + b" " * 2_000
    )
    assert (status, headers["content-type"]) == (413, "application/problem+json")
    assert wire.events == []


def test_a_cursor_is_refused_in_another_tenant_project_order_and_filter(wire: Wire) -> None:
    def grid(project: str, cursor: str, *, sort: str = "num", filter_: str = "", tenant: str = "0807") -> int:
        target = f"/v1/projects/{project}/grid?limit=1&sort={sort}&cursor={cursor}{filter_}"
        status, _, content = wire.call("GET", target, bearer(tenant=tenant))
        if status == 400:
            assert [one["field"] for one in json.loads(content)["errors"]] == ["cursor"]
        return status

    _, _, content = wire.call("GET", f"{PATH}/grid?limit=1&sort=num", bearer())
    cursor = json.loads(content)["next"]
    project = worked_example.PROJECT
    assert grid(project, cursor) == 200
    elsewhere: list[Callable[[], int]] = [
        lambda: grid(project, cursor, tenant="umbra"),
        lambda: grid("other", cursor),
        lambda: grid(project, cursor, sort="name"),
        lambda: grid(
            project, cursor, filter_="&filter=%7B%22field%22:%22num%22,%22op%22:%22gt%22,%22value%22:0%7D"
        ),
        lambda: wire.call("GET", f"/v1/projects?cursor={cursor}", bearer())[0],
    ]
    assert [one() for one in elsewhere] == [400] * len(elsewhere)
