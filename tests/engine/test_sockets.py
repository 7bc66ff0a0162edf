"""Sockets from outside: a real client and the local stack, whose processes replace API Gateway, the
stream and Lambda.
"""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection
from websockets.typing import Origin

from devtools.local.socket_gateway import MAX_MESSAGE_BYTES
from gridview.live.seats import MAX_USER_SOCKETS
from gridview.live.sockets import MESSAGES
from tests.support.stacks import SECONDS, LocalStack, running_stack, socket_to


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    """A stack that no other test writes to."""
    with running_stack(tmp_path_factory.mktemp("sockets")) as running:
        yield running


@pytest.fixture(scope="module")
def api(stack: LocalStack) -> Iterator[httpx.Client]:
    with stack.client() as client:
        yield client


@pytest.fixture
def project(api: httpx.Client) -> str:
    """The path of a new project."""
    answer = api.post("/v1/projects", json={"name": "Sockets"})
    assert answer.status_code == 201, answer.text
    return f"/v1/projects/{answer.json()['id']}"


def ticket(api: httpx.Client, project: str) -> str:
    """An address with a ticket that is valid once."""
    answer = api.post(f"{project}/tickets")
    assert answer.status_code == 200, answer.text
    body = answer.json()
    return f"{body['url']}?ticket={body['ticket']}"


def say(socket: ClientConnection, **message: Any) -> None:
    socket.send(json.dumps(message))


def frame(socket: ClientConnection) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(socket.recv(timeout=SECONDS))
    return found


def test_a_change_comes_over_a_socket(api: httpx.Client, project: str) -> None:
    with socket_to(ticket(api, project)) as socket:
        say(socket, do="subscribe", id="a")
        assert frame(socket)["items"] == []
        num = api.post(f"{project}/issues", json={"name": "one"}).json()["num"]
        changed = frame(socket)
        assert [item["id"] for item in changed["items"]] == [f"{num}.1"]
        assert api.patch(f"{project}/issues/{num}", json={"name": "two"}).status_code == 200
        assert frame(socket)["since"] == changed["next"]


def test_a_ticket_opens_one_socket(api: httpx.Client, project: str) -> None:
    address = ticket(api, project)
    with socket_to(address), pytest.raises(InvalidStatus) as refused:
        socket_to(address).__enter__()
    assert refused.value.response.status_code == 401


def test_pages_of_other_origins_do_not_connect(stack: LocalStack, api: httpx.Client, project: str) -> None:
    port = stack.state.api.rpartition(":")[2]
    for origin in ("https://evil.example", "http://127.0.0.1:1", f"https://127.0.0.1:{port}", "null"):
        with pytest.raises(InvalidStatus) as refused:
            socket_to(ticket(api, project), origin=Origin(origin)).__enter__()
        assert refused.value.response.status_code == 403
    for origin in (f"http://127.0.0.1:{port}", f"http://localhost:{port}"):
        with socket_to(ticket(api, project), origin=Origin(origin)) as socket:
            say(socket, do="subscribe", id="a")
            assert "items" in frame(socket)


@pytest.mark.parametrize(
    "body",
    ["hello", "[" * 30_000, '{"do": "drop"}', '{"do": "look", "num": -1}', b"\xff\xfe", "x" * 40_000, "[1]"],
)
def test_a_hostile_message_is_answered_and_the_socket_goes_on(
    api: httpx.Client, project: str, body: str | bytes
) -> None:
    with socket_to(ticket(api, project)) as socket:
        socket.send(body)
        assert 400 <= frame(socket)["error"]["status"] < 500
        say(socket, do="subscribe", id="a")
        assert "items" in frame(socket)


def test_a_message_too_large_for_api_gateway_ends_the_socket(api: httpx.Client, project: str) -> None:
    with socket_to(ticket(api, project)) as socket:
        socket.send("x" * (MAX_MESSAGE_BYTES + 1))
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=SECONDS)
    with socket_to(ticket(api, project)) as socket:
        say(socket, do="subscribe", id="a")
        assert "items" in frame(socket)


def test_a_client_that_returns_after_a_kill_misses_nothing(stack: LocalStack, api: httpx.Client) -> None:
    """The whole stack dies at once, with sockets and functions, between a write and its delivery.

    Concurrently created issues have no order in the feed: the shards of the stream are read in parallel.
    """
    answer = api.post("/v1/projects", json={"name": "Killed"})
    project = f"/v1/projects/{answer.json()['id']}"
    expected: list[str] = []
    received: list[str] = []
    cursor: str | None = None
    for round_ in range(2):
        with socket_to(ticket(api, project)) as socket:
            say(socket, do="subscribe", id="a", since=cursor)
            while True:
                one = frame(socket)
                assert one["since"] == cursor
                cursor = one["next"]
                received += [item["id"] for item in one["items"]]
                if len(received) >= len(expected):
                    break
            for number in range(5):
                created = api.post(f"{project}/issues", json={"name": f"{round_}.{number}"})
                expected.append(f"{created.json()['num']}.1")
            if round_ == 0:
                stack.kill()
                stack.up()
    with socket_to(ticket(api, project)) as socket:
        say(socket, do="subscribe", id="a", since=cursor)
        deadline = time.monotonic() + SECONDS
        while len(received) < len(expected) and time.monotonic() < deadline:
            received += [item["id"] for item in frame(socket)["items"]]
    assert sorted(received) == sorted(expected)


def test_the_21st_socket_ends_the_oldest_and_a_message_too_many_ends_none(
    api: httpx.Client, project: str
) -> None:
    with ExitStack() as opened:
        oldest, second, *_ = [
            opened.enter_context(socket_to(ticket(api, project))) for _ in range(MAX_USER_SOCKETS)
        ]
        newest = opened.enter_context(socket_to(ticket(api, project)))
        assert frame(oldest) == {"bye": "replaced"}
        with pytest.raises(ConnectionClosed):
            oldest.recv(timeout=SECONDS)
        for _ in range(2 * MESSAGES):
            say(second, do="unsubscribe", id="none")
        assert frame(second)["error"]["status"] == 429
        for socket in (second, newest):
            time.sleep(1)
            say(socket, do="subscribe", id="a")
            while "items" not in (one := frame(socket)):
                assert one["error"]["status"] == 429


def test_two_people_see_each_other(stack: LocalStack, api: httpx.Client, project: str) -> None:
    with stack.client("viewer", user="bob") as other:
        with socket_to(ticket(api, project)) as ours, socket_to(ticket(other, project)) as theirs:
            say(ours, do="look", num=1)
            assert [one["num"] for one in frame(ours)["people"]] == [1]
            say(theirs, do="look", num=2)
            both = {("bob", 2), ("local-user", 1)}
            for socket in (ours, theirs):
                assert {(one["user"], one["num"]) for one in frame(socket)["people"]} == both
        # Both have gone, so the next user is alone.
        with socket_to(ticket(api, project)) as alone:
            say(alone, do="look", num=3)
            while len(frame(alone)["people"]) > 1:
                pass
