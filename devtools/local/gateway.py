"""The work of an HTTP API of API Gateway between the network and a function: events (payload version 2.0) and
responses.

Pure: no socket and no function is touched here.
"""

import base64
import json
import re
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from gridview.support import errors
from gridview.support.errors import (
    PROBLEMS,
    ProblemType,
    RequestError,
    Unauthenticated,
    problem_document,
)

if TYPE_CHECKING:
    from devtools.local.matching import Match

MAX_PAYLOAD_BYTES = 6 * 1024 * 1024
"""Lambda's limit on an event and on a response."""

_TEXT_TYPE = re.compile(r"text/|application/(?:[^;]+\+)?(?:json|xml)\b|application/javascript\b")


@dataclass(frozen=True, slots=True)
class Request:
    """An incoming HTTP request."""

    method: str
    path: str
    """Still percent-encoded."""
    query: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes = b""
    source_ip: str = "127.0.0.1"
    protocol: str = "HTTP/1.1"
    id: str = field(default_factory=lambda: str(uuid.uuid4()))


class Response(NamedTuple):
    """An outgoing HTTP response."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


def event(request: Request, matched: "Match", claims: Mapping[str, str] | None) -> dict[str, Any]:
    """The event that a function gets for a request. `claims` are the token's, when the route asks for one."""
    headers = {name: value for name, value in request.headers.items() if name != "cookie"}
    path = unquote(request.path)
    now = time.time()
    context: dict[str, Any] = {
        "accountId": "000000000000",
        "apiId": "local",
        "domainName": headers.get("host", "127.0.0.1"),
        "domainPrefix": "127",
        "http": {
            "method": request.method,
            "path": path,
            "protocol": request.protocol,
            "sourceIp": request.source_ip,
            "userAgent": headers.get("user-agent", ""),
        },
        "requestId": request.id,
        "routeKey": matched.key,
        "stage": "$default",
        "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now)),
        "timeEpoch": int(now * 1000),
    }
    if claims is not None:
        context["authorizer"] = {"jwt": {"claims": dict(claims), "scopes": None}}
    made: dict[str, Any] = {
        "version": "2.0",
        "routeKey": matched.key,
        "rawPath": path,  # an HTTP API passes it on decoded, a Lambda URL would not
        "rawQueryString": request.query,
        "headers": headers,
        "requestContext": context,
        "isBase64Encoded": False,
    }
    if cookie := request.headers.get("cookie"):
        made["cookies"] = [part.strip() for part in cookie.split(";") if part.strip()]
    if parameters := query_parameters(request.query):
        made["queryStringParameters"] = parameters
    if matched.parameters:
        made["pathParameters"] = matched.parameters
    if request.body:
        made["body"], made["isBase64Encoded"] = _encoded(request.body, headers.get("content-type", ""))
    return made


def query_parameters(query: str) -> dict[str, str]:
    """Decoded query parameters. Commas join the values of a parameter that is given several times."""
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        parameters[name] = f"{parameters[name]},{value}" if name in parameters else value
    return parameters


def _encoded(body: bytes, content_type: str) -> tuple[str, bool]:
    if _TEXT_TYPE.match(content_type.lower()):
        try:
            return body.decode(), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(body).decode(), True


class BadResponseError(Exception):
    """The function returned something that is no HTTP response."""


def response(result: Any) -> Response:
    """The HTTP response for a function's result (format 2.0: a result without `statusCode` is a body)."""
    if not isinstance(result, dict) or "statusCode" not in result:
        return Response(200, [("content-type", "application/json")], json.dumps(result).encode())
    try:
        body = result.get("body") or ""
        content = (
            base64.b64decode(body, validate=True) if result.get("isBase64Encoded") else str(body).encode()
        )
        headers = [(str(name).lower(), str(value)) for name, value in (result.get("headers") or {}).items()]
        cookies = [("set-cookie", str(cookie)) for cookie in result.get("cookies") or ()]
        status = int(result["statusCode"])
    except (TypeError, ValueError, AttributeError) as error:
        raise BadResponseError("The function's response is malformed.") from error
    if len(content) > MAX_PAYLOAD_BYTES:
        raise BadResponseError("The function's response is larger than 6 MB.")
    return Response(status, headers + cookies, content)


def unauthenticated(request_id: str) -> Response:
    """The answer to a request whose token is missing or no good."""
    return problem(
        PROBLEMS[Unauthenticated],
        "There is no bearer token, or it is not valid here.",
        request_id,
        [("www-authenticate", "Bearer")],
    )


def refusal(error: RequestError, request_id: str) -> Response:
    """The answer to a request that an error refuses, in the form of the functions' problems."""
    document = {**errors.problem(error), "request_id": request_id}
    headers = [("content-type", "application/problem+json")]
    headers += [(name.lower(), value) for name, value in error.headers.items()]
    return Response(errors.problem_type(error).status, headers, json.dumps(document).encode())


def problem(
    kind: ProblemType, detail: str, request_id: str, headers: Iterable[tuple[str, str]] = ()
) -> Response:
    """An answer of the gateway itself, in the form of the functions' problems."""
    document = problem_document(kind, detail) | {"request_id": request_id}
    return Response(
        kind.status, [("content-type", "application/problem+json"), *headers], json.dumps(document).encode()
    )
