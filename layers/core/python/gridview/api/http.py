"""Requests and answers as endpoints see them: token, path and body in, a JSON value or a problem document out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar
from uuid import UUID

from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from gridview.api.routes import Route
from gridview.commands.actor import Actor, end_in, from_claims, name_in
from gridview.commands.changes import CHANGE_ID, change_of
from gridview.commands.idempotency import Scope, use_of
from gridview.commands.preconditions import Expected, etag, expected_versions
from gridview.dynamodb.metering import Meter
from gridview.encoding.json_codec import dumps, loads
from gridview.schema.remembered import GONE, Answer, Use
from gridview.support.errors import FieldError, InvalidRequest, NotFound, Unauthenticated

Container = TypeVar("Container")
"""The objects that a function keeps from one request to the next: its table, its caches, its queues."""


@dataclass(frozen=True)
class Request(Generic[Container]):
    """A request whose route, token and path parameters are valid."""

    route: Route
    event: APIGatewayProxyEventV2
    container: Container
    deadline: float
    """When this invocation is certainly dead, in seconds since 1970."""

    @property
    def actor(self) -> Actor:
        """The user who makes the request; only for routes that need a token."""
        return from_claims(self._claims)

    @property
    def name(self) -> str:
        """Return how people call the user who makes the request; only for routes that need a token."""
        return name_in(self._claims)

    @property
    def token_end(self) -> float:
        """Until when the caller's token is believed, in seconds since 1970. Unauthenticated."""
        return end_in(self._claims)

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
            raise InvalidRequest(
                "The body is not UTF-8. Send JSON in UTF-8.", [FieldError("body", "is not UTF-8")]
            ) from None

    def body(self) -> Any:
        """Return the body as JSON. InvalidRequest if it is missing or not valid JSON."""
        raw = self.raw_body
        if not raw.strip():
            raise InvalidRequest("A JSON body is required.", [FieldError("body", "is required")])
        return loads(raw)

    def require_no_body(self) -> None:
        """Raise InvalidRequest if there is a body: the call takes none."""
        if self.raw_body.strip() not in (b"", b"{}"):
            raise InvalidRequest(
                "This call takes no body. Leave it out.", [FieldError("body", "must be left out")]
            )

    def expected(self) -> Expected:
        """Return the versions in the If-Match header."""
        return expected_versions(self.header("if-match"))

    def use(self) -> Use | None:
        """Return the use of the key in the Idempotency-Key header: by this user, in this call, on the
        resources that the path names.
        """
        key = self.header("idempotency-key")
        if key is None:
            return None
        actor = self.actor
        further = tuple(value for name, value in sorted(self.path.items()) if name != "project")
        scope = Scope(actor.tenant, actor.user, self.route.operation, self.path.get("project", ""), further)
        return use_of(scope, key, self.raw_body)

    @cached_property
    def change(self) -> UUID:
        """The change that this write is part of, by the X-Change-Id header."""
        return change_of(self.header(CHANGE_ID.lower()))

    def header(self, name: str) -> str | None:
        """Return a header by its lower-case name."""
        return self.event.headers.get(name)

    @property
    def _claims(self) -> Mapping[str, Any]:
        try:
            claims: Mapping[str, Any] = self.event["requestContext"]["authorizer"]["jwt"]["claims"]
        except (KeyError, TypeError):
            raise Unauthenticated(
                "A bearer token is required. Send the ID token: `Authorization: Bearer TOKEN`."
            ) from None
        return claims


@dataclass(frozen=True, slots=True)
class Response:
    """An answer. `body` is a JSON value, or JSON already encoded, or None for an empty body."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def again(cls, answer: Answer) -> "Response":
        """Return the response of a kept answer. NotFound if its content was permanently deleted since."""
        if answer.status == GONE:
            raise NotFound(answer.body.decode())
        return cls(answer.status, answer.body, answer.headers)

    def under(self, change: UUID) -> "Response":
        """Return the same, with the change that the write is part of, unless it names one already."""
        return replace(self, headers={CHANGE_ID: str(change), **self.headers})

    def with_headers(self, headers: Mapping[str, str]) -> "Response":
        """Return the same with further headers."""
        return replace(self, headers={**self.headers, **headers})

    @property
    def kept(self) -> Answer:
        """The answer to keep of it."""
        return Answer(self.status, self.headers, dumps(self.body))


def ok(body: Any) -> Response:
    """200 with a body."""
    return Response(200, body)


def versioned(resource: Mapping[str, Any]) -> Response:
    """200 with a whole resource and its ETag."""
    return written(200, resource)


def written(status: int, resource: Mapping[str, Any], location: str | None = None) -> Response:
    """Return the whole resource after a write, with its ETag."""
    headers = {"ETag": etag(resource["version"])}
    return Response(status, resource, headers if location is None else {**headers, "Location": location})


def count_capacity(metrics: Metrics, meter: Meter) -> None:
    """Publish the cost of a request as metrics."""
    metrics.add_metric(name="CapacityUnits", unit=MetricUnit.Count, value=meter.capacity)
    metrics.add_metric(name="SequentialCalls", unit=MetricUnit.Count, value=meter.rounds)
