"""From an API Gateway event to a call of the core and back: token, path and body in, response or problem document out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from aws_lambda_powertools.utilities.typing import LambdaContext

from gridview.api.compression import body_of
from gridview.api.headers import OF_EVERY_ANSWER
from gridview.api.routes import BY_KEY, BY_PATH, Route
from gridview.commands.actor import Actor, end_in, from_claims, name_in
from gridview.commands.changes import CHANGE_ID, change_of
from gridview.commands.idempotency import Answer, Use, use_of
from gridview.commands.preconditions import Expected, etag, expected_versions
from gridview.dynamodb.metering import Meter
from gridview.dynamodb.sessions import acting_for
from gridview.encoding.json_codec import dumps, loads
from gridview.schema import ids
from gridview.support import clock
from gridview.support.errors import (
    INTERNAL,
    FieldError,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    RequestError,
    Unauthenticated,
    problem,
    problem_document,
)

_PATH_PATTERNS = {
    "project": ids.PROJECT,
    "attribute": ids.ATTRIBUTE,
    "index": ids.COMPOSITE,
    "webhook": ids.WEBHOOK,
    "delivery": ids.DELIVERY,
    "num": ids.ISSUE,
    "view": ids.VIEW,
    "comment": ids.COMMENT,
    "job": ids.JOB,
}
_PROBLEM_HEADERS = {
    401: {"WWW-Authenticate": "Bearer"},
    429: {"Retry-After": "1"},
    503: {"Retry-After": "1"},
}


@dataclass(frozen=True)
class Request:
    """A request whose route, token and path parameters are valid."""

    route: Route
    event: APIGatewayProxyEventV2
    deadline: float
    """When this invocation is certainly dead, in seconds since 1970."""

    @property
    def actor(self) -> Actor:
        """The user who makes the request; only for routes that need a token."""
        return from_claims(_claims(self.event))

    @property
    def name(self) -> str:
        """What people call the user who makes the request; only for routes that need a token."""
        return name_in(_claims(self.event))

    @property
    def token_end(self) -> float:
        """Until when the caller's token is believed, in seconds since 1970. Unauthenticated."""
        return end_in(_claims(self.event))

    @property
    def path(self) -> Mapping[str, str]:
        """The path parameters."""
        return self.event.path_parameters

    @property
    def parameters(self) -> Mapping[str, str]:
        """The query parameters."""
        return self.event.query_string_parameters

    @property
    def raw_body(self) -> bytes:
        """The body as sent. InvalidRequest if it is not UTF-8."""
        try:
            return (self.event.decoded_body or "").encode()
        except ValueError:
            raise InvalidRequest("The body is not UTF-8.", [FieldError("body", "is not UTF-8")]) from None

    def body(self) -> Any:
        """The body as JSON. InvalidRequest if it is missing or not valid JSON."""
        raw = self.raw_body
        if not raw.strip():
            raise InvalidRequest("A JSON body is required.", [FieldError("body", "is required")])
        return loads(raw)

    def require_no_body(self) -> None:
        """InvalidRequest if there is a body: the call takes none."""
        if self.raw_body.strip() not in (b"", b"{}"):
            raise InvalidRequest("This call takes no body.", [FieldError("body", "must be left out")])

    def expected(self) -> Expected:
        """The versions in the If-Match header."""
        return expected_versions(self.header("if-match"))

    def use(self) -> Use | None:
        """The use of the key in the Idempotency-Key header: the user's own, in this call of what the path names."""
        key = self.header("idempotency-key")
        if key is None:
            return None
        actor = self.actor
        further = [value for name, value in sorted(self.path.items()) if name != "project"]
        scope = actor.tenant, actor.user, self.route.operation, self.path.get("project", ""), *further
        return use_of(scope, key, self.raw_body)

    @cached_property
    def change(self) -> UUID:
        """The change that this write is part of, by the X-Change-Id header."""
        return change_of(self.header(CHANGE_ID.lower()))

    def header(self, name: str) -> str | None:
        """A header by its lower-case name."""
        return self.event.headers.get(name)


