"""`search`: the words of an attribute's texts, indexed or not, as an administrator sets it."""

from typing import Any

import pytest

from gridview.commands.attributes import rebuild
from gridview.derive.ledger import Ledger
from gridview.encoding import derived_keys, keys
from gridview.encoding.sort_strings import body_of
from gridview.schema.store import Catalogs
from tests.support.cloud import Cloud
from tests.support.http import Client

TENANT = "0807"
REBUILDING = {"state": "rebuilding", "done": 0, "total": 3}


@pytest.fixture
def note(api: Client, account: Cloud, project: str) -> str:
    """The path of a text attribute, and three issues of which two have a value of it."""
    api.made(f"{project}/attributes", {"id": "note", "name": "Note", "type": "text"})
    for text in ("Rust, and more rust", None, "Paint"):
        api.made(f"{project}/issues", {"name": "Some name", "fields": {"note": text}})
    account.derive()
    return f"{project}/attributes/note"


def words(account: Cloud, family: str, num: int = 1) -> set[str]:
    """The words of an issue in a family, according to its ledger."""
    ledger = account.table.get(f"issue-0807.plain.{num:08d}", derived_keys.LEDGER, consistent=True)
    assert ledger is not None
    derived = Ledger.from_item(ledger).target().get(family)
    return set(body_of(derived).split("\x01")) if derived else set()


def families(account: Cloud) -> set[str]:
    """The families with words of issues, according to their blocks, after a fold."""
    account.fold()
    found = {item["SK"]["S"].split(".", 2)[2] for item in account.items() if "write_id" in item}
    return {family for family in found if family.endswith(".has")}


def sorted_by_note(api: Client, note: str) -> list[int]:
    answer = api.get(f"{note.split('/attributes')[0]}/grid", query={"sort": "note"})
    assert answer.status == 200, answer.text
    return [row["num"] for row in answer.body["rows"]]


def test_words_are_not_indexed_unless_that_is_asked_for(api: Client, account: Cloud, note: str) -> None:
    assert api.get(note).body["search"] is False
    assert families(account) == {"name.1.has"}


def test_the_name_is_always_searched(api: Client, account: Cloud, note: str) -> None:
    name = note.replace("note", "name")
    assert api.get(name).body["search"] is True
    assert words(account, "name.1.has") == {"some", "name"}
    for body in ({"search": True}, {"search": False}):
        answer = api.patch(name, body)
        assert (answer.kind, set(answer.errors)) == ((400, "invalid-request"), {"search"})
    off = api.patch(name, {"indexed": False}).body
    assert (off["indexed"], off["search"]) == (False, False)


def test_a_new_attribute_is_searched_at_once(api: Client, account: Cloud, project: str) -> None:
    body = {"id": "note", "name": "Note", "type": "text", "search": True}
    made = api.made(f"{project}/attributes", body)
    assert (made["indexed"], made["search"], made["build"]) == (True, True, None)
    api.made(f"{project}/issues", {"name": "x", "fields": {"note": "Rust, and RÚST"}})
    account.derive()
    assert words(account, "a1.1.has") == {"rust", "and"}


@pytest.mark.parametrize(
    "body",
    [
        *({"type": kind, "search": True} for kind in ("number", "date", "datetime", "bool", "enum", "user")),
        {"type": "text", "search": True, "indexed": False},
        {"type": "text", "search": None},
        {"type": "text", "search": 1},
    ],
)
def test_search_of_an_unsearchable_type_is_refused_at_creation(
    api: Client, project: str, body: dict[str, Any]
) -> None:
    answer = api.post(f"{project}/attributes", {"id": "note", "name": "Note", **body})
    assert (answer.kind, set(answer.errors)) == ((400, "invalid-request"), {"search"})
    assert api.get(f"{project}/attributes/note").status == 404


