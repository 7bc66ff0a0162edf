"""What the functions ask of DynamoDB while they do all that there is to do, and what their roles grant: the same."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gridview.commands.journals import begin_journal
from gridview.dynamodb.sessions import acting_for
from gridview.encoding import keys
from gridview.index.heartbeat import Heart
from infra.grants import GRANTS, PARTITIONS, SESSION_GRANTS, TENANT, within
from infra.paths import ROOT
from tests.support import iam, worked_example
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client, Context
from tests.support.iam import Asked, Statement
from tests.support.reach import TENANT_TAG, others_may, statements

KINDS = {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b"]}
PLAIN = {**KINDS, "id": "plain", "indexed": False}
TAGS = {**KINDS, "id": "tags", "type": "multi_enum"}
MANY = 620
"""Issues of one value: more than it shares a block with."""


ELSEWHERE = {
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
    vars(account.modules["upkeep"])["heart"] = Heart()  # which may have beaten a moment ago, in another test
    api = account.api()
    path = worked_example.load(api)
    account.derive()
    _read(api, path)
    _write(api, account, path)
    _grow_and_shrink(api, account)
    _log_and_fold(api, account)
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
    for made in (KINDS, PLAIN, TAGS):
        api.made(f"{path}/attributes", made)
    api.made(f"{path}/issues", {"name": "Tagged", "fields": {"tags": ["a", "b"]}})
    account.derive()
    index = api.made(f"{path}/indexes", {"sort": [{"field": "3812"}, {"field": "882a"}]})["id"]
    account.upkeep()
    for attribute in ("kind", "plain"):
        assert api.patch(f"{path}/attributes/{attribute}", {"options": []}).status == 200
    assert api.patch(f"{path}/attributes/tags", {"options": []}).status == 409
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


def _log_and_fold(api: Client, account: Cloud) -> None:
    """A journalled project, in which a pass finds something to change; then it is deleted."""
    api.made("/v1/projects", {"id": "logged", "name": "Logged"})
    path = "/v1/projects/logged"
    begin_journal(account.table, "0807", "logged")
    vars(account.modules["command"])["journalled"] = True
    try:
        api.made("/v1/projects", {"id": "begun", "name": "Begun"})
    finally:
        vars(account.modules["command"])["journalled"] = False
    api.made(f"{path}/attributes", PLAIN)
    api.made(f"{path}/issues", {"name": "one", "fields": {"plain": "a"}})
    account.derive()
    assert [row["num"] for row in api.post(f"{path}/grid", {"count": True}).body["rows"]] == [1]
    assert api.patch(f"{path}/attributes/plain", {"indexed": True}).status == 200
    account.upkeep()
    api.made(f"{path}/attributes", TAGS)
    assert api.patch(f"{path}/attributes/tags", {"options": []}).status == 200
    assert api.delete(path, headers={"if-match": api.get(path).etag}).status == 204


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


@pytest.mark.parametrize("function", SESSION_GRANTS)
def test_a_session_of_the_tenant_allows_it_and_no_other_does(busy: Cloud, function: str) -> None:
    granted = statements(SESSION_GRANTS[function])
    assert {dict(asked.context)[TENANT_TAG] for asked in busy.asked[function]} == {("0807",)}
    assert [asked for asked in busy.asked[function] if not iam.allows(granted, asked)] == []
    assert [asked for asked in busy.asked[function] if others_may(granted, asked)] == []


@pytest.mark.parametrize("function", SESSION_GRANTS)
def test_the_function_asks_for_each_action_and_each_key_that_a_session_allows(
    busy: Cloud, function: str
) -> None:
    unused = [
        left_out
        for left_out, granted in _with_one_left_out(function)
        if all(iam.allows(granted, asked) for asked in busy.asked[function])
    ]
    assert unused == [f"rate-{TENANT}"] * (function == "command")  # where a rate is set: test_write_rate


def _with_one_left_out(function: str) -> Iterator[tuple[str, list[Statement]]]:
    """What a session may do but for one action, or but for the keys of one pattern."""
    granted = statements(SESSION_GRANTS[function])
    for at, statement in enumerate(granted):
        others, actions, patterns = (
            (*granted[:at], *granted[at + 1 :]),
            statement["Action"],
            _patterns(statement),
        )
        for left_out in actions:
            yield left_out, [*others, {**statement, "Action": [one for one in actions if one != left_out]}]
        for left_out in patterns:
            kept = within(one for one in patterns if one != left_out)
            yield left_out, [*others, {**statement, "Condition": kept}]


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


@pytest.mark.parametrize(
    ("maker", "call"),
    [
        ("issue", lambda api, path: api.get(f"{path}/issues/1")),
        ("project", lambda api, path: api.get(f"{path}/grid")),
        ("tenant", lambda api, _: api.get("/v1/projects")),
        ("order", lambda api, path: api.post(f"{path}/grid", {"sort": [{"field": "3812"}]})),
        ("directory", lambda api, path: api.post(f"{path}/groups", {"by": ["state"]})),
        ("issue", lambda api, path: api.patch(f"{path}/issues/1", {"name": "Mine"})),
        (
            "request",
            lambda api, path: api.post(f"{path}/issues", {"name": "x"}, headers={"idempotency-key": "k"}),
        ),
    ],
)
def test_a_defect_that_makes_the_key_of_another_tenant_shows_and_changes_nothing(
    account: Cloud,
    bridge: str,
    monkeypatch: pytest.MonkeyPatch,
    maker: str,
    call: Callable[[Client, str], Answer],
) -> None:
    """Where sessions are isolated. Without them the same defect would be read and written through."""
    worked_example.load(account.api(tenant="another"))
    account.derive()
    before, make = account.items(), getattr(keys, maker)
    monkeypatch.setattr(keys, maker, lambda _, *rest: make("another", *rest))
    answer = call(account.api(), bridge)
    assert answer.kind == (500, "internal")
    assert account.items() == before


def test_a_call_out_of_reach_is_denied(account: Cloud) -> None:
    block = {keys.PK: keys.block("0807", "35e9", "a1.1", "0"), keys.SK: "x"}
    for function in ("query", "command"):
        with acting_for("0807"), pytest.raises(ClientError, match="not authorized"):
            account.modules[function].table.put(block)
    account.modules["maintain"].table.put(block)
    asked = Asked(
        "dynamodb:PutItem",
        "table",
        (("dynamodb:Attributes", ("PK", "SK")), ("dynamodb:LeadingKeys", (block["PK"],))),
    )
    assert {tuple(sorted(one.context)) for one in account.asked["maintain"]} >= {asked.context}
