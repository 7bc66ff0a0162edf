"""A restore of the local stack to a copy of its tables from before some writes.

Callers, a follower, a socket and a webhook, which all know the lost writes, continue correctly.
"""

import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import ClientConnection

from devtools.local.folder import Folder
from tests.support.receivers import Message
from tests.support.stacks import SECONDS, LocalStack, quick_folder, socket_to, until

WEBHOOKS = "--webhooks-to-localhost"
PROJECT = "/v1/projects/kept"
ISSUE = f"{PROJECT}/issues/1"


@pytest.fixture
def receiver() -> Iterator[tuple[int, list[Message]]]:
    """The port of a receiver, and the messages that it received."""
    messages: list[Message] = []

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            messages.append(Message(self.path, headers, body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1], messages
        server.shutdown()


def made(api: httpx.Client, path: str, body: Any) -> Any:
    answer = api.post(path, json=body)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def changed(api: httpx.Client, path: str, body: Any, version: int | None = None) -> Any:
    headers = {} if version is None else {"If-Match": f'"{version}"'}
    answer = api.patch(path, json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refusal(api: httpx.Client, path: str, body: Any, **headers: str) -> int:
    return api.patch(path, json=body, headers=headers).status_code


def followed(api: httpx.Client, cursor: str | None = None) -> Any:
    answer = api.get(f"{PROJECT}/changes", params={} if cursor is None else {"since": cursor})
    assert answer.status_code == 200, answer.text
    return answer.json()


def frame(socket: ClientConnection) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(socket.recv(timeout=SECONDS))
    return found


def subscribed(api: httpx.Client, cursor: str | None) -> tuple[ClientConnection, dict[str, Any]]:
    ticket = made(api, f"{PROJECT}/tickets", None)
    socket = socket_to(f"{ticket['url']}?ticket={ticket['ticket']}", legacy=True)
    socket.send(json.dumps({"do": "subscribe", "id": "a", "since": cursor}))
    return socket, frame(socket)


def ids_of(messages: list[Message]) -> set[str]:
    """A message may come twice, with the same id: a busy or stopped stack sends it again."""
    return {one.headers["webhook-id"] for one in messages}


def test_lost_writes_are_refused_and_followers_sockets_and_webhooks_go_on(
    tmp_path: Path, receiver: tuple[int, list[Message]]
) -> None:
    with quick_folder(tmp_path) as made_folder:
        rehearse(made_folder, *receiver)


def rehearse(home: Path, port: int, messages: list[Message]) -> None:
    stack = LocalStack(home / "data")
    folder, copy = Folder(stack.data), home / "copy"
    stack.up("--empty", WEBHOOKS)
    try:
        with stack.client() as api:
            made(api, "/v1/projects", {"id": "kept", "name": "Kept"})
            made(api, f"{PROJECT}/webhooks", {"url": f"http://127.0.0.1:{port}/hook"})
            made(api, f"{PROJECT}/issues", {"name": "first"})
            deleted = made(api, f"{PROJECT}/issues", {"name": "in the trash"})["num"]
            assert api.delete(f"{PROJECT}/issues/{deleted}").status_code == 204
            kept = changed(api, ISSUE, {"name": "kept"})
            assert kept["version"] == 2
            comment = made(api, f"{ISSUE}/comments", {"text": "kept"})
            until(stack.caught_up)
            until(lambda: len(ids_of(messages)) >= 4)
        stack.dev("down")
        shutil.copytree(folder.tables, copy)
        stack.up(WEBHOOKS)
        with stack.client() as api:
            socket, first = subscribed(api, None)
            for name in ("lost 3", "lost 4", "lost 5"):
                lost = changed(api, ISSUE, {"name": name})
            numbers = [made(api, f"{PROJECT}/issues", {"name": "lost"})["num"] for _ in range(3)]
            lost_comment = made(api, f"{ISSUE}/comments", {"text": "lost"})
            changed(api, f"{ISSUE}/comments/{comment['id']}", {"text": "lost"})
            until(lambda: len(ids_of(messages)) >= 10)
            pushed = first["items"]
            while len([one for one in pushed if one["num"]]) < 6:
                first = frame(socket)
                pushed += first["items"]
            cursor = first["next"]
            socket.close()
            follower = followed(api)["next"]
        before = list(messages)
        refused = stack.dev("restore", "--copy", str(copy))
        assert refused.status == 1
        assert "is running" in refused.stderr
        stack.dev("down")
        started = stack.start("restore", "--copy", str(copy))
        until(folder.restoring.exists)
        started.kill()
        started.wait()
        half = stack.dev("up", "--detach", "--port", "0")
        assert half.status == 1
        assert "A restore is not complete" in half.stderr
        done = stack.dev("restore", "--copy", str(copy))
        assert done.status == 0, done.stderr
        stack.up(WEBHOOKS)
        with stack.client() as api:
            now = api.get(ISSUE).json()
            assert now["name"] == "kept"
            assert now["version"] > lost["version"]
            # No version that was ever issued is accepted, even after the same number of new writes.
            for name in ("new 1", "new 2", "new 3", "new 4"):
                for version in range(1, lost["version"] + 1):
                    assert refusal(api, ISSUE, {"name": "overwritten"}, **{"If-Match": f'"{version}"'}) == 412
                for base in range(kept["version"] + 1, lost["version"] + 1):
                    assert refusal(api, ISSUE, {"name": "overwritten", "base": base}) == 412
                now = changed(api, ISSUE, {"name": name}, now["version"])
            assert refusal(api, ISSUE, {"name": "overwritten", "base": kept["version"]}) == 409
            spoken = f"{ISSUE}/comments/{comment['id']}"
            assert refusal(api, spoken, {"text": "overwritten"}, **{"If-Match": '"2"'}) == 412
            again = made(api, f"{ISSUE}/comments", {"text": "new"})
            assert (again["id"] > lost_comment["id"]) or again["version"] > lost_comment["version"]
            new = made(api, f"{PROJECT}/issues", {"name": "new"})
            assert new["num"] > max(numbers)
            (trashed,) = api.get(f"{PROJECT}/trash").json()["items"]
            assert trashed["num"] == deleted
            assert api.post(f"{PROJECT}/trash/{deleted}/restore").status_code == 200
            until(stack.caught_up)
            # The follower and the socket receive a reset, read everything again, and continue.
            assert followed(api, follower)["items"][0]["kind"] == "reset"
            socket, first = subscribed(api, cursor)
            assert first["items"][0]["kind"] == "reset"
            changed(api, ISSUE, {"name": "heard"})
            received_now = first["items"][1:]
            while not any(item.get("num") == 1 and "heard" in json.dumps(item) for item in received_now):
                received_now += frame(socket)["items"]
            assert "lost" not in json.dumps(received_now)
            socket.close()
            # The webhook receives one reset, then the new messages.
            until(lambda: any("heard" in str(one.content) for one in messages))
        after = messages[len(before) :]
        assert len(ids_of([one for one in after if one.content["type"] == "reset"])) == 1
        assert after[0].content["type"] == "reset"
        assert not ids_of(after) & ids_of(before)
        # A repeated message is the same one.
        assert len({(one.headers["webhook-id"], json.dumps(one.content)) for one in messages}) == len(
            ids_of(messages)
        )
        checked = stack.dev("fsck", "--repair", "--patience", "5")
        assert checked.status == 0, checked.stdout + checked.stderr
    finally:
        stack.dev("reset")
