"""The OpenAPI document, made from the routes, the models of requests and answers, and the table of errors. Pure.

The query function imports this module when the document is asked for, and not before.
"""

import re
from functools import cache
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel
from pydantic import Field as ModelField
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema

from gridview.api import examples, responses
from gridview.api.routes import ROUTES, Route
from gridview.commands import preconditions
from gridview.commands.actor import Role
from gridview.commands.changes import CHANGE_ID
from gridview.commands.changes import PATTERN as CHANGE_PATTERN
from gridview.commands.comment_requests import CommentCreate, CommentPatch
from gridview.commands.requests import (
    IDEMPOTENCY_KEY,
    AttributeCreate,
    AttributePatch,
    BatchRequest,
    CompositeCreate,
    ListParameters,
    ProjectCreate,
    ProjectPatch,
    UndoRequest,
    UsersParameters,
)
from gridview.encoding.consistency import CONSISTENCY_TOKEN
from gridview.encoding.values import TEXT_LIMIT
from gridview.live.change_requests import ChangesRequest
from gridview.live.webhook_requests import WebhookCreate, WebhookPatch
from gridview.maintenance.bulk_request import DeleteMatching, UpdateMatching
from gridview.maintenance.export_request import ExportRequest
from gridview.query.change_request import ActivityParameters, HistoryParameters
from gridview.query.grid_request import GridRequest, PositionRequest
from gridview.query.group_request import GroupsRequest
from gridview.query.predicates import schemas as filter_schemas
from gridview.query.saved_views import ViewCreate, ViewPatch
from gridview.query.summary_request import SummaryRequest
from gridview.schema import ids
from gridview.schema.catalog import MAX_ATTRIBUTES, MAX_OPTIONS
from gridview.support.errors import (
    PROBLEMS,
    Conflict,
    CursorExpired,
    EditConflict,
    FeedExpired,
    Forbidden,
    HistoryExpired,
    HistoryOff,
    InProgress,
    InvalidRequest,
    NotFound,
    NotReady,
    NotTold,
    Overloaded,
    RequestError,
    TooLarge,
    TooManyJobs,
    TooManyPolls,
    TooManyWrites,
    Unauthenticated,
    Unprocessable,
    VersionMismatch,
)
from gridview.support.validation import RequestModel, omissible

Schema = dict[str, Any]

_FieldInput = str | responses.Number | bool | Annotated[list[str], ModelField(max_length=MAX_OPTIONS)] | None


class IssueCreate(RequestModel):
    """POST /v1/projects/{project}/issues. The project's attributes tell what its fields may be."""

    name: str = ModelField(min_length=1, max_length=TEXT_LIMIT)
    state: str | None = ModelField(
        default=None, description="One of the project's states; the first by default."
    )
    fields: dict[str, _FieldInput] = omissible(
        max_length=MAX_ATTRIBUTES, description="Values by attribute id; null for no value."
    )


class IssuePatch(RequestModel):
    """PATCH /v1/projects/{project}/issues/{num}, a merge patch (RFC 7396)."""

    name: str = omissible(min_length=1, max_length=TEXT_LIMIT)
    state: str = omissible(min_length=1, description="One of the project's states.")
    fields: Annotated[dict[str, _FieldInput], ModelField(max_length=MAX_ATTRIBUTES)] | None = omissible(
        description="Values by attribute id; null clears a field, and null for all of them clears every field."
    )
    base: int = omissible(
        ge=1,
        description="The version that the client saw, in place of If-Match: what others have changed since stays. "
        "Only a field that both have set to different values is a conflict.",
    )


class CallShape(NamedTuple):
    """What a call takes and answers. `may`: the errors that its route does not tell of. `tells_token`: whether its answer may
    have a consistency token of changes, and `shows`: one of the issues that it shows. `job`: whether it may answer a job instead.
    """

    tag: str
    status: int
    answer: type[BaseModel] | None
    request: type[BaseModel] | None = None
    parameters: type[BaseModel] | None = None
    may: tuple[type[RequestError], ...] = ()
    tells_token: bool = False
    shows: bool = False
    job: bool = False


_GRID = "Grid"
"""The tag of what is answered by the index."""

_VIEWS = "Views"
_HISTORY = "History"
_WEBHOOKS = "Webhooks"
_COMMENTS = "Comments"

