"""The OpenAPI document, made from the routes and the models that requests are parsed with."""

import re
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel

from gridview.api.routes import ROUTES, Route
from gridview.commands.requests import (
    AttributeCreate,
    AttributePatch,
    BatchRequest,
    CompositeCreate,
    ProjectCreate,
    ProjectPatch,
)
from gridview.query.grid_request import MAX_LIMIT, GridRequest
from gridview.query.group_request import GroupsRequest
from gridview.query.predicates import schema as filter_schema
from gridview.query.summary_request import SummaryRequest
from gridview.schema import ids
from gridview.schema.catalog import FieldType
from gridview.support.errors import PROBLEMS

Schema = dict[str, Any]


class _Shape(NamedTuple):
    """The names of a call's request and response schemas, and its status."""

    request: str | None
    status: int
    answer: str | None


_SHAPES: dict[str, _Shape] = {
    "health": _Shape(None, 200, "Health"),
    "openapi": _Shape(None, 200, "OpenApi"),
    "list_projects": _Shape(None, 200, "ProjectPage"),
    "create_project": _Shape("ProjectCreate", 201, "Project"),
    "get_project": _Shape(None, 200, "Project"),
    "update_project": _Shape("ProjectPatch", 200, "Project"),
    "delete_project": _Shape(None, 204, None),
    "create_attribute": _Shape("AttributeCreate", 201, "Attribute"),
    "get_attribute": _Shape(None, 200, "Attribute"),
    "update_attribute": _Shape("AttributePatch", 200, "Attribute"),
    "delete_attribute": _Shape(None, 204, None),
    "list_indexes": _Shape(None, 200, "IndexList"),
    "create_index": _Shape("CompositeCreate", 201, "Index"),
    "get_index": _Shape(None, 200, "Index"),
    "delete_index": _Shape(None, 204, None),
    "create_issue": _Shape("IssueCreate", 201, "Issue"),
    "batch": _Shape("BatchRequest", 200, "BatchAnswer"),
    "get_issue": _Shape(None, 200, "Issue"),
    "update_issue": _Shape("IssuePatch", 200, "Issue"),
    "delete_issue": _Shape(None, 204, None),
    "grid": _Shape("GridRequest", 200, "GridPage"),
    "grid_get": _Shape(None, 200, "GridPage"),
    "groups": _Shape("GroupsRequest", 200, "Groups"),
    "summary": _Shape("SummaryRequest", 200, "Summary"),
    "position": _Shape(None, 200, "Position"),
}

_MODELS: tuple[type[BaseModel], ...] = (
    ProjectCreate,
    ProjectPatch,
    AttributeCreate,
    AttributePatch,
    CompositeCreate,
    BatchRequest,
    GridRequest,
    GroupsRequest,
    SummaryRequest,
)

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "integer", "minimum": 1}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_INDEX_ID: Schema = {"type": "string", "pattern": f"^{ids.COMPOSITE.pattern}$"}
_INSTANT: Schema = {"type": "string", "format": "date-time"}
_CURSOR: Schema = {"type": ["string", "null"], "description": "A cursor; null at the end."}
_VALUES: Schema = {
    "type": "object",
    "description": "Values by attribute id; attributes without a value are omitted.",
}


def _object(properties: Schema, *, optional: frozenset[str] = frozenset()) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_WRITTEN_BY: Schema = {"created_by": _TEXT, "updated_by": _TEXT}
_WRITTEN_AT: Schema = {"created": _INSTANT, "updated": _INSTANT}

_BUILD: Schema = {
    "description": "State and progress of the background work on it: issues done, and out of how many. Null if there is none.",
    "anyOf": [
        _object(
            {
                "state": {"enum": ["building", "rebuilding", "reordering", "removing"]},
                "done": {"type": "integer", "minimum": 0},
                "of": {"type": "integer", "minimum": 0},
            }
        ),
        {"type": "null"},
    ],
}

