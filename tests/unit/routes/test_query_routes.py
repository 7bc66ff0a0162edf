"""The effects of the routes that query issues, and of saved views."""

from typing import Any

from gridview.encoding import keys
from tests.support.effects import CALLER, PROJECT, TENANT, Example, issue
from tests.support.worked_example import PATH


def test_grid(example: Example) -> None:
    page = example.read().body
    assert [(row["num"], row["name"], row["fields"]) for row in page["rows"]] == [
        (3, "Girder needs replacing", {}),
        (2, "Check for rust", {"3812": "2023-05-02"}),
        (1, "Needs Painting", {"3812": "2023-05-01"}),
    ]
    assert (page["next"], page["offset"], page["index"]["pending"]) == (None, 0, 0)
    assert page["explain"]["plan"]


def test_grid_get(example: Example) -> None:
    page = example.read().body
    assert [(row["num"], row["name"], row["fields"]) for row in page["rows"]] == [
        (2, "Check for rust", {"3812": "2023-05-02"}),
        (1, "Needs Painting", {"3812": "2023-05-01"}),
    ]
    rest = example.get("/grid", sort="-3812", columns="name,3812", limit="2", cursor=page["next"])
    assert [row["num"] for row in rest["rows"]] == [3]
    assert rest["next"] is None


def test_groups(example: Example) -> None:
    body = example.read().body
    assert [(one["values"], one["count"], one["aggregates"][0]["value"]) for one in body["groups"]] == [
        (["open", "2023-05"], 1, None),
        (["open", None], 1, 42),
        (["closed", "2023-05"], 1, None),
    ]
    assert [example.rows(filter=one["filter"]) for one in body["groups"]] == [[1], [3], [2]]


def test_summary(example: Example) -> None:
    body = example.read().body
    assert (body["matched"], body["summaries"]) == (
        3,
        [
            {"field": "state", "count": 3, "distinct": 2},
            {"field": "3812", "empty": 1, "min": "2023-05-01", "max": "2023-05-02"},
            {"field": "3fe6", "sum": 42, "avg": 42},
        ],
    )


def test_check_formula(example: Example) -> None:
    assert example.read().body == {
        "type": "number",
        "formula": 'DATETIME_DIFF({End}, {Start}, "day") / {Number}',
        "uses": ["num", "3812", "882a"],
        "values": [{"num": 1, "value": 31}, {"num": 2, "value": 15.5}, {"num": 3, "value": None}],
    }


def test_row_number(example: Example) -> None:
    example.api.made(f"{PATH}/issues", {"name": "Rivets missing", "fields": {"3812": "2023-05-04"}})
    example.follow()
    assert example.read().body["row_number"] == 1
    assert example.rows("-3812") == [4, 2, 1, 3]


VIEWS = keys.views(TENANT, PROJECT)
VIEW = VIEWS, keys.private_view(CALLER, 1)
ORDER = VIEWS, keys.private_order(CALLER)
REGISTER = VIEWS, keys.VIEW_REGISTER


def listed(example: Example) -> list[Any]:
    """The views that the caller sees."""
    found: list[Any] = example.caller.get(f"{PATH}/views").body["items"]
    return found


def test_list_views(example: Example) -> None:
    made = example.before("create_view").body
    example.api.made(f"{PATH}/views", {"name": "Of ann's own"})
    shared = example.api.made(f"{PATH}/views", {"name": "All", "visibility": "shared"})
    found = example.read().body["items"]
    assert sorted(one["id"] for one in found) == [made["id"], shared["id"]]
    assert made in found


def test_create_view(example: Example) -> None:
    answer = example.write(201)
    assert example.caller.get(answer.headers["location"]).body == answer.body
    assert listed(example) == [answer.body]
    assert example.gone("/views/v1"), "it is the caller's own"
    assert example.changed.keys() == {VIEW, ORDER, REGISTER}
    assert example.rows(filter=answer.body["query"]["filter"]) == [1, 3]


def test_get_view(example: Example) -> None:
    made = example.before("create_view").body
    assert example.read().body == made
    assert (made["name"], made["color_by"], made["row_height"]) == ("What is open", "state", 32)


def test_update_view(example: Example) -> None:
    made = example.before("create_view").body
    answer = example.write(200).body
    assert answer == {**made, "name": "Open", "version": 2, "updated": answer["updated"]}
    assert listed(example) == [answer]
    assert example.changed.keys() == {VIEW}


def test_place_rows(example: Example) -> None:
    example.follow()
    made = example.api.made(f"{PATH}/views", {"name": "By hand", "visibility": "shared"})
    by_hand = [{"manual": made["id"]}]
    assert example.api.patch(f"{PATH}/views/{made['id']}", {"query": {"sort": by_hand}}).status == 200
    example.settle()
    answer = example.write(200)
    assert [one["num"] for one in answer.body["items"]] == [3]
    changed = {key for key in example.changed if key[0] != keys.request(TENANT, PROJECT)}
    assert changed == {issue(3), (keys.placements(TENANT, PROJECT), keys.JOB)}
    example.follow()
    rows = example.caller.post(f"{PATH}/grid", {"sort": by_hand}).body["rows"]
    assert [row["num"] for row in rows] == [1, 3, 2]


def test_delete_view(example: Example) -> None:
    example.before("create_view")
    example.write(204)
    assert listed(example) == []
    assert example.caller.get(f"{PATH}/views/v1").kind == (404, "not-found")
    assert example.changed.keys() == {VIEW, ORDER}
    assert example.changed[VIEW] is None
    assert example.caller.made(f"{PATH}/views", {"name": "Next"})["id"] == "v2"