_DEFINITIONS = (Conflict, NotReady, Unprocessable)
_QUERIES = (NotReady, Unprocessable)
_JOBS = (Conflict, NotReady, TooManyJobs, Unprocessable)

CALLS: dict[str, CallShape] = {
    "health": CallShape("Service", 200, responses.Health),
    "openapi": CallShape("Service", 200, None),
    "me": CallShape("Users", 200, responses.Caller),
    "list_users": CallShape("Users", 200, responses.UserPage, parameters=UsersParameters),
    "list_projects": CallShape("Projects", 200, responses.ProjectPage, parameters=ListParameters),
    "create_project": CallShape("Projects", 201, responses.Project, ProjectCreate, may=_DEFINITIONS),
    "get_project": CallShape("Projects", 200, responses.Project),
    "update_project": CallShape("Projects", 200, responses.Project, ProjectPatch, may=_DEFINITIONS),
    "delete_project": CallShape("Projects", 204, None, may=(Conflict,)),
    "list_deleted_projects": CallShape(
        "Projects", 200, responses.DeletedProjectPage, parameters=ListParameters
    ),
    "restore_project": CallShape("Projects", 200, responses.Project, may=(Conflict, Unprocessable)),
    "purge_project": CallShape("Projects", 204, None, may=(Conflict,)),
    "create_attribute": CallShape("Attributes", 201, responses.Attribute, AttributeCreate, may=_DEFINITIONS),
    "get_attribute": CallShape("Attributes", 200, responses.Attribute),
    "update_attribute": CallShape("Attributes", 200, responses.Attribute, AttributePatch, may=_DEFINITIONS),
    "delete_attribute": CallShape("Attributes", 204, None, may=(Conflict, Unprocessable)),
    "list_deleted_attributes": CallShape("Attributes", 200, responses.DeletedAttributeList),
    "restore_attribute": CallShape("Attributes", 200, responses.Attribute, may=(Conflict, Unprocessable)),
    "purge_attribute": CallShape("Attributes", 204, None, may=(Conflict,)),
    "list_indexes": CallShape("Indexes", 200, responses.IndexList),
    "create_index": CallShape(
        "Indexes", 201, responses.CompositeIndex, CompositeCreate, may=(Conflict, Unprocessable)
    ),
    "get_index": CallShape("Indexes", 200, responses.CompositeIndex),
    "delete_index": CallShape("Indexes", 204, None, may=(Conflict,)),
    "list_webhooks": CallShape(_WEBHOOKS, 200, responses.WebhookList),
    "create_webhook": CallShape(
        _WEBHOOKS,
        201,
        responses.WebhookWithSecret,
        WebhookCreate,
        may=(Conflict, Unprocessable),
    ),
    "get_webhook": CallShape(_WEBHOOKS, 200, responses.WebhookAnswer),
    "update_webhook": CallShape(_WEBHOOKS, 200, responses.WebhookAnswer, WebhookPatch, may=(Conflict,)),
    "delete_webhook": CallShape(_WEBHOOKS, 204, None, may=(Conflict,)),
    "rotate_webhook": CallShape(_WEBHOOKS, 200, responses.WebhookWithSecret, may=(Conflict,)),
    "list_deliveries": CallShape(_WEBHOOKS, 200, responses.DeliveryPage, parameters=ListParameters),
    "replay_delivery": CallShape(_WEBHOOKS, 202, responses.WebhookDelivery, may=(Conflict,)),
    "create_issue": CallShape("Issues", 201, responses.Issue, IssueCreate, may=(Conflict, Unprocessable)),
    "batch": CallShape("Issues", 200, responses.BatchAnswer, BatchRequest, may=(Conflict, InProgress)),
    "get_issue": CallShape("Issues", 200, responses.Issue, shows=True),
    "update_issue": CallShape(
        "Issues", 200, responses.UpdatedIssue, IssuePatch, may=(Conflict, EditConflict, Unprocessable)
    ),
    "delete_issue": CallShape("Issues", 204, None, may=(Conflict, Unprocessable)),
    "list_trash": CallShape("Trash", 200, responses.TrashPage, parameters=ListParameters, shows=True),
    "restore_issue": CallShape("Trash", 200, responses.Issue, may=(Conflict, Unprocessable)),
    "purge_issue": CallShape("Trash", 204, None, may=(Conflict,)),
    "grid": CallShape(
        _GRID, 200, responses.IssuePage, GridRequest, may=(CursorExpired, *_QUERIES), shows=True
    ),
    "grid_get": CallShape(
        _GRID, 200, responses.IssuePage, parameters=GridRequest, may=(CursorExpired, *_QUERIES), shows=True
    ),
    "groups": CallShape(
        _GRID, 200, responses.IssueGroups, GroupsRequest, may=(CursorExpired, *_QUERIES), shows=True
    ),
    "summary": CallShape(_GRID, 200, responses.IssueSummary, SummaryRequest, may=_QUERIES, shows=True),
    "changes": CallShape(
        "Changes",
        200,
        responses.ChangePage,
        parameters=ChangesRequest,
        may=(FeedExpired, TooManyPolls, *_QUERIES),
        tells_token=True,
    ),
    "create_ticket": CallShape("Changes", 200, responses.IssuedTicket, may=(InvalidRequest,)),
    "update_matching": CallShape("Jobs", 202, responses.BackgroundJob, UpdateMatching, may=_JOBS),
    "delete_matching": CallShape("Jobs", 202, responses.BackgroundJob, DeleteMatching, may=_JOBS),
    "undo": CallShape(
        _HISTORY,
        200,
        responses.UndoAnswer,
        UndoRequest,
        may=(Conflict, HistoryExpired, HistoryOff, NotTold, TooManyJobs),
        job=True,
    ),
    "export": CallShape("Jobs", 202, responses.BackgroundJob, ExportRequest, may=_JOBS),
    "list_jobs": CallShape("Jobs", 200, responses.BackgroundJobPage, parameters=ListParameters),
    "get_job": CallShape("Jobs", 200, responses.BackgroundJob),
    "cancel_job": CallShape("Jobs", 204, None, may=(Forbidden,)),
    "list_refused": CallShape("Jobs", 200, responses.RefusedPage, parameters=ListParameters),
    "position": CallShape(
        _GRID, 200, responses.Position, parameters=PositionRequest, may=_QUERIES, shows=True
    ),
    "list_comments": CallShape(_COMMENTS, 200, responses.CommentPage, parameters=ListParameters),
    "create_comment": CallShape(
        _COMMENTS, 201, responses.IssueComment, CommentCreate, may=(Conflict, Unprocessable)
    ),
    "get_comment": CallShape(_COMMENTS, 200, responses.IssueComment),
    "update_comment": CallShape(_COMMENTS, 200, responses.IssueComment, CommentPatch, may=(Conflict,)),
    "delete_comment": CallShape(_COMMENTS, 204, None, may=(Conflict,)),
    "issue_history": CallShape(
        _HISTORY, 200, responses.HistoryPage, parameters=HistoryParameters, shows=True
    ),
    "activity": CallShape(_HISTORY, 200, responses.ActivityPage, parameters=ActivityParameters, shows=True),
    "list_views": CallShape(_VIEWS, 200, responses.SavedViewPage, parameters=ListParameters),
    "create_view": CallShape(
        _VIEWS, 201, responses.SavedView, ViewCreate, may=(Conflict, Forbidden, Unprocessable)
    ),
    "get_view": CallShape(_VIEWS, 200, responses.SavedView),
    "update_view": CallShape(
        _VIEWS, 200, responses.SavedView, ViewPatch, may=(Conflict, Forbidden, Unprocessable)
    ),
    "delete_view": CallShape(_VIEWS, 204, None, may=(Conflict, Forbidden)),
}