ANSWERS: dict[str, Schema] = {
    "Health": _object({"status": {"const": "ok"}}),
    "OpenApi": {"type": "object"},
    "Problem": _object(
        {
            "type": _TEXT,
            "title": _TEXT,
            "status": {"type": "integer"},
            "detail": _TEXT,
            "request_id": _TEXT,
            "errors": _list(_object({"field": _TEXT, "message": _TEXT})),
            "more": {**_NUMBER, "description": "How many errors there are besides those that are told."},
            "build": _BUILD,
        },
        optional=frozenset({"errors", "more", "request_id", "build"}),
    ),
    "Project": _object(
        {
            "id": {"type": "string", "pattern": f"^{ids.PROJECT.pattern}$"},
            "name": _TEXT,
            "states": _list(_TEXT),
            "issues": {
                "type": ["integer", "null"],
                "description": "Issue count as of the index; null in a list of projects.",
            },
            "version": _NUMBER,
            **_WRITTEN_AT,
            **_WRITTEN_BY,
            "attributes": _list(_ref("Attribute")),
        },
        optional=frozenset({"attributes"}),
    ),
    "ProjectPage": _object({"items": _list(_ref("Project")), "next": _CURSOR}),
    "Attribute": _object(
        {
            "id": {"type": "string", "pattern": f"^{ids.ATTRIBUTE.pattern}$"},
            "name": _TEXT,
            "type": {"enum": [kind.value for kind in FieldType]},
            "options": _list(_object({"id": _TEXT, "value": _TEXT})),
            "required": {"type": "boolean"},
            "indexed": {"type": "boolean"},
            "search": {"type": "boolean", "description": "Whether the words of a text are indexed."},
            "build": _BUILD,
            "position": {
                "type": ["integer", "null"],
                "minimum": 0,
                "description": "Place in the display order; null for a built-in field.",
            },
            "version": _NUMBER,
            **_WRITTEN_AT,
        },
        optional=frozenset({"options"}),
    ),
    "Index": _object(
        {
            "id": _INDEX_ID,
            "sort": _list(
                _object(
                    {
                        "field": _TEXT,
                        "direction": {"enum": ["asc", "desc"]},
                        "nulls": {"enum": ["first", "last"]},
                    }
                )
            ),
            "state": {"enum": ["building", "ready"], "description": "Whether it is served."},
            "build": _BUILD,
            "version": _NUMBER,
            "created": _INSTANT,
        }
    ),
    "IndexList": _object({"items": _list(_ref("Index")), "next": {"type": "null"}}),
    "Issue": _object(
        {
            "num": _NUMBER,
            "name": _TEXT,
            "state": _TEXT,
            "version": _NUMBER,
            **_WRITTEN_AT,
            **_WRITTEN_BY,
            "fields": _VALUES,
        }
    ),
    "BatchAnswer": _object(
        {
            "results": _list(
                _object(
                    {"status": {"type": "integer"}, "issue": _ref("Issue"), "problem": _ref("Problem")},
                    optional=frozenset({"issue", "problem"}),
                )
            )
        }
    ),
    "GridPage": _object(
        {
            "rows": _list(
                _object(
                    {
                        "num": _NUMBER,
                        "version": _NUMBER,
                        "name": _TEXT,
                        "state": _TEXT,
                        **_WRITTEN_AT,
                        **_WRITTEN_BY,
                        "fields": _VALUES,
                    },
                    optional=frozenset({"name", "state", *_WRITTEN_AT, *_WRITTEN_BY}),
                )
            ),
            "next": _CURSOR,
            "prev": _CURSOR,
            "offset": {"type": ["integer", "null"]},
            "total": {**_COUNT, "description": "Issues of the project, as of the index."},
            "matched": {**_COUNT, "description": "Issues that pass the filter."},
            "explain": _ref("Explanation"),
        },
        optional=frozenset({"total", "matched", "explain"}),
    ),
    "Groups": _object(
        {
            "groups": _list(
                _object(
                    {
                        "values": _list({"description": "One for each group field; null: no value."}),
                        "count": _NUMBER,
                        "aggregates": _list(
                            _object(
                                {
                                    "field": _TEXT,
                                    "function": {"enum": ["sum", "min", "max", "avg"]},
                                    "value": {"type": ["number", "null"]},
                                }
                            )
                        ),
                    },
                    optional=frozenset({"aggregates"}),
                )
            ),
            "more": {"type": "boolean", "description": "Whether more groups follow."},
            "explain": _ref("Explanation"),
        },
        optional=frozenset({"explain"}),
    ),
    "Summary": _object(
        {
            "matched": {**_COUNT, "description": "Issues that pass the filter."},
            "summaries": _list(
                _object(
                    {
                        "field": _TEXT,
                        "count": {**_COUNT, "description": "Matched issues with a value."},
                        "empty": {**_COUNT, "description": "Matched issues without a value."},
                        "distinct": {
                            **_COUNT,
                            "description": "Number of distinct values; for a multi_enum, of distinct options.",
                        },
                        "min": {
                            "description": "The first value in the field's order; null if there is none."
                        },
                        "max": {"description": "The last value in the field's order; null if there is none."},
                        "sum": {"type": ["number", "null"]},
                        "avg": {"type": ["number", "null"]},
                    },
                    optional=frozenset({"count", "empty", "distinct", "min", "max", "sum", "avg"}),
                )
            ),
            "explain": _ref("Explanation"),
        },
        optional=frozenset({"explain"}),
    ),
    "Position": _object(
        {
            "position": {
                "type": ["integer", "null"],
                "minimum": 0,
                "description": "Rows before the issue; null if it does not pass the filter.",
            },
            "explain": _ref("Explanation"),
        },
        optional=frozenset({"explain"}),
    ),
    "PlanNode": _object(
        {
            "node": {**_TEXT, "description": "The node's kind, such as `bucket scan`."},
            "sentence": {**_TEXT, "description": "What the node did, in plain words."},
            "estimated": _object(
                {
                    "read_units": {"type": "number"},
                    "directories": {
                        "enum": ["before", "after"],
                        "description": "Whether the estimate was made before or after the directories were read.",
                    },
                }
            ),
            "read_units": {
                "type": "number",
                "description": "Read units of the node, with its share of shared calls.",
            },
            "rounds": {**_list(_NUMBER), "description": "The rounds in which the node read."},
            "children": _list(_ref("PlanNode")),
        },
        optional=frozenset({"estimated", "children"}),
    ),
    "Explanation": _object(
        {
            "plan": _list({**_TEXT, "description": "What was done, in words."}),
            "tree": {**_ref("PlanNode"), "description": "The executed plan."},
            "calls": _list(
                _object(
                    {
                        "operation": _TEXT,
                        "target": _TEXT,
                        "round": {**_NUMBER, "description": "Calls of one round run in parallel."},
                        "items_read": _COUNT,
                        "read_units": {"type": "number"},
                    }
                )
            ),
            "sequential_calls": _COUNT,
            "items_read": _COUNT,
            "read_units": {"type": "number"},
        }
    ),
}

