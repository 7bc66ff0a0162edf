"""The OpenAPI document, made from the routes, the models of requests and answers, and the table of errors. Pure."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema

from gridview.api.routes import Gives, Route, Takes
from gridview.commands import preconditions
from gridview.commands.actor import Role
from gridview.commands.changes import CHANGE_ID
from gridview.commands.changes import PATTERN as CHANGE_PATTERN
from gridview.commands.idempotency import KEY as IDEMPOTENCY_KEY
from gridview.encoding.consistency import CONSISTENCY_TOKEN
from gridview.query.predicates import schemas as filter_schemas
from gridview.schema import ids
from gridview.support.errors import (
    PROBLEMS,
    Conflict,
    Forbidden,
    HistoryNotReady,
    InvalidRequest,
    NotFound,
    Overloaded,
    RequestError,
    RequestInProgress,
    TooLarge,
    TooManyWrites,
    Unauthenticated,
    VersionMismatch,
)
from gridview.support.version import VERSION
from infra.openapi import examples, responses
from infra.openapi.requests import REQUESTS
from infra.routes import ROUTES

Schema = dict[str, Any]

_TAGS = {
    "Grid": "Sorted and filtered result pages of issues, groups, summaries and row numbers.",
    "Issues": "The rows, one by one or up to 500 in a batch.",
    "Changes": "The changes that others make, as they happen.",
    "History": "Past changes, with their users and times.",
    "Trash": "Deleted issues, which can be restored for 30 days.",
    "Jobs": "Background work: changes of all issues that a filter matches, and exports.",
    "Projects": "A project has attributes, issues and their states. A deleted project can be restored for 7 days.",
    "Attributes": "The columns that a project adds to the fields of every issue. A deleted attribute can be restored for 7 days.",
    "Comments": "Comments on issues, which can mention users.",
    "Views": "Saved queries and columns of a project: private, shared, or the default that the project opens with.",
    "Indexes": "Indexes that sort by several fields.",
    "Webhooks": "Receivers of a project's changes.",
    "Users": "The caller, and the other users of the tenant.",
    "Service": "Calls without a bearer token.",
}

_ABOUT = """\
A multi-tenant database grid on DynamoDB: sorts and filters by any field.

The bearer token names tenant, user and role. Resources of other tenants answer 404, like missing ones.
Errors are problem documents (RFC 9457). An unknown path answers 404. A method that a path does not have answers 405 with `Allow`.

API Gateway itself answers these requests, without a problem document:

- a refused token: 401, also if path or method is wrong;
- a path outside `/v1/`, or a method that no path has: 404;
- too many requests: 429.

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


def document(server: str = "/", routes: tuple[Route, ...] = ROUTES) -> Schema:
    """The OpenAPI 3.1 document of this API. `server` is where it is reached, relative to the document or not."""
    return {**_document(routes), "servers": [{"url": server}]}


