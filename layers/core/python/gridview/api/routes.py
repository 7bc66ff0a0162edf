"""The HTTP routes. API Gateway's routes, the local server, the handlers and the OpenAPI document are all made from this list."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from gridview.commands.actor import Role

FunctionName = Literal["query", "command"]

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
"""The methods that API Gateway has a route for on each path, so that a wrong one is told which are right."""


@dataclass(frozen=True, slots=True)
class Route:
    """One call of the API. `role` is the lowest that may make it; None: no token is required."""

    operation: str
    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    function: FunctionName
    role: Role | None
    summary: str

    @property
    def key(self) -> str:
        """The route key in API Gateway's notation: `GET /v1/projects/{project}`."""
        return f"{self.method} {self.path}"

    @property
    def repeatable(self) -> bool:
        """Whether it writes what only an Idempotency-Key keeps from being written twice."""
        return self.method == "POST" and self.writes

    @property
    def writes(self) -> bool:
        """Whether it may change anything."""
        return self.function == "command" and self.method != "GET"

    @property
    def writes_issues(self) -> bool:
        """Whether it may change issues, and then answers a consistency token."""
        return self.writes and self.path.startswith(_ISSUES)


_ME = "/v1/me"
_USERS = "/v1/users"
_PROJECTS = "/v1/projects"
_PROJECT = _PROJECTS + "/{project}"
_ATTRIBUTES = _PROJECT + "/attributes"
_ATTRIBUTE = _ATTRIBUTES + "/{attribute}"
_INDEXES = _PROJECT + "/indexes"
_INDEX = _INDEXES + "/{index}"
_ISSUES = _PROJECT + "/issues"
_ISSUE = _ISSUES + "/{num}"
_GRID = _PROJECT + "/grid"
_GROUPS = _PROJECT + "/groups"
_SUMMARY = _PROJECT + "/summary"
_POSITION = _ISSUE + "/position"

ROUTES: tuple[Route, ...] = (
    Route("health", "GET", "/v1/health", "query", None, "Health check"),
    Route("openapi", "GET", "/v1/openapi.json", "query", None, "This document"),
    # It notes the caller's name, so it is with the function that can write.
    Route("me", "GET", _ME, "command", Role.VIEWER, "The caller"),
    Route("list_users", "GET", _USERS, "query", Role.VIEWER, "The tenant's users in name order"),
    Route("list_projects", "GET", _PROJECTS, "query", Role.VIEWER, "The tenant's projects in name order"),
    Route("create_project", "POST", _PROJECTS, "command", Role.ADMIN, "Create a project"),
    Route(
        "get_project", "GET", _PROJECT, "query", Role.VIEWER, "A project with its attributes in display order"
    ),
    Route("update_project", "PATCH", _PROJECT, "command", Role.ADMIN, "Change a project's name or states"),
    Route("delete_project", "DELETE", _PROJECT, "command", Role.ADMIN, "Delete a project"),
    Route("create_attribute", "POST", _ATTRIBUTES, "command", Role.ADMIN, "Add an attribute to a project"),
    Route("get_attribute", "GET", _ATTRIBUTE, "query", Role.VIEWER, "An attribute of a project"),
    Route("update_attribute", "PATCH", _ATTRIBUTE, "command", Role.ADMIN, "Change an attribute"),
    Route("delete_attribute", "DELETE", _ATTRIBUTE, "command", Role.ADMIN, "Delete an attribute"),
    Route("list_indexes", "GET", _INDEXES, "query", Role.VIEWER, "The composite indexes of a project"),
    Route("create_index", "POST", _INDEXES, "command", Role.ADMIN, "Define an order by several fields"),
    Route("get_index", "GET", _INDEX, "query", Role.VIEWER, "A composite index of a project"),
    Route("delete_index", "DELETE", _INDEX, "command", Role.ADMIN, "Delete a composite index"),
    Route("create_issue", "POST", _ISSUES, "command", Role.EDITOR, "Create an issue"),
    Route(
        "batch", "POST", _ISSUES + "/batch", "command", Role.EDITOR, "Up to 500 creates, updates and deletes"
    ),
    Route("get_issue", "GET", _ISSUE, "query", Role.VIEWER, "An issue with all its values"),
    Route(
        "update_issue", "PATCH", _ISSUE, "command", Role.EDITOR, "Change an issue by a merge patch (RFC 7396)"
    ),
    Route("delete_issue", "DELETE", _ISSUE, "command", Role.EDITOR, "Delete an issue"),
    Route("grid", "POST", _GRID, "query", Role.VIEWER, "A page of issues, filtered and sorted"),
    Route("grid_get", "GET", _GRID, "query", Role.VIEWER, "A page of issues, by query parameters"),
    Route("groups", "POST", _GROUPS, "query", Role.VIEWER, "Exact counts of issues by up to three fields"),
    Route(
        "summary",
        "POST",
        _SUMMARY,
        "query",
        Role.VIEWER,
        "Exact aggregates of fields over the issues that pass a filter",
    ),
    Route("position", "GET", _POSITION, "query", Role.VIEWER, "The row number of an issue in an order"),
)

BY_KEY: dict[str, Route] = {route.key: route for route in ROUTES}

REFUSES: FunctionName = "query"
"""The function that answers 405 to a method that a path does not have."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A path of the API with its calls by method."""

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


BY_PATH: dict[str, Resource] = {resource.path: resource for resource in resources()}
