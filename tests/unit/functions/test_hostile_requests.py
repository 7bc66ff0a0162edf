"""Any value in any place of a request: no server error, and a refusal names the place and writes nothing.

The places are those of examples, which have every property of the OpenAPI document; so a new property needs an example.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from gridview.api.routes import Route
from gridview.dynamodb.metering import Meter
from gridview.encoding import derived_keys
from infra.openapi.document import document as openapi_document
from infra.routes import ROUTES
from tests.support import nasty, recorded_changes, schemas, user_jobs, webhooks
from tests.support.cloud import Cloud
from tests.support.depth import one_of
from tests.support.http import Answer, Client, claims, invoke

PROJECT = "nasty"
PARTS = {
    "project": PROJECT,
    "attribute": "title",
    "index": "c1",
    "num": "2",
    "view": "v1",
    "webhook": "w3k9q2m7x1c0z",
    "delivery": "57_1",
    "comment": "1",
    "job": user_jobs.JOB,
}
STATES = [*nasty.STATES]
FILTER: dict[str, Any] = {
    "and": [
        {
            "or": [
                {"field": "title", "op": "contains", "value": "iv"},
                {"not": {"field": "labels", "op": "has_any", "value": ["high"]}},
                {"field": "title", "op": "has_words", "value": "rivets"},
            ]
        },
        {"field": "amount", "op": "in", "value": [1, "2.5"]},
        {"field": "moment", "op": "between", "value": ["2023-05-01T12:00:00Z", "2024-05-01T12:00:00Z"]},
        {"field": "num", "op": "gte", "value": 1},
        {"field": "owner", "op": "is_empty"},
        {"field": "owner", "op": "in", "value": ["ann", {"me": True}]},
        {
            "field": "moment",
            "op": "gte",
            "value": {"today": -9, "unit": "week", "start": True, "timezone": "Europe/London"},
        },
    ]
}
RECENT = {"field": "moment", "op": "between", "value": [{"now": -3600}, "2024-05-01T12:00:00Z"]}
SORT = [{"field": "day", "direction": "desc", "nulls": "first"}, {"field": "num"}]
ISSUE = {"name": "Paint", "state": "open", "fields": nasty.VALUES}
BY_HAND = [{"manual": "v1"}]
LOOK: dict[str, Any] = {
    "query": {"sort": SORT, "filter": FILTER},
    "columns": [{"field": "title", "width": 80, "frozen": True}],
    "groups": [
        {"field": "moment", "unit": "day", "timezone": "Europe/London"},
        {"field": "amount", "bins": [0, "2.5"]},
        {"field": "num", "width": 10},
    ],
    "group_order": {"field": "amount", "function": "sum", "direction": "desc"},
    "footers": [{"field": "amount", "function": "sum"}],
    "color_by": "level",
    "rules": [{"filter": FILTER, "color": "red", "field": "title"}],
    "row_height": 32,
    "kind": "board",
    "board": {
        "by": "level",
        "columns": [{"value": None, "hidden": True, "limit": 5}],
        "card": ["title"],
        "aggregate": {"field": "amount", "function": "sum"},
    },
}
EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "create_project": [
        {"name": "Tay", "id": "tay", "states": ["open", {"value": "closed", "id": None, "color": "gray"}]},
        {"name": "Firth", "history": {"enabled": True, "days": 30}},
    ],
    "update_project": [
        {"name": "Tay", "states": [*STATES, {"value": "new", "id": None, "color": None}]},
        {"history": {"enabled": False, "days": 30}},
    ],
    "create_attribute": [
        {
            "name": "Kind",
            "type": "enum",
            "id": "kind",
            "options": ["a", {"value": "b", "id": None, "color": "teal"}],
            "required": False,
            "indexed": True,
            "search": False,
            "position": 0,
            "description": "What it is",
        },
        {"name": "Cost", "type": "number", "format": {"as": "currency", "currency": "EUR", "decimals": 2}},
        {"name": "Twice", "type": "number", "formula": "{amount} * 2", "indexed": False},
        {
            "name": "Weight",
            "type": "number",
            "format": {"as": "plain", "decimals": 1, "thousands": True, "unit": "kg"},
        },
        {"name": "Stars", "type": "number", "format": {"as": "rating", "max": 5}},
        {"name": "Text", "type": "text", "default": "None"},
        {"name": "Tags", "type": "multi_enum", "options": ["a", "b"], "default": ["a", "b"]},
    ],
    "update_attribute": [
        {"name": "Words", "required": False, "indexed": True, "search": True, "position": 1},
        {"options": ["a", {"value": "b", "id": None, "color": "teal"}]},
        {"description": None, "format": None, "default": None},
        {"format": {"as": "long"}, "description": "What it is", "default": "Nothing"},
        {"format": {"as": "plain", "decimals": 1, "thousands": True, "unit": "kg"}},
        {"format": {"as": "currency", "currency": "EUR", "max": 5}},
        {"default": ["a"]},
        {"formula": "{amount} * 3"},
    ],
    "create_index": [{"sort": [{"field": "level", "direction": "desc", "nulls": "first"}, {"field": "day"}]}],
    "create_comment": [{"text": "Rust!", "mentions": ["ann"]}],
    "update_comment": [{"text": "Rust!", "mentions": ["ann"]}],
    "create_view": [
        {"name": "Mine", "visibility": "shared", **LOOK},
        {"name": "Mine", "query": {"sort": BY_HAND}},
    ],
    "update_view": [
        {"name": "Mine", "visibility": "shared", "place": 0, **LOOK},
        {"columns": None, "color_by": None},
        {"query": {"sort": BY_HAND}},
    ],
    "place_rows": [{"nums": [2, 4], "after": 3}, {"nums": [2], "before": None}],
    "create_webhook": [
        {
            "url": "https://hooks.example.org/gridview",
            "events": ["update"],
            "columns": ["level"],
            "enabled": True,
        },
        {"url": "https://hooks.example.org/gridview", "events": ["leave"], "view": "v2"},
    ],
    "update_webhook": [
        {"url": "https://hooks.example.org", "events": ["create"], "enabled": False},
        {"view": None, "columns": ["level"], "warning": None},
    ],
    "update_matching": [
        {"filter": FILTER, "rows": {"sort": SORT, "from": 0, "to": 9}, "set": ISSUE},
        {"filter": None, "rows": None, "set": {"fields": None}, "dry_run": True},
        {"filter": None, "rows": {"sort": BY_HAND, "from": 0, "to": 1}, "set": ISSUE},
        {
            "filter": None,
            "replace": {"fields": ["title", "name"], "find": "a", "with": "b", "match": "word", "case": True},
        },
        {"filter": None, "copy": {"from": "day", "to": "title"}},
    ],
    "delete_matching": [
        {"filter": FILTER, "rows": {"sort": SORT, "from": 0, "to": 9}},
        {"filter": FILTER, "rows": {"sort": BY_HAND, "from": 0, "to": 9}},
    ],
    "undo": [{"change": "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3", "by": "ann", "nums": [1], "dry_run": True}],
    "export": [
        {
            "query": {"sort": SORT, "filter": FILTER, "columns": ["num", "name", "title"]},
            "format": "csv",
            "formula_guard": False,
        },
        {"query": {"view": None, "columns": None, "filter": None}, "format": "ndjson"},
        {"query": {"sort": BY_HAND}, "format": "ndjson"},
    ],
    "create_issue": [ISSUE],
    "update_issue": [ISSUE, {"base": 1, "fields": None}],
    "batch": [
        {
            "operations": [
                {"create": ISSUE},
                {"update": {"num": 1, "version": 1, **ISSUE}},
                {"delete": {"num": 3, "version": 1}},
            ],
            "return": "minimal",
        }
    ],
    "grid": [
        {
            "sort": SORT,
            "filter": FILTER,
            "columns": ["name", "title"],
            "limit": 2,
            "offset": 1,
            "count": True,
            "keys": True,
            "rules": [FILTER, RECENT],
            "explain": True,
        },
        {"cursor": None, "filter": None, "rules": []},
        {"filter": RECENT, "sort": BY_HAND},
    ],
    "groups": [
        {
            "by": ["level", {"field": "moment", "unit": "day", "timezone": "Europe/London"}],
            "filter": FILTER,
            "limit": 5,
            "aggregates": [{"field": "amount", "function": "sum"}],
            "cursor": None,
            "explain": True,
        },
        {
            "by": [{"field": "amount", "bins": [0, "2.5"]}, {"field": "num", "width": 10}],
            "aggregates": [{"field": "amount", "function": "avg"}],
            "order": {"by": 0, "direction": "desc"},
        },
    ],
    "check_formula": [{"formula": "{amount} * 2", "type": "number", "attribute": "double", "nums": [1, 2]}],
    "summary": [
        {"fields": [{"field": "amount", "functions": ["sum", "min"]}], "filter": FILTER, "explain": True}
    ],
}
"""Bodies that are accepted."""

REFUSED_EXAMPLES = {"update_attribute": {1, 4, 5, 6, 7}, "create_webhook": {1}, "create_view": {1}}
"""By operation, the places of examples that are refused: the attribute is a text, the view is private, a new view has no
order yet.
"""

PARAMETERS: dict[str, dict[str, str]] = {
    "list_projects": {"limit": "5", "cursor": ""},
    "list_deleted_projects": {"limit": "5", "cursor": ""},
    "list_trash": {"limit": "5", "cursor": ""},
    "list_users": {"limit": "5", "cursor": "", "prefix": "a"},
    "list_comments": {"limit": "5", "cursor": ""},
    "list_views": {"limit": "5", "cursor": ""},
    # Without a cursor it does not wait.
    "changes": {"since": "", "wait": "20", "view": "", "sort": "-day,num", "filter": json.dumps(FILTER)},
    "issue_history": {"limit": "5", "cursor": ""},
    "activity": {
        "limit": "5",
        "cursor": "",
        "by": "ann",
        "field": "day",
        "mentions": "bob",
        "from": "2023-05-01T12:00:00Z",
        "to": "9999-01-01T00:00:00Z",
    },
    "list_jobs": {"limit": "5", "cursor": ""},
    "list_refused": {"limit": "5", "cursor": ""},
    "list_deliveries": {"limit": "5", "cursor": ""},
    "grid_get": {
        "sort": "-day,num",
        "filter": json.dumps(FILTER),
        "columns": "name,title",
        "limit": "2",
        "cursor": "",
        "offset": "1",
        "count": "true",
        "keys": "true",
        "rules": json.dumps([FILTER]),
        "explain": "true",
    },
    "row_number": {"sort": json.dumps(SORT), "filter": json.dumps(FILTER), "explain": "true"},
}
"""Query parameters; an empty one is only sent with a hostile value."""

HEADERS = (
    "if-match",
    "idempotency-key",
    "content-type",
    "accept-encoding",
    "cookie",
    "origin",
    "x-consistency-token",
    "x-change-id",
)

TEXTS = (
    "",
    " ",
    "\0",
    "x" * 300,
    "x" * 70_000,
    "e\u0301",
    "\uffff",
    "\ud800",
    "num",
    "null",
    "-1",
    "1e5",
    str(2**63),
    "9" * 5000,
    "٣",
    "2023-05-01",
    "9999-12-31T23:59:59.999999-23:59",
    "{",
    "[]",
    "[" * 5000,
    "a," * 5000,
    '"1"',
    '"1","2",W/"3"',
    '"' + "9" * 400 + '"',
    "*",
    "../../..",
    "%00",
    "Europe/../../etc/passwd",
    "__class__",
)
FRAGMENTS = (
    *map(json.dumps, TEXTS),
    *(
        "null",
        "true",
        "0",
        "-1",
        "1",
        "1.5",
        "-0.0",
        "1e400",
        "-1e-400",
        "1e99999999999999999999",
        "9" * 5000,
    ),
    *(str(2**53 + 1), str(2**63), str(-(2**63) - 1), "1" + "0" * 30, "NaN", "-Infinity"),
    *("{}", "[]", "[[]]", "[null]", '[1,"a",{}]', '{"":{}}', '{"a":1,"a":2}', '{"\\ud800":1}', '["\\udfff"]'),
    *('{"and":[]}', '{"not":{"not":{"not":{"not":{"not":{"not":{}}}}}}}', '{"field":"num"}', '["num","num"]'),
    *("[" * 300 + "]" * 300, "[" * 100_000 + "]" * 100_000, '{"a":' * 300 + "1" + "}" * 300),
)
MANY = 5_000
LARGE = (
    "[" + ",".join(["1"] * MANY) + "]",
    "[" + ",".join(['"x"'] * MANY) + "]",
    "[" + ",".join(['"num"'] * MANY) + "]",
    "[" + ",".join(['{"field":"x"}'] * MANY) + "]",
    "[" + ",".join(["NaN"] * MANY) + "]",
    "[" + ",".join(['"\\ud800"'] * MANY) + "]",
    "{" + ",".join(f'"k{place}":1' for place in range(MANY)) + "}",
    '{"and":[' + ",".join(['{"or":[7]}'] * MANY) + "]}",
    '"' + "\\u0000" * MANY + '"',
)
NAMES = ("x", "", "\0", "\ud800", "x" * 100_000, "__class__", "model_config", "and", "field", "e\u0301" * 500)

KEPT = 1_000
"""The greatest number of errors before a request is abandoned."""

BODIES = [route for route in ROUTES if route.operation in EXAMPLES]
Place = tuple[str | int, ...]


@pytest.fixture(scope="module")
def world(shared_account: Cloud) -> Cloud:
    """A project with a field of every type. Each request gets a copy of it."""
    api = shared_account.api()
    api.made("/v1/projects", {"id": PROJECT, "name": "Nasty", "states": nasty.STATES})
    path = f"/v1/projects/{PROJECT}"
    for attribute in nasty.ATTRIBUTES:
        api.made(f"{path}/attributes", {**attribute, "indexed": True})
    double = {"name": "Double", "type": "number", "formula": "{amount} + {amount}", "indexed": False}
    api.made(f"{path}/attributes", double)
    api.made(f"{path}/indexes", {"sort": [{"field": "level"}, {"field": "amount"}]})
    api.made(f"{path}/views", {"name": "First", **LOOK, "visibility": "shared"})
    assert api.patch(f"{path}/views/v1", {"query": {"sort": BY_HAND}}).status == 200
    api.made(f"{path}/views", {"name": "Own", **LOOK})
    for place in range(4):
        api.made(f"{path}/issues", {"name": f"{place}", "state": "open", "fields": nasty.VALUES})
    assert api.get("/v1/me").body["id"] == "ann"
    api.made(f"{path}/issues/2/comments", {"text": "First"})
    shared_account.derive()
    shared_account.upkeep()
    shared_account.table.put(webhooks.stored(PARTS["webhook"], project=PROJECT))
    shared_account.table.put(webhooks.delivered(PARTS["webhook"], project=PROJECT))
    shared_account.table.put(user_jobs.stored(project=PROJECT))
    recorded_changes.put(shared_account.table, project=PROJECT)
    return shared_account


def send(world: Cloud, event: dict[str, Any]) -> Answer:
    """The answer to a request on a copy of the world; a refused one must change nothing."""
    table = world.table.copy(Meter())
    for module in world.modules.values():
        module.table = table  # type: ignore[attr-defined]
    answer = invoke({name: module.handler for name, module in world.modules.items()}, event)
    assert answer.status < 500, answer.text
    if answer.status >= 400:
        assert answer.body["detail"]
        assert without_notes(table.items) == without_notes(world.table.items)
    return answer


def without_notes(items: Mapping[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """All items except notes of changes. On a busy machine a request that is 2 s old leaves one before it writes; no
    reader sees it.
    """
    return {key: item for key, item in items.items() if not key[1].startswith(derived_keys.CHANGE_NOTE)}


def event_of(route: Route, body: str | None = None, **parts: str) -> dict[str, Any]:
    path = route.path.format(**{name: quote(value, safe="") for name, value in {**PARTS, **parts}.items()})
    client = Client({}, claims())
    return client.event(route.method, path) if body is None else client.event(route.method, path, body)


def places(document: Any, place: Place = ()) -> Iterator[Place]:
    """Every place of a document."""
    yield place
    if isinstance(document, dict | list):
        for name, inner in document.items() if isinstance(document, dict) else enumerate(document):
            yield from places(inner, (*place, name))


def replaced(document: Any, place: Place, fragment: str) -> str:
    """The document as JSON, with a fragment of JSON in one place."""
    return json.dumps(_with(document, place, "@@")).replace('"@@"', fragment)


def _with(document: Any, place: Place, value: Any) -> Any:
    if not place:
        return value
    name, *rest = place
    copy: Any = dict(document) if isinstance(document, dict) else list(document)
    copy[name] = _with(copy[name] if rest else None, tuple(rest), value)
    return copy


def value_at(document: Any, place: Place) -> Any:
    for name in place:
        document = document[name]
    return document


def named(place: Place, answer: Answer) -> bool:
    """Whether an error of the answer is about the place, its content, its parent, or a neighbour there."""
    path = "body" if not place else ".".join(map(str, place)).replace("\ud800", "\N{REPLACEMENT CHARACTER}")
    around = path.rpartition(".")[0]
    return any(
        "body" in (field, path)
        or f"{path}.".startswith(field.removesuffix("\N{HORIZONTAL ELLIPSIS}"))
        or field.startswith(f"{path}.")
        or (around and field.startswith(f"{around}."))
        or (place[0], field)
        in {
            *(("type", field) for field in ("options", "search", "format.as", "default")),
            *(("cursor", "offset"), ("view", "events"), ("options", "default"), ("aggregates", "order.by")),
        }
        for field in answer.errors
    )


def judge(place: Place, answer: Answer, given: str, own: Collection[str] = ()) -> None:
    """Check the rules of every refusal of a value in a place. `own`: what the body is refused for without the value."""
    found = len(answer.body.get("errors", ())) + answer.body.get("more", 0) if answer.status >= 400 else 0
    if answer.status == 400:
        assert named(place, answer) or answer.errors.keys() <= set(own), (
            place,
            given[:80],
            answer.text[:500],
        )
        flaws = "The JSON is not valid" in answer.body["detail"]  # found by one look at each value
        assert found <= (MANY if flaws else KEPT), (place, given[:80], found)


@pytest.mark.parametrize("route", BODIES, ids=lambda route: route.operation)
def test_the_examples_are_taken(world: Cloud, route: Route) -> None:
    for at, example in enumerate(EXAMPLES[route.operation]):
        answer = send(world, event_of(route, json.dumps(example)))
        assert (answer.status < 400) == (at not in REFUSED_EXAMPLES.get(route.operation, ())), answer.text


@pytest.mark.parametrize("route", BODIES, ids=lambda route: route.operation)
def test_the_examples_have_every_property_that_the_openapi_document_knows(route: Route) -> None:
    operation = openapi_document()["paths"][route.path][route.method.lower()]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    tried = {_pattern(place) for example in EXAMPLES[route.operation] for place in places(example)}
    assert {*_properties(schema)} <= tried


def _pattern(place: Place) -> tuple[str, ...]:
    return tuple("*" if isinstance(name, int) else name for name in place)


def _properties(schema: Mapping[str, Any], place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The places of a schema, without those in a filter: a filter consists of filters."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name != "Filter":
            yield from _properties(schemas.named(name), place)
    for choice in schema.get("anyOf", ()):
        yield from _properties(choice, place)
    for name, inner in schema.get("properties", {}).items():
        yield (*place, name)
        yield from _properties(inner, (*place, name))
    if "items" in schema:
        yield from _properties(schema["items"], (*place, "*"))


@pytest.mark.parametrize("route", BODIES, ids=lambda route: route.operation)
def test_every_list_and_object_of_a_body_has_a_greatest_length(route: Route) -> None:
    operation = openapi_document()["paths"][route.path][route.method.lower()]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    assert list(_endless(schema, (), frozenset())) == []


def _endless(schema: Mapping[str, Any], place: tuple[str, ...], within: frozenset[str]) -> Iterator[str]:
    """The places where a schema accepts a list or an object of any length."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in within:
            yield from _endless(schemas.named(name), (*place, name), within | {name})
        return
    properties: Any = schema.get("additionalProperties", True)
    if "properties" in schema or schema.get("type") == "object":
        if properties is not False and "maxProperties" not in schema:
            yield ".".join(place)
        if isinstance(properties, dict):
            yield from _endless(properties, (*place, "*"), within)
    if ("items" in schema or schema.get("type") == "array") and "maxItems" not in schema:
        yield ".".join(place)
    inner = [*schema.get("properties", {}).items()]
    if "items" in schema:
        inner.append(("*", schema["items"]))
    inner += [("|", one) for word in ("anyOf", "oneOf", "allOf") for one in schema.get(word, ())]
    for name, one in inner:
        yield from _endless(one, (*place, name), within)


