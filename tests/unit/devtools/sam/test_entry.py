"""The entry before a handler that only records."""

import copy
import json
from typing import Any

import pytest

from devtools.local import tokens
from devtools.sam.entry import before

KEY = b"k" * 64
ROUTE = "GET /v1/projects"


class Handler:
    def __init__(self) -> None:
        self.events: list[Any] = []
        self.call = before(self._handle, key=KEY, routes_with_token=frozenset({ROUTE}))

    def _handle(self, event: Any, context: Any) -> Any:
        assert context == "context"
        self.events.append(event)
        return {"statusCode": 204}


def event(route: str = ROUTE, **headers: str) -> dict[str, Any]:
    return {
        "routeKey": route,
        "headers": headers,
        "requestContext": {"http": {"method": "GET"}, "requestId": "r1"},
    }


def token(key: bytes = KEY, lifetime: int = 60) -> str:
    return "Bearer " + tokens.issue(key, tenant="0807", role="editor", user="ada", lifetime=lifetime)


@pytest.fixture
def handler() -> Handler:
    return Handler()


def test_a_good_token_brings_its_claims_as_an_authorizer_does(handler: Handler) -> None:
    assert handler.call(event(Authorization=token()), "context") == {"statusCode": 204}
    (seen,) = handler.events
    claims = seen["requestContext"]["authorizer"]["jwt"]["claims"]
    assert (claims["custom:tenant"], claims["custom:role"], claims["sub"]) == ("0807", "editor", "ada")
    assert all(isinstance(value, str) for value in claims.values())


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Basic YTpi"},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": token(b"x" * 64)},
        {"Authorization": token(lifetime=-1)},
    ],
    ids=["none", "empty", "basic", "nonsense", "forged", "expired"],
)
def test_no_other_request_reaches_the_handler(handler: Handler, headers: dict[str, str]) -> None:
    answer = handler.call(event(**headers), "context")
    assert handler.events == []
    assert answer["statusCode"] == 401
    assert answer["headers"] == {"content-type": "application/problem+json", "www-authenticate": "Bearer"}
    problem = json.loads(answer["body"])
    assert (problem["status"], problem["request_id"]) == (401, "r1")


def test_a_route_that_requires_no_token_is_open_and_gets_no_claims(handler: Handler) -> None:
    handler.call(event("GET /v1/health", Authorization=token()), "context")
    assert "authorizer" not in handler.events[0]["requestContext"]


def test_the_names_of_headers_are_in_lower_case(handler: Handler) -> None:
    handler.call(event("GET /v1/health", **{"If-Match": '"A"'}), "context")
    assert handler.events[0]["headers"] == {"if-match": '"A"'}


@pytest.mark.parametrize("source", [{"Records": []}, {"task": "jobs"}])
def test_events_of_other_sources_pass_through(handler: Handler, source: dict[str, Any]) -> None:
    assert handler.call(copy.deepcopy(source), "context") == {"statusCode": 204}
    assert handler.events == [source]


def test_an_event_with_claims_keeps_them(handler: Handler) -> None:
    given = event()
    given["requestContext"]["authorizer"] = {"jwt": {"claims": {"sub": "bob"}}}
    handler.call(given, "context")
    assert handler.events[0]["requestContext"]["authorizer"] == {"jwt": {"claims": {"sub": "bob"}}}
