"""The examples of the OpenAPI document: the worked example of the documentation. Tests hold them to the models."""

from typing import Any

from gridview.api.routes import Route

Json = dict[str, Any]

PATH: Json = {
    "project": "35e9",
    "attribute": "3812",
    "index": "c1",
    "num": 1,
    "view": "v1",
    "webhook": "w3k9q2m7x1c0z",
    "delivery": "57_1",
    "comment": 1,
    "job": "018f3a5c2b71e7d4c90a",
}
QUERY: Json = {"prefix": "an", "sort": "-3812", "columns": "name,state,3812", "limit": 100, "wait": 20}

_WRITTEN: Json = {
    "version": 1,
    "created": "2023-04-28T09:00:00Z",
    "updated": "2023-04-28T09:00:00Z",
}
_BY: Json = {"created_by": "ann", "updated_by": "ann"}
_FIELDS: Json = {"3812": "2023-05-01", "882a": "2023-06-01"}
_CHANGES = "Jk0hYw"
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
    "description": "The day on which work begins.",
    "format": {"as": "long"},
    "default": None,
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
    "history": {"enabled": True, "days": 90},
    **_WRITTEN,
    **_BY,
}
_DELETED_ATTRIBUTE: Json = {
    **_ATTRIBUTE,
    "version": 2,
    "updated": "2023-05-01T08:00:00Z",
    "deleted": "2023-05-01T08:00:00Z",
    "deleted_by": "ann",
    "expires": "2023-05-08T08:00:00Z",
}