_TAGS = {
    _GRID: "Sorted and filtered pages of issues, groups, summaries and positions.",
    "Issues": "The rows: one by one, or up to 500 at a time.",
    "Changes": "What others change, as they change it.",
    _HISTORY: "Who changed what, and when.",
    "Trash": "Deleted issues, which can be restored for 30 days.",
    "Jobs": "Changes of everything that a filter matches. They go on in the background.",
    "Projects": "A project has attributes, issues and their states. A deleted one can be restored for 7 days.",
    "Attributes": "The columns that a project adds to the fields of every issue. A deleted one can be restored for 7 days.",
    _COMMENTS: "What people say about an issue, and whom they mean.",
    _VIEWS: "What of a project is shown and how, under a name: one's own, everybody's, or what the project opens with.",
    "Indexes": "Orders by several fields.",
    _WEBHOOKS: "Who is sent what changes.",
    "Users": "The caller, and the others of the caller's tenant.",
    "Service": "Reached without a token.",
}

_ABOUT = """\
A multi-tenant database grid on DynamoDB: sorts and filters by anything.

The token names tenant, user and role. What belongs to another tenant answers like what does not exist: 404.
Refusals are problem documents (RFC 9457). A method that a path does not have answers 405 with `Allow`.
API Gateway itself answers, without a problem document: a token that it refuses (401), a path that it does not know (404),
and too many requests (429).

Every other answer has `Cache-Control: no-store` and `X-Content-Type-Options: nosniff`."""


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


