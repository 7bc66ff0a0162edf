"""The effects of the routes of projects, living and deleted."""

from gridview.encoding import keys
from tests.support.effects import CALLER, PROJECT, TENANT, Example, in_project, issue
from tests.support.worked_example import NEWS, PATH

ITEM = in_project(keys.tenant(TENANT))
"""The key of the worked example's project."""
CATALOG = in_project(keys.CATALOG)
COUNTED = keys.tenant(TENANT), keys.TENANT_SELF
"""The key of the tenant's item, which counts projects."""


def names(example: Example, path: str = "/v1/projects") -> list[str]:
    return [one["name"] for one in example.api.get(path).body["items"]]


def test_list_projects(example: Example) -> None:
    example.api.made("/v1/projects", {"id": "dam", "name": "Ash Dam"})
    answer = example.read().body
    assert [(one["id"], one["name"]) for one in answer["items"]] == [
        ("dam", "Ash Dam"),
        ("35e9", "Forth Rail Bridge"),
    ]
    assert answer["next"] is None


def test_create_project(example: Example) -> None:
    answer = example.write(201)
    path = answer.headers["location"]
    assert example.api.get(path).body == answer.body
    assert [state["value"] for state in answer.body["states"]] == ["open", "blocked", "closed"]
    assert names(example) == ["Forth Rail Bridge", "Tay Rail Bridge"]
    assert example.item(COUNTED)["projects"] == 2
    project = keys.project(TENANT, answer.body["id"])
    assert {(project, keys.CATALOG), (project, keys.tenant(TENANT)), COUNTED} <= example.changed.keys()
    assert example.api.made(f"{path}/issues", {"name": "Pier", "state": "blocked"})["num"] == 1
    example.follow()
    assert [row["name"] for row in example.api.get(f"{path}/grid").body["rows"]] == ["Pier"]
    assert example.news.get(path).status == 404


def test_get_project(example: Example) -> None:
    answer = example.read().body
    assert (answer["id"], answer["name"], answer["issues"], answer["version"]) == (
        "35e9",
        "Forth Rail Bridge",
        3,
        1,
    )
    assert [(one["id"], one["name"], one["type"]) for one in answer["attributes"]] == [
        ("3812", "Start", "date"),
        ("882a", "End", "date"),
        ("3fe6", "Num Items", "number"),
        ("47e5", "Sign Off", "text"),
    ]


def test_update_project(example: Example) -> None:
    answer = example.write(200).body
    assert example.get() == answer
    assert (answer["name"], answer["version"], answer["updated_by"]) == ("Forth Railway Bridge", 2, CALLER)
    assert [(one["value"], one["color"]) for one in answer["states"]] == [
        ("open", None),
        ("blocked", "red"),
        ("closed", None),
    ]
    assert example.changed.keys() == {ITEM, CATALOG}
    assert names(example) == ["Forth Railway Bridge"]
    assert example.api.patch(f"{PATH}/issues/1", {"state": "blocked"}).status == 200
    example.settle()
    assert example.rows("state") == [3, 1, 2]


def test_delete_project(example: Example) -> None:
    example.write(204)
    assert example.gone()
    assert example.gone("/issues/1")
    assert names(example) == []
    assert names(example, "/v1/deleted-projects") == ["Forth Rail Bridge"]
    assert example.item(ITEM)["sort"] < keys.LIVING_PROJECTS
    assert example.item(COUNTED)["projects"] == 0
    example.settle()
    assert example.item(issue(1))["name"] == "Needs Painting", "it can be restored"
    assert example.news.get(NEWS).status == 200


def test_list_deleted_projects(example: Example) -> None:
    example.before("delete_project")
    (deleted,) = example.read().body["items"]
    assert (deleted["id"], deleted["name"], deleted["deleted_by"]) == ("35e9", "Forth Rail Bridge", CALLER)
    assert deleted["deleted"] < deleted["expires"]
    assert example.news.get("/v1/deleted-projects").body["items"] == []


def test_restore_project(example: Example) -> None:
    example.before("delete_project")
    answer = example.write(200).body
    assert example.get() == answer
    assert (answer["issues"], answer["version"]) == (3, 3)
    assert names(example) == ["Forth Rail Bridge"]
    assert names(example, "/v1/deleted-projects") == []
    assert example.item(COUNTED)["projects"] == 1
    example.settle()
    assert example.rows("-3812") == [2, 1, 3]
    assert example.api.made(f"{PATH}/issues", {"name": "Rivets"})["num"] == 4


def test_purge_project(example: Example) -> None:
    example.before("delete_project")
    example.write(204)
    assert names(example, "/v1/deleted-projects") == []
    assert example.api.post(f"/v1/deleted-projects/{PROJECT}/restore").status == 404
    example.settle()
    left = [item for (pk, _), item in example.items.items() if f"{TENANT}.{PROJECT}" in pk]
    assert not any("fields" in item or "name" in item for item in left), "no value is left"
    assert not any(keys.SORT in item for item in left), "and no index lists anything"
    assert [row["num"] for row in example.news.get(f"{NEWS}/grid").body["rows"]] == [1, 2]
