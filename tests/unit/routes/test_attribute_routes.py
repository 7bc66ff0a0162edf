"""The effects of the routes of attributes, living and deleted, and of composite indexes."""

from typing import Any

from gridview.dynamodb.expressions import Key
from gridview.encoding import derived_keys, keys
from tests.support.effects import CALLER, PROJECT, TENANT, Example, in_project, issue
from tests.support.worked_example import PATH

CATALOG = in_project(keys.CATALOG)
JOB = in_project(keys.JOB)
C1 = in_project(keys.composite(TENANT, PROJECT, "c1"))


def definition(attribute: str) -> Key:
    return in_project(keys.attribute(TENANT, PROJECT, attribute))


def attributes(example: Example) -> list[str]:
    return [one["id"] for one in example.get()["attributes"]]


def entries(example: Example, order: str) -> list[tuple[Any, str]]:
    """The sort strings in this order, each with the issue's partition key."""
    listed = derived_keys.order(TENANT, PROJECT, order)
    return sorted(
        (item[keys.SORT], pk)
        for (pk, sk), item in example.items.items()
        if sk == listed and keys.SORT in item
    )


def test_create_attribute(example: Example) -> None:
    answer = example.write(201)
    assert example.api.get(answer.headers["location"]).body == answer.body
    assert attributes(example) == ["severity", "3812", "882a", "3fe6", "47e5"]
    assert example.changed.keys() == {CATALOG, definition("severity")}
    for num, value in ((1, "high"), (2, "low")):
        assert example.api.patch(f"{PATH}/issues/{num}", {"fields": {"severity": value}}).status == 200
    example.settle()
    assert example.rows("severity") == [2, 1, 3]


def test_get_attribute(example: Example) -> None:
    answer = example.read().body
    assert (answer["id"], answer["name"], answer["type"]) == ("3fe6", "Num Items", "number")
    assert (answer["position"], answer["indexed"], answer["required"]) == (2, True, False)
    assert example.get()["attributes"][2] == answer


def test_update_attribute(example: Example) -> None:
    answer = example.write(200).body
    assert example.get("/attributes/3fe6") == answer
    assert (answer["name"], answer["position"], answer["version"]) == ("Number of Items", 3, 2)
    assert attributes(example) == ["3812", "882a", "47e5", "3fe6"]
    assert example.changed.keys() == {CATALOG, definition("3fe6")}
    assert example.item(definition("3fe6"))["name"] == "Number of Items"
    assert example.rows("3fe6") == [3, 1, 2]


def test_delete_attribute(example: Example) -> None:
    example.write(204)
    assert example.gone("/attributes/47e5")
    assert attributes(example) == ["3812", "882a", "3fe6"]
    assert example.get("/issues/3")["fields"] == {"3fe6": 42}
    assert example.changed.keys() == {CATALOG, definition("47e5"), JOB}
    example.settle()
    assert example.item(issue(3))["fields"]["a4"] == "Approved", "it can be restored"
    sort = [{"field": "47e5"}]
    assert example.api.post(f"{PATH}/grid", {"sort": sort}).errors.keys() == {"sort.0.field"}


def test_list_deleted_attributes(example: Example) -> None:
    example.before("delete_attribute")
    (deleted,) = example.read().body["items"]
    assert (deleted["id"], deleted["name"], deleted["deleted_by"]) == ("47e5", "Sign Off", CALLER)
    assert deleted["deleted"] < deleted["expires"]


def test_restore_attribute(example: Example) -> None:
    example.before("delete_attribute")
    answer = example.write(200).body
    assert example.get("/attributes/47e5") == answer
    assert attributes(example) == ["3812", "882a", "3fe6", "47e5"]
    assert example.get("/issues/3")["fields"] == {"3fe6": 42, "47e5": "Approved"}
    assert example.get("/deleted-attributes")["items"] == []
    example.settle()
    assert example.rows("-47e5") == [3, 2, 1]


def test_purge_attribute(example: Example) -> None:
    example.before("delete_attribute")
    example.write(204)
    assert example.get("/deleted-attributes")["items"] == []
    assert example.api.post(f"{PATH}/deleted-attributes/47e5/restore").status == 404
    example.settle()
    assert "a4" not in example.item(issue(3))["fields"]
    assert entries(example, "a4.1") == []
    assert definition("47e5") not in example.items
    assert example.rows("3fe6") == [3, 1, 2]


def test_list_indexes(example: Example) -> None:
    made = example.before("create_index").body
    assert example.read().body["items"] == [made]


def test_create_index(example: Example) -> None:
    answer = example.write(201)
    assert answer.body["state"] == "building"
    assert example.api.get(answer.headers["location"]).body == answer.body
    assert example.changed.keys() == {CATALOG, C1, JOB}
    example.settle()
    assert example.get("/indexes/c1")["state"] == "ready"
    assert example.rows("state", "-3812") == [1, 3, 2]
    explained = example.get("/grid", sort="state,-3812", explain="true")["explain"]["plan"]
    assert any("of c1" in step for step in explained), "the grid reads the index"
    assert len(entries(example, "c1.1")) == 3
    assert JOB not in example.items


def test_get_index(example: Example) -> None:
    made = example.before("create_index").body
    answer = example.read().body
    assert answer == made
    assert (answer["id"], answer["state"], answer["version"]) == ("c1", "building", 1)
    assert [(one["field"], one["direction"]) for one in answer["sort"]] == [
        ("state", "asc"),
        ("3812", "desc"),
    ]


def test_delete_index(example: Example) -> None:
    example.before("create_index")
    example.settle()
    example.write(204)
    assert example.gone("/indexes/c1")
    assert example.get("/indexes")["items"] == []
    assert len(entries(example, "c1.1")) == 3
    example.settle()
    assert entries(example, "c1.1") == []
    assert C1 not in example.items
    assert JOB not in example.items
