"""Webhooks and followers of rows that formulas decide: events name the inputs, and no change of a value is missed."""

from typing import Any

import pytest

from tests.support.cloud import Cloud
from tests.support.deliveries import URL, Courier
from tests.support.http import Client
from tests.support.receivers import Receiver


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def courier(account: Cloud, api: Client, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Courier:
    return Courier(account, api, receiver, monkeypatch)


@pytest.fixture
def sales(courier: Courier, project: str) -> str:
    """The path of a project with costs, quantities, totals, and what is left of the totals."""
    for name in ("cost", "qty", "place"):
        kind = "text" if name == "place" else "number"
        courier.api.made(f"{project}/attributes", {"id": name, "name": name, "type": kind})
    for name, formula in (("total", "{cost} * {qty}"), ("net", "ROUND({total} * 0.8)")):
        body = {"id": name, "name": name, "type": "number", "formula": formula}
        courier.api.made(f"{project}/attributes", body)
    settle(courier)
    return project


def settle(courier: Courier) -> None:
    courier.account.derive()
    for _ in range(6):
        courier.account.upkeep()
        courier.account.derive()
    courier.account.fold()
    courier.account.forget()


def edit(courier: Courier, project: str, num: int, **fields: Any) -> None:
    assert courier.api.patch(f"{project}/issues/{num}", {"fields": fields}).status == 200
    courier.account.follow()
    courier.skip(2)
    courier.deliver()


def sent(receiver: Receiver) -> list[tuple[str, list[str]]]:
    return [(one["type"], sorted(one["data"].get("fields", ()))) for one in receiver.contents]


@pytest.mark.parametrize("column", ["total", "net"])
def test_a_webhook_of_a_formula_only_is_sent_changes_of_its_inputs(
    courier: Courier, sales: str, receiver: Receiver, column: str
) -> None:
    courier.api.made(f"{sales}/webhooks", {"url": URL, "columns": [column]})
    num = courier.issue(sales, fields={"cost": 2, "qty": 5})["num"]
    courier.deliver()
    edit(courier, sales, num, qty=7)
    edit(courier, sales, num, place="north")
    assert sent(receiver) == [("create", []), ("update", [])], "inputs that are no columns are not sent"
    assert not any("qty" in message.body.decode() for message in receiver.received)


def test_a_formula_on_the_last_change_is_changed_by_each(
    courier: Courier, sales: str, receiver: Receiver
) -> None:
    body = {"id": "age", "name": "age", "type": "number", "formula": "YEAR({updated})"}
    courier.api.made(f"{sales}/attributes", body)
    settle(courier)
    courier.api.made(f"{sales}/webhooks", {"url": URL, "columns": ["age"]})
    num = courier.issue(sales)["num"]
    courier.deliver()
    edit(courier, sales, num, place="north")
    assert sent(receiver) == [("create", []), ("update", [])]


def of_view(courier: Courier, sales: str, columns: list[str] | None, **query: Any) -> dict[str, Any]:
    shown = None if columns is None else [{"field": one, "width": 80} for one in columns]
    view = {"name": "Large", "visibility": "shared", "query": query, "columns": shown}
    found = courier.api.made(f"{sales}/views", view)["id"]
    hook: dict[str, Any] = courier.api.made(f"{sales}/webhooks", {"url": URL, "view": found})
    return hook


def test_a_webhook_of_a_view_gets_rows_that_a_formula_moves(
    courier: Courier, sales: str, receiver: Receiver
) -> None:
    large = {"field": "net", "op": "gte", "value": 16}
    of_view(courier, sales, ["net"], filter=large, sort=[{"field": "net", "direction": "desc"}])
    num = courier.issue(sales, fields={"cost": 2, "qty": 5})["num"]
    courier.deliver()
    assert sent(receiver) == []
    for fields in ({"qty": 10}, {"cost": 4}, {"place": "north"}, {"cost": 1, "qty": 40}, {"qty": 1}):
        edit(courier, sales, num, **fields)
    assert sent(receiver) == [("enter", []), ("update", []), ("update", []), ("leave", [])]
    entered, moved, stayed, left = (one["data"] for one in receiver.contents)
    assert entered["key"] == moved["previous_key"] != moved["key"]
    assert stayed["key"] == stayed["previous_key"] == left["previous_key"], "other inputs, the same value"


@pytest.mark.parametrize("indexed", [False, True])
def test_another_formula_of_the_filter_is_a_reset_for_its_webhook(
    courier: Courier, sales: str, receiver: Receiver, *, indexed: bool
) -> None:
    assert courier.api.patch(f"{sales}/attributes/net", {"indexed": indexed}).status == 200
    settle(courier)
    of_view(courier, sales, None, filter={"field": "net", "op": "gte", "value": 16})
    num = courier.issue(sales, fields={"cost": 2, "qty": 5})["num"]
    courier.deliver()
    assert courier.api.patch(f"{sales}/attributes/net", {"formula": "{total} * 10"}).status == 200
    settle(courier)
    edit(courier, sales, num, qty=6)
    assert [one for one, _ in sent(receiver)] == ["reset", "update"]
