"""Functions that keep a catalog for some seconds: unknown newer definitions are neither lost nor an error.

Each test plays two containers: one with the catalog from before a change, and one that makes the change.
"""

from collections.abc import Callable
from typing import Any

import pytest

from gridview.schema.store import Catalogs
from tests.support.cloud import Cloud
from tests.support.http import Client

Elsewhere = Callable[[], Client]


@pytest.fixture
def elsewhere(account: Cloud, bridge: str, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    """Lets every function keep its present catalog, and returns a client whose requests other containers answer."""
    account.forget()
    here = account.api()
    assert here.get(f"{bridge}/issues/1").status == 200
    assert here.patch(f"{bridge}/issues/1", {}).status == 200

    def client() -> Client:
        def other_container(name: str) -> Callable[[dict[str, Any], Any], dict[str, Any]]:
            def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
                with monkeypatch.context() as patch:
                    patch.setattr(account.modules[name], "catalogs", Catalogs())
                    result: dict[str, Any] = account.modules[name].handler(event, context)
                    return result

            return handle

        return Client({name: other_container(name) for name in account.modules}, here.claims)

    return client


@pytest.fixture
def severity(account: Cloud, bridge: str) -> None:
    body = {"id": "severity", "name": "Severity", "type": "enum", "options": ["low"]}
    account.api().made(f"{bridge}/attributes", body)


def test_a_value_of_an_attribute_that_is_not_known_here_survives_an_edit(
    account: Cloud, bridge: str, elsewhere: Elsewhere
) -> None:
    other = elsewhere()
    other.made(f"{bridge}/attributes", {"id": "late", "name": "Late", "type": "text"})
    assert other.patch(f"{bridge}/issues/1", {"fields": {"late": "kept"}}).status == 200
    assert account.api().patch(f"{bridge}/issues/1", {"name": "Edited"}).status == 200
    fields = other.get(f"{bridge}/issues/1").body["fields"]
    assert fields == {"3812": "2023-05-01", "882a": "2023-06-01", "late": "kept"}


def test_an_attribute_can_be_used_everywhere_as_soon_as_it_exists(
    account: Cloud, bridge: str, elsewhere: Elsewhere
) -> None:
    elsewhere().made(f"{bridge}/attributes", {"id": "late", "name": "Late", "type": "text"})
    assert account.api().made(f"{bridge}/issues", {"name": "x", "fields": {"late": "a"}})["fields"] == {
        "late": "a"
    }
    assert account.api().get(f"{bridge}/grid", query={"sort": "late"}).status == 200
    (result,) = (
        account.api().batch("35e9", {"create": {"name": "x", "fields": {"late": "b"}}}).body["results"]
    )
    assert result["status"] == 201


@pytest.mark.usefixtures("severity")
def test_an_option_that_is_not_known_here_is_shown_and_kept(
    account: Cloud, bridge: str, elsewhere: Elsewhere
) -> None:
    other, here = elsewhere(), account.api()
    assert other.patch(f"{bridge}/attributes/severity", {"options": ["low", "high"]}).status == 200
    assert other.patch(f"{bridge}/issues/1", {"fields": {"severity": "high"}}).status == 200
    account.derive()
    answers = [
        here.get(f"{bridge}/issues/1"),
        here.patch(f"{bridge}/issues/1", {"name": "Edited"}),
        here.batch("35e9", {"update": {"num": 1, "name": "Again"}}),
        here.get(f"{bridge}/grid", query={"sort": "severity", "limit": "1"}),
    ]
    assert [answer.status for answer in answers] == [200] * 4
    issues = [
        answers[0].body,
        answers[1].body,
        answers[2].body["results"][0]["issue"],
        answers[3].body["rows"][0],
    ]
    assert [issue["fields"]["severity"] for issue in issues] == ["high"] * 4


def test_a_state_that_is_not_known_here_is_shown(account: Cloud, bridge: str, elsewhere: Elsewhere) -> None:
    other = elsewhere()
    assert other.patch(bridge, {"states": ["open", "closed", "stuck"]}).status == 200
    other.made(f"{bridge}/issues", {"name": "x", "state": "stuck"})
    rows = account.api().get(f"{bridge}/grid").body["rows"]
    assert [row["state"] for row in rows] == ["open", "closed", "open", "stuck"]


def test_the_number_of_a_value_that_was_deleted_elsewhere_is_not_given_to_a_new_attribute(
    account: Cloud, bridge: str, elsewhere: Elsewhere
) -> None:
    other = elsewhere()
    assert other.delete(f"{bridge}/attributes/3812").status == 204
    account.api().patch(f"{bridge}/issues/1", {"fields": {"3812": "2023-12-01"}})  # still known here
    assert other.delete(f"{bridge}/deleted-attributes/3812").status == 204
    account.upkeep()
    other.made(f"{bridge}/attributes", {"id": "3812", "name": "Start", "type": "date"})
    assert other.get(f"{bridge}/issues/1").body["fields"] == {"882a": "2023-06-01"}


def test_errors_of_the_client_remain_errors(account: Cloud, bridge: str, elsewhere: Elsewhere) -> None:
    elsewhere().made(f"{bridge}/attributes", {"id": "late", "name": "Late", "type": "text"})
    answer = account.api().post(f"{bridge}/issues", {"name": "", "fields": {"late": 1, "later": 1}})
    assert answer.errors.keys() == {"name", "fields.late", "fields.later"}


def test_an_attribute_is_kept_for_an_index_that_is_not_known_here(
    account: Cloud, bridge: str, elsewhere: Elsewhere
) -> None:
    other = elsewhere()
    other.made(f"{bridge}/indexes", {"sort": [{"field": "3812"}, {"field": "882a"}]})
    assert account.api().delete(f"{bridge}/attributes/3812").kind == (409, "conflict")
    assert account.api().post(f"{bridge}/indexes", {"sort": [{"field": "3812"}, {"field": "882a"}]}).kind == (
        409,
        "conflict",
    )
    assert account.api().delete(f"{bridge}/indexes/c1").status == 204


def test_an_index_by_an_attribute_that_is_not_known_here_can_be_defined(
    account: Cloud, bridge: str, elsewhere: Elsewhere
) -> None:
    elsewhere().made(f"{bridge}/attributes", {"id": "late", "name": "Late", "type": "text"})
    body = {"sort": [{"field": "late"}, {"field": "882a"}]}
    assert account.api().made(f"{bridge}/indexes", body)["id"] == "c1"


@pytest.mark.usefixtures("severity")
def test_a_stale_catalog_serves_the_cursor_of_a_rebuilt_order(account: Cloud, bridge: str) -> None:
    order = {"sort": "3812", "limit": "1"}
    assert account.api().get(f"{bridge}/grid", query=order).status == 200
    late = account.modules["query"].catalogs
    for indexed in (False, True):
        assert account.api().patch(f"{bridge}/attributes/3812", {"indexed": indexed}).status == 200
        account.upkeep()
    first = account.api().get(f"{bridge}/grid", query=order)
    assert first.status == 200
    account.modules["query"].catalogs = late  # type: ignore[attr-defined]
    second = account.api().get(f"{bridge}/grid", query={**order, "cursor": first.body["next"]})
    assert second.status == 200
    assert second.body["rows"] != first.body["rows"]