def test_every_operation_with_a_body_and_every_parameter_is_tried() -> None:
    operations = [operation for path in openapi_document()["paths"].values() for operation in path.values()]
    assert {one["operationId"] for one in operations if "requestBody" in one} == EXAMPLES.keys()
    for one in operations:
        known = {"path": set(PARTS), "query": set(PARAMETERS.get(one["operationId"], ()))}
        for parameter in one["parameters"]:
            tried = known.get(parameter["in"], set(HEADERS))
            assert parameter["name"].lower() in tried, (one["operationId"], parameter["name"])


@pytest.mark.parametrize("route", BODIES, ids=lambda route: route.operation)
def test_any_value_at_any_place_of_a_body_is_answered(world: Cloud, route: Route) -> None:
    random = Random(route.operation)  # noqa: S311  the same cases every time
    for at, example in enumerate(EXAMPLES[route.operation]):
        is_refused = at in REFUSED_EXAMPLES.get(route.operation, ())
        own = send(world, event_of(route, json.dumps(example))).errors.keys() if is_refused else ()
        for place in places(example):
            some = random.sample(FRAGMENTS, one_of(1, thorough=len(FRAGMENTS)))
            some += random.sample(LARGE, one_of(1, thorough=len(LARGE)))
            for fragment in some:
                answer = send(world, event_of(route, replaced(example, place, fragment)))
                judge(place, answer, fragment, own)


