"""Idempotency-Key over real connections: many concurrent senders of one request, other users and
tenants, two headers.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import pytest

from tests.support.stacks import LocalStack

SENDERS = 4


@pytest.fixture
def projects(stack: LocalStack) -> Iterator[dict[str, httpx.Client]]:
    """Clients of three users, by name; the tenant of each has the project `once`."""
    people = {"ann": "0807", "bob": "0807", "eve": "once3cc8"}
    with ExitStack() as opened:
        clients = {}
        for user, tenant in people.items():
            clients[user] = opened.enter_context(stack.client(user=user, tenant=tenant))
        for user in ("ann", "eve"):
            body = {"id": "once", "name": "Once"}
            assert (
                clients[user].post("/v1/projects", json=body, headers={"Idempotency-Key": "made"}).status_code
                == 201
            )
        yield clients


def answer(response: httpx.Response) -> tuple[object, ...]:
    return response.status_code, response.content, response.headers["location"], response.headers["etag"]


def test_a_request_that_many_send_at_once_is_done_once(projects: dict[str, httpx.Client]) -> None:
    def send(user: str, key: str) -> tuple[object, ...]:
        body = {"name": f"Rivets of {key}"}
        return answer(
            projects[user].post("/v1/projects/once/issues", json=body, headers={"Idempotency-Key": key})
        )

    with ThreadPoolExecutor(SENDERS) as pool:
        for key in ("a", "b", "c"):
            found = set(pool.map(send, ["ann"] * SENDERS, [key] * SENDERS))
            assert len(found) == 1
            assert found == {send("ann", key)}
    names = [row["name"] for row in projects["ann"].get("/v1/projects/once/grid").json()["rows"]]
    assert sorted(names) == [f"Rivets of {key}" for key in ("a", "b", "c")]
    # Another user of the tenant, and another tenant: the same key is another request of theirs.
    others = {user: send(user, "a") for user in ("bob", "eve")}
    assert others["eve"][2] == "/v1/projects/once/issues/1"
    assert len({send("ann", "a"), *others.values()}) == 3
    assert len(projects["ann"].get("/v1/projects/once/grid").json()["rows"]) == 4
    assert len(projects["eve"].get("/v1/projects/once/grid").json()["rows"]) == 1


@pytest.mark.parametrize("keys", [["a", "b"], ["a", "a"], [""], ["\u00e4"]])
def test_two_headers_and_no_text_are_no_key(projects: dict[str, httpx.Client], keys: list[str]) -> None:
    headers = [(b"Idempotency-Key", key.encode()) for key in keys]
    refused = projects["ann"].post("/v1/projects/once/issues", json={"name": "x"}, headers=headers)
    assert refused.status_code == 400
    assert [error["field"] for error in refused.json()["errors"]] == ["Idempotency-Key"]
