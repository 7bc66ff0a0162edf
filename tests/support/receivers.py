"""A receiver of webhooks: a server with any bad behaviour, at the other end of a pair of sockets.

It uses real HTTP over real TLS, with a certificate of its own authority. Nothing leaves the process.
"""

import datetime
import json
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "hooks.example.org"
PUBLIC = "93.184.216.34"
"""An address of the public internet."""


class Message(NamedTuple):
    """A message that a receiver got."""

    resource: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def content(self) -> dict[str, Any]:
        """The body, decoded."""
        body: dict[str, Any] = json.loads(self.body)
        return body


Behaviour = Callable[[socket.socket], None]
"""The receiver's action after it has read a message."""


def answers(status: int = 200, body: bytes = b"", **headers: str) -> Behaviour:
    """Answer. Underscores in the names of headers become hyphens."""
    sent_headers = {
        "Content-Length": str(len(body)),
        **{name.replace("_", "-"): one for name, one in headers.items()},
    }
    lines = [
        f"HTTP/1.1 {status} whatever",
        *(f"{name}: {value}" for name, value in sent_headers.items()),
        "",
        "",
    ]
    return lambda connection: connection.sendall("\r\n".join(lines).encode() + body)


def says(content: bytes) -> Behaviour:
    """Send these bytes."""
    return lambda connection: connection.sendall(content)


def hangs(connection: socket.socket) -> None:
    """Never answer, and wait until the sender is gone."""
    while connection.recv(1024):
        pass


def hangs_up(connection: socket.socket) -> None:
    """Close the connection without an answer."""


def pours(beginning: bytes) -> Behaviour:
    """Send a beginning, and then a gigabyte."""

    def pour(connection: socket.socket) -> None:
        connection.sendall(beginning)
        for _ in range(16_384):
            connection.sendall(b"x" * 65_536)

    return pour


def drips(beginning: bytes) -> Behaviour:
    """Send a beginning, and then a byte now and then, forever."""

    def drip(connection: socket.socket) -> None:
        connection.sendall(beginning)
        while True:
            threading.Event().wait(0.02)
            connection.sendall(b"x")

    return drip


@dataclass
class Receiver:
    """A receiver. `behaves` lists its actions for the next messages, one by one; afterwards it does `otherwise`."""

    behaves: deque[Behaviour] = field(default_factory=deque)
    otherwise: Behaviour = field(default_factory=answers)
    secure: bool = True
    received: list[Message] = field(default_factory=list)
    asked: list[tuple[str, int]] = field(default_factory=list)
    """The addresses and ports of attempts to connect to it."""
    named: list[str | None] = field(default_factory=list)
    """The hosts that TLS named."""

    def connect(self, address: str, port: int, seconds: float) -> socket.socket:
        """A connection to it, whatever the address."""
        self.asked.append((address, port))
        ours, theirs = socket.socketpair()
        ours.settimeout(seconds)
        threading.Thread(target=self._serve, args=(theirs,), daemon=True).start()
        return ours

    def _serve(self, plain: socket.socket) -> None:
        try:
            connection = plain
            if self.secure:
                context = _server_context()
                context.sni_callback = lambda _, name, __: self.named.append(name)
                connection = context.wrap_socket(plain, server_side=True)
            with connection:
                self._answer(connection)
        except (OSError, ssl.SSLError):
            plain.close()

    def _answer(self, connection: socket.socket) -> None:
        content = b""
        while b"\r\n\r\n" not in content:
            part = connection.recv(65_536)
            if not part:
                return
            content += part
        head, _, body = content.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        while len(body) < int(headers["content-length"]):
            body += connection.recv(65_536)
        self.received.append(Message(first.split(" ")[1], headers, body))
        behave = self.behaves.popleft() if self.behaves else self.otherwise
        behave(connection)

    @property
    def contents(self) -> list[dict[str, Any]]:
        """The decoded bodies of the messages that it received."""
        return [message.content for message in self.received]


class _Issued(NamedTuple):
    authority: bytes
    certificate: bytes
    key: bytes


_one_by_one = threading.Lock()


def _issued(host: str) -> _Issued:
    """A certificate for a host, and its authority, which is the certificate itself: always the same one."""
    with _one_by_one:
        return _made(host)


@cache
def _made(host: str) -> _Issued:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return _Issued(pem, pem, private)


def _server_context() -> ssl.SSLContext:
    issued = _issued(HOST)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "both.pem"
        path.write_bytes(issued.certificate + issued.key)
        context.load_cert_chain(path)
    return context


def trusting() -> ssl.SSLContext:
    """A sender's context that trusts the receiver's authority, and is otherwise strict."""
    return ssl.create_default_context(cadata=_issued(HOST).authority.decode())
