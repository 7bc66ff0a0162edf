"""Powertools between the event and an endpoint: the endpoint that it finds, and the isolation of requests."""

import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.event_handler import Response as HttpResponse
from aws_lambda_powertools.event_handler.api_gateway import Router

from gridview.api.endpoints import Endpoints
from gridview.api.http import Request, Response, ok
from gridview.api.invocation import Invocation, running
from gridview.api.resolver import handler
from gridview.api.routes import Route
from gridview.command_api.resources import RESOURCES as COMMANDS
from gridview.commands.actor import Role
from gridview.live_api.resources import RESOURCES as LIVE
from gridview.query_api.resources import RESOURCES as QUERIES
from gridview.support import clock
from infra.routes import BY_KEY, ROUTES
from tests.support import cloud
from tests.support.http import Client, Context, Handler, claims

PARTS = {
    "project": "35e9",
    "attribute": "batch",
    "index": "c1",
    "webhook": "w3k9q2m7x1c0z",
    "delivery": "57_1",
    "num": "7",
    "view": "v1",
    "comment": "2",
    "job": "018f3a5c2b71e7d4c90a",
}


class Uncounted(Metrics):
    """Metrics that count nothing. Those of Powertools are shared by all threads, and the first thread to end empties
    them.
    """

    def add_metric(self, *_: Any, **__: Any) -> None:
        """Count nothing."""

    def log_metrics(self, lambda_handler: Any = None, *_: Any, **__: Any) -> Any:
        return lambda_handler


def made(*resources: Endpoints[Any]) -> Handler:
    metrics = Uncounted(namespace="gridview", service="test")
    return cast(Handler, handler(resources, lambda: None, Logger(service="test"), metrics))


def event(user: str, project: str, path: str = "/v1/projects/{project}/grid") -> dict[str, Any]:
    return {
        "version": "2.0",
        "routeKey": f"GET {path}",
        "rawPath": path.format(project=project),
        "headers": {"x-mine": user},
        "pathParameters": {"project": project},
        "requestContext": {
            "requestId": f"of {user}",
            "stage": "$default",
            "http": {"method": "GET", "path": path.format(project=project)},
            "authorizer": {"jwt": {"claims": claims(user=user)}},
        },
    }


def said(answer: dict[str, Any]) -> Any:
    return answer["statusCode"], json.loads(answer["body"])


def of(request: Request[None], router: Router) -> Response:
    """Identifies a request by each way in which an endpoint may read it."""
    asked = router.request
    found = asked.route.format(**asked.path_parameters)
    seen = [request.path["project"], asked.headers["x-mine"], running().request_id]
    return ok([request.actor.user, *seen, found, router.current_event.path])


def expected(user: str, project: str) -> Any:
    path = f"/v1/projects/{project}/grid"
    return 200, [user, project, user, f"of {user}", path, path]


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_a_request_that_another_overtakes_is_answered_as_itself() -> None:
    """The second starts and ends while the first is in its endpoint."""
    endpoints = Endpoints[None]("Grid", "query")
    inside, overtaken = threading.Event(), threading.Event()

    @endpoints.get("/v1/projects/<project>/grid", Role.VIEWER, "Says who asked")
    def ask(request: Request[None]) -> Response:
        if request.actor.user == "ann":
            inside.set()
            assert overtaken.wait(10)
        return of(request, endpoints.router)

    @endpoints.get("/v1/projects/<project>/groups", Role.VIEWER, "Fails")
    def fail(request: Request[None]) -> Response:
        raise RuntimeError(request.actor.user)

    handle = made(endpoints)
    with ThreadPoolExecutor(1) as other:
        first = other.submit(handle, event("ann", "a1"), Context())
        assert inside.wait(10)
        second = handle(event("bob", "b2"), Context())
        failed = handle(event("eve", "c3", "/v1/projects/{project}/groups"), Context())
        overtaken.set()
        assert said(first.result()) == expected("ann", "a1")
    assert said(second) == expected("bob", "b2")
    assert (failed["statusCode"], json.loads(failed["body"])["request_id"]) == (500, "of eve")


def test_an_endpoint_knows_when_its_invocation_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoints = Endpoints[None]("Grid", "query")
    monkeypatch.setattr(clock, "seconds", lambda: 1_700_000_000.0)

    @endpoints.get("/v1/projects/<project>/grid", Role.VIEWER, "Says how long it may take")
    def ask(request: Request[None]) -> Response:
        return ok(request.deadline)

    assert said(made(endpoints)(event("ann", "a1"), Context(milliseconds_left=7_500))) == (
        200,
        1_700_000_007.5,
    )