_ISSUE_INPUT: Schema = {
    "name": {"type": "string", "minLength": 1, "maxLength": 1024},
    "state": {**_TEXT, "description": "One of the project's states; the first by default."},
    "fields": {"type": "object", "description": "Values by attribute id; null for no value."},
}


@cache
def document() -> Schema:
    """The OpenAPI 3.1 document of this API."""
    schemas: dict[str, Schema] = {
        "IssueCreate": _object(_ISSUE_INPUT, optional=frozenset({"state", "fields"})),
        "IssuePatch": _object(_ISSUE_INPUT, optional=frozenset(_ISSUE_INPUT)),
        **ANSWERS,
        "Filter": filter_schema(_ref("Filter")["$ref"]),
    }
    for model in _MODELS:
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(schema.pop("$defs", {}))
        if "filter" in schema["properties"]:
            schema["properties"]["filter"] = {"anyOf": [_ref("Filter"), {"type": "null"}], "default": None}
        schemas[model.__name__] = schema
    paths: dict[str, Schema] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "gridview", "version": "1"},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


def _operation(route: Route) -> Schema:
    shape = _SHAPES[route.operation]
    answer: Schema = {"description": route.summary}
    if shape.answer is not None:
        answer["content"] = {"application/json": {"schema": _ref(shape.answer)}}
    operation: Schema = {
        "operationId": route.operation,
        "summary": route.summary,
        "parameters": [*_path_parameters(route), *_other_parameters(route)],
        "responses": {str(shape.status): answer, "default": _PROBLEM_ANSWER},
        "security": [] if route.role is None else [{"token": []}],
    }
    if route.role is not None:
        operation["x-role"] = route.role.name.lower()
    if shape.request is not None:
        operation["requestBody"] = {
            "required": route.operation != "grid",
            "content": {"application/json": {"schema": _ref(shape.request)}},
        }
    return operation


_PROBLEM_ANSWER: Schema = {
    "description": "A problem (RFC 9457); its type is one of "
    + ", ".join(f"{kind.name} ({kind.status})" for kind in PROBLEMS.values()),
    "content": {"application/problem+json": {"schema": _ref("Problem")}},
}

_PATH_SCHEMAS: dict[str, Schema] = {
    "project": {"type": "string", "pattern": f"^{ids.PROJECT.pattern}$"},
    "attribute": {"type": "string", "pattern": f"^{ids.ATTRIBUTE.pattern}$"},
    "index": _INDEX_ID,
    "num": {"type": "integer", "minimum": 1},
}

_LIMIT: Schema = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": 100}
_SORT: Schema = {**_TEXT, "description": "`-created`, or a JSON list as in the POST body."}
_FILTER: Schema = {**_TEXT, "description": "JSON as in the POST body."}
_QUERY_SCHEMAS: dict[str, dict[str, Schema]] = {
    "list_projects": {"limit": _LIMIT, "cursor": _TEXT},
    "grid_get": {
        "sort": _SORT,
        "filter": _FILTER,
        "columns": {**_TEXT, "description": "Field ids, separated by commas."},
        "limit": _LIMIT,
        "cursor": _TEXT,
        "offset": {"type": "integer", "minimum": 0},
        "count": {"type": "boolean"},
        "explain": {"type": "boolean"},
    },
    "position": {"sort": _SORT, "filter": _FILTER, "explain": {"type": "boolean"}},
}


def _path_parameters(route: Route) -> list[Schema]:
    return [
        {"name": name, "in": "path", "required": True, "schema": _PATH_SCHEMAS[name]}
        for name in re.findall(r"{(\w+)}", route.path)
    ]


def _other_parameters(route: Route) -> list[Schema]:
    parameters: list[Schema] = [
        {"name": name, "in": "query", "required": False, "schema": schema}
        for name, schema in _QUERY_SCHEMAS.get(route.operation, {}).items()
    ]
    if route.method in ("PATCH", "DELETE"):
        parameters.append({"name": "If-Match", "in": "header", "required": False, "schema": _TEXT})
    if route.operation == "batch":
        parameters.append({"name": "Idempotency-Key", "in": "header", "required": False, "schema": _TEXT})
    return parameters
