"""Rules of a grid request: which rows they mark, what they cost, and what is refused."""

import json
from typing import Any

import pytest

from gridview.query.rules import MAX_RULES
from tests.support import worked_example
from tests.support.cloud import Cloud
from tests.support.http import Client

PATH = worked_example.PATH
OPEN = {"field": "state", "op": "eq", "value": "open"}
NUMBER = {"field": "num", "op": "gte", "value": 2}


@pytest.fixture(scope="module")
def api(shared_account: Cloud) -> Client:
    client = shared_account.api()
    worked_example.load(client)
    shared_account.follow()
    return client


def grid(api: Client, **body: Any) -> Any:
    answer = api.post(f"{PATH}/grid", body)
    assert answer.status == 200, answer.text
    return answer.body


def marked(page: Any) -> dict[int, list[int]]:
    return {row["num"]: row["matches"] for row in page["rows"]}


def passing(api: Client, only: Any) -> set[int]:
    return {row["num"] for row in grid(api, filter=only)["rows"]}


def test_each_row_has_the_places_of_the_rules_that_it_passes(api: Client) -> None:
    day = {"field": "3812", "op": "is_not_empty"}
    rules = [OPEN, NUMBER, {"not": OPEN}, {"and": [day, {"or": [OPEN, NUMBER]}]}]
    found = marked(grid(api, rules=rules))
    by_filter = [passing(api, rule) for rule in rules]
    assert len(found) == 3
    assert found == {num: [at for at, some in enumerate(by_filter) if num in some] for num in found}
    assert any(len(one) > 1 for one in found.values())


def test_rules_change_neither_rows_nor_counts_nor_cost(api: Client) -> None:
    """Not even with columns that the rules do not name, and on a later page."""
    query = {"sort": [{"field": "3812"}], "filter": NUMBER, "columns": ["name"], "count": True, "limit": 1}
    rules = [OPEN, {"field": "3812", "op": "lt", "value": {"today": 0}}]
    grid(api, **query)  # so that both find the same in the cache
    plain = grid(api, **query, explain=True)
    ruled = grid(api, **query, explain=True, rules=rules)
    for row in ruled["rows"]:
        assert row.pop("matches") is not None
    assert ruled["rows"] == plain["rows"]
    assert (ruled["total"], ruled["matched"]) == (plain["total"], plain["matched"])
    assert ruled["explain"]["read_units"] == plain["explain"]["read_units"]
    later = {name: one for name, one in query.items() if name != "count"}
    for other in (rules, [NUMBER], []):
        page = grid(api, **later, cursor=ruled["next"], rules=other)
        assert len(page["rows"]) == 1
        assert ("matches" in page["rows"][0]) == bool(other), "no cursor is bound to rules"


def test_relative_operands_of_rules_mean_the_present_day_and_the_caller(api: Client) -> None:
    mine = {"field": "created_by", "op": "eq", "value": {"me": True}}
    past = {"field": "created", "op": "lte", "value": {"now": 60}}
    assert set(map(tuple, marked(grid(api, rules=[mine, past])).values())) == {(0, 1)}
    other = api.acting(user="bob")
    assert set(map(tuple, marked(grid(other, rules=[mine, past])).values())) == {(1,)}


def test_rules_are_query_parameters_too(api: Client) -> None:
    answer = api.get(f"{PATH}/grid", query={"rules": json.dumps([OPEN]), "sort": "-num"})
    assert marked(answer.body) == marked(grid(api, rules=[OPEN]))
    assert api.get(f"{PATH}/grid", query={"rules": "[1"}).errors.keys() == {"rules"}


@pytest.mark.parametrize(
    ("rules", "where"),
    [
        ([OPEN] * (MAX_RULES + 1), "rules"),
        ([{"or": [OPEN] * 26}, {"or": [OPEN] * 25}], "rules"),
        ([OPEN, {"field": "absent", "op": "eq", "value": 1}], "rules.1.field"),
        ([OPEN, {"and": [OPEN, {"field": "state", "op": "eq", "value": "absent"}]}], "rules.1.and.1.value"),
        ([{"field": "3812", "op": "eq", "value": {"me": True}}], "rules.0.value"),
        ([None], "rules.0"),
        (["open"], "rules.0"),
        ({"0": OPEN}, "rules"),
        (None, "rules"),
    ],
)
def test_a_rule_that_is_no_filter_is_refused_with_its_place(api: Client, rules: Any, where: str) -> None:
    refused = api.post(f"{PATH}/grid", {"rules": rules})
    assert (refused.status, [*refused.errors]) == (400, [where])


def test_errors_of_rules_come_with_those_of_the_rest(api: Client) -> None:
    refused = api.post(f"{PATH}/grid", {"rules": [{"and": []}], "filter": {"or": []}, "limit": 0})
    assert refused.errors.keys() == {"rules.0.and", "filter.or", "limit"}


def test_rules_with_fifty_conditions_together_are_taken(api: Client) -> None:
    found = marked(grid(api, rules=[{"or": [OPEN] * 5}] * MAX_RULES))
    assert set(map(len, found.values())) == {0, MAX_RULES}
