"""Descriptions, formats and defaults of fields: what is stored and returned, what is refused, and new issues."""

from typing import Any

import pytest

from gridview.commands.requests import MAX_DESCRIPTION_LENGTH
from gridview.schema.fields import BUILTINS, FieldType
from tests.support.cloud import Cloud
from tests.support.http import Client
from tests.support.stream import Stream

FORMATS: dict[str, list[dict[str, Any]]] = {
    "text": [{"as": one} for one in ("long", "markdown", "url", "email", "phone")],
    "number": [
        {"as": "plain", "decimals": 0, "thousands": True, "unit": "kg"},
        {"as": "currency", "currency": "EUR", "decimals": 2, "thousands": False},
        {"as": "percent", "decimals": 10, "thousands": True},
        {"as": "rating", "max": 10},
        {"as": "rating"},
        {"as": "duration"},
        {"as": "progress", "decimals": 1},
    ],
    "date": [{"as": one} for one in ("iso", "short", "long")],
    "datetime": [{"as": one} for one in ("iso", "short", "long")],
    "bool": [{"as": "check"}, {"as": "star"}],
    "enum": [],
    "multi_enum": [],
    "user": [],
}
DEFAULTS: dict[str, Any] = {
    "text": "None yet",
    "number": 2**70,
    "date": "2026-02-28",
    "datetime": "2026-02-28T12:00:00Z",
    "bool": False,
    "enum": "low",
    "multi_enum": ["low", "high"],
    "user": "ann",
}
WRONG_DEFAULTS: dict[str, list[Any]] = {
    "text": [1, ["a"], "x" * 20_000],
    "number": ["one", True, {"today": 0}],
    "date": ["2026-02-30", {"today": 0}],
    "datetime": ["yesterday", {"now": 0}],
    "bool": ["true", 0],
    "enum": ["none of them", ["low"]],
    "multi_enum": ["low", ["low", "low"], ["none of them"]],
    "user": [{"me": True}, 1],
}


def add(api: Client, project: str, kind: str = "text", **attribute: Any) -> Any:
    options = {"options": ["low", "high"]} if "enum" in kind else {}
    body = {"id": "own", "name": "Own", "type": kind, **options, **attribute}
    return api.made(f"{project}/attributes", body)


def pairs(cases: dict[str, list[Any]]) -> list[tuple[str, Any]]:
    return [(kind, one) for kind, some in cases.items() for one in some]


def test_the_cases_are_of_all_types() -> None:
    types = {kind.value for kind in FieldType}
    assert set(FORMATS) == set(DEFAULTS) == set(WRONG_DEFAULTS) == types


@pytest.mark.parametrize(("kind", "form"), pairs(FORMATS))
def test_a_format_is_returned_as_it_was_given_and_can_be_taken_back(
    api: Client, project: str, kind: str, form: dict[str, Any]
) -> None:
    path = f"{project}/attributes/own"
    assert add(api, project, kind, format=form)["format"] == form
    assert api.get(path).body["format"] == form
    assert api.get(project).body["attributes"][0]["format"] == form
    cleared = api.patch(path, {"format": None}).body
    assert (cleared["format"], cleared["version"]) == (None, 2)
    assert api.patch(path, {"format": form}).body["format"] == form
    assert api.patch(path, {"format": form}).body["version"] == 3, "the same again changes nothing"


