"""One invocation of a function that answers requests: its event, the state that Powertools keeps of it, and
its answer.

Each has an object of its own, in a context variable. Powertools itself keeps event and context on its
classes, where requests in two threads would mix.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import Response as HttpResponse
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from aws_lambda_powertools.utilities.typing import LambdaContext

from gridview.api.compression import body_of
from gridview.api.headers import OF_EVERY_ANSWER
from gridview.api.http import Request, Response
from gridview.api.routes import Route
from gridview.dynamodb.sessions import acting_for
from gridview.encoding.json_codec import dumps
from gridview.schema import ids
from gridview.support import clock
from gridview.support.errors import INTERNAL, NotFound, RequestError, problem, problem_document

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

Endpoint = Callable[[Request[Any]], Response]
"""The function that carries out a route."""

_running: ContextVar["Invocation"] = ContextVar("invocation")


@dataclass(frozen=True, slots=True)
class Invocation:
    """The input of a function's invocation, and the endpoints that answer.

    `container` has the objects that the function keeps from one request to the next. `served` has its
    endpoints by route key, and `refuse` makes the error for any other key and the path of the request.
    """

    event: APIGatewayProxyEventV2
    lambda_context: LambdaContext
    container: Any
    served: Mapping[str, tuple[Route, Endpoint]]
    refuse: Callable[[str, str], RequestError]
    logger: Logger
    routing: dict[str, Any] = field(default_factory=dict)
    """Powertools' state of the route."""

    @property
    def route_key(self) -> str:
        """The route that API Gateway has matched, whose authorizer and throttle have let the request through."""
        return str(self.event.raw_event.get("routeKey", ""))

    def answer(self, route: Route, endpoint: Endpoint) -> HttpResponse[str]:
        """Return the answer of the endpoint that Powertools has matched. Every error becomes a problem
        document here.

        API Gateway has matched a route before, and its match counts. Powertools differs if an id contains an
        encoded slash. It also differs if a path has a literal segment in the place of another's parameter,
        but not the method.
        """
        if route.key != self.route_key:
            return self.answer_by_key()
        try:
            return self._encoded(self._carried_out(route, endpoint))
        except Exception as error:
            return self.refusal(error)

    def answer_by_key(self) -> HttpResponse[str]:
        """Return the answer of the endpoint that API Gateway has matched, or the refusal of a method that the
        path does not have.
        """
        key = self.route_key
        if key in self.served:
            return self.answer(*self.served[key])
        try:
            return self.refusal(self.refuse(key, self.event.path))
        except Exception as error:
            return self.refusal(error)

    def refusal(self, error: Exception) -> HttpResponse[str]:
        """Return the problem document of an error, without the details of an unexpected one, which are
        logged.
        """
        if isinstance(error, RequestError):
            return self._problem(problem(error), error.headers)
        self.logger.exception("request failed")
        return self._problem(
            problem_document(
                INTERNAL,
                "The request failed because of an error in the service. Try again. If it fails again, report its "
                "`request_id`.",
            )
        )

    @property
    def request_id(self) -> str:
        """The id that API Gateway gave the request, or else Lambda the invocation."""
        context = self.event.raw_event.get("requestContext", {})
        return str(context.get("requestId", self.lambda_context.aws_request_id))

    def _carried_out(self, route: Route, endpoint: Endpoint) -> Response:
        deadline = clock.seconds() + self.lambda_context.get_remaining_time_in_millis() / 1000
        request = Request(route, self.event, self.container, deadline)
        tenant = None
        if route.role is not None:
            request.actor.require(route.role)
            tenant = request.actor.tenant
        for name, value in request.path.items():
            if not _PATH_PATTERNS[name].fullmatch(value):
                raise NotFound(f"{'Issue' if name == 'num' else name.capitalize()} not found.")
        with acting_for(tenant):
            if not route.writes:
                return endpoint(request)
            change = request.change  # so that a bad one is refused before anything is written
            return endpoint(request).under(change)

    def _problem(
        self, document: dict[str, object], further: Mapping[str, str] | None = None
    ) -> HttpResponse[str]:
        status = int(str(document["status"]))
        headers = {
            "Content-Type": "application/problem+json",
            **_PROBLEM_HEADERS.get(status, {}),
            **(further or {}),
        }
        return self._encoded(Response(status, {**document, "request_id": self.request_id}, headers))

    def _encoded(self, response: Response) -> HttpResponse[str]:
        headers = {**OF_EVERY_ANSWER, **response.headers}
        if response.body is None:
            return HttpResponse(response.status, headers=headers, body="")
        content = response.body if isinstance(response.body, bytes) else dumps(response.body)
        encoded, coding = body_of(content, self.event.raw_event.get("headers", {}).get("accept-encoding"))
        answer = HttpResponse(
            response.status,
            headers={"Content-Type": "application/json", **headers, **coding},
            body=encoded["body"],
        )
        answer.base64_encoded = encoded.get("isBase64Encoded", False)
        return answer


def running() -> Invocation:
    """Return the current invocation. LookupError: there is none."""
    return _running.get()


@contextmanager
def invoked(invocation: Invocation) -> Iterator[None]:
    """Make it the current invocation."""
    before = _running.set(invocation)
    try:
        yield
    finally:
        _running.reset(before)
