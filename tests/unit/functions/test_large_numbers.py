"""Numbers beyond 64 bits, wherever a request may have one: they are kept and returned with all their digits."""

import json
from typing import Any

import pytest

from tests.support.cloud import Cloud
from tests.support.http import Client
from tests.support.sockets import Commits, connected
from tests.support.stream import Stream

LARGE = [2**64, -(2**63) - 1, 123456789012345678901234567890]


@pytest.fixture
def path(api: Client, project: str) -> str:
    """A project with a field of numbers."""
    api.made(f"{project}/attributes", {"id": "cost", "name": "Cost", "type": "number"})
    return project


def only(number: int) -> dict[str, Any]:
    return {"field": "cost", "op": "eq", "value": number}


@pytest.mark.parametrize("number", LARGE)
def test_a_socket_follows_rows_of_a_large_number(account: Cloud, api: Client, path: str, number: int) -> None:
    commits, stream = Commits(account), Stream(account)
    client, other = connected(account, api, path), connected(account, api, path)
    assert client.subscribe(filter=only(number))[0]["items"] == []
    assert other.subscribe()[0]["items"] == []
    created = api.made(f"{path}/issues", {"name": "one", "fields": {"cost": number}})["num"]
    api.made(f"{path}/issues", {"name": "two", "fields": {"cost": number + 1}})
    stream.deliver()
    commits.push()
    (frame,) = client.frames()
    assert [one["num"] for one in frame["items"]] == [created]
    assert sum(len(one["items"]) for one in other.frames()) == 2


@pytest.mark.parametrize("number", LARGE)
def test_every_request_takes_a_large_number(account: Cloud, api: Client, path: str, number: int) -> None:
    since = api.get(f"{path}/changes").body["next"]
    body = {"name": "one", "fields": {"cost": number}}
    keyed = {"idempotency-key": "large"}
    made = api.post(f"{path}/issues", body, headers=keyed)
    assert made.status == 201
    assert made.body["fields"]["cost"] == number
    assert api.post(f"{path}/issues", body, headers=keyed).body == made.body
    api.made(f"{path}/issues", body)
    account.follow()
    condition = only(number)
    query = {"filter": condition}
    first = {**query, "sort": [{"field": "cost"}], "limit": 1}
    page = api.post(f"{path}/grid", first).body
    assert [row["fields"]["cost"] for row in page["rows"]] == [number]
    answers = [
        api.post(f"{path}/grid", {**first, "cursor": page["next"]}),
        api.post(f"{path}/groups", {**query, "by": [{"field": "cost"}]}),
        api.post(f"{path}/views", {"name": "Large", "visibility": "shared", "query": query}),
        api.get(f"{path}/views"),
        api.post(f"{path}/webhooks", {"url": "https://hooks.example.org", "view": "v1"}),
        api.get(f"{path}/webhooks"),
        api.post(f"{path}/issues/update-matching", {**query, "set": {"fields": {"cost": number + 2}}}),
        api.post(f"{path}/export", {"query": query, "format": "csv"}),
        api.get(f"{path}/jobs"),
        api.get(f"{path}/changes", query={"since": since, "filter": json.dumps(condition)}),
        api.patch(f"{path}/issues/1", {"fields": {"cost": number + 5}}),
        api.get(f"{path}/issues/1/history"),
        api.post(
            f"{path}/issues/batch", {"operations": [{"update": {"num": 1, "fields": {"cost": number}}}]}
        ),
    ]
    assert [(place, one.text) for place, one in enumerate(answers) if one.status >= 300] == []