_DELETED_PROJECT: Json = {
    **_IN_A_LIST,
    "version": 2,
    "updated": "2023-05-01T08:00:00Z",
    "deleted": "2023-05-01T08:00:00Z",
    "deleted_by": "ann",
    "expires": "2023-05-08T08:00:00Z",
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
_WEBHOOK: Json = {
    "id": "w3k9q2m7x1c0z",
    "url": "https://hooks.example.org/gridview",
    "view": None,
    "frozen": None,
    "columns": None,
    "missing": [],
    "events": ["create", "update", "delete", "restore"],
    "enabled": True,
    "warning": None,
    "previous_secret_expires": None,
    **_WRITTEN,
    **_BY,
}
_DELIVERY: Json = {
    "id": "57_1",
    "message_id": "w3k9q2m7x1c0z_1_2",
    "event": "update",
    "issue": {"num": 1, "version": 2},
    "at": "2023-04-29T10:30:00Z",
    "status": "pending",
    "attempts": 1,
    "last_attempt": "2023-04-29T10:30:01Z",
    "next_attempt": "2023-04-29T10:30:06Z",
    "response_status": 503,
    "response_body": "busy",
    "failure": "The receiver answered 503.",
}
_SECRET = "whsec_bm90IGEgc2VjcmV0LCBidXQgMzIgYnl0ZXMgb2YgaXQ="  # noqa: S105  says so itself
_PAGE: Json = {
    "rows": [
        {
            "num": 1,
            "version": 1,
            "name": "Needs Painting",
            "state": "open",
            "fields": {"3812": "2023-05-01"},
            "key": "1\xcd\xcf\xcd\xcc\xd2\xcf\xca\xd2\xcf\xce\xff99999998",
        },
        {
            "num": 3,
            "version": 1,
            "name": "Girder needs replacing",
            "state": "open",
            "fields": {},
            "key": "299999996",
        },
    ],
    "next": None,
    "prev": None,
    "offset": 0,
    "total": 3,
    "matched": 2,
    "index": _AGE,
    "changes_cursor": _CHANGES,
}
_COMMENT: Json = {
    "id": 1,
    "num": 1,
    "text": "The paint is ordered. Bob, can you be there?",
    "mentions": ["bob"],
    **_WRITTEN,
    **_BY,
}
_LOOK: Json = {
    "query": {"sort": [_BY_START], "filter": _OPEN},
    "columns": [
        {"field": "name", "width": 320, "frozen": True},
        {"field": "3812", "width": 120, "frozen": False},
    ],
    "groups": [{"field": "882a", "unit": "month", "timezone": None, "bins": None, "width": None}],
    "group_order": {"field": "3fe6", "function": "sum", "direction": "desc"},
    "footers": [{"field": "3fe6", "function": "sum"}],
    "color_by": "state",
    "rules": [{"filter": _OPEN, "color": "red", "field": None}],
    "row_height": 32,
    "kind": "board",
    "board": {
        "by": "state",
        "columns": [{"value": "open", "hidden": False, "limit": 5}],
        "card": ["3812"],
        "aggregate": {"field": "3fe6", "function": "sum"},
    },
}
_VIEW: Json = {
    "id": "v1",
    "name": "What is open",
    "visibility": "shared",
    **_LOOK,
    "place": 0,
    "missing": [],
    "remedies": [],
    "manual_order": None,
    **_WRITTEN,
    **_BY,
}

_EVENT: Json = {
    "id": "1.2",
    "num": 1,
    "version": 2,
    "kind": "update",
    "by": "bob",
    "at": "2023-04-29T10:30:00Z",
    "change": "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3",
    "fields": {"3812": {"old": "2023-05-01", "new": "2023-05-02"}, "state": {"old": "open", "new": "closed"}},
}

_COMMENTED: Json = {
    "id": "1.comment.2",
    "num": 1,
    "kind": "comment",
    "by": "ann",
    "at": "2023-05-02T09:00:00Z",
    "comment": 2,
    "mentions": ["bob"],
}

_TRASHED: Json = {
    **_ISSUE,
    "version": 2,
    "updated": "2023-05-04T12:00:00.25Z",
    "deleted": "2023-05-04T12:00:00.25Z",
    "deleted_by": "ann",
    "expires": "2023-06-03T12:00:00Z",
}

_JOB: Json = {
    "id": "018f3a5c2b71e7d4c90a",
    "kind": "update",
    "state": "waiting",
    "done": 0,
    "total": None,
    "refused": 0,
    "change": "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3",
    "url": None,
    "created": "2023-05-01T09:00:00Z",
    "created_by": "ann",
    "ended": None,
    "problem": None,
    "changed": None,
    "examples": None,
}
_DONE: Json = {**_JOB, "state": "done", "done": 1, "total": 2, "refused": 1, "ended": "2023-05-01T09:00:02Z"}

BODIES: dict[str, Json] = {
    "ProjectCreate": {
        "id": "35e9",
        "name": "Forth Rail Bridge",
        "states": [{"value": "open", "color": "green"}, "closed"],
    },
    "ProjectPatch": {"name": "Forth Bridge"},
    "AttributeCreate": {"id": "3812", "name": "Start", "type": "date"},
    "AttributePatch": {"name": "Begin"},
    "CompositeCreate": {"sort": [_BY_STATE, _BY_START]},
    "WebhookCreate": {"url": "https://hooks.example.org/gridview", "events": ["create", "update"]},
    "WebhookPatch": {"enabled": False},
    "IssueCreate": {"name": "Needs Painting", "state": "open", "fields": _FIELDS},
    "BatchRequest": {
        "operations": [
            {"create": {"name": "Check for rust"}},
            {"update": {"num": 1, "state": "closed"}},
            {"delete": {"num": 2}},
        ]
    },
    "UpdateMatching": {"filter": _OPEN, "set": {"state": "closed"}},
    "DeleteMatching": {"filter": None, "rows": {"sort": [_BY_START], "from": 0, "to": 1}},
    "UndoRequest": {"change": "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"},
    "ExportRequest": {
        "query": {"filter": _OPEN, "sort": [_BY_START], "columns": ["num", "name", "3812"]},
        "format": "csv",
    },
    "IssuePatch": {"base": 1, "state": "closed", "fields": {"882a": None}},
    "GridRequest": {
        "sort": [_BY_START],
        "filter": _OPEN,
        "columns": ["name", "state", "3812"],
        "limit": 100,
        "count": True,
        "keys": True,
    },
    "GroupsRequest": {
        "by": ["state", {"field": "created", "unit": "month", "timezone": "Europe/London"}],
        "aggregates": [{"field": "3fe6", "function": "sum"}],
    },
    "FormulaCheck": {"formula": "YEAR({3812}) + 1", "nums": [1, 3]},
    "SummaryRequest": {"fields": [{"field": "3fe6", "functions": ["count", "sum", "avg"]}], "filter": _OPEN},
    "CommentCreate": {"text": _COMMENT["text"], "mentions": ["bob"]},
    "CommentPatch": {"text": "The paint is here."},
    "ViewCreate": {"name": "What is open", "visibility": "shared", **_LOOK},
    "ViewPatch": {"name": "Open", "color_by": None},
    "OrderRequest": {"nums": [3], "after": 1},
}
"""Bodies of requests by their models."""

ANSWERS: dict[str, Json] = {
    "HistoryPage": {"items": [_EVENT], "next": None},
    "ActivityPage": {"items": [_COMMENTED, _EVENT], "next": None},
    "Health": {"status": "ok"},
    "Caller": {"id": "ann", "name": "Ann Arrol", "tenant": "0807", "role": "editor"},
    "UserPage": {"items": [{"id": "ann", "name": "Ann Arrol"}], "next": None},
    "ProjectPage": {"items": [_IN_A_LIST], "next": None},
    "Project": _PROJECT,
    "DeletedProjectPage": {"items": [_DELETED_PROJECT], "next": None},
    "Attribute": _ATTRIBUTE,
    "DeletedAttributeList": {"items": [_DELETED_ATTRIBUTE], "next": None},
    "IndexList": {"items": [_INDEX], "next": None},
    "CompositeIndex": _INDEX,
    "WebhookList": {"items": [_WEBHOOK], "next": None},
    "WebhookWithSecret": {**_WEBHOOK, "events": ["create", "update"], "secret": _SECRET},
    "WebhookAnswer": _WEBHOOK,
    "DeliveryPage": {"items": [_DELIVERY], "next": None},
    "WebhookDelivery": {
        **_DELIVERY,
        "attempts": 0,
        "next_attempt": "2023-04-29T10:40:00Z",
    },
    "BatchAnswer": {
        "results": [
            {"status": 201, "issue": {**_ISSUE, "num": 4, "name": "Check for rust", "fields": {}}},
            {"status": 200, "issue": {**_ISSUE, "version": 2, "state": "closed"}},
            {"status": 204},
        ]
    },
    "Issue": _ISSUE,
    "TrashPage": {"items": [_TRASHED], "next": None},
    "UpdatedIssue": {
        **_ISSUE,
        "version": 3,
        "state": "closed",
        "fields": {"3812": "2023-05-02"},
        "merged": ["3812"],
    },
    "IssuePage": _PAGE,
    "IssueGroups": {
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
        "changes_cursor": _CHANGES,
        "next": None,
    },
    "IssueSummary": {
        "matched": 2,
        "summaries": [{"field": "3fe6", "count": 1, "median": 42, "sum": 42, "avg": 42}],
        "index": _AGE,
        "changes_cursor": _CHANGES,
    },
    "CheckedFormula": {
        "type": "number",
        "formula": "YEAR({Start}) + 1",
        "uses": ["3812"],
        "values": [{"num": 1, "value": 2024}, {"num": 3, "value": None}],
    },
    "RowNumber": {"row_number": 0, "before": 0, "index": _AGE},
    "CommentPage": {"items": [_COMMENT], "next": None},
    "IssueComment": _COMMENT,
    "ChangePage": {"items": [_EVENT, {"kind": "reset"}], "next": "Jk0hYw"},
    "IssuedTicket": {
        "ticket": "p3wYxQ",
        "url": "wss://a1b2c3d4e5.execute-api.eu-west-2.amazonaws.com/live",
        "token_expires": "2023-05-01T10:15:00Z",
    },
    "SavedViewPage": {"items": [_VIEW], "next": None},
    "SavedView": _VIEW,
    "PlacedRows": {"items": [{"num": 3, "key": "10000S4C\u000100000003", "version": 2}]},
    "BackgroundJob": _JOB,
    "UndoAnswer": {
        "undone": [{"num": 1, "version": 4}],
        "change": "0b9f6c1e-3d3a-4a57-9c0e-7a3f5be2d914",
        "refused": [
            {
                "num": 3,
                "problem": {
                    "type": "edit-conflict",
                    "title": "Edit conflict",
                    "status": 409,
                    "detail": "The issue was changed since, in version 5.",
                    "conflicts": [
                        {
                            "field": "3812",
                            "yours": "2023-05-01",
                            "theirs": "2023-05-09",
                            "by": "bob",
                            "version": 5,
                        }
                    ],
                },
            }
        ],
    },
    "BackgroundJobPage": {"items": [_DONE], "next": None},
    "RefusedPage": {
        "items": [
            {
                "num": 3,
                "problem": {
                    "type": "conflict",
                    "title": "Conflict with the current state",
                    "status": 409,
                    "detail": "The issue was changed, and no longer matches the filter.",
                },
            }
        ],
        "next": None,
    },
}
"""Answers by their models."""

OF_OPERATIONS: dict[str, Json] = {
    "create_project": {**_PROJECT, "issues": 0, "attributes": []},
    "update_project": {**_PROJECT, "name": "Forth Bridge", "version": 2},
    "restore_project": {**_PROJECT, "version": 3, "updated": "2023-05-02T08:00:00Z"},
    "update_attribute": {**_ATTRIBUTE, "name": "Begin", "version": 2},
    "restore_attribute": {**_ATTRIBUTE, "version": 3, "updated": "2023-05-02T08:00:00Z"},
    "create_index": {**_INDEX, "state": "building", "build": {"state": "building", "done": 0, "total": 3}},
    "update_webhook": {**_WEBHOOK, "enabled": False, "version": 2},
    "rotate_webhook": {
        **_WEBHOOK,
        "previous_secret_expires": "2023-04-29T09:00:00Z",
        "version": 2,
        "secret": _SECRET,
    },
    "restore_issue": {**_ISSUE, "version": 3, "updated": "2023-05-05T09:00:00Z"},
    "update_comment": {**_COMMENT, "version": 2, "text": "The paint is here."},
    "update_view": {**_VIEW, "version": 2, "name": "Open", "color_by": None},
    "delete_matching": {**_JOB, "kind": "delete"},
    "export": {**_JOB, "kind": "export"},
    "get_job": _DONE,
}
"""Answers of operations for which that of the model would be odd."""


def of_body(route: Route) -> Json:
    """The example of a body. KeyError: the model has none."""
    return BODIES[str(route.body)]


def of_answer(route: Route) -> Json:
    """The example of an answer. KeyError: the model has none."""
    return OF_OPERATIONS[route.operation] if route.operation in OF_OPERATIONS else ANSWERS[str(route.answer)]
