"""Webhooks of a local stack: real writes, the real queues, and a receiver at a port of this machine."""

import base64
import hashlib
import hmac
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.receivers import Message
from tests.support.stacks import LocalStack, until

FLAG = "--webhooks-to-localhost"


@dataclass
class Inbox:
    """A server that records the messages it receives, and answers with a status."""

    status: int = 200
    messages: list[Message] = field(default_factory=list)
    port: int = 0


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    made = Inbox()

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            made.messages.append(Message(self.path, headers, body))
            self.send_response(made.status)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        made.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield made
        server.shutdown()


def made(client: httpx.Client, path: str, body: Any) -> Any:
    answer = client.post(path, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_changes_are_sent_to_a_server_of_this_machine_where_that_is_allowed(
    tmp_path: Path, inbox: Inbox
) -> None:
    stack = LocalStack(tmp_path / "data")
    stack.up("--empty", FLAG)
    try:
        with stack.client() as client:
            made(client, "/v1/projects", {"id": "followed", "name": "Followed"})
            hooks = "/v1/projects/followed/webhooks"
            hook = made(client, hooks, {"url": f"http://127.0.0.1:{inbox.port}/hook"})
            made(client, "/v1/projects/followed/issues", {"name": "First"})
            until(lambda: inbox.messages)
            (message,) = inbox.messages
            assert message.resource == "/hook"
            assert (message.content["type"], message.content["data"]["num"]) == ("create", 1)
            signed = f"{message.headers['webhook-id']}.{message.headers['webhook-timestamp']}.".encode()
            key = base64.b64decode(hook["secret"].removeprefix("whsec_"))
            signature = base64.b64encode(hmac.digest(key, signed + message.body, hashlib.sha256)).decode()
            assert message.headers["webhook-signature"] == f"v1,{signature}"

            inbox.status = 500
            client.patch("/v1/projects/followed/issues/1", json={"name": "Again"})
            until(lambda: len(inbox.messages) > 1)
            inbox.status = 200
            log = f"{hooks}/{hook['id']}/deliveries"
            until(lambda: client.get(log).json()["items"][0]["attempts"] == 2)
            assert {one["status"] for one in client.get(log).json()["items"]} == {"delivered"}
            replay = f"{log}/{client.get(log).json()['items'][0]['id']}/replay"
            count = len(inbox.messages)
            assert client.post(replay).status_code == 202
            until(lambda: len(inbox.messages) > count)
            assert inbox.messages[-1].headers["webhook-id"] == inbox.messages[-2].headers["webhook-id"]
        stack.dev("down")
        stack.up()
        count = len(inbox.messages)
        with stack.client() as client:
            refused = client.post(hooks, json={"url": f"http://127.0.0.1:{inbox.port}/"})
            assert refused.status_code == 400
            client.patch("/v1/projects/followed/issues/1", json={"name": "Once more"})
            # It is pending before its first attempt too.
            until(
                lambda: (one := client.get(log).json()["items"][0])["status"] == "pending" and one["failure"]
            )
            problem = client.get(log).json()["items"][0]["failure"]
            assert problem == "Nothing was sent: the URL must begin with https://."
        assert len(inbox.messages) == count
    finally:
        stack.dev("reset")