@dataclass(frozen=True, slots=True)
class Response:
    """An answer. `body` is a JSON value, or JSON already encoded, or None for an empty body."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def again(cls, answer: Answer) -> "Response":
        """The response that an answer was kept of."""
        return cls(answer.status, answer.body, answer.headers)

    def under(self, change: UUID) -> "Response":
        """The same, telling the change that the write is part of, if it does not tell one yet."""
        return replace(self, headers={CHANGE_ID: str(change), **self.headers})

    def telling(self, headers: Mapping[str, str]) -> "Response":
        """The same with further headers."""
        return replace(self, headers={**self.headers, **headers})

    @property
    def kept(self) -> Answer:
        """The answer to keep of it."""
        return Answer(self.status, self.headers, dumps(self.body))


Endpoint = Callable[[Request], Response]
Handler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]


def ok(body: Any) -> Response:
    """200 with a body."""
    return Response(200, body)


def written(status: int, resource: Mapping[str, Any], location: str | None = None) -> Response:
    """The whole resource after a write, with its ETag."""
    headers = {"ETag": etag(resource["version"])}
    return Response(status, resource, headers if location is None else {**headers, "Location": location})


def handler(operations: Mapping[str, Endpoint], logger: Logger, metrics: Metrics) -> Handler:
    """The Lambda handler that serves these operations, keyed by their names in `routes`."""

    @logger.inject_lambda_context(clear_state=True)
    @metrics.log_metrics
    def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        request_id = event.get("requestContext", {}).get("requestId", context.aws_request_id)
        logger.append_keys(route=event.get("routeKey"), request_id=request_id)
        try:
            response = _answer(operations, event, context)
        except RequestError as error:
            response = _problem_response(problem(error), request_id, error.headers)
        except Exception:
            logger.exception("request failed")
            response = _problem_response(
                problem_document(INTERNAL, "The request failed unexpectedly."), request_id
            )
        metrics.add_metric(name="Requests", unit=MetricUnit.Count, value=1)
        if response.status >= 500:
            metrics.add_metric(name="ServerErrors", unit=MetricUnit.Count, value=1)
        return _encoded(response, event)

    return handle


def _answer(operations: Mapping[str, Endpoint], event: dict[str, Any], context: LambdaContext) -> Response:
    route = _route(event.get("routeKey", ""))
    if route.operation not in operations:
        raise NotFound("Route not found.")
    deadline = clock.seconds() + context.get_remaining_time_in_millis() / 1000
    request = Request(route, APIGatewayProxyEventV2(event), deadline)
    tenant = None
    if route.role is not None:
        request.actor.require(route.role)
        tenant = request.actor.tenant
    for name, value in request.path.items():
        if not _PATH_PATTERNS[name].fullmatch(value):
            raise NotFound(f"{'Issue' if name == 'num' else name.capitalize()} not found.")
    with acting_for(tenant):
        if not route.writes:
            return operations[route.operation](request)
        change = request.change  # so that a bad one is refused before anything is written
        return operations[route.operation](request).under(change)


def _route(key: str) -> Route:
    """The route with this key. MethodNotAllowed if only its path is known; NotFound if not even that."""
    route = BY_KEY.get(key)
    if route is not None:
        return route
    method, _, path = key.partition(" ")
    if path not in BY_PATH:
        raise NotFound("Route not found.")
    allow = BY_PATH[path].allow
    raise MethodNotAllowed(f"This path has no {method}. It has {allow}.", headers={"Allow": allow})


def _claims(event: APIGatewayProxyEventV2) -> Mapping[str, Any]:
    try:
        claims: Mapping[str, Any] = event["requestContext"]["authorizer"]["jwt"]["claims"]
    except (KeyError, TypeError):
        raise Unauthenticated("A token is required.") from None
    return claims


def _problem_response(
    document: dict[str, object], request_id: str, further: Mapping[str, str] | None = None
) -> Response:
    status = int(str(document["status"]))
    headers = {
        "Content-Type": "application/problem+json",
        **_PROBLEM_HEADERS.get(status, {}),
        **(further or {}),
    }
    return Response(status, {**document, "request_id": request_id}, headers)


def _encoded(response: Response, event: Mapping[str, Any]) -> dict[str, Any]:
    headers = {**OF_EVERY_ANSWER, **response.headers}
    if response.body is None:
        return {"statusCode": response.status, "headers": headers}
    content = response.body if isinstance(response.body, bytes) else dumps(response.body)
    body, coding = body_of(content, event.get("headers", {}).get("accept-encoding"))
    return {
        "statusCode": response.status,
        "headers": {"Content-Type": "application/json", **headers, **coding},
        **body,
    }


def count_capacity(metrics: Metrics, meter: Meter) -> None:
    """Publish the cost of a request as metrics."""
    metrics.add_metric(name="CapacityUnits", unit=MetricUnit.Count, value=meter.capacity)
    metrics.add_metric(name="SequentialCalls", unit=MetricUnit.Count, value=meter.rounds)
