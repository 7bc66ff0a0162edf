"""The HTTP routes. API Gateway's routes, the local server, the handlers and the OpenAPI document are all made from this list."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from gridview.commands.actor import Role

FunctionName = Literal["query", "command", "live"]

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
        """Whether it may change issues before it answers, and then answers a consistency token."""
        elsewhere = self.path.startswith(_COMMENTS) or "matching" in self.operation
        of_issues = self.path.startswith(_ISSUES) and not elsewhere
        return self.writes and (of_issues or self.path in (_RESTORE, _UNDO))


_ME = "/v1/me"
_USERS = "/v1/users"
_PROJECTS = "/v1/projects"
_PROJECT = _PROJECTS + "/{project}"
_DELETED_PROJECTS = "/v1/deleted-projects"
_DELETED_PROJECT = _DELETED_PROJECTS + "/{project}"
_ATTRIBUTES = _PROJECT + "/attributes"
_ATTRIBUTE = _ATTRIBUTES + "/{attribute}"
_DELETED_ATTRIBUTES = _PROJECT + "/deleted-attributes"
_DELETED_ATTRIBUTE = _DELETED_ATTRIBUTES + "/{attribute}"
_INDEXES = _PROJECT + "/indexes"
_INDEX = _INDEXES + "/{index}"
_ISSUES = _PROJECT + "/issues"
_ISSUE = _ISSUES + "/{num}"
_WEBHOOKS = _PROJECT + "/webhooks"
_WEBHOOK = _WEBHOOKS + "/{webhook}"
_TRASH = _PROJECT + "/trash"
_TRASHED = _TRASH + "/{num}"
_RESTORE = _TRASHED + "/restore"
_GRID = _PROJECT + "/grid"
_GROUPS = _PROJECT + "/groups"
_SUMMARY = _PROJECT + "/summary"
_POSITION = _ISSUE + "/position"
_COMMENTS = _ISSUE + "/comments"
_COMMENT = _COMMENTS + "/{comment}"
_CHANGES = _PROJECT + "/changes"
_TICKETS = _PROJECT + "/tickets"
_HISTORY = _ISSUE + "/history"
_ACTIVITY = _PROJECT + "/activity"
_VIEWS = _PROJECT + "/views"
_VIEW = _VIEWS + "/{view}"
_UNDO = _PROJECT + "/undo"
_JOBS = _PROJECT + "/jobs"
_JOB = _JOBS + "/{job}"

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
    Route(
        "list_deleted_projects",
        "GET",
        _DELETED_PROJECTS,
        "query",
        Role.ADMIN,
        "The deleted projects that can be restored, the last deleted first",
    ),
    Route(
        "restore_project",
        "POST",
        _DELETED_PROJECT + "/restore",
        "command",
        Role.ADMIN,
        "Bring a deleted project back with all that is in it",
    ),
    Route(
        "purge_project",
        "DELETE",
        _DELETED_PROJECT,
        "command",
        Role.ADMIN,
        "Remove a deleted project for good",
    ),
    Route("create_attribute", "POST", _ATTRIBUTES, "command", Role.ADMIN, "Add an attribute to a project"),
    Route("get_attribute", "GET", _ATTRIBUTE, "query", Role.VIEWER, "An attribute of a project"),
    Route("update_attribute", "PATCH", _ATTRIBUTE, "command", Role.ADMIN, "Change an attribute"),
    Route("delete_attribute", "DELETE", _ATTRIBUTE, "command", Role.ADMIN, "Delete an attribute"),
    Route(
        "list_deleted_attributes",
        "GET",
        _DELETED_ATTRIBUTES,
        "query",
        Role.ADMIN,
        "The deleted attributes that can be restored, the last deleted first",
    ),
    Route(
        "restore_attribute",
        "POST",
        _DELETED_ATTRIBUTE + "/restore",
        "command",
        Role.ADMIN,
        "Bring a deleted attribute back with its values",
    ),
    Route(
        "purge_attribute",
        "DELETE",
        _DELETED_ATTRIBUTE,
        "command",
        Role.ADMIN,
        "Remove a deleted attribute for good",
    ),
    Route("list_indexes", "GET", _INDEXES, "query", Role.VIEWER, "The composite indexes of a project"),
    Route("create_index", "POST", _INDEXES, "command", Role.ADMIN, "Define an order by several fields"),
    Route("get_index", "GET", _INDEX, "query", Role.VIEWER, "A composite index of a project"),
    Route("delete_index", "DELETE", _INDEX, "command", Role.ADMIN, "Delete a composite index"),
    Route("create_issue", "POST", _ISSUES, "command", Role.EDITOR, "Create an issue"),
    Route(
        "batch", "POST", _ISSUES + "/batch", "command", Role.EDITOR, "Up to 500 creates, updates and deletes"
    ),
    Route(
        "update_matching",
        "POST",
        _ISSUES + "/update-matching",
        "command",
        Role.EDITOR,
        "Change all issues that a filter matches, in the background",
    ),
    Route(
        "delete_matching",
        "POST",
        _ISSUES + "/delete-matching",
        "command",
        Role.EDITOR,
        "Delete all issues that a filter matches, in the background",
    ),
    Route("export", "POST", _PROJECT + "/export", "command", Role.VIEWER, "Begin to write rows into a file"),
    Route("get_issue", "GET", _ISSUE, "query", Role.VIEWER, "An issue with all its values"),
    Route(
        "update_issue", "PATCH", _ISSUE, "command", Role.EDITOR, "Change an issue by a merge patch (RFC 7396)"
    ),
    Route("delete_issue", "DELETE", _ISSUE, "command", Role.EDITOR, "Put an issue into the trash"),
    Route("list_trash", "GET", _TRASH, "query", Role.VIEWER, "The deleted issues, newest first"),
    Route("restore_issue", "POST", _RESTORE, "command", Role.EDITOR, "Bring a deleted issue back"),
    Route("purge_issue", "DELETE", _TRASHED, "command", Role.ADMIN, "Remove a deleted issue for good"),
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
    Route(
        "list_comments", "GET", _COMMENTS, "query", Role.VIEWER, "The comments on an issue in creation order"
    ),
    Route("create_comment", "POST", _COMMENTS, "command", Role.EDITOR, "Comment on an issue"),
    Route("get_comment", "GET", _COMMENT, "query", Role.VIEWER, "A comment on an issue"),
    Route("update_comment", "PATCH", _COMMENT, "command", Role.EDITOR, "Change one's own comment"),
    Route("delete_comment", "DELETE", _COMMENT, "command", Role.EDITOR, "Delete a comment"),
    Route(
        "changes",
        "GET",
        _CHANGES,
        "live",
        Role.VIEWER,
        "What has changed since a cursor, or changes within seconds",
    ),
    Route("create_ticket", "POST", _TICKETS, "live", Role.VIEWER, "A ticket that opens a socket"),
    Route("issue_history", "GET", _HISTORY, "query", Role.VIEWER, "The changes of an issue, newest first"),
    Route(
        "activity",
        "GET",
        _ACTIVITY,
        "query",
        Role.VIEWER,
        "The changes of a project by person, field and time, newest first",
    ),
    # Of their own, a viewer may write views too; what everybody sees takes a role that `commands.views` requires.
    Route(
        "list_views", "GET", _VIEWS, "query", Role.VIEWER, "The saved views of a project that the caller sees"
    ),
    Route("create_view", "POST", _VIEWS, "command", Role.VIEWER, "Save a view"),
    Route("get_view", "GET", _VIEW, "query", Role.VIEWER, "A saved view of a project"),
    Route("update_view", "PATCH", _VIEW, "command", Role.VIEWER, "Change a saved view"),
    Route("delete_view", "DELETE", _VIEW, "command", Role.VIEWER, "Delete a saved view"),
    Route("list_webhooks", "GET", _WEBHOOKS, "query", Role.ADMIN, "The webhooks of a project"),
    Route("create_webhook", "POST", _WEBHOOKS, "command", Role.ADMIN, "Have changes sent to a receiver"),
    Route("get_webhook", "GET", _WEBHOOK, "query", Role.ADMIN, "A webhook of a project"),
    Route("update_webhook", "PATCH", _WEBHOOK, "command", Role.ADMIN, "Change, disable or enable a webhook"),
    Route("delete_webhook", "DELETE", _WEBHOOK, "command", Role.ADMIN, "Delete a webhook"),
    Route(
        "rotate_webhook",
        "POST",
        _WEBHOOK + "/rotate",
        "command",
        Role.ADMIN,
        "Replace the secret of a webhook",
    ),
    Route(
        "list_deliveries",
        "GET",
        _WEBHOOK + "/deliveries",
        "query",
        Role.ADMIN,
        "What was sent to a webhook, the last change first",
    ),
    Route(
        "replay_delivery",
        "POST",
        _WEBHOOK + "/deliveries/{delivery}/replay",
        "command",
        Role.ADMIN,
        "Send a message to a webhook again",
    ),
    Route(
        "undo", "POST", _UNDO, "command", Role.EDITOR, "Take back all that was written under an X-Change-Id"
    ),
    Route("list_jobs", "GET", _JOBS, "query", Role.VIEWER, "The jobs of a project, the last first"),
    Route("get_job", "GET", _JOB, "query", Role.VIEWER, "A job, and how far it is"),
    Route("cancel_job", "DELETE", _JOB, "command", Role.VIEWER, "Cancel a job: what it has done stays"),
    Route(
        "list_refused",
        "GET",
        _JOB + "/refused",
        "query",
        Role.VIEWER,
        "The issues that a job could not change, and why",
    ),
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