@cache
def _document(routes: tuple[Route, ...]) -> Schema:
    paths: dict[str, Schema] = {}
    for route in sorted(routes, key=_place):
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "gridview", "version": VERSION, "description": _ABOUT},
        "tags": [{"name": name, "description": about} for name, about in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": _schemas(routes),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


def _place(route: Route) -> tuple[int, str]:
    """By tag, then by path: the same whatever order the functions list their resources in."""
    return [*_TAGS].index(route.tag), route.path


def _schemas(routes: tuple[Route, ...]) -> dict[str, Schema]:
    """The components: the models, their parts, and the filter, which has a parser of its own."""
    bodies = [REQUESTS[route.body] for route in routes if route.body is not None]
    answers = [responses.named(route.answer) for route in routes if route.answer is not None]
    jobs = [responses.BackgroundJob for route in routes if route.job]
    every: list[type[BaseModel]] = [*bodies, *answers, *jobs, responses.Problem]
    _, generated = models_json_schema(
        [(model, "validation") for model in dict.fromkeys(every)],
        ref_template=_ref("{model}")["$ref"],
        schema_generator=_Schemas,
    )
    schemas: dict[str, Schema] = generated["$defs"]
    for schema in schemas.values():
        if "filter" in schema.get("properties", {}) and schema["properties"]["filter"] != _OF_A_RULE:
            schema["properties"]["filter"] = {"anyOf": [_ref("Filter"), {"type": "null"}]}
    schemas = {name: _with_filters(schema) for name, schema in schemas.items()}
    schemas.update(filter_schemas(_ref, _ref("FieldId")))
    named: dict[str, Schema] = {}
    return {**_referring(schemas, named), **named}


_OF_A_RULE: Schema = {"format": "filter"}
"""The schema of a rule's filter, as its model has it."""


def _with_filters(node: Any) -> Any:
    """The same with the filter's schema in the place of each filter of a rule."""
    if node == _OF_A_RULE:
        return _ref("Filter")
    if isinstance(node, list):
        return [_with_filters(one) for one in node]
    return {name: _with_filters(one) for name, one in node.items()} if isinstance(node, dict) else node


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


def _operation(route: Route) -> Schema:
    operation: Schema = {
        "operationId": route.operation,
        "summary": route.summary,
        "tags": [route.tag],
        "parameters": [*_path_parameters(route), *_query_parameters(route), *_request_headers(route)],
        "responses": {
            str(route.status): _answer(route),
            **({"202": _job_answer()} if route.job else {}),
            **_problems(route),
        },
        "security": [] if route.role is None else [{"token": []}],
    }
    if route.role is not None:
        operation["x-role"] = route.role.name.lower()
    if route.body is not None:
        operation["requestBody"] = {
            "required": route.operation != "grid",
            "content": {
                "application/json": {"schema": _ref(route.body), "example": examples.of_body(route)},
            },
        }
    return operation


_ETAG: Schema = {
    "description": "The version, for `If-Match`.",
    "schema": {"type": "string", "pattern": '^"[1-9][0-9]*"$'},
    "required": True,
}
_LOCATION: Schema = {
    "description": "The path of the new resource.",
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
_RETRY_AFTER: Schema = {
    "description": "Seconds to wait before the next attempt.",
    "schema": {"type": "integer", "minimum": 1},
}
_AUTHENTICATE: Schema = {"description": "How to authenticate.", "schema": {"type": "string"}}
_PAUSE: Schema = {
    "description": "Seconds to pause before the next request. Present if an answer without changes comes earlier than `wait`.",
    "schema": {"type": "integer", "minimum": 1},
}
_GIVEN: Mapping[Gives, Schema] = {
    Gives.TOKEN_OF_WRITES: {
        CONSISTENCY_TOKEN: {
            "description": "Send it with reads in the next 60 seconds, and their answers include this write.",
            "schema": _TOKEN_SCHEMA,
        }
    },
    Gives.TOKEN_OF_CHANGES: {
        CONSISTENCY_TOKEN: {
            "description": "Send it with reads in the next 60 seconds, and their answers include these changes.",
            "schema": _TOKEN_SCHEMA,
        },
        "Retry-After": _PAUSE,
    },
    Gives.TOKEN_OF_SHOWN: {
        CONSISTENCY_TOKEN: {
            "description": "Send it with reads in the next 60 seconds, and their answers include everything that this answer "
            "shows. Missing if the index already has all of it.",
            "schema": _TOKEN_SCHEMA,
        }
    },
}
"""The headers of an answer."""

_PROBLEM_HEADERS: dict[int, Schema] = {
    401: {"WWW-Authenticate": _AUTHENTICATE},
    429: {"Retry-After": _RETRY_AFTER},
    503: {"Retry-After": _RETRY_AFTER},
}


def _answer(route: Route) -> Schema:
    answer: Schema = {"description": route.summary}
    headers: Schema = {CHANGE_ID: _CHANGE} if route.writes else {}
    for given in route.gives:
        headers |= _GIVEN[given]
    if route.answer is not None and "version" in responses.named(route.answer).model_fields:
        headers["ETag"] = _ETAG
    if route.status in (201, 202):
        headers["Location"] = _LOCATION
    if headers:
        answer["headers"] = headers
    if route.status == 204:
        return answer
    content: Schema = {"schema": {"type": "object"}}
    if route.answer is not None:
        content = {"schema": _ref(route.answer), "example": examples.of_answer(route)}
    return {**answer, "content": {"application/json": content}}


def _job_answer() -> Schema:
    """The answer of a call that leaves its work to a job."""
    return {
        "description": "A job does the work in the background",
        "headers": {CHANGE_ID: _CHANGE, "Location": _LOCATION},
        "content": {
            "application/json": {
                "schema": _ref(responses.BackgroundJob.__name__),
                "example": examples.ANSWERS[responses.BackgroundJob.__name__],
            }
        },
    }


def _problems(route: Route) -> dict[str, Schema]:
    """The refusals of a call by their status."""
    kinds: dict[int, list[str]] = {}
    headers = _PROBLEM_HEADERS | (
        {409: {"Retry-After": _RETRY_AFTER}} if HistoryNotReady in route.problems else {}
    )
    for error in sorted(_errors(route), key=list(PROBLEMS).index):
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


def _errors(route: Route) -> set[type[RequestError]]:
    """The errors with which a call is refused: by its kind of route, and as the route states."""
    errors = set(route.problems)
    if route.role is not None:
        errors |= {Unauthenticated, RequestInProgress, Overloaded}
        if route.role > Role.VIEWER:
            errors.add(Forbidden)
    if route.writes:
        errors |= {InvalidRequest, TooManyWrites}
    if "{" in route.path:
        errors.add(NotFound)
    if route.body is not None:
        errors |= {InvalidRequest, TooLarge}
    if route.parameters is not None:
        errors.add(InvalidRequest)
    if route.repeatable:
        errors |= {InvalidRequest, Conflict}
    if Takes.VERSIONS in route.takes:
        errors |= {InvalidRequest, VersionMismatch}
    return errors


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
        "description": "Field ids, separated by commas, with `-` before a descending one; or a JSON array as in the POST body.",
    },
    "filter": {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": _ref("Filter"),
        "description": "JSON as in the POST body.",
    },
    "rules": {"type": "string", "description": "A JSON array of filters as in the POST body."},
    "columns": {"type": "string", "description": "Field ids, separated by commas."},
}
"""Query parameters that are no plain values."""


