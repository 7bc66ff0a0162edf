"""Attributes: ids, display order, requiredness, and what can be changed."""

from typing import Any

import pytest

from gridview.schema.fields import BUILTINS, FieldType
from tests.support.cloud import Cloud
from tests.support.http import Client

TYPES = [kind.value for kind in FieldType]


def add(api: Client, project: str, **attribute: Any) -> Any:
    return api.made(f"{project}/attributes", {"name": "Name", "type": "text", **attribute})


def order(api: Client, project: str) -> list[str]:
    shown = api.get(project).body["attributes"]
    assert [one["position"] for one in shown] == list(range(len(shown)))
    return [one["id"] for one in shown]


def test_the_types_are_those_of_the_contract() -> None:
    assert TYPES == ["text", "number", "date", "datetime", "bool", "enum", "multi_enum", "user"]


@pytest.mark.parametrize("kind", TYPES)
def test_a_new_attribute_is_answered_whole(api: Client, project: str, kind: str) -> None:
    options = {"options": ["low", "high"]} if "enum" in kind else {}
    answer = api.post(f"{project}/attributes", {"name": "Sign Off", "type": kind, **options})
    assert answer.status == 201
    assert answer.headers["location"] == f"{project}/attributes/sign_off"
    created = answer.body["created"]
    expected = {
        "id": "sign_off",
        "name": "Sign Off",
        "type": kind,
        "required": False,
        "indexed": True,
        "search": False,
        "description": None,
        "format": None,
        "default": None,
        "build": None,
        "position": 0,
        "version": 1,
        "created": created,
        "updated": created,
    }
    if options:
        expected["options"] = [
            {"id": "o1", "value": "low", "color": None},
            {"id": "o2", "value": "high", "color": None},
        ]
    assert answer.body == expected
    assert api.get(answer.headers["location"]).body == expected
    assert api.get(project).body["attributes"] == [expected]


@pytest.mark.parametrize("attribute_id", ["a", "_", "0", "a" * 64, "3812", "model_config", "a1"])
def test_an_id_of_the_pattern_is_taken_and_usable(
    api: Client, account: Cloud, project: str, attribute_id: str
) -> None:
    assert add(api, project, id=attribute_id)["id"] == attribute_id
    issue = api.made(f"{project}/issues", {"name": "x", "fields": {attribute_id: "value"}})
    assert issue["fields"] == {attribute_id: "value"}
    account.derive()
    answer = api.get(f"{project}/grid", query={"sort": attribute_id, "columns": attribute_id})
    assert answer.body["rows"][0]["fields"] == {attribute_id: "value"}


@pytest.mark.parametrize(
    "attribute_id", ["", "a" * 65, "A", "a-b", "a.b", "a b", "caf\u00e9", "a\n", "\u0663"]
)
def test_an_id_outside_the_pattern_is_refused(api: Client, project: str, attribute_id: str) -> None:
    body = {"name": "Name", "type": "text", "id": attribute_id}
    assert api.post(f"{project}/attributes", body).errors.keys() == {"id"}


@pytest.mark.parametrize("reserved", ["num", *BUILTINS])
def test_a_reserved_id_is_a_conflict_when_asked_for_and_gets_a_suffix_when_made(
    api: Client, project: str, reserved: str
) -> None:
    body = {"name": reserved.capitalize(), "type": "text"}
    assert api.post(f"{project}/attributes", {**body, "id": reserved}).kind == (409, "conflict")
    assert [add(api, project, **body)["id"] for _ in range(2)] == [f"{reserved}_2", f"{reserved}_3"]


def test_an_id_that_is_taken_is_a_conflict_when_asked_for_and_gets_a_suffix_when_made(
    api: Client, project: str
) -> None:
    add(api, project, name="Start")
    assert api.post(f"{project}/attributes", {"name": "x", "type": "text", "id": "start"}).kind == (
        409,
        "conflict",
    )
    add(api, project, id="start_2")
    assert add(api, project, name="START!")["id"] == "start_3"


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("Sign Off", "sign_off"),
        ("  --Sign/Off--  ", "sign_off"),
        ("Prioridad n\u00famero 1", "prioridad_numero_1"),
        ("\u4f18\u5148", "attribute"),
        ("!!!", "attribute"),
        ("X" * 200, "x" * 64),
        ("\ufb01eld", "field"),
    ],
)
def test_an_id_is_made_from_the_name(api: Client, project: str, name: str, made: str) -> None:
    assert add(api, project, name=name)["id"] == made
    assert add(api, project, name=name)["id"] == made[:62] + "_2"


def test_positions_are_places_in_the_display_order(api: Client, project: str) -> None:
    for name in ("a", "b", "c"):
        add(api, project, id=name)
    assert add(api, project, id="first", position=0)["position"] == 0
    assert add(api, project, id="third", position=2)["position"] == 2
    assert add(api, project, id="last", position=5)["position"] == 5
    assert order(api, project) == ["first", "a", "third", "b", "c", "last"]
    assert api.patch(f"{project}/attributes/first", {"position": 5}).body["position"] == 5
    assert api.patch(f"{project}/attributes/c", {"position": 0}).body["position"] == 0
    assert api.patch(f"{project}/attributes/b", {"position": 3}).body["position"] == 3
    assert order(api, project) == ["c", "a", "third", "b", "last", "first"]
    api.delete(f"{project}/attributes/third")
    assert order(api, project) == ["c", "a", "b", "last", "first"]


