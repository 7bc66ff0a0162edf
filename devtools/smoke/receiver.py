"""A receiver of webhooks on this machine, for a local stack."""

import base64
import hashlib
import hmac
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from devtools.smoke.stack import Receiver

Message = tuple[str, str, str, bytes]
"""Id, time, signatures and body."""


@contextmanager
def on_this_machine() -> Iterator[Receiver]:
    """A receiver at a free port of 127.0.0.1. It checks signatures as a receiver of webhooks does."""
    messages: list[Message] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            values = (self.headers[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
            identity, at, signatures = values
            messages.append((identity, at, signatures, body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        try:
            yield Receiver(url, lambda secret: any(is_signed(secret, message) for message in messages))
        finally:
            server.shutdown()


def is_signed(secret: str, message: Message) -> bool:
    """Whether a secret signs a message, by Standard Webhooks 1.0."""
    identity, at, signatures, body = message
    key = base64.b64decode(secret.removeprefix("whsec_"))
    made = base64.b64encode(hmac.digest(key, f"{identity}.{at}.".encode() + body, hashlib.sha256)).decode()
    return any(hmac.compare_digest(f"v1,{made}", one) for one in signatures.split())