class _Schemas(GenerateJsonSchema):
    """Without titles, which would only repeat the names."""

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        found = super().generate_inner(schema)
        found.pop("title", None)
        return found

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def document(server: str = "/") -> Schema:
    """The OpenAPI 3.1 document of this API. `server` is where it is reached, relative to the document or not."""
    return {**_document(), "servers": [{"url": server}]}


@cache
def _document() -> Schema:
    paths: dict[str, Schema] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, CALLS[route.operation])
    return {
        "openapi": "3.1.0",
        "info": {"title": "gridview", "version": "1", "description": _ABOUT},
        "tags": [{"name": name, "description": told} for name, told in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


def _schemas() -> dict[str, Schema]:
    """The components: the models, what they consist of, and the filter, which has a parser of its own."""
    asked = [call.request for call in CALLS.values()]
    told = [call.answer for call in CALLS.values()]
    models = dict.fromkeys(one for one in (*asked, *told, responses.Problem) if one is not None)
    _, generated = models_json_schema(
        [(model, "validation") for model in models],
        ref_template=_ref("{model}")["$ref"],
        schema_generator=_Schemas,
    )
    schemas: dict[str, Schema] = generated["$defs"]
    for schema in schemas.values():
        if "filter" in schema.get("properties", {}):
            schema["properties"]["filter"] = {"anyOf": [_ref("Filter"), {"type": "null"}]}
    schemas.update(filter_schemas(_ref, _ref("FieldId")))
    named: dict[str, Schema] = {}
    return {**_referring(schemas, named), **named}


def _referring(node: Any, named: dict[str, Schema]) -> Any:
    """The same with a reference in the place of each schema that has a name of its own; these are added to `named`."""
    if isinstance(node, list):
        return [_referring(one, named) for one in node]
    if not isinstance(node, dict):
        return node
    found = {key: _referring(value, named) for key, value in node.items() if key != ids.SCHEMA_NAME}
    if ids.SCHEMA_NAME not in node:
        return found
    named[node[ids.SCHEMA_NAME]] = found
    return _ref(node[ids.SCHEMA_NAME])


def _operation(route: Route, call: CallShape) -> Schema:
    operation: Schema = {
        "operationId": route.operation,
        "summary": route.summary,
        "tags": [call.tag],
        "parameters": [*_path_parameters(route), *_query_parameters(call), *_headers(route, call)],
        "responses": {
            str(call.status): _answer(route, call),
            **({"202": _job_answer()} if call.job else {}),
            **_problems(route, call),
        },
        "security": [] if route.role is None else [{"token": []}],
    }
    if route.role is not None:
        operation["x-role"] = route.role.name.lower()
    if call.request is not None:
        operation["requestBody"] = {
            "required": route.operation != "grid",
            "content": {
                "application/json": {
                    "schema": _ref(call.request.__name__),
                    "example": examples.REQUESTS[route.operation],
                }
            },
        }
    return operation


_ETAG: Schema = {
    "description": "The version, for `If-Match`.",
    "schema": {"type": "string", "pattern": '^"[1-9][0-9]*"$'},
    "required": True,
}
_LOCATION: Schema = {
    "description": "The path of what was created.",
    "schema": {"type": "string", "pattern": "^/v1/"},
    "required": True,
}
_CHANGE_SCHEMA: Schema = {"type": "string", "format": "uuid", "pattern": f"^{CHANGE_PATTERN.pattern}$"}
_CHANGE: Schema = {
    "description": "The change that the write is part of.",
    "schema": _CHANGE_SCHEMA,
    "required": True,
}
_TOKEN_SCHEMA: Schema = {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"}
_TOKENS_SCHEMA: Schema = {"type": "string", "pattern": "^[A-Za-z0-9_-]+( *, *[A-Za-z0-9_-]+)*$"}
_TOKEN: Schema = {
    "description": "Sent with reads in the next 60 seconds, it has their answers hold this write.",
    "schema": _TOKEN_SCHEMA,
}
_TOKEN_OF_CHANGES: Schema = {
    "description": "Sent with reads in the next 60 seconds, it has their answers hold these changes.",
    "schema": _TOKEN_SCHEMA,
}
_TOKEN_OF_SHOWN: Schema = {
    "description": "Sent with reads in the next 60 seconds, it has their answers hold what this one shows. "
    "There is none where the index lacks nothing of it.",
    "schema": _TOKEN_SCHEMA,
}
_RETRY_AFTER: Schema = {
    "description": "Seconds to wait before the next attempt.",
    "schema": {"type": "integer", "minimum": 1},
}
_AUTHENTICATE: Schema = {"description": "How to authenticate.", "schema": {"type": "string"}}
_PAUSE: Schema = {
    "description": "Seconds to pause before the next request. An answer without changes has it when it comes earlier than `wait`.",
    "schema": {"type": "integer", "minimum": 1},
}
_PROBLEM_HEADERS: dict[int, Schema] = {
    401: {"WWW-Authenticate": _AUTHENTICATE},
    429: {"Retry-After": _RETRY_AFTER},
    503: {"Retry-After": _RETRY_AFTER},
}


def _answer(route: Route, call: CallShape) -> Schema:
    answer: Schema = {"description": route.summary if call.status != 204 else "It is deleted"}
    if route.writes:
        answer["headers"] = {CHANGE_ID: _CHANGE}
    if route.writes_issues:
        answer["headers"] |= {CONSISTENCY_TOKEN: _TOKEN}
    if call.tells_token:
        answer["headers"] = {CONSISTENCY_TOKEN: _TOKEN_OF_CHANGES, "Retry-After": _PAUSE}
    if call.shows:
        answer["headers"] = {CONSISTENCY_TOKEN: _TOKEN_OF_SHOWN}
    if call.status == 204:
        return answer
    content: Schema = {"schema": {"type": "object"}}
    if call.answer is not None:
        content = {"schema": _ref(call.answer.__name__), "example": examples.ANSWERS[route.operation]}
        if "version" in call.answer.model_fields:
            answer.setdefault("headers", {})["ETag"] = _ETAG
    if call.status in (201, 202):
        answer["headers"]["Location"] = _LOCATION
    return {**answer, "content": {"application/json": content}}


def _job_answer() -> Schema:
    """The answer of a call that leaves its work to a job."""
    return {
        "description": "It goes on in the background",
        "headers": {CHANGE_ID: _CHANGE, "Location": _LOCATION},
        "content": {
            "application/json": {
                "schema": _ref(responses.BackgroundJob.__name__),
                "example": examples.ANSWERS["update_matching"],
            }
        },
    }


def _problems(route: Route, call: CallShape) -> dict[str, Schema]:
    """The refusals of a call by their status."""
    kinds: dict[int, list[str]] = {}
    headers = _PROBLEM_HEADERS | ({409: {"Retry-After": _RETRY_AFTER}} if NotTold in call.may else {})
    for error in sorted(_errors(route, call), key=list(PROBLEMS).index):
        kind = PROBLEMS[error]
        kinds.setdefault(kind.status, []).append(f"{kind.title} (`{kind.name}`)")
    return {
        str(status): {
            "description": ", or ".join(titles),
            **({"headers": headers[status]} if status in headers else {}),
            "content": {"application/problem+json": {"schema": _ref("Problem")}},
        }
        for status, titles in kinds.items()
    }


def _errors(route: Route, call: CallShape) -> set[type[RequestError]]:
    """What a call is refused with, by what its route is and takes, and by what else it may run into."""
    errors = set(call.may)
    if route.role is not None:
        errors |= {Unauthenticated, InProgress, Overloaded}
        if route.role > Role.VIEWER:
            errors.add(Forbidden)
    if route.writes:
        errors |= {InvalidRequest, TooManyWrites}
    if "{" in route.path:
        errors.add(NotFound)
    if call.request is not None:
        errors |= {InvalidRequest, TooLarge}
    if call.parameters is not None:
        errors.add(InvalidRequest)
    if route.repeatable:
        errors |= {InvalidRequest, Conflict}
    if _takes_versions(route):
        errors |= {InvalidRequest, VersionMismatch}
    return errors


def _takes_versions(route: Route) -> bool:
    return route.method in ("PATCH", "DELETE") and "{job}" not in route.path


_PATH_SCHEMAS: dict[str, Schema] = {
    "project": {"type": "string", "pattern": f"^{ids.PROJECT.pattern}$"},
    "attribute": {"type": "string", "pattern": f"^{ids.ATTRIBUTE.pattern}$"},
    "index": {"type": "string", "pattern": f"^{ids.COMPOSITE.pattern}$"},
    "webhook": {"type": "string", "pattern": f"^{ids.WEBHOOK.pattern}$"},
    "delivery": {"type": "string", "pattern": f"^{ids.DELIVERY.pattern}$"},
    "num": {"type": "integer", "minimum": 1, "maximum": ids.MAX_ISSUE_NUMBER},
    "view": {"type": "string", "pattern": f"^{ids.VIEW.pattern}$"},
    "comment": {"type": "integer", "minimum": 1, "maximum": ids.MAX_COMMENT_ID},
    "job": {"type": "string", "pattern": f"^{ids.JOB.pattern}$"},
}


def _path_parameters(route: Route) -> list[Schema]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": _PATH_SCHEMAS[name],
            "example": examples.PATH[name],
        }
        for name in re.findall(r"{(\w+)}", route.path)
    ]


_AS_TEXT: dict[str, Schema] = {
    "sort": {
        "type": "string",
        "description": "Field ids, separated by commas, `-` before one that descends; or a JSON list as in the POST body.",
    },
    "filter": {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": _ref("Filter"),
        "description": "JSON as in the POST body.",
    },
    "columns": {"type": "string", "description": "Field ids, separated by commas."},
}
"""What is no plain value, as a query parameter."""


def _query_parameters(call: CallShape) -> list[Schema]:
    if call.parameters is None:
        return []
    properties = call.parameters.model_json_schema(schema_generator=_Schemas)["properties"]
    schemas = {name: _AS_TEXT.get(name) or _not_null(schema) for name, schema in properties.items()}
    return [
        {
            "name": name,
            "in": "query",
            "required": False,
            "schema": {key: value for key, value in schema.items() if key != "description"},
            **({"description": schema["description"]} if "description" in schema else {}),
            **({"example": examples.QUERY[name]} if name in examples.QUERY else {}),
        }
        for name, schema in schemas.items()
    ]


def _not_null(schema: Schema) -> Schema:
    """The schema of a value, without the null that no query parameter can be."""
    if "anyOf" not in schema:
        return schema
    (kept,) = (one for one in schema["anyOf"] if one != {"type": "null"})
    return dict(kept)


def _headers(route: Route, call: CallShape) -> list[Schema]:
    found: list[Schema] = []
    if _takes_versions(route):
        schema: Schema = {"type": "string", "pattern": f"^{preconditions.IF_MATCH.pattern}$"}
        told = "The version that may be changed, as its `ETag` tells it; any by default."
        found.append({"name": "If-Match", "description": told, "schema": schema})
    if route.repeatable:
        schema = {"type": "string", "pattern": f"^{IDEMPOTENCY_KEY.pattern}$"}
        told = "The same key and body answer the same result for a day; the same key with another body is a conflict."
        found.append({"name": "Idempotency-Key", "description": told, "schema": schema})
    if route.writes:
        told = "The writes of one user under one id are one change. Without it, the request is a change of its own."
        found.append({"name": CHANGE_ID, "description": told, "schema": _CHANGE_SCHEMA})
    if call.job:
        told = "Tokens that the writes of the change have answered, joined by commas: none of them is left out of the undo."
        found.append({"name": CONSISTENCY_TOKEN, "description": told, "schema": _TOKENS_SCHEMA})
    if call.tag == _GRID or (call.status == 202 and call.answer is responses.BackgroundJob):
        told = (
            "Tokens that writes and reads have answered, or cursors of the project's changes, joined by commas: the answer holds "
            "what they stand for. They name up to 500 issues in all, besides what precedes a cursor."
        )
        found.append({"name": CONSISTENCY_TOKEN, "description": told, "schema": _TOKENS_SCHEMA})
    return [{"in": "header", "required": False, **one} for one in found]