def test_a_position_beyond_the_end_is_refused(api: Client, project: str, account: Cloud) -> None:
    add(api, project, id="a")
    before = account.items()
    body = {"name": "x", "type": "text", "position": 2}
    assert api.post(f"{project}/attributes", body).errors.keys() == {"position"}
    assert api.patch(f"{project}/attributes/a", {"position": 1}).errors.keys() == {"position"}
    assert account.items() == before


def test_an_attribute_can_be_renamed_and_made_required_and_its_id_stays(api: Client, project: str) -> None:
    before = add(api, project, name="Start")
    after = api.patch(f"{project}/attributes/start", {"name": "Begin", "required": True}).body
    assert after == {**before, "name": "Begin", "required": True, "version": 2, "updated": after["updated"]}


def test_the_type_is_fixed(api: Client, project: str) -> None:
    add(api, project, id="a")
    assert api.patch(f"{project}/attributes/a", {"type": "text"}).errors.keys() == {"type"}


def test_an_unindexed_attribute_cannot_be_sorted_by(api: Client, project: str) -> None:
    add(api, project, id="a", indexed=False)
    assert api.get(f"{project}/grid", query={"sort": "a"}).kind == (422, "query-too-expensive")
    assert api.get(f"{project}/grid", query={"columns": "a"}).status == 200


def test_the_values_of_a_deleted_attribute_are_gone_and_do_not_come_back_with_its_id(
    api: Client, account: Cloud, bridge: str
) -> None:
    account.derive()
    assert api.delete(f"{bridge}/attributes/3812").status == 204
    assert api.get(f"{bridge}/attributes/3812").kind == (404, "not-found")
    assert api.get(f"{bridge}/issues/1").body["fields"] == {"882a": "2023-06-01"}
    assert api.get(f"{bridge}/grid", query={"sort": "3812"}).errors.keys() == {"sort.0.field"}
    assert api.patch(f"{bridge}/issues/1", {"fields": {"3812": None}}).errors.keys() == {"fields.3812"}
    assert api.delete(f"{bridge}/deleted-attributes/3812").status == 204
    account.upkeep()
    add(api, bridge, id="3812", type="date")
    assert api.get(f"{bridge}/issues/1").body["fields"] == {"882a": "2023-06-01"}
    rows = api.get(f"{bridge}/grid", query={"sort": "3812"}).body["rows"]
    assert [row["num"] for row in rows] == [1, 2, 3]


@pytest.mark.parametrize("field", [*BUILTINS])
def test_a_built_in_field_can_be_looked_at_and_only_its_index_be_switched(
    api: Client, project: str, field: str
) -> None:
    path = f"{project}/attributes/{field}"
    shown = api.get(path).body
    assert (shown["id"], shown["position"], shown["indexed"], shown["version"]) == (field, None, True, 1)
    assert api.patch(path, {"name": "x", "required": False}).errors.keys() == {"name", "required"}
    assert api.delete(path).kind == (409, "conflict")
    assert api.patch(path, {"indexed": False}).body["indexed"] is False
    assert api.get(path).body["version"] == 2
    assert order(api, project) == []


def test_the_number_is_no_attribute(api: Client, project: str) -> None:
    path = f"{project}/attributes/num"
    answers = [api.get(path), api.patch(path, {"indexed": False}), api.delete(path)]
    assert {answer.kind for answer in answers} == {(404, "not-found")}


@pytest.mark.parametrize("kind", sorted({*TYPES} - {"enum", "multi_enum"}))
def test_only_enums_have_options(api: Client, project: str, kind: str) -> None:
    body = {"name": "x", "type": kind, "options": []}
    assert api.post(f"{project}/attributes", body).errors.keys() == {"options"}
    add(api, project, id="a", type=kind)
    assert api.patch(f"{project}/attributes/a", {"options": ["x"]}).errors.keys() == {"options"}


def test_an_enum_may_begin_without_options(api: Client, project: str) -> None:
    assert add(api, project, id="kind", type="enum")["options"] == []
    assert api.post(f"{project}/issues", {"name": "x", "fields": {"kind": "a"}}).errors.keys() == {
        "fields.kind"
    }
    assert api.patch(f"{project}/attributes/kind", {"options": ["a"]}).status == 200
    assert api.made(f"{project}/issues", {"name": "x", "fields": {"kind": "a"}})["fields"] == {"kind": "a"}


def test_two_concurrent_creates_of_attributes_both_succeed(
    api: Client, account: Cloud, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = account.modules["command"].table
    transact, others = table.transact, iter(["Start"])

    def after_another(writes: Any) -> None:
        for name in others:
            add(api, project, name=name)
        transact(writes)

    monkeypatch.setattr(table, "transact", after_another)
    assert add(api, project, name="Start")["id"] == "start_2"
    assert order(api, project) == ["start", "start_2"]