@pytest.mark.parametrize(
    ("kind", "form", "where"),
    [
        ("number", {"as": "long"}, "format.as"),
        ("text", {"as": "plain"}, "format.as"),
        ("date", {"as": "check"}, "format.as"),
        ("enum", {"as": "plain"}, "format.as"),
        ("user", {"as": "email"}, "format.as"),
        ("text", {"as": "url", "decimals": 1}, "format.decimals"),
        ("number", {"as": "duration", "unit": "h"}, "format.unit"),
        ("number", {"as": "rating", "currency": "EUR"}, "format.currency"),
        ("number", {"as": "currency"}, "format.currency"),
        ("number", {"as": "currency", "currency": "QQQ"}, "format.currency"),
        ("number", {"as": "currency", "currency": "eur"}, "format.currency"),
        ("number", {"as": "plain", "decimals": 11}, "format.decimals"),
        ("number", {"as": "plain", "decimals": -1}, "format.decimals"),
        ("number", {"as": "plain", "decimals": 1.5}, "format.decimals"),
        ("number", {"as": "plain", "thousands": 1}, "format.thousands"),
        ("number", {"as": "plain", "unit": "x" * 17}, "format.unit"),
        ("number", {"as": "plain", "unit": ""}, "format.unit"),
        ("number", {"as": "rating", "max": 0}, "format.max"),
        ("number", {"as": "rating", "max": 11}, "format.max"),
        ("number", {"decimals": 1}, "format.as"),
        ("number", {"as": None}, "format.as"),
        ("number", {"as": "plain", "colour": "red"}, "format.colour"),
        ("number", "plain", "format"),
    ],
)
def test_a_format_that_its_type_does_not_have_is_refused_with_its_place(
    api: Client, project: str, kind: str, form: Any, where: str
) -> None:
    options = {"options": ["low"]} if kind == "enum" else {}
    made = api.post(f"{project}/attributes", {"name": "Own", "type": kind, "format": form, **options})
    assert (made.status, [*made.errors]) == (400, [where])
    assert api.get(project).body["attributes"] == []
    add(api, project, kind)
    changed = api.patch(f"{project}/attributes/own", {"format": form})
    assert (changed.status, [*changed.errors]) == (400, [where])
    assert api.get(f"{project}/attributes/own").body["version"] == 1


def test_a_description_has_a_longest_and_can_be_taken_back(api: Client, project: str) -> None:
    path, longest = f"{project}/attributes/own", "é" * MAX_DESCRIPTION_LENGTH
    assert add(api, project, description=longest)["description"] == longest
    assert api.patch(path, {"description": longest + "x"}).errors.keys() == {"description"}
    assert api.patch(path, {"description": "Line 1\nLine 2"}).body["description"] == "Line 1\nLine 2"
    assert api.patch(path, {"description": ""}).body["description"] is None
    assert api.get(path).body["description"] is None


@pytest.mark.parametrize("field", [*BUILTINS])
def test_a_built_in_field_has_a_description_and_a_format_and_no_default(
    api: Client, project: str, field: str
) -> None:
    path = f"{project}/attributes/{field}"
    kind = BUILTINS[field].type.value
    form = next(iter(FORMATS[kind]), None)
    shown = api.patch(path, {"description": "Why", "format": form}).body
    assert (shown["description"], shown["format"], shown["default"]) == ("Why", form, None)
    assert api.get(path).body == shown
    assert api.patch(path, {"default": DEFAULTS[kind]}).errors.keys() == {"default"}
    assert api.patch(path, {"indexed": False}).body["description"] == "Why"


@pytest.mark.parametrize("kind", DEFAULTS)
def test_new_issues_take_a_default_where_their_creator_omits_the_field(
    account: Cloud, api: Client, project: str, kind: str
) -> None:
    default = DEFAULTS[kind]
    assert add(api, project, kind, default=default)["default"] == default
    omitted = api.made(f"{project}/issues", {"name": "omitted"})
    assert omitted["fields"] == {"own": default}
    empty: tuple[Any, ...] = (None, "", [])
    for nothing in empty:
        none = api.made(f"{project}/issues", {"name": "none", "fields": {"own": nothing}})
        assert none["fields"] == {}, "the creator's null stays none"
    operations = [{"create": {"name": "x"}}, {"create": {"name": "y", "fields": {"own": None}}}]
    batch = api.post(f"{project}/issues/batch", {"operations": operations}).body["results"]
    assert [one["issue"]["fields"] for one in batch] == [{"own": default}, {}]
    Stream(account).deliver()
    only = {"field": "own", "op": "is_not_empty"}
    found = api.post(f"{project}/grid", {"sort": [{"field": "own"}], "filter": only}).body["rows"]
    assert [row["num"] for row in found] == [1, 5], "defaults are indexed like values"
    changed = api.patch(f"{project}/issues/1", {"fields": {"own": None}}).body
    assert changed["fields"] == {}, "a change takes no default"
    api.patch(f"{project}/attributes/own", {"default": None})
    assert api.made(f"{project}/issues", {"name": "after"})["fields"] == {}