def _query_parameters(route: Route) -> list[Schema]:
    if route.parameters is None:
        return []
    properties = REQUESTS[route.parameters].model_json_schema(schema_generator=_Schemas)["properties"]
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


_TAKEN: Mapping[Takes, Schema] = {
    Takes.VERSIONS: {
        "name": "If-Match",
        "description": "The version that may be replaced, from its `ETag`. By default any version.",
        "schema": {"type": "string", "pattern": f"^{preconditions.IF_MATCH.pattern}$"},
    },
    Takes.TOKENS_OF_CHANGE: {
        "name": CONSISTENCY_TOKEN,
        "description": "Tokens from the writes of the change, separated by commas. The undo includes all of these writes.",
        "schema": _TOKENS_SCHEMA,
    },
    Takes.TOKENS: {
        "name": CONSISTENCY_TOKEN,
        "description": "Tokens from writes and reads, or cursors of the project's changes, separated by commas. The answer "
        "includes the writes that they name: up to 500 issues in all, and everything before a cursor.",
        "schema": _TOKENS_SCHEMA,
    },
}
"""The headers of a request."""


def _request_headers(route: Route) -> list[Schema]:
    found = [_TAKEN[Takes.VERSIONS]] if Takes.VERSIONS in route.takes else []
    if route.repeatable:
        schema: Schema = {"type": "string", "pattern": f"^{IDEMPOTENCY_KEY.pattern}$"}
        about = "The same key and body return the same result for a day. The same key with another body is a conflict."
        found.append({"name": "Idempotency-Key", "description": about, "schema": schema})
    if route.writes:
        about = "The writes of one user under one id are one change. Without an id, each request is a separate change."
        found.append({"name": CHANGE_ID, "description": about, "schema": _CHANGE_SCHEMA})
    found += [_TAKEN[taken] for taken in route.takes if taken is not Takes.VERSIONS]
    return [{"in": "header", "required": False, **one} for one in found]
