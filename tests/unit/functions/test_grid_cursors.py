"""Cursors of the grid: for one query of one project of one tenant, unchanged; expired after the index was rebuilt."""

import base64
import string
from typing import Any

import pytest

from gridview.commands.attributes import rebuild
from gridview.encoding.cursors import Cursors
from gridview.schema.store import Catalogs
from tests.support import worked_example
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client

PATH = f"{worked_example.PATH}/grid"
START = [{"field": "3812"}]


@pytest.fixture(scope="module")
def owner(shared_account: Cloud) -> Client:
    """The owner of the worked example, indexed. No test changes it."""
    owner = shared_account.api()
    worked_example.load(owner)
    shared_account.derive()
    return owner


@pytest.fixture(scope="module")
def cursor(owner: Client) -> str:
    """After the first issue by Start."""
    cursor: str = owner.post(PATH, {"sort": START, "limit": 1}).body["next"]
    return cursor


def follow(client: Client, cursor: str, sort: list[Any] = START, path: str = PATH, **more: Any) -> Answer:
    return client.post(path, {"sort": sort, "cursor": cursor, **more})


def refused(answer: Answer) -> bool:
    return answer.kind == (400, "invalid-request") and answer.errors == {
        "cursor": "does not belong to this query"
    }


def test_a_cursor_leads_on_and_back(owner: Client, cursor: str) -> None:
    second = follow(owner, cursor, limit=1)
    assert [row["num"] for row in second.body["rows"]] == [2]
    assert second.body["offset"] is None
    back = follow(owner, second.body["prev"], limit=1)
    assert [row["num"] for row in back.body["rows"]] == [1]
    forth = follow(owner, back.body["next"], limit=500)
    assert [row["num"] for row in forth.body["rows"]] == [2, 3]
    assert forth.body["next"] is None


def test_parameters_that_keep_the_order_may_change_between_pages(owner: Client, cursor: str) -> None:
    answer = follow(owner, cursor, limit=500, columns=["name"], explain=True)
    assert [row["num"] for row in answer.body["rows"]] == [2, 3]
    spelled_out = [{"field": "3812", "direction": "asc", "nulls": "last"}]
    assert follow(owner, cursor, spelled_out).status == 200
    assert owner.get(PATH, query={"sort": "3812", "cursor": cursor}).status == 200
    assert follow(owner.acting(user="bob", role="viewer"), cursor).status == 200


def test_a_changed_character_is_noticed(owner: Client, cursor: str) -> None:
    for place, there in [*enumerate(cursor)][::4]:  # every single one: tests/unit/test_cursors.py
        other = "A" if there != "A" else "B"
        assert refused(follow(owner, cursor[:place] + other + cursor[place + 1 :])), place


def test_another_spelling_of_the_same_cursor_is_refused(owner: Client, cursor: str) -> None:
    alphabet = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
    spellings = [
        cursor + "=" * (-len(cursor) % 4 or 4),
        cursor + "\n",
        " " + cursor,
        cursor[:4] + "\n" + cursor[4:],
        cursor.translate(str.maketrans("-_", "+/")) + "=",
        cursor[:-1],
        cursor + "A",
        cursor.swapcase(),
        *(cursor[:-1] + other for other in alphabet[::5] if other != cursor[-1]),
    ]
    for spelling in spellings:
        assert refused(follow(owner, spelling)), spelling


@pytest.mark.parametrize("text", ["", "x", "null", "\u00e4", "A" * 10_000, "%00", "../.."])
def test_an_invalid_cursor_is_refused(owner: Client, text: str) -> None:
    assert refused(follow(owner, text))
    assert refused(owner.get(PATH, query={"sort": "3812", "cursor": text}))


@pytest.mark.parametrize(
    "sort",
    [
        [],
        [{"field": "num"}],
        [{"field": "882a"}],
        [{"field": "name"}],
        [{"field": "3812", "direction": "desc"}],
        [{"field": "3812", "nulls": "first"}],
    ],
)
def test_a_cursor_is_bound_to_its_sort(owner: Client, cursor: str, sort: list[Any]) -> None:
    assert refused(follow(owner, cursor, sort))
    own = owner.post(PATH, {"sort": sort, "limit": 1}).body["next"]
    assert refused(follow(owner, own))
    assert follow(owner, own, sort).status == 200