@pytest.mark.parametrize(("kind", "default"), pairs(WRONG_DEFAULTS))
def test_a_default_that_is_no_value_of_its_field_is_refused(
    api: Client, project: str, kind: str, default: Any
) -> None:
    options = {"options": ["low", "high"]} if "enum" in kind else {}
    body = {"name": "Own", "type": kind, "default": default, **options}
    assert api.post(f"{project}/attributes", body).errors.keys() == {"default"}
    add(api, project, kind)
    assert api.patch(f"{project}/attributes/own", {"default": default}).errors.keys() == {"default"}


def test_a_required_field_with_a_default_can_be_omitted_but_not_cleared(api: Client, project: str) -> None:
    add(api, project, "number", required=True, default=0)
    assert api.made(f"{project}/issues", {"name": "a"})["fields"] == {"own": 0}
    refused = api.post(f"{project}/issues", {"name": "a", "fields": {"own": None}})
    assert refused.errors.keys() == {"fields.own"}
    assert api.patch(f"{project}/attributes/own", {"default": None}).body["default"] is None
    assert api.post(f"{project}/issues", {"name": "a"}).errors.keys() == {"fields.own"}


@pytest.mark.parametrize("kind", ["enum", "multi_enum"])
def test_an_option_that_is_a_default_cannot_be_dropped(api: Client, project: str, kind: str) -> None:
    path = f"{project}/attributes/own"
    add(api, project, kind, default=DEFAULTS[kind])
    for options in (["high"], ["new"]):
        refused = api.patch(path, {"options": options})
        assert refused.kind == (409, "conflict")
        assert "'low'" in refused.body["detail"], "the first one that is dropped"
    low = api.get(path).body["options"][0]
    renamed = api.patch(path, {"options": [{**low, "value": "lower"}, "high"]}).body
    assert renamed["default"] == ("lower" if kind == "enum" else ["lower", "high"])
    together = {"options": ["high"], "default": "high" if kind == "enum" else ["high"]}
    assert api.patch(path, together).body["default"] == together["default"]
    assert api.patch(path, {"options": ["high", "new"], "default": None}).status == 200


def test_a_default_may_be_an_option_that_the_same_request_adds(api: Client, project: str) -> None:
    add(api, project, "enum")
    changed = api.patch(f"{project}/attributes/own", {"options": ["low", "new"], "default": "new"}).body
    assert changed["default"] == "new"


def test_these_settings_build_nothing_and_come_back_with_a_deleted_attribute(
    account: Cloud, api: Client, project: str
) -> None:
    path = f"{project}/attributes/own"
    add(api, project, "number")
    settings = {"description": "In kg", "format": {"as": "plain", "unit": "kg"}, "default": 5}
    changed = api.patch(path, settings).body
    assert {name: changed[name] for name in settings} == settings
    assert (changed["build"], changed["version"]) == (None, 2)
    assert api.delete(path).status == 204
    assert api.made(f"{project}/issues", {"name": "without"})["fields"] == {}
    restored = api.post(f"{project}/deleted-attributes/own/restore").body
    assert {name: restored[name] for name in settings} == settings
    assert api.made(f"{project}/issues", {"name": "with"})["fields"] == {"own": 5}
