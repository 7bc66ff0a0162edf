"""The OpenAPI document: valid, complete, consistent, and equal to the contract. (`tests.support.http` checks every
answer in the other tests of the API against it.)
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import openapi_spec_validator
import pytest
from pydantic import ValidationError

from gridview.api.routes import Route
from gridview.encoding.json_codec import dumps
from gridview.schema import ids
from infra.openapi import examples, responses
from infra.openapi.document import document
from infra.openapi.responses import IssuePage
from infra.routes import BY_KEY, ROUTES
from tests.support import schemas

DOCUMENT: dict[str, Any] = json.loads(dumps(document()))


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from nodes(inner)


def operations() -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    }


def properties(name: str) -> set[str]:
    return set(DOCUMENT["components"]["schemas"][name]["properties"])


def test_it_is_valid() -> None:
    openapi_spec_validator.validate(DOCUMENT)


def test_the_operations_are_the_routes() -> None:
    assert operations().keys() == {route.key for route in ROUTES}
    assert {route.key: route.operation for route in ROUTES} == {
        key: operation["operationId"] for key, operation in operations().items()
    }


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_an_operation_lists_its_path_parameters_role_and_security(route: Any) -> None:
    operation = operations()[route.key]
    in_path = [one["name"] for one in operation["parameters"] if one["in"] == "path"]
    assert in_path == re.findall(r"{(\w+)}", route.path)
    assert operation["security"] == ([] if route.role is None else [{"token": []}])
    assert operation.get("x-role") == (route.role and route.role.name.lower())
    assert operation["tags"] == [route.tag]


EVERY = "401 429 503"
WRITE = f"400 {EVERY} 403 413"
VERSIONED = f"{EVERY} 400 403 404 409 412"
QUERY = f"200 400 404 409 422 {EVERY}"
STATUSES = {
    "health": "200",
    "openapi": "200",
    "me": f"200 {EVERY}",
    "list_users": f"200 400 {EVERY}",
    "list_projects": f"200 400 {EVERY}",
    "create_project": f"201 409 422 {WRITE}",
    "get_project": f"200 404 {EVERY}",
    "update_project": f"200 413 422 {VERSIONED}",
    "delete_project": f"204 {VERSIONED}",
    "list_deleted_projects": f"200 400 403 {EVERY}",
    "restore_project": f"200 400 403 404 409 422 {EVERY}",
    "purge_project": f"204 {VERSIONED}",
    "create_attribute": f"201 404 409 422 {WRITE}",
    "get_attribute": f"200 404 {EVERY}",
    "update_attribute": f"200 413 422 {VERSIONED}",
    "delete_attribute": f"204 422 {VERSIONED}",
    "list_deleted_attributes": f"200 403 404 {EVERY}",
    "restore_attribute": f"200 400 403 404 409 422 {EVERY}",
    "purge_attribute": f"204 {VERSIONED}",
    "list_indexes": f"200 404 {EVERY}",
    "create_index": f"201 404 409 422 {WRITE}",
    "get_index": f"200 404 {EVERY}",
    "delete_index": f"204 {VERSIONED}",
    "list_webhooks": f"200 403 404 {EVERY}",
    "create_webhook": f"201 404 409 422 {WRITE}",
    "get_webhook": f"200 403 404 {EVERY}",
    "update_webhook": f"200 413 422 {VERSIONED}",
    "delete_webhook": f"204 {VERSIONED}",
    "rotate_webhook": f"200 400 403 404 409 {EVERY}",
    "list_deliveries": f"200 400 403 404 {EVERY}",
    "replay_delivery": f"202 400 403 404 409 {EVERY}",
    "create_issue": f"201 404 409 422 {WRITE}",
    "batch": f"200 404 409 {WRITE}",
    "get_issue": f"200 404 {EVERY}",
    "update_issue": f"200 413 422 {VERSIONED}",
    "delete_issue": f"204 422 {VERSIONED}",
    "list_trash": f"200 400 404 {EVERY}",
    "restore_issue": f"200 400 403 404 409 422 {EVERY}",
    "purge_issue": f"204 {VERSIONED}",
    "grid": f"410 413 {QUERY}",
    "grid_get": f"410 {QUERY}",
    "groups": f"410 413 {QUERY}",
    "summary": f"413 {QUERY}",
    "check_formula": f"200 400 404 413 {EVERY}",
    "row_number": QUERY,
    "list_comments": f"200 400 404 {EVERY}",
    "create_comment": f"201 404 409 422 {WRITE}",
    "get_comment": f"200 404 {EVERY}",
    "update_comment": f"200 413 {VERSIONED}",
    "delete_comment": f"204 {VERSIONED}",
    "changes": f"200 400 404 409 410 422 {EVERY}",
    "create_ticket": f"200 400 404 {EVERY}",
    "issue_history": f"200 400 404 {EVERY}",
    "activity": f"200 400 404 {EVERY}",
    "list_views": f"200 400 404 {EVERY}",
    "create_view": f"201 404 409 422 {WRITE}",
    "get_view": f"200 404 {EVERY}",
    "update_view": f"200 413 422 {VERSIONED}",
    "delete_view": f"204 {VERSIONED}",
    "place_rows": f"200 404 409 422 {WRITE}",
    "update_matching": f"202 404 409 422 {WRITE}",
    "delete_matching": f"202 404 409 422 {WRITE}",
    "undo": f"200 202 404 409 410 {WRITE}",
    "export": f"202 400 404 409 413 422 {EVERY}",
    "list_jobs": f"200 400 404 {EVERY}",
    "get_job": f"200 404 {EVERY}",
    "cancel_job": f"204 400 403 404 {EVERY}",
    "list_refused": f"200 400 404 {EVERY}",
}


RETURNS_TOKENS = {
    "changes",
    "get_issue",
    "grid",
    "grid_get",
    "groups",
    "summary",
    "row_number",
    "issue_history",
    "activity",
    "list_trash",
}
WAITS_FOR_HISTORY = {"undo"}
BY_A_JOB = "undo", "202"
"""The answer comes before anything is written."""
WRITES_OF_ISSUES = {
    *("create_issue", "update_issue", "delete_issue", "restore_issue", "batch", "undo", "place_rows")
}
READS_OF_THE_INDEX = {
    "grid",
    "grid_get",
    "groups",
    "summary",
    "row_number",
    "update_matching",
    "delete_matching",
    "undo",
    "export",
}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_an_operation_lists_its_statuses(route: Route) -> None:
    assert operations()[route.key]["responses"].keys() == {*STATUSES[route.operation].split()}


def test_answers_declare_their_headers() -> None:
    for key, operation in operations().items():
        for status, answer in operation["responses"].items():
            headers = answer.get("headers", {}).keys()
            assert ("Location" in headers) == (status in {"201", "202"})
            assert ("X-Change-Id" in headers) == (BY_KEY[key].writes and status < "300")
            assert ("X-Consistency-Token" in headers) == (
                operation["operationId"] in WRITES_OF_ISSUES | RETURNS_TOKENS and status < "300"
            ) & ((operation["operationId"], status) != BY_A_JOB)
            assert ("ETag" in headers) == (
                (BY_KEY[key].answer is not None and "version" in examples.of_answer(BY_KEY[key]))
                & (status[0] == "2")
            )
            waits = {"429", "503", *(("409",) if operation["operationId"] in WAITS_FOR_HISTORY else ())}
            # An early answer without changes asks for a pause.
            waits |= {"200"} if operation["operationId"] == "changes" else set()
            assert ("Retry-After" in headers) == (status in waits)


@pytest.mark.parametrize("route", [one for one in ROUTES if one.body], ids=lambda route: route.operation)
def test_the_example_of_a_request_is_one(route: Route) -> None:
    assert schemas.violations(schemas.named(str(route.body)), examples.of_body(route)) == []


@pytest.mark.parametrize("route", [one for one in ROUTES if one.answer], ids=lambda route: route.operation)
def test_the_example_of_an_answer_is_one(route: Route) -> None:
    example = examples.of_answer(route)
    responses.named(str(route.answer)).model_validate_json(dumps(example))
    assert schemas.violations(schemas.named(str(route.answer)), example) == []


def test_every_example_is_shown() -> None:
    assert examples.BODIES.keys() == {route.body for route in ROUTES if route.body}
    shown = [route for route in ROUTES if route.answer]
    assert examples.OF_OPERATIONS.keys() < {route.operation for route in shown}
    assert examples.ANSWERS.keys() == {
        route.answer for route in shown if route.operation not in examples.OF_OPERATIONS
    }


def test_a_model_of_answers_is_named_by_its_name() -> None:
    assert responses.named("IssuePage") is responses.IssuePage
    for name in ("Nothing", "Any", "AwareDatetime", "_Written.version"):
        with pytest.raises(LookupError):
            responses.named(name)


def test_every_reference_leads_somewhere_and_every_schema_is_used() -> None:
    references = {node["$ref"] for node in nodes(DOCUMENT) if "$ref" in node}
    assert references == {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}


def test_schemas_have_names_in_camel_case() -> None:
    assert not [
        name for name in DOCUMENT["components"]["schemas"] if not re.fullmatch("([A-Z][a-z]+)+", name)
    ]


def test_no_default_is_refused_by_its_schema() -> None:
    roots = [node["schema"] for node in nodes(DOCUMENT["paths"]) if "schema" in node]
    schemas_found = [*nodes([DOCUMENT["components"]["schemas"], *roots])]
    fields = [id(node["properties"]) for node in schemas_found if "properties" in node]
    for node in schemas_found:
        if "default" in node and id(node) not in fields:  # an attribute has a property of this name
            assert schemas.violations(node, node["default"]) == []


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            "Issue",
            {
                "num",
                "name",
                "state",
                "version",
                "created",
                "updated",
                "created_by",
                "updated_by",
                "fields",
                "unavailable",
            },
        ),
        ("ProjectCreate", {"name", "id", "states", "history"}),
        (
            "AttributeCreate",
            {
                "formula",
                *("name", "type", "id", "options", "required", "indexed", "search", "position"),
                *("description", "format", "default"),
            },
        ),
        (
            "AttributePatch",
            {
                "formula",
                *("name", "options", "required", "indexed", "search", "position"),
                *("description", "format", "default"),
            },
        ),
        ("FormatInput", {"as", "decimals", "thousands", "currency", "unit", "max"}),
        ("FieldFormat", {"as", "decimals", "thousands", "currency", "unit", "max"}),
        ("RowNumber", {"row_number", "before", "index", "explain"}),
        ("CompositeCreate", {"sort"}),
        ("CompositeKey", {"field", "direction", "nulls"}),
        ("CompositeIndex", {"id", "sort", "state", "build", "version", "created"}),
        ("IssueCreate", {"name", "state", "fields"}),
        ("IssuePatch", {"name", "state", "fields", "base"}),
        ("OptionInput", {"id", "value", "color"}),
        ("EnumOption", {"id", "value", "color"}),
        ("BatchRequest", {"operations", "return"}),
        ("Operation", {"create", "update", "delete"}),
        (
            "GridRequest",
            {"sort", "filter", "columns", "limit", "cursor", "offset", "count", "keys", "rules", "explain"},
        ),
        ("UpdateMatching", {"filter", "rows", "set", "replace", "copy", "dry_run"}),
        ("ReplaceInput", {"fields", "find", "with", "match", "case"}),
        ("CopyInput", {"from", "to"}),
        ("DeleteMatching", {"filter", "rows"}),
        ("RowsInput", {"sort", "from", "to"}),
        ("ExportRequest", {"query", "format", "formula_guard"}),
        ("ExportQuery", {"view", "sort", "filter", "columns"}),
        ("GroupsRequest", {"by", "filter", "limit", "cursor", "aggregates", "order", "explain"}),
        ("GroupBy", {"field", "unit", "timezone", "bins", "width"}),
        ("GroupOrdering", {"by", "direction"}),
        ("ViewGroupOrder", {"field", "function", "direction"}),
        ("Aggregate", {"field", "function"}),
        (
            "ViewCreate",
            {
                *("name", "visibility", "query", "columns", "groups", "group_order", "footers", "color_by"),
                *("rules", "row_height", "kind", "board"),
            },
        ),
        ("Board", {"by", "columns", "card", "aggregate"}),
        ("BoardColumn", {"value", "hidden", "limit"}),
        ("ViewQuery", {"sort", "filter"}),
        ("CommentCreate", {"text", "mentions"}),
        ("ViewColumn", {"field", "width", "frozen"}),
        (
            "Problem",
            {
                "position",
                "dependents",
                *("type", "title", "status", "detail", "request_id", "errors", "more", "build", "remedies"),
                *("conflicts", "current", "jobs"),
            },
        ),
    ],
)
def test_a_schema_has_the_properties_of_the_contract(schema: str, expected: set[str]) -> None:
    assert properties(schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        "ProjectCreate",
        "ProjectPatch",
        "AttributeCreate",
        "AttributePatch",
        "CompositeCreate",
        "IssueCreate",
        "IssuePatch",
        "GridRequest",
        "GroupsRequest",
        "ViewCreate",
        "ViewPatch",
        "CommentCreate",
        "CommentPatch",
        "UpdateMatching",
        "DeleteMatching",
    ],
)
def test_the_bodies_of_requests_allow_no_other_property(schema: str) -> None:
    assert DOCUMENT["components"]["schemas"][schema]["additionalProperties"] is False


def test_the_query_parameters_of_the_grid_are_the_properties_of_its_body() -> None:
    parameters = operations()["GET /v1/projects/{project}/grid"]["parameters"]
    assert {one["name"] for one in parameters if one["in"] == "query"} == properties("GridRequest")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_an_operation_lists_the_headers_that_it_reads(route: Any) -> None:
    listed = {one["name"] for one in operations()[route.key]["parameters"] if one["in"] == "header"}
    versioned = route.method in ("PATCH", "DELETE") and route.operation != "cancel_job"
    expected = {"If-Match"} if versioned else set()
    expected |= {"Idempotency-Key"} if route.repeatable else set()
    expected |= {"X-Consistency-Token"} if route.operation in READS_OF_THE_INDEX else set()
    assert listed == expected | ({"X-Change-Id"} if route.writes else set())


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [("ProjectCreate", ids.PROJECT.pattern), ("AttributeCreate", ids.ATTRIBUTE.pattern)],
)
def test_the_schema_contains_the_pattern_of_an_id(schema: str, pattern: str) -> None:
    property_ = DOCUMENT["components"]["schemas"][schema]["properties"]["id"]
    assert f"^{pattern}$" in json.dumps(property_)


def test_an_option_may_be_a_text_or_an_object() -> None:
    for name in ("AttributeCreate", "AttributePatch", "ProjectCreate", "ProjectPatch"):
        body = {"name": "Name", "type": "enum"} if name == "AttributeCreate" else {"name": "Name"}
        key = "states" if name.startswith("Project") else "options"
        allowed = {**body, key: ["low", {"value": "high"}, {"value": "top", "id": "o3", "color": "red"}]}
        assert schemas.violations(schemas.named(name), allowed) == []
        assert schemas.violations(schemas.named(name), {**body, key: [1]}) != []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"rows": {}}, "$.rows"),
        ({"more": 1}, "$"),
        ({"next": 7}, "$.next"),
        ({"offset": -1}, "$.offset"),
        ({"rows": [{"num": 0, "version": 1, "fields": {}}]}, "$.rows.0.num"),
        ({"rows": [{"num": True, "version": 1, "fields": {}}]}, "$.rows.0.num"),
        ({"rows": [{"num": 1, "version": 1, "name": None, "fields": {}}]}, "$.rows.0.name"),
    ],
)
def test_errors_of_an_answer_are_found_by_its_model_and_by_its_schema(
    change: dict[str, Any], path: str
) -> None:
    right: dict[str, Any] = {
        "rows": [{"num": 1, "version": 1, "fields": {}}],
        "next": None,
        "prev": None,
        "offset": 0,
        "index": {"lag_ms": 640, "pending": 0},
        "changes_cursor": None,
    }
    IssuePage.model_validate_json(dumps(right))
    assert schemas.violations(schemas.named("IssuePage"), right) == []
    with pytest.raises(ValidationError):
        IssuePage.model_validate_json(dumps({**right, **change}))
    (found,) = schemas.violations(schemas.named("IssuePage"), {**right, **change})
    assert found.startswith(f"{path}: ")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_an_answer_without_content_says_what_the_call_did(route: Route) -> None:
    """Not every one of them is about a deleted resource: DELETE of a job cancels it."""
    assert operations()[route.key]["responses"][str(route.status)]["description"] == route.summary
