"""The event files, which `sam local invoke -e` uses too: their form, and the effects of other events than the HTTP
API's.

`tests/unit/routes` tests the effects of the HTTP API's on two tables.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from gridview.encoding import keys
from gridview.maintenance.job_queue import hint_in
from infra.openapi.document import document as openapi_document
from infra.routes import BY_KEY, ROUTES
from tests.support import schemas, sockets, webhooks
from tests.support.cloud import Cloud
from tests.support.http import Context
from tests.support.worked_example import PATH

EVENTS = Path(__file__).parents[3] / "events"
STREAM = ("stream_insert", "stream_modify", "stream_remove", "stream_trash", "stream_ttl_removal")
UPKEEP = (
    *("upkeep_jobs", "upkeep_beat", "upkeep_check", "upkeep_turn"),
    *("deliver_webhooks", "deliver_turn"),
)
SOCKETS = ("socket_connect", "socket_disconnect", "socket_end")
START = "xvalue-0807.35e9.a1.1"
END = "xvalue-0807.35e9.a2.1"
WEBHOOK = "w3k9q2m7x1c0z"


def load(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text("utf-8"))
    return event


def test_every_route_has_an_event_file_and_every_event_file_a_route_or_another_source() -> None:
    assert sorted(path.stem for path in EVENTS.iterdir()) == sorted(
        [*(route.operation for route in ROUTES), *STREAM, *UPKEEP, *SOCKETS]
    )


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_an_event_file_is_of_its_route_and_carries_a_role_that_is_just_high_enough(route: Any) -> None:
    event = load(route.operation)
    assert BY_KEY[event["routeKey"]] is route
    assert event["requestContext"]["routeKey"] == route.key
    path = route.path.format(**event.get("pathParameters", {}))
    assert (event["rawPath"], event["requestContext"]["http"]["path"]) == (path, path)
    authorizer = event["requestContext"].get("authorizer")
    if route.role is None:
        assert authorizer is None
    else:
        assert authorizer["jwt"]["claims"]["custom:role"] == route.role.name.lower()


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if "body" in load(route.operation)], ids=lambda route: route.operation
)
def test_the_body_of_an_event_has_the_form_that_the_openapi_document_asks_for(route: Any) -> None:
    operation = openapi_document()["paths"][route.path][route.method.lower()]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    assert schemas.violations(schema, json.loads(load(route.operation)["body"])) == []


def consume(account: Cloud, name: str) -> dict[str, str]:
    """Pass a stream event to the consumer. Returns the sort entries of issue 1 by Start and End."""
    result = account.modules["maintain"].handler(load(name), Context())
    assert result == {"batchItemFailures": []}
    entries = account.table.query("issue-0807.35e9.00000001").items
    return {item["SK"]: item["sort"] for item in entries if item["SK"] in (START, END) and "sort" in item}


def test_the_stream_events_follow_the_life_of_an_issue(account: Cloud, bridge: str) -> None:
    start, end = "2023-05-01\x0100000001", "2023-06-01\x0100000001"
    assert consume(account, "stream_insert") == {START: start, END: end}
    assert consume(account, "stream_modify") == {END: end}
    assert consume(account, "stream_ttl_removal") == {END: end}
    assert consume(account, "stream_trash") == {}
    assert account.table.query("trash-0807.35e9").items
    assert consume(account, "stream_remove") == {}
    assert consume(account, "stream_insert") == {}, "delivered once more, late"


def test_a_hint_on_the_queue_is_heeded_while_the_job_is_due_then(account: Cloud, bridge: str) -> None:
    account.derive()
    event = load("upkeep_turn")
    hint = hint_in(event["Records"][0]["body"])
    assert account.api().patch(f"{PATH}/attributes/3fe6", {"indexed": False}).status == 200
    handler = account.modules["upkeep"].handler
    assert handler(event, Context()) == {"jobs": 0, "issues": 0}
    job = account.table.get(hint.partition, keys.JOB, consistent=True)
    assert job is not None
    account.table.put({**job, keys.SORT: hint.due})
    assert handler(event, Context()) == {"jobs": 1, "issues": 3}


def test_a_hint_at_a_webhook_is_a_turn_of_deliveries(account: Cloud, bridge: str) -> None:
    account.forget()
    account.table.put(webhooks.stored(WEBHOOK))
    account.table.put(webhooks.opened(WEBHOOK, account.table))
    deliver = account.modules["deliver"].handler
    nothing = {"attempts": 0, "failures": 0, "given_up": 0, "disabled": 1}
    assert deliver(load("deliver_turn"), Context()) == nothing, "the seal of the secret is no real one"
    assert deliver(load("deliver_webhooks"), Context()) == {"due": 0}


def test_only_a_ticket_opens_a_socket_and_closing_removes_it(account: Cloud, bridge: str) -> None:
    account.forget()
    socket = account.modules["socket"].handler
    opening = load("socket_connect")
    assert socket(opening, Context()) == {"statusCode": 401}
    opening["queryStringParameters"] = {"ticket": sockets.ticket(account.api(), PATH)}
    assert socket(opening, Context()) == {"statusCode": 200}
    assert socket(load("socket_end"), Context()) == {"ended": 0, "settled": 0}, "it has hours left"
    connection = opening["requestContext"]["connectionId"]
    assert connection in str(account.items())
    assert socket(load("socket_disconnect"), Context()) == {"statusCode": 200}
    assert connection not in str(account.items())


def test_the_removal_by_expiry_names_its_service(account: Cloud, bridge: str) -> None:
    (record,) = load("stream_ttl_removal")["Records"]
    assert record["userIdentity"] == {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
    before = without_lag(account)
    consume(account, "stream_ttl_removal")
    assert without_lag(account) == before


def without_lag(account: Cloud) -> list[Any]:
    """All items except the consumer's lag, which is written at most once a second."""
    return [item for item in account.items() if item["PK"] != {"S": keys.lag("0807", "35e9")}]
