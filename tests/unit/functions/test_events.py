"""The event files, which `sam local invoke -e` uses too: each is handed to the function that it is for."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gridview.encoding import keys
from gridview.maintenance.job_queue import hint_in
from gridview.schema import ids
from infra.openapi.document import document as openapi_document
from infra.routes import BY_KEY, ROUTES
from tests.support import schemas, sockets, told_changes, webhooks
from tests.support.cloud import SOCKET_URL, Cloud
from tests.support.http import Answer, Client, Context, invoke
from tests.support.worked_example import PATH

EVENTS = Path(__file__).parents[3] / "events"
STREAM = ("stream_insert", "stream_modify", "stream_remove", "stream_trash", "stream_ttl_removal")
UPKEEP = ("upkeep_jobs", "upkeep_check", "upkeep_turn", "deliver_webhooks", "deliver_turn")
SOCKETS = ("socket_connect", "socket_disconnect", "socket_end")
START = "xvalue-0807.35e9.a1.1"
CALLER = "c1f3a0c2-7b1e-4d52-9a55-3f0a6a2d1e90"
END = "xvalue-0807.35e9.a2.1"


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


EFFECTS: dict[str, tuple[int, Callable[[Client, Answer], bool]]] = {
    "health": (200, lambda _, answer: answer.body == {"status": "ok"}),
    "openapi": (
        200,
        lambda _, answer: (
            answer.body["servers"] == [{"url": "https://a1b2c3d4e5.execute-api.eu-west-2.amazonaws.com"}]
        ),
    ),
    "me": (
        200,
        lambda api, answer: (
            api.get("/v1/users").body["items"] == [{"id": answer.body["id"], "name": "Ann Arrol"}]
        ),
    ),
    "list_users": (200, lambda _, answer: answer.body == {"items": [], "next": None}),
    "list_projects": (200, lambda _, answer: [one["id"] for one in answer.body["items"]] == ["35e9"]),
    "create_project": (
        201,
        lambda api, answer: api.get(answer.headers["location"]).body["name"] == "Tay Rail Bridge",
    ),
    "get_project": (200, lambda _, answer: len(answer.body["attributes"]) == 4),
    "update_project": (200, lambda api, _: api.get(PATH).body["states"][1]["color"] == "red"),
    "delete_project": (204, lambda api, _: api.get(PATH).status == 404),
    "list_deleted_projects": (200, lambda _, answer: [one["id"] for one in answer.body["items"]] == ["35e9"]),
    "restore_project": (200, lambda api, answer: api.get(PATH).body == answer.body),
    "purge_project": (204, lambda api, _: api.get("/v1/deleted-projects").body["items"] == []),
    "create_attribute": (201, lambda api, _: api.get(PATH).body["attributes"][0]["id"] == "severity"),
    "get_attribute": (200, lambda _, answer: answer.body["type"] == "number"),
    "update_attribute": (
        200,
        lambda api, _: api.get(PATH).body["attributes"][3]["name"] == "Number of Items",
    ),
    "delete_attribute": (204, lambda api, _: "47e5" not in api.get(f"{PATH}/issues/3").body["fields"]),
    "list_deleted_attributes": (
        200,
        lambda _, answer: [one["id"] for one in answer.body["items"]] == ["47e5"],
    ),
    "restore_attribute": (200, lambda api, _: "47e5" in api.get(f"{PATH}/issues/3").body["fields"]),
    "purge_attribute": (204, lambda api, _: api.get(f"{PATH}/deleted-attributes").body["items"] == []),
    "list_indexes": (200, lambda _, answer: [one["id"] for one in answer.body["items"]] == ["c1"]),
    "create_index": (201, lambda api, _: api.get(f"{PATH}/indexes/c1").status == 200),
    "get_index": (200, lambda _, answer: answer.body["sort"][1]["direction"] == "desc"),
    "delete_index": (204, lambda api, _: api.get(f"{PATH}/indexes").body["items"] == []),
    "list_webhooks": (200, lambda _, answer: [one["id"] for one in answer.body["items"]] == [WEBHOOK]),
    "create_webhook": (201, lambda api, answer: api.get(answer.headers["location"]).status == 200),
    "get_webhook": (200, lambda _, answer: answer.body["enabled"] is True),
    "update_webhook": (200, lambda api, _: api.get(f"{PATH}/webhooks/{WEBHOOK}").body["enabled"] is False),
    "delete_webhook": (204, lambda api, _: api.get(f"{PATH}/webhooks").body["items"] == []),
    "list_deliveries": (200, lambda _, answer: [one["id"] for one in answer.body["items"]] == ["57_1"]),
    "replay_delivery": (202, lambda _, answer: answer.body["status"] == "pending"),
    "rotate_webhook": (200, lambda _, answer: answer.body["secret"].startswith("whsec_")),
    "create_issue": (201, lambda api, _: api.get(f"{PATH}/issues/4").body["name"] == "Rivets missing"),
    "batch": (
        200,
        lambda _, answer: [one["status"] for one in answer.body["results"]] == [201, 200, 204, 404],
    ),
    "get_issue": (200, lambda _, answer: answer.body["fields"] == {"3fe6": 42, "47e5": "Approved"}),
    "update_issue": (
        200,
        lambda api, _: api.get(f"{PATH}/issues/3").body["fields"] == {"3812": "2023-05-03", "3fe6": 42},
    ),
    "delete_issue": (204, lambda api, _: api.get(f"{PATH}/issues/2").status == 404),
    "list_trash": (200, lambda _, answer: [one["num"] for one in answer.body["items"]] == [2]),
    "restore_issue": (200, lambda api, answer: api.get(f"{PATH}/issues/2").body == answer.body),
    "purge_issue": (204, lambda api, _: api.get(f"{PATH}/trash").body["items"] == []),
    "grid": (200, lambda _, answer: [row["num"] for row in answer.body["rows"]] == [3, 2, 1]),
    "grid_get": (200, lambda _, answer: [row["num"] for row in answer.body["rows"]] == [2, 1]),
    "groups": (
        200,
        lambda _, answer: (
            [(one["values"], one["count"]) for one in answer.body["groups"]]
            == [(["open", "2023-05"], 1), (["open", None], 1), (["closed", "2023-05"], 1)]
        ),
    ),
    "summary": (
        200,
        lambda _, answer: (
            {**answer.body, "changes": None}
            == {
                "matched": 3,
                "summaries": [
                    {"field": "state", "count": 3, "distinct": 2},
                    {"field": "3812", "empty": 1, "min": "2023-05-01", "max": "2023-05-02"},
                    {"field": "3fe6", "sum": 42, "avg": 42},
                ],
                "index": {"lag_ms": None, "pending": 0},
                "changes": None,
            }
        ),
    ),
    "position": (200, lambda _, answer: answer.body["position"] == 0),
    "list_comments": (200, lambda _, answer: [one["id"] for one in answer.body["items"]] == [1]),
    "create_comment": (
        201,
        lambda api, answer: api.get(f"{PATH}/issues/1/comments/1").body == answer.body,
    ),
    "get_comment": (200, lambda _, answer: answer.body["text"] == "The paint is ordered."),
    "update_comment": (
        200,
        lambda _, answer: (answer.body["text"], answer.body["version"]) == ("The paint is here.", 2),
    ),
    "delete_comment": (204, lambda api, _: api.get(f"{PATH}/issues/1/comments").body["items"] == []),
    "changes": (200, lambda _, answer: answer.body["items"] == []),
    "create_ticket": (200, lambda _, answer: answer.body["url"] == SOCKET_URL),
    "issue_history": (200, lambda _, answer: [one["id"] for one in answer.body["items"]] == ["1.1"]),
    "activity": (200, lambda _, answer: [one["num"] for one in answer.body["items"]] == [2, 1]),
    "list_views": (200, lambda _, answer: [one["id"] for one in answer.body["items"]] == ["v1"]),
    "create_view": (
        201,
        lambda api, answer: api.acting(user=CALLER).get(f"{PATH}/views/v1").body == answer.body,
    ),
    "get_view": (200, lambda _, answer: answer.body["color"] == "state"),
    "update_view": (
        200,
        lambda _, answer: (answer.body["name"], answer.body["version"]) == ("Open", 2),
    ),
    "delete_view": (
        204,
        lambda api, _: api.acting(user=CALLER).get(f"{PATH}/views").body["items"] == [],
    ),
    "update_matching": (202, lambda api, answer: api.get(answer.headers["location"]).body == answer.body),
    "delete_matching": (202, lambda _, answer: answer.body["kind"] == "delete"),
    "undo": (
        200,
        lambda api, _: api.get(f"{PATH}/issues/1").body["name"] == told_changes.BEFORE,
    ),
    "export": (202, lambda api, answer: api.get(answer.headers["location"]).body["kind"] == "export"),
    "list_jobs": (200, lambda _, answer: [one["state"] for one in answer.body["items"]] == ["waiting"]),
    "get_job": (200, lambda _, answer: answer.body["change"] == "0b9f6c1e-3d3a-4a57-9c0e-7a3f5be2d914"),
    "cancel_job": (
        204,
        lambda api, _: [one["state"] for one in api.get(f"{PATH}/jobs").body["items"]] == ["cancelled"],
    ),
    "list_refused": (200, lambda _, answer: answer.body == {"items": [], "next": None}),
}


BEFORE = {
    **dict.fromkeys(("list_indexes", "get_index", "delete_index"), "create_index"),
    **dict.fromkeys(("list_comments", "get_comment", "update_comment", "delete_comment"), "create_comment"),
    **dict.fromkeys(("list_views", "get_view", "update_view", "delete_view"), "create_view"),
    **dict.fromkeys(("list_trash", "restore_issue", "purge_issue"), "delete_issue"),
    **dict.fromkeys(("list_deleted_attributes", "restore_attribute", "purge_attribute"), "delete_attribute"),
    **dict.fromkeys(("list_deleted_projects", "restore_project", "purge_project"), "delete_project"),
}
"""What an event needs that the worked example does not have: by operation, that which makes it."""
WEBHOOK = "w3k9q2m7x1c0z"
OF_A_WEBHOOK = (
    *("list_webhooks", "get_webhook", "update_webhook", "delete_webhook", "rotate_webhook"),
    *("list_deliveries", "replay_delivery"),
)
OF_A_JOB = ("list_jobs", "get_job", "cancel_job", "list_refused")


@pytest.mark.parametrize("operation", sorted(EFFECTS))
def test_the_event_of_a_route_has_its_effect_on_the_worked_example(
    account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    account.follow()
    account.fold()
    status, effect = EFFECTS[operation]
    if operation in BEFORE:
        invoke(account.handlers, load(BEFORE[operation]))
        account.derive()
    if operation == "create_webhook":
        account.forget()
    if operation == "undo":
        told_changes.put(account.table, by=CALLER)
    if operation in OF_A_WEBHOOK:
        account.table.put(webhooks.stored(WEBHOOK))
        account.table.put(webhooks.delivered(WEBHOOK))
    if operation in OF_A_JOB:
        monkeypatch.setattr(ids, "new_job_id", lambda _: load("get_job")["pathParameters"]["job"])
        invoke(account.handlers, load("update_matching"))
    answer = invoke(account.handlers, load(operation))
    assert answer.status == status, answer.text
    assert effect(account.api(), answer)


def test_every_route_is_tried_by_its_event() -> None:
    assert EFFECTS.keys() == {route.operation for route in ROUTES}


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if "body" in load(route.operation)], ids=lambda route: route.operation
)
def test_the_body_of_an_event_has_the_form_that_the_openapi_document_asks_for(route: Any) -> None:
    operation = openapi_document()["paths"][route.path][route.method.lower()]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    assert schemas.violations(schema, json.loads(load(route.operation)["body"])) == []


def consume(account: Cloud, name: str) -> dict[str, str]:
    """Hand a stream event to the consumer: what the sort entries of issue 1 by Start and End say then."""
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
    assert deliver(load("deliver_turn"), Context()) == nothing, "the secret is sealed by nobody"
    assert deliver(load("deliver_webhooks"), Context()) == {"due": 0}


def test_a_socket_is_opened_by_a_ticket_alone_and_gone_when_it_closes(account: Cloud, bridge: str) -> None:
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


def test_the_removal_by_expiry_tells_who_removed(account: Cloud, bridge: str) -> None:
    (record,) = load("stream_ttl_removal")["Records"]
    assert record["userIdentity"] == {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
    before = without_lag(account)
    consume(account, "stream_ttl_removal")
    assert without_lag(account) == before


def without_lag(account: Cloud) -> list[Any]:
    """All items but that which tells how late the consumer is: it is written at most once a second."""
    return [item for item in account.items() if item["PK"] != {"S": keys.lag("0807", "35e9")}]
