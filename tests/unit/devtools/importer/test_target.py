"""The mapping of an import to the states and options of an existing project."""

import json
from typing import Any

import httpx
import pytest

from devtools.importer.client import Api
from devtools.importer.plan import Attribute, Plan
from devtools.importer.source import Row
from devtools.importer.spelling import Spellings
from devtools.importer.target import prepare
from gridview.schema.fields import FieldType


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("closed", "closed"),
        ("Closed", "closed"),
        ("RESUME", "Résumé"),
        ("strasse", "Straße"),
        ("Beam", "Beam"),
        ("BEAM", "BEAM"),
        ("shut", "shut"),
    ],
)
def test_the_exact_option_comes_first_then_the_only_one_that_compares_equal(value: str, meant: str) -> None:
    spellings = Spellings(["open", "closed", "Résumé", "Straße", "beam", "Beam"])
    assert spellings.meant(value) == meant
    assert spellings.missing([value]) == ([value] if meant in ("BEAM", "shut") else [])


def test_a_file_of_another_spelling_adds_no_options_and_gives_those_of_the_project() -> None:
    project: dict[str, Any] = {
        "created": "2026-11-23T21:00:00Z",
        "states": [{"id": "1", "value": "open"}, {"id": "2", "value": "closed"}],
        "attributes": [
            {"id": "kind", "name": "Kind", "type": "enum", "options": [{"id": "1", "value": "beam"}]},
            {"id": "tags", "name": "Tags", "type": "multi_enum", "options": [{"id": "1", "value": "wet"}]},
        ],
    }
    patched: dict[str, Any] = {}

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "PATCH":
            patched[request.url.path.split("/")[-1]] = json.loads(request.content)
        return httpx.Response(200, json=project)

    api = Api("http://api", lambda: "t", transport=httpx.MockTransport(answer), sleep=lambda _: None)
    attributes = (
        Attribute("Kind", "kind", FieldType.ENUM, ("BEAM", "Beam")),
        Attribute("Tags", "tags", FieldType.MULTI_ENUM, ("Wet", "dry")),
    )
    plan = Plan(2, "Title", "Status", ("Open", "Closed"), attributes, ())
    created, prepared = prepare(api, "bridge", "Bridge", plan)
    assert created == project["created"]
    assert patched == {"tags": {"options": [{"id": "1", "value": "wet"}, {"value": "dry"}]}}
    row = Row(1, {"Title": "a", "Status": "Closed", "Kind": "BEAM", "Tags": "Wet;WET;dry"})
    assert json.loads(prepared.operation(row))["create"] == {
        "name": "a",
        "state": "closed",
        "fields": {"kind": "beam", "tags": ["wet", "dry"]},
    }
    assert prepared.columns == {"name": "Title", "state": "Status", "kind": "Kind", "tags": "Tags"}


def test_columns_that_the_project_computes_are_skipped_with_the_reason() -> None:
    project: dict[str, Any] = {
        "created": "2026-11-23T21:00:00Z",
        "states": [{"id": "1", "value": "open"}],
        "attributes": [
            {"id": "cost", "name": "Cost", "type": "number"},
            {"id": "total", "name": "Total", "type": "number", "formula": "{Cost} * 2", "uses": ["cost"]},
            {"id": "label", "name": "Label", "type": "text", "formula": "TEXT({Cost})", "uses": ["cost"]},
        ],
    }
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        return httpx.Response(200, json=project)

    api = Api("http://api", lambda: "t", transport=httpx.MockTransport(answer), sleep=lambda _: None)
    attributes = (
        Attribute("Cost", "cost", FieldType.NUMBER),
        Attribute("Total", "total", FieldType.NUMBER),
        Attribute("Label", "label", FieldType.ENUM, ("12", "13")),
    )
    plan = Plan(1, "Title", None, (), attributes, (("Row", "has no value in any row"),))
    _, prepared = prepare(api, "bridge", "Bridge", plan)
    assert asked == ["GET"], "no attribute is made, and none gets options"
    assert prepared.left_out == (
        ("Row", "has no value in any row"),
        ("Total", "skipped, a formula computes 'total'"),
        ("Label", "skipped, a formula computes 'label'"),
    )
    row = Row(1, {"Title": "a", "Cost": "6", "Total": "12", "Label": "6"})
    assert json.loads(prepared.operation(row))["create"] == {"name": "a", "fields": {"cost": "6"}}


def test_a_column_fills_the_attribute_of_its_name_not_another_one_with_its_id() -> None:
    project: dict[str, Any] = {
        "created": "2026-11-23T21:00:00Z",
        "states": [{"id": "1", "value": "open"}],
        "attributes": [
            {"id": "due", "name": "Deadline", "type": "date"},
            {"id": "due_2", "name": "Due", "type": "date"},
        ],
    }
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=project))
    api = Api("http://api", lambda: "t", transport=transport, sleep=lambda _: None)
    plan = Plan(1, "Title", None, (), (Attribute("Due", "due", FieldType.DATE),), ())
    _, prepared = prepare(api, "bridge", "Bridge", plan)
    row = Row(1, {"Title": "a", "Due": "2024-05-01"})
    assert json.loads(prepared.operation(row))["create"] == {"name": "a", "fields": {"due_2": "2024-05-01"}}
