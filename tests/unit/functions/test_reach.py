"""What the functions ask of DynamoDB while they do all that there is to do, and what their roles grant: the same."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gridview.encoding import keys
from infra.grants import GRANTS, PARTITIONS
from infra.paths import ROOT
from tests.support import iam, worked_example
from tests.support.cloud import Cloud
from tests.support.http import Client, Context
from tests.support.iam import Asked, Statement
from tests.support.reach import statements

KINDS = {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b"]}
MANY = 620
"""Issues of one value: more than it shares a block with."""


ELSEWHERE = {
    ("command", "dynamodb:BatchGetItem", ()),  # of a batch that was interrupted: test_idempotency
    ("command", "dynamodb:UpdateItem", (f"{keys.RATE_PREFIX}*",)),  # where a rate is set: test_write_rate
    ("upkeep", "dynamodb:DeleteItem", (keys.CHECK,)),  # at the end of a check, minutes later: test_nightly
}
"""Function, action and patterns of what takes more than this page does."""


@pytest.fixture(scope="module")
def busy(shared_account: Cloud) -> Cloud:
    """An account in which each function has done everything that it does."""
    account = shared_account
    account.reset()
    for asked in account.asked.values():
        asked.clear()
    api = account.api()
    path = worked_example.load(api)
    account.derive()
    _read(api, path)
    _write(api, account, path)
    _grow_and_shrink(api, account)
    assert api.delete(path, headers={"if-match": api.get(path).etag}).status == 204
    account.upkeep()
    account.modules["upkeep"].handler({"task": "check"}, Context())
    account.upkeep()
    return account


def _read(api: Client, path: str) -> None:
    for place in ("", "/attributes/3812", "/indexes", "/issues/1", "/grid", "/issues/1/position"):
        assert api.get(path + place).status in (200, 404), place
    sort = [{"field": "3812", "direction": "desc"}]
    only = {"field": "state", "op": "eq", "value": "open"}
    for body in ({"sort": sort}, {"sort": sort, "filter": only, "count": True, "explain": True}):
        assert api.post(f"{path}/grid", body).status == 200
    assert api.post(f"{path}/groups", {"by": ["state"]}).status == 200
    for path in ("/v1/projects", "/v1/me", "/v1/users"):
        assert api.get(path).status == 200


def _write(api: Client, account: Cloud, path: str) -> None:
    changed = {"name": "Painted"}
    again = {"idempotency-key": "k"}
    api.made(f"{path}/issues", changed, headers=again)
    assert api.patch(f"{path}/issues/1", changed, headers={"if-match": '"1"'}).status == 200
    operations: list[dict[str, Any]] = [{"create": changed}, {"delete": {"num": 2}}]
    assert api.batch(worked_example.PROJECT, *operations, key="b").status == 200
    api.made(f"{path}/attributes", KINDS)
    index = api.made(f"{path}/indexes", {"sort": [{"field": "3812"}, {"field": "882a"}]})["id"]
    account.upkeep()
    assert api.patch(f"{path}/attributes/kind", {"options": []}).status == 200
    assert api.delete(f"{path}/indexes/{index}").status == 204
    assert api.delete(f"{path}/attributes/47e5").status == 204
    account.upkeep()
    events = json.loads((ROOT / "events/stream_insert.json").read_text("utf-8"))
    account.modules["maintain"].handler(events, Context())
    assert api.delete(f"{path}/issues/3", headers={"if-match": '"1"'}).status == 204
    account.derive()


def _grow_and_shrink(api: Client, account: Cloud) -> None:
    """A block that is split, and one that is merged again."""
    api.made("/v1/projects", {"id": "many", "name": "Many"})
    for _ in range(MANY // 20):
        api.batch("many", *[{"create": {"name": "one"}}] * 20)
    account.derive()
    for first in range(1, MANY, 20):
        api.batch("many", *[{"delete": {"num": num}} for num in range(first, first + 20)])
    account.derive()


@pytest.mark.parametrize("function", GRANTS)
def test_the_role_allows_all_that_the_function_asks_for(busy: Cloud, function: str) -> None:
    granted = statements(GRANTS[function])
    assert len(busy.asked[function]) > 10
    assert [asked for asked in busy.asked[function] if not iam.allows(granted, asked)] == []


@pytest.mark.parametrize("function", GRANTS)
def test_the_function_asks_for_all_that_the_role_allows(busy: Cloud, function: str) -> None:
    """Action by action, and where partition keys are named, key by key: a grant that nothing needs shows up here."""
    unused = [
        f"{one['Action'][0]} {one['Resource']} {one['Condition']}"
        for one in _smallest(function)
        if one["Effect"] == "Allow" and (function, one["Action"][0], _patterns(one)) not in ELSEWHERE
        if not any(iam.allows([one], asked) for asked in busy.asked[function])
    ]
    assert "\n".join(unused) == ""


def _patterns(statement: Statement) -> tuple[str, ...]:
    return tuple(statement["Condition"].get("ForAllValues:StringLike", {}).get(PARTITIONS, ()))


def _smallest(function: str) -> list[Any]:
    """Each action of each grant on its own, with each of its patterns."""
    found = []
    for statement in statements(GRANTS[function]):
        for action in statement["Action"]:
            alone = {**statement, "Action": [action]}
            condition = statement["Condition"].get("ForAllValues:StringLike")
            if condition is None:
                found.append(alone)
                continue
            ((key, patterns),) = condition.items()
            found += [
                {**alone, "Condition": {"ForAllValues:StringLike": {key: [one]}, "Null": {key: "false"}}}
                for one in patterns
            ]
    return found


def test_a_call_out_of_reach_is_denied(account: Cloud) -> None:
    block = {keys.PK: keys.block("0807", "35e9", "a1.1", "0"), keys.SK: "x"}
    for function in ("query", "command"):
        with pytest.raises(ClientError, match="not authorized"):
            account.modules[function].table.put(block)
    account.modules["maintain"].table.put(block)
    asked = Asked(
        "dynamodb:PutItem",
        "table",
        (("dynamodb:Attributes", ("PK", "SK")), ("dynamodb:LeadingKeys", (block["PK"],))),
    )
    assert {tuple(sorted(one.context)) for one in account.asked["maintain"]} >= {asked.context}
