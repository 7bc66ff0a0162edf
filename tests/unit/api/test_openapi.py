"""The OpenAPI document: complete, consistent in itself, and what the contract says. (Every answer of every other test of the API
is held against it: `tests.support.http`.)"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from gridview.api.openapi import document
from gridview.api.routes import ROUTES
from gridview.encoding.json_codec import dumps
from gridview.schema import ids
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


def test_the_operations_are_the_routes() -> None:
    assert operations().keys() == {route.key for route in ROUTES}
    assert {route.key: route.operation for route in ROUTES} == {
        key: operation["operationId"] for key, operation in operations().items()
    }


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_an_operation_tells_its_path_parameters_its_role_and_whether_a_token_is_needed(route: Any) -> None:
    operation = operations()[route.key]
    in_path = [one["name"] for one in operation["parameters"] if one["in"] == "path"]
    assert in_path == re.findall(r"{(\w+)}", route.path)
    assert operation["security"] == ([] if route.role is None else [{"token": []}])
    assert operation.get("x-role") == (route.role and route.role.name.lower())
    assert operation["responses"].keys() >= {"default"}


def test_every_reference_leads_somewhere_and_every_schema_is_used() -> None:
    references = {node["$ref"] for node in nodes(DOCUMENT) if "$ref" in node}
    assert references == {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}


def test_no_schema_shows_the_names_of_our_classes() -> None:
    assert not [
        node["title"] for node in nodes(DOCUMENT["components"]) if str(node.get("title", "")).startswith("_")
    ]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            "Issue",
            {"num", "name", "state", "version", "created", "updated", "created_by", "updated_by", "fields"},
        ),
        ("ProjectCreate", {"name", "id", "states"}),
        ("AttributeCreate", {"name", "type", "id", "options", "required", "indexed", "search", "position"}),
        ("AttributePatch", {"name", "options", "required", "indexed", "search", "position"}),
        ("CompositeCreate", {"sort"}),
        ("CompositeKey", {"field", "direction", "nulls"}),
        ("Index", {"id", "sort", "state", "build", "version", "created"}),
        ("IssueCreate", {"name", "state", "fields"}),
        ("IssuePatch", {"name", "state", "fields"}),
        ("BatchRequest", {"operations"}),
        ("Operation", {"create", "update", "delete"}),
        ("GridRequest", {"sort", "filter", "columns", "limit", "cursor", "offset", "count", "explain"}),
        ("SortKey", {"field", "direction", "nulls"}),
        ("GroupsRequest", {"by", "filter", "limit", "aggregates", "explain"}),
        ("GroupBy", {"field", "unit", "timezone"}),
        ("Aggregate", {"field", "function"}),
        ("Problem", {"type", "title", "status", "detail", "request_id", "errors", "more", "build"}),
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
    ],
)
def test_the_bodies_of_requests_allow_no_other_property(schema: str) -> None:
    assert DOCUMENT["components"]["schemas"][schema]["additionalProperties"] is False


def test_the_query_parameters_of_the_grid_are_the_properties_of_its_body() -> None:
    parameters = operations()["GET /v1/projects/{project}/grid"]["parameters"]
    assert {one["name"] for one in parameters if one["in"] == "query"} == properties("GridRequest")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_the_headers_that_a_call_listens_to_are_told(route: Any) -> None:
    told = {one["name"] for one in operations()[route.key]["parameters"] if one["in"] == "header"}
    expected = {"If-Match"} if route.method in ("PATCH", "DELETE") else set()
    assert told == expected | ({"Idempotency-Key"} if route.operation == "batch" else set())


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [("ProjectCreate", ids.PROJECT.pattern), ("AttributeCreate", ids.ATTRIBUTE.pattern)],
)
def test_the_pattern_of_an_id_is_told(schema: str, pattern: str) -> None:
    told = DOCUMENT["components"]["schemas"][schema]["properties"]["id"]
    assert f"^{pattern}$" in json.dumps(told)


def test_an_option_may_be_a_text_or_an_object() -> None:
    for name in ("AttributeCreate", "AttributePatch", "ProjectCreate", "ProjectPatch"):
        body = {"name": "Name", "type": "enum"} if name == "AttributeCreate" else {"name": "Name"}
        key = "states" if name.startswith("Project") else "options"
        allowed = {**body, key: ["low", {"value": "high"}, {"value": "top", "id": "o3"}]}
        assert schemas.violations(schemas.named(name), allowed) == []
        assert schemas.violations(schemas.named(name), {**body, key: [1]}) != []


def test_the_check_that_answers_are_held_to_finds_what_is_wrong() -> None:
    page = {"rows": [{"num": 1, "version": 1, "fields": {}}], "next": None, "prev": None, "offset": 0}
    schema = schemas.named("GridPage")
    assert schemas.violations(schema, page) == []
    for wrong, path in (
        ({**page, "rows": {}}, "$.rows"),
        ({**page, "more": 1}, "$"),
        ({**page, "next": 7}, "$.next"),
        ({"rows": [], "next": None, "prev": None}, "$"),
        ({**page, "rows": [{"num": 0, "version": 1, "fields": {}}]}, "$.rows.0.num"),
        ({**page, "rows": [{"num": True, "version": 1, "fields": {}}]}, "$.rows.0.num"),
    ):
        (found,) = schemas.violations(schema, wrong)
        assert found.startswith(f"{path}: ")
    assert schemas.violations({"const": "ok"}, "no") == ["$: is not 'ok'"]
    assert schemas.violations({"type": "string", "pattern": "^a$"}, "b") == ["$: does not match ^a$"]
    assert schemas.violations({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1) == [
        "$: is none of the choices"
    ]
