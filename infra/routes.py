"""The routes of the HTTP API, as the endpoints of the functions state them. No CDK, no environment: any tool can import them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gridview.api.paths import EVERY_PATH, fits
from gridview.api.routes import FunctionName, Route
from gridview.command_api.resources import RESOURCES as COMMANDS
from gridview.live_api.resources import RESOURCES as LIVE
from gridview.query_api.resources import RESOURCES as QUERIES

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
"""The methods that API Gateway has routes for. It answers 404 by itself to any other."""

ROUTES: Final[tuple[Route, ...]] = tuple(
    sorted(
        (
            route
            for resources in (QUERIES, COMMANDS, LIVE)
            for endpoints in resources
            for route in endpoints.served
        ),
        key=lambda route: (route.path, METHODS.index(route.method)),
    )
)
"""The routes of the endpoints, in the order of their paths."""

BY_KEY: Final[Mapping[str, Route]] = {route.key: route for route in ROUTES}

REFUSES: Final[FunctionName] = "query"
"""The function that answers 405 to a method that a path does not have, and 404 to a path that the API does not have."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A path of the API with its routes by method."""

    path: str
    calls: Mapping[str, Route]

    @property
    def allow(self) -> str:
        """The methods that it has, as the header `Allow` lists them."""
        return ", ".join(sorted(self.calls))

    @property
    def refused(self) -> tuple[str, ...]:
        """The other methods of `METHODS`."""
        return tuple(method for method in METHODS if method not in self.calls)

    @property
    def public(self) -> bool:
        """Whether it is reached without a token; if not, even a wrong method requires one."""
        return all(route.role is None for route in self.calls.values())


def resources(routes: Iterable[Route] = ROUTES) -> tuple[Resource, ...]:
    """The paths of these routes in their order, each with its methods."""
    calls: dict[str, dict[str, Route]] = {}
    for route in routes:
        calls.setdefault(route.path, {})[route.method] = route
    return tuple(Resource(path, found) for path, found in calls.items())


BY_PATH: Final[Mapping[str, Resource]] = {resource.path: resource for resource in resources()}


@dataclass(frozen=True, slots=True)
class Declared:
    """A route that API Gateway has. `call` is its endpoint; None: the function refuses the request, by 405 or 404.

    `public`: without a token.
    """

    method: str
    path: str
    function: FunctionName
    public: bool
    call: Route | None = None

    @property
    def key(self) -> str:
        """The route key: `GET /v1/projects/{project}`."""
        return f"{self.method} {self.path}"


def declared(routes: Iterable[Route] = ROUTES) -> tuple[Declared, ...]:
    """Return the routes that API Gateway has for these endpoints.

    - The endpoints' own routes.
    - For each method, one route for every path (`EVERY_PATH`).
    - A route for a wrong method, if the route for every path would not answer it. It would require a token of a
      public path. And another path with the method may fit: `GET .../issues/batch` is not the issue `batch`.
    """
    routes = tuple(routes)
    return (
        *(Declared(one.method, one.path, one.function, one.role is None, one) for one in routes),
        *_refusals(resources(routes)),
        *(Declared(method, EVERY_PATH, REFUSES, public=False) for method in METHODS),
    )


def _refusals(known: tuple[Resource, ...]) -> Iterator[Declared]:
    for resource in known:
        for method in resource.refused:
            taken = any(method in other.calls and fits(other.path, resource.path) for other in known)
            if resource.public or taken:
                yield Declared(method, resource.path, REFUSES, resource.public)


DECLARED: Final[tuple[Declared, ...]] = declared()
