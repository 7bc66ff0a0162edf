"""The examples of the OpenAPI document: the worked example of the documentation. Tests hold them to the models."""

from typing import Any

Json = dict[str, Any]

PATH: Json = {"project": "35e9", "attribute": "3812", "index": "c1", "num": 1}
QUERY: Json = {"prefix": "an", "sort": "-3812", "columns": "name,state,3812", "limit": 100}

_WRITTEN: Json = {
    "version": 1,
    "created": "2023-04-28T09:00:00Z",
    "updated": "2023-04-28T09:00:00Z",
}
_BY: Json = {"created_by": "ann", "updated_by": "ann"}
_FIELDS: Json = {"3812": "2023-05-01", "882a": "2023-06-01"}
_AGE: Json = {"lag_ms": 640, "pending": 0}
_OPEN: Json = {"field": "state", "op": "eq", "value": "open"}
_IN_APRIL: Json = {
    "field": "created",
    "op": "between",
    "value": ["2023-03-31T23:00:00.000000Z", "2023-04-30T22:59:59.999999Z"],
}
_BY_START: Json = {"field": "3812", "direction": "desc", "nulls": "last"}
_BY_STATE: Json = {"field": "state", "direction": "asc", "nulls": "last"}

_ATTRIBUTE: Json = {
    "id": "3812",
    "name": "Start",
    "type": "date",
    "required": False,
    "indexed": True,
    "search": False,
    "build": None,
    "position": 0,
    **_WRITTEN,
}
_STATES: list[Json] = [
    {"id": "o1", "value": "open", "color": "green"},
    {"id": "o2", "value": "closed", "color": None},
]
_IN_A_LIST: Json = {
    "id": "35e9",
    "name": "Forth Rail Bridge",
    "states": _STATES,
    "issues": None,
    **_WRITTEN,
    **_BY,
}
_PROJECT: Json = {**_IN_A_LIST, "issues": 3, "attributes": [_ATTRIBUTE]}
_INDEX: Json = {
    "id": "c1",
    "sort": [_BY_STATE, _BY_START],
    "state": "ready",
    "build": None,
    "version": 1,
    "created": "2023-04-28T09:00:00Z",
}
_ISSUE: Json = {"num": 1, "name": "Needs Painting", "state": "open", "fields": _FIELDS, **_WRITTEN, **_BY}
_PAGE: Json = {
    "rows": [
        {"num": 1, "version": 1, "name": "Needs Painting", "state": "open", "fields": {"3812": "2023-05-01"}},
        {"num": 3, "version": 1, "name": "Girder needs replacing", "state": "open", "fields": {}},
    ],
    "next": None,
    "prev": None,
    "offset": 0,
    "total": 3,
    "matched": 2,
    "index": _AGE,
}

REQUESTS: dict[str, Json] = {
    "create_project": {
        "id": "35e9",
        "name": "Forth Rail Bridge",
        "states": [{"value": "open", "color": "green"}, "closed"],
    },
    "update_project": {"name": "Forth Bridge"},
    "create_attribute": {"id": "3812", "name": "Start", "type": "date"},
    "update_attribute": {"name": "Begin"},
    "create_index": {"sort": [_BY_STATE, _BY_START]},
    "create_issue": {"name": "Needs Painting", "state": "open", "fields": _FIELDS},
    "batch": {
        "operations": [
            {"create": {"name": "Check for rust"}},
            {"update": {"num": 1, "state": "closed"}},
            {"delete": {"num": 2}},
        ]
    },
    "update_issue": {"state": "closed", "fields": {"882a": None}},
    "grid": {
        "sort": [_BY_START],
        "filter": _OPEN,
        "columns": ["name", "state", "3812"],
        "limit": 100,
        "count": True,
    },
    "groups": {
        "by": ["state", {"field": "created", "unit": "month", "timezone": "Europe/London"}],
        "aggregates": [{"field": "3fe6", "function": "sum"}],
    },
    "summary": {"fields": [{"field": "3fe6", "functions": ["count", "sum", "avg"]}], "filter": _OPEN},
}

ANSWERS: dict[str, Json] = {
    "health": {"status": "ok"},
    "me": {"id": "ann", "name": "Ann Arrol", "tenant": "0807", "role": "editor"},
    "list_users": {"items": [{"id": "ann", "name": "Ann Arrol"}], "next": None},
    "list_projects": {"items": [_IN_A_LIST], "next": None},
    "create_project": {**_PROJECT, "issues": 0, "attributes": []},
    "get_project": _PROJECT,
    "update_project": {**_PROJECT, "name": "Forth Bridge", "version": 2},
    "create_attribute": _ATTRIBUTE,
    "get_attribute": _ATTRIBUTE,
    "update_attribute": {**_ATTRIBUTE, "name": "Begin", "version": 2},
    "list_indexes": {"items": [_INDEX], "next": None},
    "create_index": {**_INDEX, "state": "building", "build": {"state": "building", "done": 0, "of": 3}},
    "get_index": _INDEX,
    "create_issue": _ISSUE,
    "batch": {
        "results": [
            {"status": 201, "issue": {**_ISSUE, "num": 4, "name": "Check for rust", "fields": {}}},
            {"status": 200, "issue": {**_ISSUE, "version": 2, "state": "closed"}},
            {"status": 204},
        ]
    },
    "get_issue": _ISSUE,
    "update_issue": {**_ISSUE, "version": 2, "state": "closed", "fields": {"3812": "2023-05-01"}},
    "grid": _PAGE,
    "grid_get": _PAGE,
    "groups": {
        "groups": [
            {
                "values": ["open", "2023-04"],
                "count": 2,
                "filter": {"and": [_OPEN, _IN_APRIL]},
                "aggregates": [{"field": "3fe6", "function": "sum", "value": 42}],
            }
        ],
        "more": False,
        "index": _AGE,
        "next": None,
    },
    "summary": {
        "matched": 2,
        "summaries": [{"field": "3fe6", "count": 1, "sum": 42, "avg": 42}],
        "index": _AGE,
    },
    "position": {"position": 0, "index": _AGE},
}
