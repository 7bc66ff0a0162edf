"""A write through the API, its way through the stream, and its result in the grid."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from gridview.encoding import keys
from tests.deploy.conftest import Deployment, Users
from tests.deploy.waiting import until

STARTS = ["2023-05-03", "2023-05-01", None, "2023-05-02", "2023-05-01"]
ASCENDING = [2, 5, 4, 1, 3]
"""By start, then by number; issues without a start come last."""
DESCENDING = [1, 4, 5, 2, 3]


@pytest.fixture(scope="module")
def api(users: Users) -> Iterator[httpx.Client]:
    """The API for the administrator of a tenant with one project."""
    with users.api("grid", "admin") as client:
        _done(client.post("/v1/projects", json={"id": "bridge", "name": "Bridge"}))
        attribute = {"id": "start", "name": "Start", "type": "date"}
        _done(client.post("/v1/projects/bridge/attributes", json=attribute))
        for start in STARTS:
            fields = {"start": start} if start else {}
            _done(client.post("/v1/projects/bridge/issues", json={"name": "Girder", "fields": fields}))
        yield client


def test_the_stream_makes_an_order_by_a_custom_field(api: httpx.Client) -> None:
    assert until(lambda: _walk(api, "start"), ASCENDING.__eq__) == ASCENDING
    assert _walk(api, "-start") == DESCENDING


def test_cursors_sealed_with_the_clouds_secret_lead_from_page_to_page(api: httpx.Client) -> None:
    assert until(lambda: _walk(api, "start", limit=2), ASCENDING.__eq__) == ASCENDING
    assert _walk(api, "-start", limit=2) == DESCENDING
    first = _page(api, "start", limit=2)
    second = _page(api, "start", limit=2, cursor=first["next"])
    assert _page(api, "start", limit=2, cursor=second["prev"])["rows"] == first["rows"]
    tampered = "A" + first["next"][1:] if first["next"][0] != "A" else "B" + first["next"][1:]
    refused = api.get("/v1/projects/bridge/grid", params={"sort": "start", "limit": 2, "cursor": tampered})
    assert refused.status_code == 400


def test_an_edit_moves_an_issue_and_a_delete_takes_it_away(api: httpx.Client) -> None:
    created = _done(
        api.post("/v1/projects/bridge/issues", json={"name": "Mover", "fields": {"start": "2022-01-01"}})
    )
    num = created["num"]
    first = [num, *ASCENDING]
    assert until(lambda: _walk(api, "start"), first.__eq__) == first
    _done(api.patch(f"/v1/projects/bridge/issues/{num}", json={"fields": {"start": "2024-01-01"}}))
    moved = [*ASCENDING[:-1], num, ASCENDING[-1]]
    assert until(lambda: _walk(api, "start"), moved.__eq__) == moved
    assert api.delete(f"/v1/projects/bridge/issues/{num}").status_code == 204
    assert until(lambda: _walk(api, "start"), ASCENDING.__eq__) == ASCENDING


def test_a_batch_is_written_and_indexed(users: Users) -> None:
    with users.api("batches", "admin") as api:
        _done(api.post("/v1/projects", json={"id": "batch", "name": "Batch"}))
        _done(
            api.post("/v1/projects/batch/attributes", json={"id": "rank", "name": "Rank", "type": "number"})
        )
        operations = [{"create": {"name": f"Row {n}", "fields": {"rank": -n}}} for n in range(1, 61)]

        def send() -> dict[str, Any]:
            return _done(
                api.post(
                    "/v1/projects/batch/issues/batch",
                    json={"operations": operations},
                    headers={"idempotency-key": "once"},
                )
            )

        answer = send()
        assert [result["status"] for result in answer["results"]] == [201] * 60
        # The same key and body again: the same answer, and nothing is written twice.
        assert send() == answer
        expected = list(range(60, 0, -1))
        assert until(lambda: _walk(api, "rank", project="batch", limit=25), expected.__eq__) == expected


def test_an_underivable_document_is_sent_to_the_dead_letters(deployment: Deployment) -> None:
    """It does not keep the consumer from the rest: the other tests continue after it."""
    broken = keys.issue("poison", "project", 7)
    deployment.client("dynamodb").put_item(
        TableName=deployment.outputs["TableName"],
        Item={"PK": {"S": broken}, "SK": {"S": keys.project("poison", "project")}, "fields": {"S": "no map"}},
    )
    sqs, queue = deployment.client("sqs"), deployment.outputs["DeadLetterQueueUrl"]

    def receive() -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = sqs.receive_message(
            QueueUrl=queue, VisibilityTimeout=0, MaxNumberOfMessages=10
        ).get("Messages", [])
        return messages

    (message,) = until(receive, bool)
    assert broken in message["Body"]


def _page(api: httpx.Client, sort: str, *, project: str = "bridge", **parameters: Any) -> dict[str, Any]:
    return _done(api.get(f"/v1/projects/{project}/grid", params={"sort": sort, **parameters}))


def _walk(api: httpx.Client, sort: str, *, project: str = "bridge", limit: int = 100) -> list[int]:
    """The numbers of all issues in one order, page after page."""
    numbers: list[int] = []
    parameters: dict[str, Any] = {"limit": limit}
    while True:
        page = _page(api, sort, project=project, **parameters)
        numbers += [row["num"] for row in page["rows"]]
        if page["next"] is None:
            return numbers
        parameters["cursor"] = page["next"]


def _done(answer: httpx.Response) -> dict[str, Any]:
    assert answer.is_success, answer.text
    body: dict[str, Any] = answer.json()
    return body