def test_a_cursor_is_bound_to_its_tenant_and_project(
    owner: Client, shared_account: Cloud, cursor: str
) -> None:
    other_tenant = owner.acting(tenant="3cc8")
    worked_example.load(other_tenant)
    assert refused(follow(other_tenant, cursor))
    owner.made("/v1/projects", {"id": "other", "name": "Other"})
    owner.made("/v1/projects/other/attributes", worked_example.ATTRIBUTES[0])
    assert refused(follow(owner, cursor, path="/v1/projects/other/grid"))


def test_a_deleted_and_made_again_attribute_is_another_order(owner: Client, shared_account: Cloud) -> None:
    owner.made("/v1/projects", {"id": "anew", "name": "Anew"})
    path = "/v1/projects/anew"
    for _ in range(2):
        owner.made(f"{path}/issues", {"name": "x"})
    owner.made(f"{path}/attributes", {"id": "kind", "name": "Kind", "type": "text"})
    shared_account.derive()
    sort = [{"field": "kind"}]
    cursor = owner.post(f"{path}/grid", {"sort": sort, "limit": 1}).body["next"]
    assert owner.delete(f"{path}/attributes/kind").status == 204
    assert owner.delete(f"{path}/deleted-attributes/kind").status == 204
    shared_account.upkeep()
    owner.made(f"{path}/attributes", {"id": "kind", "name": "Kind", "type": "text"})
    assert refused(follow(owner, cursor, sort, f"{path}/grid"))


def test_a_cursor_of_a_rebuilt_index_has_expired(owner: Client, shared_account: Cloud) -> None:
    owner.made("/v1/projects", {"id": "rebuilt", "name": "Rebuilt"})
    path = "/v1/projects/rebuilt"
    owner.made(f"{path}/attributes", {"id": "kind", "name": "Kind", "type": "text"})
    for text in ("x", "y"):
        owner.made(f"{path}/issues", {"name": "x", "fields": {"kind": text}})
    shared_account.derive()
    sort = [{"field": "kind"}]
    cursor = owner.post(f"{path}/grid", {"sort": sort, "limit": 1}).body["next"]
    assert follow(owner, cursor, sort, f"{path}/grid").status == 200
    rebuild(shared_account.table, Catalogs(), "0807", "rebuilt", ["kind"], rate=0, settling=0)
    assert follow(owner, cursor, sort, f"{path}/grid").status == 200, "the old index is served"
    shared_account.upkeep()
    shared_account.forget()
    assert follow(owner, cursor, sort, f"{path}/grid").kind == (410, "cursor-expired")
    rows = owner.post(f"{path}/grid", {"sort": sort}).body["rows"]
    assert [row["num"] for row in rows] == [1, 2]


def test_a_cursor_under_the_previous_secret_works_until_the_next_rotation(
    owner: Client, shared_account: Cloud, cursor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = shared_account.modules["query"].cursor_source
    first = b"a secret of the tests"

    def rotate(*secrets: bytes) -> None:
        monkeypatch.setattr(source, "cursors", lambda purpose: Cursors(secrets, purpose))

    rotate(b"second", first)
    newer = owner.post(PATH, {"sort": START, "limit": 1}).body["next"]
    assert newer != cursor
    assert follow(owner, cursor).body["rows"] == follow(owner, newer).body["rows"]
    rotate(b"third", b"second")
    assert refused(follow(owner, cursor))
    assert follow(owner, newer).status == 200


def test_a_cursor_shows_nothing_of_what_it_holds(owner: Client, cursor: str) -> None:
    raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    for part in (b"2023", b"3812", b"0807", b"35e9"):
        assert part not in raw


def test_a_walk_shows_an_issue_that_was_not_edited_once_though_others_come_and_go(
    account: Cloud, api: Client, project: str
) -> None:
    for num in range(1, 8):
        api.made(f"{project}/issues", {"name": f"issue {num}"})
    account.derive()
    seen: list[int] = []
    cursor = None
    while not seen or cursor:
        answer = api.post(
            f"{project}/grid",
            {"sort": [{"field": "name"}], "limit": 2, **({"cursor": cursor} if cursor else {})},
        )
        seen += [row["num"] for row in answer.body["rows"]]
        cursor = answer.body["next"]
        if len(seen) == 2:
            api.delete(f"{project}/issues/2")  # the one that the cursor names
            api.delete(f"{project}/issues/4")
            api.patch(f"{project}/issues/6", {"name": "a new name, before all others"})
            account.derive()
    assert [num for num in seen if num not in {2, 4, 6}] == [1, 3, 5, 7]
    assert 4 not in seen
