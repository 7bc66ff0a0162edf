"""The routes of the HTTP API, as the endpoints of the functions state them. No CDK, no environment: any tool can import them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gridview.api.routes import FunctionName, Route
from gridview.command_api.resources import RESOURCES as COMMANDS
from gridview.live_api.resources import RESOURCES as LIVE
from gridview.query_api.resources import RESOURCES as QUERIES

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
"""The methods that API Gateway has a route for on each path, so that the answer to a wrong one lists those that are right."""

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
"""In the order of their paths."""

BY_KEY: Final[Mapping[str, Route]] = {route.key: route for route in ROUTES}

REFUSES: Final[FunctionName] = "query"
"""The function that answers 405 to a method that a path does not have."""


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
        """The other methods: API Gateway hands each to `REFUSES`, as the route `PUT /v1/projects`."""
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