@pytest.mark.parametrize("route", BODIES, ids=lambda route: route.operation)
def test_anything_may_be_the_name_of_a_property(world: Cloud, route: Route) -> None:
    random = Random(route.operation)  # noqa: S311  the same cases every time
    for example in EXAMPLES[route.operation]:
        for place in places(example):
            if isinstance(value_at(example, place), dict):
                for name in random.sample(NAMES, one_of(1, thorough=len(NAMES))):
                    inner = (*place, name)
                    if name not in value_at(example, place):
                        answer = send(world, event_of(route, replaced(example, inner, "1")))
                        judge(inner, answer, name)


@pytest.mark.parametrize("operation", sorted(PARAMETERS))
def test_any_text_in_a_query_parameter_is_answered(world: Cloud, operation: str) -> None:
    (route,) = (route for route in ROUTES if route.operation == operation)
    given = {name: value for name, value in PARAMETERS[operation].items() if value}
    for name in (*PARAMETERS[operation], "x", "\0", "\ud800", "x" * 9000):
        for text in TEXTS[:: one_of(7)] if name in PARAMETERS[operation] else ("1",):
            event = event_of(route)
            event["queryStringParameters"] = {**given, name: text}
            judge((name,), send(world, event), text)


@pytest.mark.parametrize("name", HEADERS)
def test_any_text_in_a_header_is_answered(world: Cloud, name: str) -> None:
    routes = [route for route in ROUTES if route.method != "GET"]
    random = Random(name)  # noqa: S311  the same cases every time
    for route in routes:
        example = json.dumps(EXAMPLES[route.operation][0]) if route.operation in EXAMPLES else None
        for text in random.sample(TEXTS, one_of(2, thorough=len(TEXTS))):
            event = event_of(route, example)
            event["headers"][name] = text
            answer = send(world, event)
            if answer.status == 400:
                assert [field.lower() for field in answer.errors] == [name]


@pytest.mark.parametrize("part", sorted(PARTS))
def test_any_text_in_a_path_is_answered(world: Cloud, part: str) -> None:
    for route in (route for route in ROUTES if f"{{{part}}}" in route.path):
        example = json.dumps(EXAMPLES[route.operation][0]) if route.operation in EXAMPLES else None
        for text in TEXTS[:: one_of(9)]:
            event = event_of(route, example)
            event["pathParameters"][part] = text
            assert send(world, event).status in (200, 404), text
