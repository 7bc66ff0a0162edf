"""A request for a function, and its answer for a client, as an HTTP API forms them."""

import base64
import json
import re
from typing import Any
from urllib.parse import unquote

import pytest

from devtools.local import gateway, matching
from devtools.local.gateway import BadResponseError, Request
from gridview.api.routes import Route
from gridview.support.errors import PROBLEMS, Unauthenticated
from infra.routes import METHODS, ROUTES


def event(
    method: str = "GET",
    path: str = "/v1/health",
    query: str = "",
    headers: dict[str, str] | None = None,
    body: bytes = b"",
    claims: dict[str, str] | None = None,
) -> dict[str, Any]:
    request = Request(
        method=method, path=path, query=query, headers=headers or {}, body=body, id="the-request"
    )
    return gateway.event(request, matching.match(method, path), claims)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.key)
def test_every_route_matches_its_own_path(route: Route) -> None:
    path = re.sub(r"\{(\w+)\}", r"a-\1", route.path)
    matched = matching.match(route.method, path)
    assert matched.route is route
    assert matched.key == f"{route.method} {route.path}"
    assert matched.function == route.function
    assert matched.parameters == {name: f"a-{name}" for name in re.findall(r"\{(\w+)\}", route.path)}


def test_a_literal_segment_goes_before_a_parameter() -> None:
    route = matching.match("POST", "/v1/projects/p/issues/batch").route
    assert route is not None
    assert route.operation == "batch"


@pytest.mark.parametrize("method", [*METHODS, "HEAD", "OPTIONS", "BREW"])
@pytest.mark.parametrize("path", ["/", "", "/v1", "/v1/", "/V1/health", "//v1/health", "/v2/projects"])
def test_a_path_outside_the_api_matches_nothing(method: str, path: str) -> None:
    with pytest.raises(matching.UnknownPathError):
        matching.match(method, path)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "rest",
    [
        "nowhere",
        "health/",
        "projects/",
        "projects//issues/1",
        "projects/p/",
        "projects/p/issues/1/2",
        "%70rojects",
    ],
)
def test_an_unknown_path_of_the_api_goes_to_the_function_that_refuses_it(method: str, rest: str) -> None:
    matched = matching.match(method, f"/v1/{rest}")
    assert (matched.route, matched.key) == (None, f"{method} /v1/{{proxy+}}")
    assert (matched.function, matched.needs_token) == ("query", True)
    assert matched.parameters == {"proxy": unquote(rest)}


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "BREW"])
def test_a_method_without_routes_has_no_greedy_one(method: str) -> None:
    """A preflight then meets no authorizer."""
    with pytest.raises(matching.UnknownPathError):
        matching.match(method, "/v1/nowhere")


@pytest.mark.parametrize(
    ("method", "path", "key", "token"),
    [
        ("PUT", "/v1/projects", "PUT /v1/{proxy+}", True),
        ("DELETE", "/v1/health", "DELETE /v1/health", False),
        ("HEAD", "/v1/health", "HEAD /v1/health", False),
        ("OPTIONS", "/v1/projects/p", "OPTIONS /v1/projects/{project}", True),
        ("POST", "/v1/projects/p", "POST /v1/{proxy+}", True),
        ("PUT", "/v1/projects/a%2Fb", "PUT /v1/{proxy+}", True),
        ("GET", "/v1/projects/p/issues/batch", "GET /v1/projects/{project}/issues/batch", True),
        ("PATCH", "/v1/projects/p/issues/batch", "PATCH /v1/projects/{project}/issues/batch", True),
        ("PUT", "/v1/projects/p/issues/batch", "PUT /v1/{proxy+}", True),
    ],
)
def test_a_wrong_method_of_a_known_path_goes_to_the_function_that_refuses_it(
    method: str, path: str, key: str, token: bool
) -> None:
    matched = matching.match(method, path)
    assert (matched.route, matched.key, matched.function, matched.needs_token) == (None, key, "query", token)
    assert event(method, path)["routeKey"] == key


def test_parameters_are_decoded_after_the_match() -> None:
    made = event(path="/v1/projects/a%2Fb%20c/issues/%C3%A9")
    assert made["routeKey"] == "GET /v1/projects/{project}/issues/{num}"
    assert made["pathParameters"] == {"project": "a/b c", "num": "é"}
    assert made["rawPath"] == made["requestContext"]["http"]["path"] == "/v1/projects/a/b c/issues/é"