def test_an_attribute_beyond_those_indexed_by_default_says_that_it_is_to_be(
    api: Client, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gridview.commands.attributes.INDEXED_BY_DEFAULT", 0)
    body = {"id": "note", "name": "Note", "type": "text", "search": True}
    assert "indexed" in api.post(f"{project}/attributes", body).errors["search"]
    assert api.made(f"{project}/attributes", {**body, "indexed": True})["search"] is True


def test_switched_on_it_is_built_while_the_present_index_is_served(
    api: Client, account: Cloud, note: str
) -> None:
    switched = api.patch(note, {"search": True}).body
    assert (switched["search"], switched["build"]) == (True, REBUILDING)
    assert api.get(note).body == switched
    assert sorted_by_note(api, note) == [3, 1, 2]
    account.upkeep()
    after = api.get(note).body
    assert (after["search"], after["build"]) == (True, None)
    assert words(account, "a1.2.has") == {"rust", "and", "more"}
    assert sorted_by_note(api, note) == [3, 1, 2]
    assert "a1.2.has" in families(account)


def test_switched_off_again_its_words_go(api: Client, account: Cloud, note: str) -> None:
    api.patch(note, {"search": True})
    account.upkeep()
    off = api.patch(note, {"search": False}).body
    assert (off["search"], off["build"]) == (False, REBUILDING)
    account.upkeep()
    assert api.get(note).body["build"] is None
    assert words(account, "a1.2.has") == words(account, "a1.3.has") == set()
    assert sorted_by_note(api, note) == [3, 1, 2]


def test_the_last_setting_during_a_build_wins(api: Client, account: Cloud, note: str) -> None:
    api.patch(note, {"search": True})
    assert api.patch(note, {"search": False}).body["build"] == REBUILDING
    account.upkeep()
    assert api.get(note).body["search"] is False
    assert words(account, "a1.2.has") == set()
    api.patch(note, {"search": False})
    api.patch(note, {"search": True})
    assert api.patch(note, {"search": True}).body["search"] is True
    account.upkeep()
    assert words(account, "a1.4.has") == {"rust", "and", "more"}


def test_saying_what_is_so_already_builds_nothing(api: Client, account: Cloud, note: str) -> None:
    assert api.patch(note, {"search": False}).body["build"] is None
    assert not any(item["SK"]["S"] == keys.JOB for item in account.items())


def test_switched_on_during_the_first_build_it_waits_for_the_words(
    api: Client, account: Cloud, project: str, note: str
) -> None:
    api.patch(note, {"indexed": False})
    account.upkeep()
    api.patch(note, {"indexed": True})
    searched = api.patch(note, {"search": True}).body
    assert (searched["indexed"], searched["search"], searched["build"]["state"]) == (True, True, "building")
    assert api.get(f"{project}/grid", query={"sort": "note"}).kind == (409, "index-building")
    account.upkeep()
    assert words(account, "a1.3.has") == {"rust", "and", "more"}
    assert words(account, "a1.2.has") == set()


def test_it_needs_the_index_and_goes_with_it(api: Client, account: Cloud, note: str) -> None:
    api.patch(note, {"search": True})
    account.upkeep()
    both = api.patch(note, {"indexed": False, "search": True})
    assert (both.kind, set(both.errors)) == ((400, "invalid-request"), {"search"})
    off = api.patch(note, {"indexed": False}).body
    assert (off["indexed"], off["search"]) == (False, False)
    refused = api.patch(note, {"search": True})
    assert (refused.kind, set(refused.errors)) == ((400, "invalid-request"), {"search"})
    account.upkeep()
    assert words(account, "a1.2.has") == set()
    assert api.patch(note, {"search": False}).body["search"] is False
    again = api.patch(note, {"indexed": True, "search": True}).body
    assert (again["indexed"], again["search"], again["build"]["state"]) == (True, True, "building")
    account.upkeep()
    assert words(account, "a1.3.has") == {"rust", "and", "more"}


@pytest.mark.parametrize("kind", ["number", "date", "datetime", "bool", "enum", "multi_enum", "user"])
def test_only_texts_can_be_searched(api: Client, project: str, kind: str) -> None:
    options = {"options": ["low", "high"]} if "enum" in kind else {}
    api.made(f"{project}/attributes", {"id": "other", "name": "Other", "type": kind, **options})
    answer = api.patch(f"{project}/attributes/other", {"search": True})
    assert (answer.kind, set(answer.errors)) == ((400, "invalid-request"), {"search"})
    assert api.patch(f"{project}/attributes/other", {"search": False}).body["build"] is None


def test_a_rebuilt_index_has_its_words_again(api: Client, account: Cloud, note: str) -> None:
    api.patch(note, {"search": True})
    account.upkeep()
    rebuild(account.table, Catalogs(), TENANT, "plain", ["note"], rate=0, settling=0)
    account.forget()
    account.upkeep()
    assert words(account, "a1.3.has") == {"rust", "and", "more"}
    assert api.get(note).body["search"] is True


def test_a_deleted_attribute_takes_its_words_along(api: Client, account: Cloud, note: str) -> None:
    api.patch(note, {"search": True})
    account.upkeep()
    assert api.delete(note).status == 204
    assert api.delete(note.replace("/attributes/", "/deleted-attributes/")).status == 204
    account.upkeep()
    assert words(account, "a1.2.has") == set()
