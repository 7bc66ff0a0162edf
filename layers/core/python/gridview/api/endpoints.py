"""The decorators that state an endpoint: its route, its document and its code in one place.

    endpoints = Endpoints[QueryContainer]("Comments", "query")

    @endpoints.get(
        "/v1/projects/<project>/issues/<num>/comments/<comment>",
        Role.VIEWER,
        "A comment on an issue",
        answer="IssueComment",
    )
    def get_comment(request: QueryRequest) -> Response: ...

The name of the function is that of the operation. Nothing here needs an environment, so tools import endpoints too.
"""

from collections.abc import Callable
from typing import Any, Generic, TypedDict, Unpack

from aws_lambda_powertools.event_handler import Response as HttpResponse
from aws_lambda_powertools.event_handler.api_gateway import Router

from gridview.api.http import Container, Request, Response
from gridview.api.invocation import running
from gridview.api.routes import FunctionName, Gives, Method, Route, Takes
from gridview.commands.actor import Role
from gridview.support.errors import RequestError


class Stated(TypedDict, total=False):
    """Further statements of a decorator, beside path, role and summary, as `Route` describes them."""

    status: int
    body: str
    parameters: str
    answer: str
    takes: tuple[Takes, ...]
    gives: tuple[Gives, ...]
    problems: tuple[type[RequestError], ...]
    job: bool


Decorator = Callable[[Callable[[Request[Container]], Response]], Callable[[Request[Container]], Response]]


class Endpoints(Generic[Container]):
    """The endpoints of one resource that one function serves, on a router of Powertools. `tag` groups them in
    the document.
    """

    def __init__(self, tag: str, function: FunctionName) -> None:
        self.router = Router()  # type: ignore[no-untyped-call]
        self.served: dict[Route, Callable[[Request[Container]], Response]] = {}
        self._tag = tag
        self._function = function

    def get(
        self, path: str, role: Role | None, summary: str, **stated: Unpack[Stated]
    ) -> Decorator[Container]:
        """State an endpoint that a GET calls. `path` has its parameters in angle brackets, as Powertools
        writes them.
        """
        return self._stated("GET", path, role, summary, stated)

    def post(
        self, path: str, role: Role | None, summary: str, **stated: Unpack[Stated]
    ) -> Decorator[Container]:
        """State an endpoint that a POST calls."""
        return self._stated("POST", path, role, summary, stated)

    def patch(
        self, path: str, role: Role | None, summary: str, **stated: Unpack[Stated]
    ) -> Decorator[Container]:
        """State an endpoint that a PATCH calls; it takes the versions that may be changed."""
        return self._stated("PATCH", path, role, summary, {"takes": (Takes.VERSIONS,), **stated})

    def delete(
        self, path: str, role: Role | None, summary: str, **stated: Unpack[Stated]
    ) -> Decorator[Container]:
        """State an endpoint that a DELETE calls; it takes the versions that may be deleted, and answers 204."""
        return self._stated(
            "DELETE", path, role, summary, {"status": 204, "takes": (Takes.VERSIONS,), **stated}
        )

    def _stated(
        self, method: Method, path: str, role: Role | None, summary: str, stated: Stated
    ) -> Decorator[Container]:
        def state(endpoint: Callable[[Request[Container]], Response]) -> Any:
            route = Route(
                operation=endpoint.__name__,
                function=self._function,
                tag=self._tag,
                method=method,
                path=path.replace("<", "{").replace(">", "}"),
                role=role,
                summary=summary,
                **stated,
            )

            def call(**_: str) -> HttpResponse[str]:
                return running().answer(route, endpoint)

            self.served[route] = endpoint
            self.router.route(path, method)(call)
            return endpoint

        return state
