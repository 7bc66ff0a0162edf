"""Calls of the API without a network: an event as API Gateway makes it, the function of its route, the parsed answer.

Tests call the handlers only in this way, and it checks every answer by the rules of the contract. Problems have the
form of RFC 9457 and a type that the document lists for the call. An ETag is the version's. Every body has its form of
the OpenAPI document.
"""

import base64
import gzip
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from devtools.local import gateway, matching
from gridview.api.routes import Route
from gridview.support.errors import MAX_ERRORS, MAX_PROBLEM_BYTES
from infra.openapi import responses
from infra.openapi.document import document as openapi_document
from infra.openapi.responses import BackgroundJob, Problem
from infra.routes import BY_KEY, REFUSES

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
Handlers = Mapping[str, Handler]
"""The handlers by the name of their function."""


@dataclass(frozen=True, slots=True)
class Context:
    """Lambda's description of an invocation."""

    milliseconds_left: int = 29_000
    function_name: str = "gridview"
    function_version: str = "$LATEST"
    invoked_function_arn: str = "arn:aws:lambda:eu-west-2:123456789012:function:gridview"
    memory_limit_in_mb: int = 1024
    aws_request_id: str = "9c1f0a3e-0d6b-4a55-8f0e-6a2d1e90c1f3"

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds_left


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response. `body` is its JSON, numbers with a point or an exponent as Decimal; None without a body."""

    status: int
    headers: Mapping[str, str]
    text: str
    body: Any

    @property
    def timeless(self) -> Any:
        """The body without the part that differs between two equal requests: `changes_cursor` names the
        minute of the answer.
        """
        return {
            name: value for name, value in self.body.items() if name not in {"changes_cursor", "request_id"}
        }

    @property
    def etag(self) -> str:
        """The entity tag."""
        return self.headers["etag"]

    @property
    def errors(self) -> dict[str, str]:
        """The errors of a problem: field -> message."""
        return {error["field"]: error["message"] for error in self.body.get("errors", ())}

    @property
    def kind(self) -> tuple[int, str]:
        """Status and problem type."""
        return self.status, self.body["type"]


def claims(tenant: str = "0807", role: str = "admin", user: str = "ann") -> dict[str, str]:
    """The claims of an ID token, as the authorizer passes them on."""
    return {
        "token_use": "id",
        "sub": user,
        "custom:tenant": tenant,
        "custom:role": role,
        "exp": "4102444800",
    }


def invoke(handlers: Handlers, event: dict[str, Any], context: Context | None = None) -> Answer:
    """Pass an event to the function of its route, and check the answer by the rules for all answers."""
    route = BY_KEY.get(event["routeKey"])
    raw = handlers[route.function if route else REFUSES](event, context or Context())
    text = _text_of(raw)
    answer = Answer(
        status=raw["statusCode"],
        headers={name.lower(): value for name, value in raw.get("headers", {}).items()},
        text=text,
        body=json.loads(text, parse_float=Decimal, object_pairs_hook=_unique) if text else None,
    )
    _check(answer, event)
    return answer


def _text_of(raw: Mapping[str, Any]) -> str:
    """The body for a client that has asked for compression or not."""
    body: str = raw.get("body", "")
    if not raw.get("isBase64Encoded"):
        return body
    assert raw["headers"]["Content-Encoding"] == "gzip"
    return gzip.decompress(base64.b64decode(body)).decode()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    assert len(found) == len(pairs), "an answer repeats a property"
    return found


def _check(answer: Answer, event: Mapping[str, Any]) -> None:
    route = BY_KEY.get(event["routeKey"])
    assert (answer.headers["cache-control"], answer.headers["x-content-type-options"]) == (
        "no-store",
        "nosniff",
    )
    if answer.status >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert len(answer.text.encode()) <= MAX_PROBLEM_BYTES
        assert len(answer.body.get("errors", ())) <= MAX_ERRORS
        problem = Problem.model_validate_json(answer.text)
        assert (problem.status, problem.request_id) == (answer.status, event["requestContext"]["requestId"])
    elif answer.text:
        assert answer.headers["content-type"] == "application/json"
    if route is None:
        assert answer.status in (404, 405), "a call that is no route was answered"
    elif answer.status != 500:  # a defect, which the document does not list
        _check_as_documented(answer, route)


def _check_as_documented(answer: Answer, route: Route) -> None:
    described = openapi_document()["paths"][route.path][route.method.lower()]["responses"]
    assert str(answer.status) in described, f"{route.operation} does not list {answer.status}"
    if answer.status >= 400:
        kind = f"(`{answer.body['type']}`)"
        assert kind in described[str(answer.status)]["description"], f"{route.operation} does not list {kind}"
    promised = described[str(answer.status)].get("headers", {})
    for name, header in promised.items():
        assert not header.get("required") or re.search(
            header["schema"]["pattern"], answer.headers[name.lower()]
        )
    assert {
        "etag",
        "location",
        "retry-after",
        "x-change-id",
        "x-consistency-token",
    } & answer.headers.keys() <= {name.lower() for name in promised}
    if "etag" in answer.headers:
        assert answer.etag == f'"{answer.body["version"]}"'
    if answer.status < 400:
        model = BackgroundJob.__name__ if route.job and answer.status == 202 else route.answer
        assert bool(answer.text) == ("content" in described[str(answer.status)])
        if model is not None:
            responses.named(model).model_validate_json(answer.text)


_NOTHING: Any = object()


@dataclass(frozen=True, slots=True)
class Client:
    """Calls the API as a user; with `claims` None, without a token."""

    handlers: Handlers
    claims: Mapping[str, Any] | None
    context: Context = Context()

    def acting(self, **changed: str) -> "Client":
        """The same client with another tenant, role or user."""
        names = {"tenant": "custom:tenant", "role": "custom:role", "user": "sub"}
        return self.claiming(**{names[name]: value for name, value in changed.items()})

    def claiming(self, **changed: Any) -> "Client":
        """The same client with other claims; None leaves one out."""
        merged = {**(self.claims or {}), **changed}
        return replace(self, claims={name: value for name, value in merged.items() if value is not None})

    def anonymous(self) -> "Client":
        """The same client without a token."""
        return replace(self, claims=None)

    def event(
        self,
        method: str,
        path: str,
        body: Any = _NOTHING,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """The event of a request. A body is a value for JSON, or str or bytes to send unchanged."""
        request = gateway.Request(
            method,
            path,
            urlencode(query or {}),
            {"content-type": "application/json", **(headers or {})},
            b"" if body is _NOTHING else encoded(body),
        )
        return gateway.event(request, matching.match(method, path), self.claims)

    def call(self, method: str, path: str, body: Any = _NOTHING, **options: Any) -> Answer:
        """Make a request; options as for `event`."""
        return invoke(self.handlers, self.event(method, path, body, **options), self.context)

    def get(self, path: str, **options: Any) -> Answer:
        return self.call("GET", path, **options)

    def post(self, path: str, body: Any = _NOTHING, **options: Any) -> Answer:
        return self.call("POST", path, body, **options)

    def patch(self, path: str, body: Any = _NOTHING, **options: Any) -> Answer:
        return self.call("PATCH", path, body, **options)

    def delete(self, path: str, **options: Any) -> Answer:
        return self.call("DELETE", path, **options)

    def made(self, path: str, body: Any, **options: Any) -> Any:
        """POST a valid body. Returns the resource."""
        answer = self.post(path, body, **options)
        assert answer.status == 201, answer.text
        return answer.body

    def batch(self, project: str, *operations: Any, key: str | None = None) -> Answer:
        """POST .../issues/batch, with an Idempotency-Key if one is given."""
        headers = {} if key is None else {"idempotency-key": key}
        return self.post(
            f"/v1/projects/{project}/issues/batch", {"operations": list(operations)}, headers=headers
        )


def encoded(body: Any) -> bytes:
    """A body in its sent form: bytes and str unchanged, all else as JSON."""
    if isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body)).encode()