def test_query_parameters_are_decoded_and_joined() -> None:
    made = event(query="sort=-due&a=1&a=2&b=&c=%2C+x&d")
    assert made["rawQueryString"] == "sort=-due&a=1&a=2&b=&c=%2C+x&d"
    assert made["queryStringParameters"] == {"sort": "-due", "a": "1,2", "b": "", "c": ", x", "d": ""}


def test_absent_parts_of_a_request_are_left_out() -> None:
    made = event()
    for absent in ("queryStringParameters", "pathParameters", "cookies", "body"):
        assert absent not in made
    assert made["rawQueryString"] == ""
    assert made["isBase64Encoded"] is False
    assert "authorizer" not in made["requestContext"]


def test_cookies_are_taken_out_of_the_headers() -> None:
    made = event(headers={"cookie": "a=1; b=2", "accept": "*/*"})
    assert made["cookies"] == ["a=1", "b=2"]
    assert made["headers"] == {"accept": "*/*"}


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "application/merge-patch+json",
        "text/csv",
        "Application/JSON",
    ],
)
def test_a_text_body_is_passed_as_it_is(content_type: str) -> None:
    made = event("POST", "/v1/projects", headers={"content-type": content_type}, body='{"name":"é"}'.encode())
    assert (made["body"], made["isBase64Encoded"]) == ('{"name":"é"}', False)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/octet-stream", b"\x00\xff"),
        ("", b"{}"),
        ("application/json", b'"\xff"'),
        ("image/png", b"x"),
    ],
)
def test_any_other_body_is_passed_in_base64(content_type: str, body: bytes) -> None:
    made = event("POST", "/v1/projects", headers={"content-type": content_type}, body=body)
    assert made["isBase64Encoded"] is True
    assert base64.b64decode(made["body"]) == body


def test_the_request_context() -> None:
    made = event(headers={"user-agent": "curl/8", "host": "127.0.0.1:8420"}, claims={"sub": "ada"})
    context = made["requestContext"]
    assert made["version"] == "2.0"
    assert context["requestId"] == "the-request"
    assert context["stage"] == "$default"
    assert context["routeKey"] == made["routeKey"] == "GET /v1/health"
    assert context["http"] == {
        "method": "GET",
        "path": "/v1/health",
        "protocol": "HTTP/1.1",
        "sourceIp": "127.0.0.1",
        "userAgent": "curl/8",
    }
    assert context["authorizer"] == {"jwt": {"claims": {"sub": "ada"}, "scopes": None}}
    assert re.fullmatch(r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000", context["time"])
    assert isinstance(context["timeEpoch"], int)


def test_a_response_with_everything() -> None:
    made = gateway.response(
        {
            "statusCode": 201,
            "headers": {"Content-Type": "application/json", "ETag": '"1"'},
            "cookies": ["a=1; Path=/", "b=2"],
            "body": '{"é":1}',
        }
    )
    assert made.status == 201
    assert made.headers == [
        ("content-type", "application/json"),
        ("etag", '"1"'),
        ("set-cookie", "a=1; Path=/"),
        ("set-cookie", "b=2"),
    ]
    assert made.body == '{"é":1}'.encode()


def test_a_response_in_base64() -> None:
    body = base64.b64encode(b"\x00\xff").decode()
    assert gateway.response({"statusCode": 200, "body": body, "isBase64Encoded": True}).body == b"\x00\xff"


def test_a_response_without_a_status_is_a_body() -> None:
    made = gateway.response({"status": "ok"})
    assert (made.status, made.headers) == (200, [("content-type", "application/json")])
    assert json.loads(made.body) == {"status": "ok"}


@pytest.mark.parametrize(
    "result",
    [
        {"statusCode": "many"},
        {"statusCode": 200, "headers": "x"},
        {"statusCode": 200, "body": "*", "isBase64Encoded": True},
        {"statusCode": 200, "body": "x" * (gateway.MAX_PAYLOAD_BYTES + 1)},
    ],
    ids=["status", "headers", "base64", "size"],
)
def test_responses_that_cannot_be_passed_on(result: Any) -> None:
    with pytest.raises(BadResponseError):
        gateway.response(result)


def test_a_problem_of_the_gateway() -> None:
    made = gateway.problem(PROBLEMS[Unauthenticated], "No.", "the-request", [("www-authenticate", "Bearer")])
    assert made.status == 401
    assert dict(made.headers) == {"content-type": "application/problem+json", "www-authenticate": "Bearer"}
    document = json.loads(made.body)
    assert document.keys() == {"type", "title", "status", "detail", "request_id"}
    assert (document["status"], document["detail"], document["request_id"]) == (401, "No.", "the-request")
