"""The API server as a WSGI application, with functions that only record."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from devtools.failure import FunctionError
from devtools.local import gateway, tokens
from devtools.local.server import application

KEY = b"k" * 64


class Client:
    def __init__(self, respond: Callable[[dict[str, Any]], Any] | None = None) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._respond = respond or (lambda _: {"statusCode": 200, "body": "{}"})
        self._app = application(self._invoke, KEY)

    def _invoke(self, function: str, event: dict[str, Any]) -> Any:
        self.events.append((function, event))
        return self._respond(event)

    def call(
        self, method: str, target: str, *, token: str | None = None, body: bytes = b"", **headers: Any
    ) -> tuple[int, dict[str, str], bytes]:
        path, _, query = target.partition("?")
        environ = {
            "REQUEST_METHOD": method,
            "REQUEST_URI": target,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.input": io.BytesIO(body),
            **headers,
        }
        if token:
            environ["HTTP_AUTHORIZATION"] = token
        started: list[tuple[str, list[tuple[str, str]]]] = []

        def start_response(
            status: str, headers: list[tuple[str, str]], _: Any = None
        ) -> Callable[[bytes], object]:
            started.append((status, headers))
            return lambda _: None

        content = b"".join(self._app(environ, start_response))
        status, answered = started[0]
        return int(status.split()[0]), dict(answered), content


def bearer(role: str = "viewer") -> str:
    return "Bearer " + tokens.issue(KEY, tenant="0807", role=role, user="ada")


def test_a_request_reaches_its_function_with_the_claims() -> None:
    client = Client()
    status, headers, _ = client.call("GET", "/v1/projects/p/grid?sort=due", token=bearer())
    ((function, event),) = client.events
    assert status == 200
    assert function == "query"
    assert event["routeKey"] == "GET /v1/projects/{project}/grid"
    assert event["queryStringParameters"] == {"sort": "due"}
    assert event["requestContext"]["authorizer"]["jwt"]["claims"]["custom:tenant"] == "0807"
    assert headers["apigw-requestid"] == event["requestContext"]["requestId"]


def test_an_empty_header_reaches_its_function() -> None:
    client = Client()
    client.call("POST", "/v1/projects", token=bearer("admin"), HTTP_IDEMPOTENCY_KEY="", CONTENT_TYPE="")
    ((_, event),) = client.events
    assert event["headers"]["idempotency-key"] == ""
    assert "content-type" not in event["headers"]


def test_a_write_reaches_the_command_function_with_body_and_headers() -> None:
    client = Client(lambda event: {"statusCode": 201, "headers": {"ETag": '"1"'}, "body": event["body"]})
    status, headers, content = client.call(
        "POST",
        "/v1/projects",
        token=bearer("admin"),
        body=b'{"name":"P"}',
        CONTENT_TYPE="application/json",
        HTTP_IF_MATCH='"3"',
    )
    ((function, event),) = client.events
    assert (status, content, headers["etag"]) == (201, b'{"name":"P"}', '"1"')
    assert function == "command"
    assert event["headers"]["if-match"] == '"3"'
    assert event["headers"]["content-type"] == "application/json"


@pytest.mark.parametrize(
    "token",
    [None, "", "Bearer", "Bearer x.y.z", "Basic abc", bearer().removeprefix("Bearer "), bearer()[:-2]],
)
def test_without_a_good_token_no_function_is_called(token: str | None) -> None:
    client = Client()
    status, headers, content = client.call("GET", "/v1/projects", token=token)
    assert status == 401
    assert client.events == []
    assert headers["content-type"] == "application/problem+json"
    assert headers["www-authenticate"] == "Bearer"
    assert json.loads(content)["request_id"] == headers["apigw-requestid"]


@pytest.mark.parametrize("target", ["/nowhere", "/", "//[", "*", "http://[/v1/health", "/v1/"])
def test_a_path_outside_the_api_reaches_no_function(target: str) -> None:
    client = Client()
    for token in (bearer(), None):
        status, headers, content = client.call("GET", target, token=token)
        assert (status, headers["content-type"]) == (404, "application/problem+json")
        assert json.loads(content)["type"] == "not-found"
    assert client.events == []


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_a_stranger_does_not_learn_which_paths_and_methods_exist(method: str) -> None:
    client = Client()
    answers = [
        client.call(method, target)
        for target in ("/v1/projects", "/v1/nowhere", "/v1/health/", "/v1/projects/p/issues/batch")
    ]
    for status, headers, content in answers:
        problem = json.loads(content)
        assert (status, problem["type"], headers.get("allow")) == (401, "unauthenticated", None)
        assert problem["detail"] == json.loads(answers[0][2])["detail"]
    assert client.events == []


def test_a_wrong_method_requires_a_token_where_the_path_does() -> None:
    client = Client(lambda _: {"statusCode": 405, "headers": {"Allow": "GET, POST"}, "body": "{}"})
    assert client.call("PUT", "/v1/projects")[0] == 401
    assert client.events == []
    status, headers, _ = client.call("PUT", "/v1/projects", token=bearer())
    assert (status, headers["allow"]) == (405, "GET, POST")
    assert client.call("PUT", "/v1/health")[0] == 405
    assert [(function, event["routeKey"]) for function, event in client.events] == [
        ("query", "PUT /v1/{proxy+}"),
        ("query", "PUT /v1/health"),
    ]


def test_the_answer_to_head_has_no_body() -> None:
    client = Client(lambda _: {"statusCode": 405, "body": "{}"})
    status, headers, content = client.call("HEAD", "/v1/health")
    assert (status, headers["content-length"], content) == (405, "2", b"")


@pytest.mark.parametrize("target", ["/v1/health", "/v1/openapi.json"])
def test_some_routes_ask_for_no_token(target: str) -> None:
    client = Client()
    status, _, _ = client.call("GET", target)
    assert status == 200
    ((function, event),) = client.events
    assert function == "query"
    assert "authorizer" not in event["requestContext"]


def test_a_body_above_the_limit_is_refused_before_the_function() -> None:
    client = Client()
    status, headers, content = client.call(
        "POST", "/v1/projects", token=bearer("admin"), body=b"x" * (gateway.MAX_PAYLOAD_BYTES + 1)
    )
    assert (status, headers["content-type"]) == (413, "application/problem+json")
    assert json.loads(content)["status"] == 413
    assert client.events == []


def test_a_body_is_measured_as_the_event_that_lambda_would_get() -> None:
    client = Client()
    body = b'"' * (gateway.MAX_PAYLOAD_BYTES // 2 + 1)  # each becomes two in the event
    status, _, _ = client.call(
        "POST", "/v1/projects", token=bearer("admin"), body=body, CONTENT_TYPE="text/plain"
    )
    assert status == 413


@pytest.mark.parametrize("failure", ["raise", "malformed"])
def test_a_function_that_fails_is_a_problem_without_its_words(
    failure: str, caplog: pytest.LogCaptureFixture
) -> None:
    def respond(event: dict[str, Any]) -> Any:
        if failure == "raise":
            raise FunctionError("KeyError: 'secret'")
        return {"statusCode": "secret"}

    status, headers, content = Client(respond).call("GET", "/v1/health")
    assert (status, headers["content-type"]) == (500, "application/problem+json")
    assert b"secret" not in content
    assert "Traceback" in caplog.text


def test_an_empty_answer_has_no_length() -> None:
    client = Client(lambda _: {"statusCode": 204})
    status, headers, content = client.call("DELETE", "/v1/projects/p", token=bearer("admin"))
    assert (status, content) == (204, b"")
    assert "content-length" not in headers


def test_the_encoded_path_decides_the_route() -> None:
    client = Client()
    client.call("GET", "/v1/projects/a%2Fb", token=bearer())
    ((_, event),) = client.events
    assert event["pathParameters"] == {"project": "a/b"}


def test_utf8_headers_survive() -> None:
    client = Client()
    client.call("GET", "/v1/health", HTTP_X_NAME="é".encode().decode("latin-1"))
    assert client.events[0][1]["headers"]["x-name"] == "é"
