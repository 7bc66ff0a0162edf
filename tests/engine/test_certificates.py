"""A connection to DynamoDB verifies the server: a server of TLS in this process, with certificates made for it."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gridview.support import connections
from gridview.support.connections import Broken, Connections, Patience

Serve = Callable[[str], tuple[Connections, Path]]
"""Begins a server with a certificate of a name: the connections to it, and the file of the authority."""


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A self-signed certificate, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return files


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    listener = socket.create_server(("127.0.0.1", 0))
    threads = []

    def begin(name: str) -> tuple[Connections, Path]:
        authority, key = certificate(tmp_path, name)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority, key)

        def answer() -> None:
            side, _ = listener.accept()
            try:
                with context.wrap_socket(side, server_side=True) as secure:
                    secure.recv(65_536)
                    secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            except OSError:
                side.close()  # the other side did not trust this one

        threads.append(threading.Thread(target=answer))
        threads[-1].start()
        return Connections(f"https://localhost:{listener.getsockname()[1]}", Patience(20, 20)), authority

    yield begin
    for thread in threads:
        thread.join(timeout=20)
    listener.close()
    connections._context.cache_clear()


def test_a_certificate_of_a_known_authority_is_accepted(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, authority = serve("localhost")
    monkeypatch.setenv("AWS_CA_BUNDLE", str(authority))
    connections._context.cache_clear()
    assert made.send("POST", "/", {"Host": "localhost"}, b"{}").body == b"{}"


def test_a_certificate_of_an_unknown_authority_is_refused(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = serve("localhost")
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
    connections._context.cache_clear()
    with pytest.raises(Broken, match="CERTIFICATE_VERIFY_FAILED"):
        made.send("POST", "/", {"Host": "localhost"}, b"{}")


def test_a_certificate_for_another_host_is_refused(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    made, authority = serve("elsewhere.example")
    monkeypatch.setenv("AWS_CA_BUNDLE", str(authority))
    connections._context.cache_clear()
    with pytest.raises(Broken, match="CERTIFICATE_VERIFY_FAILED"):
        made.send("POST", "/", {"Host": "localhost"}, b"{}")