@pytest.mark.parametrize("fails", [True, False])
def test_each_request_counts_and_an_error_of_the_server_counts_as_one(
    monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    endpoints = Endpoints[None]("Grid", "query")

    @endpoints.get("/v1/projects/<project>/grid", Role.VIEWER, "Fails or not")
    def ask(_: Request[None]) -> Response:
        if fails:
            raise RuntimeError("a defect")
        return ok({})

    counted: list[tuple[str, int]] = []

    def count(_: Metrics, name: str, value: int, **__: Any) -> None:
        counted.append((name, value))

    monkeypatch.setattr(Uncounted, "add_metric", count)
    assert made(endpoints)(event("ann", "a1"), Context())["statusCode"] == (500 if fails else 200)
    assert counted == [("Requests", 1), *([("ServerErrors", 1)] if fails else [])]


@pytest.mark.usefixtures("impatient")
def test_requests_of_two_threads_never_mix() -> None:
    endpoints = Endpoints[None]("Grid", "query")

    @endpoints.get("/v1/projects/<project>/grid", Role.VIEWER, "Says who asked")
    def ask(request: Request[None]) -> Response:
        return of(request, endpoints.router)

    handle = made(endpoints)

    def many(user: str, project: str) -> list[Any]:
        return [said(handle(event(user, project), Context())) for _ in range(300)]

    with ThreadPoolExecutor(2) as both:
        ann, bob = both.submit(many, "ann", "a1"), both.submit(many, "bob", "b2")
        assert ann.result() == [expected("ann", "a1")] * 300
        assert bob.result() == [expected("bob", "b2")] * 300


def test_a_request_that_another_makes_ends_as_itself() -> None:
    """Within one thread: the state of the outer one is restored when the inner one has ended."""
    endpoints = Endpoints[None]("Grid", "query")

    @endpoints.get("/v1/projects/<project>/grid", Role.VIEWER, "Asks again, and says who asked")
    def ask(request: Request[None]) -> Response:
        if request.actor.user == "ann":
            assert said(handle(event("bob", "b2"), Context())) == expected("bob", "b2")
        return of(request, endpoints.router)

    handle = made(endpoints)
    assert said(handle(event("ann", "a1"), Context())) == expected("ann", "a1")
    with pytest.raises(LookupError):
        running()


@pytest.fixture(scope="module")
def account() -> Iterator[cloud.Cloud]:
    with cloud.running() as found:
        yield found


def matched(account: cloud.Cloud, route: Route, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The routes that Powertools finds for a request of this route."""
    seen: list[str] = []

    def answer(_: Invocation, one: Route, __: Any) -> HttpResponse[str]:
        seen.append(one.key)
        return HttpResponse(204, body="")

    asked = Client(account.handlers, None).event(route.method, route.path.format(**PARTS))
    assert asked["routeKey"] == route.key
    monkeypatch.setattr(Invocation, "answer", answer)
    account.handlers[route.function](asked, Context())
    return seen


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_powertools_finds_the_route_that_api_gateway_has_found(
    account: cloud.Cloud, route: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If several paths match, the first registered one wins. No route may need the lookup by key (`answer_by_key`)."""
    monkeypatch.setattr(Invocation, "answer_by_key", lambda _: pytest.fail("only the key found it"))
    assert matched(account, route, monkeypatch) == [route.key]


def test_a_path_that_powertools_takes_for_another_is_answered_by_the_key(account: cloud.Cloud) -> None:
    """`batch` is at the place where another path has the number of an issue."""
    answer = account.api().get("/v1/projects/35e9/issues/batch")
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def refused(account: cloud.Cloud, role: str, method: str, path: str) -> tuple[int, str]:
    """Status and detail of the problem, by the function of the route that API Gateway finds."""
    asked = account.api(role=role).event(method, path)
    answer = account.handlers[BY_KEY[asked["routeKey"]].function](asked, Context())
    return answer["statusCode"], json.loads(answer["body"])["detail"]


@pytest.mark.parametrize("part", ["a%2Fb", "a%2Fissues", '"', "%5C", "%00", "\u00e9", "%3F"])
def test_an_id_that_powertools_does_not_match_is_no_id(account: cloud.Cloud, part: str) -> None:
    assert refused(account, "viewer", "GET", f"/v1/projects/{part}") == (404, "Project not found.")
    assert refused(account, "admin", "DELETE", f"/v1/projects/{part}") == (404, "Project not found.")
    issue = f"/v1/projects/35e9/issues/{part}"
    assert refused(account, "editor", "PATCH", issue) == (404, "Issue not found.")


def test_a_role_is_asked_for_before_an_id_that_powertools_does_not_match(account: cloud.Cloud) -> None:
    status, _ = refused(account, "viewer", "DELETE", "/v1/projects/a%2Fb")
    assert status == 403


def test_every_function_answers_only_what_it_serves(account: cloud.Cloud) -> None:
    client = Client(account.handlers, None)
    for route in BY_KEY.values():
        asked = client.event(route.method, route.path.format(**PARTS))
        statuses = {name: account.handlers[name](asked, Context())["statusCode"] for name in _FUNCTIONS}
        served = 200 if route.role is None else 401
        assert statuses == {name: served if name == route.function else 404 for name in _FUNCTIONS}


_FUNCTIONS = ("query", "command", "live")


@pytest.mark.parametrize(
    ("function", "resources"), [("query", QUERIES), ("command", COMMANDS), ("live", LIVE)]
)
def test_a_function_serves_the_routes_that_name_it_and_no_other(
    function: str, resources: tuple[Endpoints[Any], ...]
) -> None:
    served = {route.key for endpoints in resources for route in endpoints.served}
    assert served == {route.key for route in ROUTES if route.function == function}
    assert said(made(*resources)(event("ann", "a1", "/v1/nothing"), Context()))[0] == 404
