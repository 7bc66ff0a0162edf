"""The requests of the functions to DynamoDB in all their work, and the grants of their roles: the same."""

import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from devtools.proof.faults.adversary import record
from gridview.chains import blocks
from gridview.commands import undo
from gridview.dynamodb.sessions import acting_for
from gridview.encoding import derived_keys, keys, live_keys
from gridview.journal.gaps import MISSING_SECONDS
from gridview.journal.log import Log
from gridview.live.outbox import Reply
from gridview.maintenance.job_queue import body_of
from gridview.schema.jobs import Hint
from gridview.support import clock, fold_pace
from gridview.support.fold_pace import Pace
from gridview.view.beats import Canary, Heart
from gridview.view.freshness import Notes
from infra.functions import FUNCTIONS
from infra.grants import PARTITIONS, within
from infra.partitions import TENANT
from infra.paths import ROOT
from tests.support import iam, recorded_changes, worked_example
from tests.support.cloud import OWNERS, Cloud
from tests.support.http import Answer, Client, Context
from tests.support.iam import Asked, Statement
from tests.support.reach import SERVING, TENANT_TAG, others_may, statements
from tests.support.removed import removed
from tests.support.sockets import Commits, connected, ticket
from tests.support.stream import Stream

KINDS = {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b"]}
PLAIN = {**KINDS, "id": "plain", "indexed": False}
TAGS = {**KINDS, "id": "tags", "type": "multi_enum"}
OPEN = {"field": "state", "op": "eq", "value": "open"}
MANY = 40
"""Issues of one value: more than share a block after `_grow_and_shrink` makes blocks small."""


ELSEWHERE = {
    # With a rate: test_write_rate, test_bulk.
    ("command", "dynamodb:UpdateItem", (f"{keys.RATE_PREFIX}*",)),
    ("upkeep", "dynamodb:UpdateItem", (f"{keys.RATE_PREFIX}*",)),
    ("upkeep", "dynamodb:DeleteItem", (keys.CHECK,)),  # at the end of a check, minutes later: test_nightly
    # The record of the heartbeat: test_freshness.
    ("maintain", "dynamodb:UpdateItem", (keys.LAG_OF_BEAT,)),
    # Batches that the table refused are derived again: test_maintain.
    *(
        ("upkeep", "dynamodb:BatchWriteItem", (f"{prefix}*",))
        for prefix in (derived_keys.HISTORY_PREFIX, derived_keys.ACTIVITY_PREFIX, derived_keys.CHANGE_PREFIX)
    ),
    ("upkeep", "dynamodb:PutItem", (f"{keys.TRASH_PREFIX}*",)),
    ("upkeep", "dynamodb:PutItem", (f"{keys.PLACEMENTS_PREFIX}*",)),  # a rebalance: test_manual_orders
}
"""Function, action and patterns of work that other tests do."""


@pytest.fixture(scope="module")
def busy(shared_account: Cloud) -> Cloud:
    """An account in which each function has done all of its work."""
    account = shared_account
    account.reset()
    for asked in account.asked.values():
        asked.clear()
    vars(account.modules["upkeep"])["heart"] = Heart()  # which may have beaten a moment ago, in another test
    vars(account.modules["upkeep"])["canary"] = Canary()
    vars(account.modules["maintain"])["notes"] = Notes()  # which may have noted so then, too
    api = account.api()
    path = worked_example.load(api)
    account.follow()
    _read(api, path)
    _write(api, account, path)
    _grow_and_shrink(api, account)
    _build_and_deliver(api, account)
    _follow(api, account)
    _connect(api, account)
    _in_bulk(api, account)
    _sort_by_hand(api, account)
    assert api.delete(path, headers={"if-match": api.get(path).etag}).status == 204
    assert [one["id"] for one in api.get("/v1/deleted-projects").body["items"]] == ["35e9"]
    assert api.post("/v1/deleted-projects/35e9/restore", headers={"idempotency-key": "p"}).status == 200
    for project in ("35e9", "bulk", "tower", "sorted"):
        removed(api, f"/v1/projects/{project}")
    account.upkeep()
    account.modules["upkeep"].handler({"task": "check"}, Context())
    account.upkeep()
    return account


def _follow(api: Client, account: Cloud) -> None:
    """Follow changes of a project, past a number that a consumer has left."""
    project = api.made("/v1/projects", {"name": "Followed", "id": "followed"})["id"]
    path, stream, log = f"/v1/projects/{project}", Stream(account), Log(account.table, "0807", project)
    since = api.get(f"{path}/changes").body["next"]
    log.reserve(1)
    api.made(f"{path}/issues", {"name": "One"})
    view = api.made(f"{path}/views", {"name": "By state", "query": {"sort": [{"field": "state"}]}})["id"]
    stream.deliver()
    assert api.get(f"{path}/changes", query={"since": since, "wait": "1"}).status == 200
    with pytest.MonkeyPatch.context() as patch:
        now = clock.seconds()
        patch.setattr(clock, "seconds", lambda: now + MISSING_SECONDS)
        for _ in range(2):
            answer = api.get(f"{path}/changes", query={"since": since})
            since = answer.body["next"]
    assert [item["num"] for item in answer.body["items"]] == [1]
    assert api.patch(f"{path}/issues/1", {"name": "Two"}).status == 200
    stream.deliver()
    answer = api.get(f"{path}/changes", query={"since": since, "view": view})
    assert [item["kind"] for item in answer.body["items"]] == ["reset", "update"]  # other rows than before


def _connect(api: Client, account: Cloud) -> None:
    """Open sockets, follow rows past a number that a consumer has left, and renew, look up and close the sockets."""
    path, stream = "/v1/projects/connected", Stream(account)
    api.made("/v1/projects", {"name": "Connected", "id": "connected"})
    commits = Commits(account)
    client = connected(account, api, path)
    view = api.made(f"{path}/views", {"name": "Open", "query": {"filter": OPEN}})["id"]
    client.subscribe("rows", view=view)
    client.subscribe()
    Log(account.table, "0807", "connected").reserve(1)
    api.made(f"{path}/issues", {"name": "One"})
    stream.deliver()
    with pytest.MonkeyPatch.context() as patch:
        now = clock.seconds()
        patch.setattr(clock, "seconds", lambda: now + MISSING_SECONDS)
        assert commits.push() == {"batchItemFailures": []}
    assert client.ids("rows") == client.ids() == ["1.1"]
    assert api.patch(f"{path}/issues/1", {"name": "Two"}).status == 200
    stream.deliver()
    commits.push()
    assert client.ids("rows") == client.ids() == ["1.1", "1.2"]
    client.say(do="look", num=1)
    client.say(do="renew", ticket=ticket(api, path))
    client.say(do="unsubscribe", id="rows")
    assert account.modules["socket"].handler({"task": "end"}, Context()) == {"ended": 0, "settled": 0}
    client.leave()


@pytest.mark.parametrize(
    "statement", statements(FUNCTIONS["socket"].tenantless_grants), ids=lambda one: str(one["Action"])
)
def test_only_the_owner_of_a_socket_is_read_without_a_tenant(busy: Cloud, statement: Statement) -> None:
    asked = busy.asked[OWNERS]
    assert all(iam.allows(statements(FUNCTIONS["socket"].tenantless_grants), one) for one in asked)
    for action in statement["Action"]:
        assert any(iam.allows([{**statement, "Action": [action]}], one) for one in asked)


def _deliver(api: Client, account: Cloud, path: str) -> None:
    """Send a message that fails, is replayed and permanently refused, so that its webhook is disabled."""
    replies = [Reply(500, "", "no"), Reply(410, "", "gone")]
    sender = SimpleNamespace(post=lambda *_: replies.pop(0) if replies else Reply(200))
    vars(account.modules["deliver"])["sender"] = sender
    hook, spare = (api.made(f"{path}/webhooks", {"url": "https://hooks.example.org"})["id"] for _ in range(2))
    api.made(f"{path}/issues", {"name": "sent"})
    account.follow()
    deliver = account.modules["deliver"].handler
    hint = Hint(live_keys.outbox("0807", "tower", hook), clock.now())
    turn, slow_turn = ({"Records": [{"body": body_of(one)}]} for one in (hint, hint._replace(part=1)))
    assert deliver(turn, Context(60_000))["attempts"] == 1
    (logged,) = api.get(f"{path}/webhooks/{hook}/deliveries").body["items"]
    Log(account.table, "0807", "tower").reserve(1)  # an unused number
    api.made(f"{path}/issues", {"name": "after it"})
    account.follow()
    assert api.post(f"{path}/webhooks/{hook}/deliveries/{logged['id']}/replay").status == 202
    assert deliver({"task": "webhooks"}, Context())["due"] >= 1
    with pytest.MonkeyPatch.context() as patch:
        seconds = clock.seconds
        patch.setattr(clock, "seconds", lambda: seconds() + 10)
        assert deliver(slow_turn, Context(60_000))["disabled"] == 1
        again = {"Records": [{"body": body_of(Hint(live_keys.outbox("0807", "tower", spare), clock.now()))}]}
        assert deliver(again, Context(60_000))["attempts"] == 2
    other = api.made(f"{path}/webhooks", {"url": "https://hooks.example.org"})["id"]
    account.table.delete(live_keys.webhooks("0807", "tower"), other)
    deliver(
        {"Records": [{"body": body_of(Hint(live_keys.outbox("0807", "tower", other), clock.now()))}]},
        Context(60_000),
    )


def _read(api: Client, path: str) -> None:
    assert api.get(f"{path}/issues/1/history").body["items"]
    assert api.get(f"{path}/activity").body["items"]
    for place in ("", "/attributes/3812", "/indexes", "/issues/1", "/grid", "/issues/1/row-number"):
        assert api.get(path + place).status in (200, 404), place
    sort = [{"field": "3812", "direction": "desc"}]
    only = {"field": "state", "op": "eq", "value": "open"}
    for body in ({"sort": sort}, {"sort": sort, "filter": only, "count": True, "explain": True}):
        assert api.post(f"{path}/grid", body).status == 200
    assert api.post(f"{path}/groups", {"by": ["state"]}).status == 200
    medians = {"fields": [{"field": "3fe6", "functions": ["median", "sum"]}]}
    assert api.post(f"{path}/summary", medians).status == 200
    comment = api.made(f"{path}/issues/1/comments", {"text": "Rust!"})["id"]
    for place in ("/issues/1/comments", f"/issues/1/comments/{comment}"):
        assert api.get(path + place).status == 200
    assert api.delete(f"{path}/issues/1/comments/{comment}").status == 204
    api.made(f"{path}/issues/1/comments", {"text": "Rust!"})
    view = api.made(f"{path}/views", {"name": "All", "visibility": "default"})["id"]
    for place in ("/views", f"/views/{view}"):
        assert api.get(path + place).status == 200
    assert api.delete(f"{path}/views/{view}").status == 204
    api.made(f"{path}/views", {"name": "Mine"})
    assert api.get(f"{path}/webhooks").status == 200
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
    assert [one["id"] for one in api.get(f"{path}/deleted-attributes").body["items"]] == ["47e5"]
    assert api.post(f"{path}/deleted-attributes/47e5/restore", headers=again).status == 200
    assert api.delete(f"{path}/attributes/47e5").status == 204
    assert api.delete(f"{path}/deleted-attributes/47e5").status == 204
    account.upkeep()
    events = json.loads((ROOT / "events/stream_insert.json").read_text("utf-8"))
    account.modules["maintain"].handler(events, Context())
    api.made(f"{path}/issues/4/comments", {"text": "Gone soon"})
    for num in (3, 4):
        assert api.delete(f"{path}/issues/{num}", headers={"if-match": '"1"'}).status == 204
    account.derive()
    assert [one["num"] for one in api.get(f"{path}/trash").body["items"]] == [4, 3, 2]
    assert api.post(f"{path}/trash/3/restore", headers=again).status == 200
    gone = account.table.get(keys.issue("0807", "35e9", 4), keys.project("0807", "35e9"))
    assert gone is not None
    assert api.delete(f"{path}/trash/4").status == 204
    account.modules["maintain"].handler({"Records": [record(1, gone, None)]}, Context())
    account.derive()


def _sort_by_hand(api: Client, account: Cloud) -> None:
    """Place rows in the manual order of a view, and delete another view with its order."""
    path = "/v1/projects/sorted"
    api.made("/v1/projects", {"name": "Sorted", "id": "sorted"})
    for name in ("One", "Two", "Three"):
        api.made(f"{path}/issues", {"name": name})
    views = [api.made(f"{path}/views", {"name": name, "visibility": "shared"})["id"] for name in "ab"]
    for view in views:
        by_hand = {"query": {"sort": [{"manual": view}]}}
        assert api.patch(f"{path}/views/{view}", by_hand).status == 200
    account.derive()
    account.upkeep()
    for nums, anchor in (([3], 1), ([2], 3)):
        assert api.post(f"{path}/views/{views[0]}/order", {"nums": nums, "after": anchor}).status == 200
    assert api.delete(f"{path}/views/{views[1]}").status == 204
    account.derive()
    account.upkeep()


def _in_bulk(api: Client, account: Cloud) -> None:
    """Change issues in the background."""
    api.made("/v1/projects", {"id": "bulk", "name": "Bulk"})
    path = "/v1/projects/bulk"
    api.batch("bulk", *[{"create": {"name": "one"}}] * 2)
    account.derive()
    assert api.patch(f"{path}/issues/1", {"state": "closed"}).status == 200
    body = {"filter": {"field": "state", "op": "eq", "value": "open"}, "set": {"state": "closed"}}
    begun = [api.post(f"{path}/issues/update-matching", body).headers["location"] for _ in range(2)]
    assert api.delete(begun[1]).status == 204
    account.upkeep()
    assert api.get(begun[0]).body["refused"] == len(api.get(f"{begun[0]}/refused").body["items"]) == 1
    assert len(api.get(f"{path}/jobs").body["items"]) == 2
    _take_back(api, account, path)


def _take_back(api: Client, account: Cloud, path: str) -> None:
    """Take back an edit, a delete and a new issue at once, and reverse that by a job."""
    change = {"x-change-id": recorded_changes.CHANGE}
    account.follow()
    api.batch("bulk", *[{"create": {"name": "three"}}] * 2)
    written = [
        api.patch(f"{path}/issues/1", {"name": "New"}, headers=change),
        api.delete(f"{path}/issues/2", headers=change),
        api.post(f"{path}/issues", {"name": "five"}, headers=change),
    ]
    tokens = {"x-consistency-token": ",".join(one.headers["x-consistency-token"] for one in written)}
    account.follow()
    recorded_changes.on_time(account.table)
    body = {"change": recorded_changes.CHANGE}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(undo, "SETTLED", 0.0)
        first = api.post(f"{path}/undo", body, headers=tokens | {"idempotency-key": "undo"})
        assert [one["num"] for one in first.body["undone"]] == [1, 2, 5]
        account.follow()
        patch.setattr(undo, "MAX_AT_ONCE", 2)
        again = api.post(f"{path}/undo", {"change": first.body["change"]})
        account.upkeep()
    assert api.get(again.headers["location"]).body["done"] == 3


def _grow_and_shrink(api: Client, account: Cloud) -> None:
    """Let the fold split a block, a page read it, and a fold merge it again."""
    api.made("/v1/projects", {"id": "many", "name": "Many"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "POPULAR", MANY - 10)
        patch.setattr(blocks, "UNPOPULAR", MANY // 2)
        patch.setattr(fold_pace, "_used", Pace(weight=MANY))
        api.batch("many", *[{"create": {"name": "one"}}] * MANY)
        account.derive()
        account.upkeep()
        grown = _blocks(account, "many")
        page = {"filter": OPEN, "sort": [{"field": "created"}], "count": True}
        assert api.post("/v1/projects/many/grid", page).body["total"] == MANY
        api.batch("many", *[{"delete": {"num": num}} for num in range(1, MANY + 1)])
        account.derive()
        account.upkeep()
    assert _blocks(account, "many") < grown


def _blocks(account: Cloud, project: str) -> int:
    """The number of blocks of a project, after upkeep has folded everything."""
    assert Log(account.table, "0807", project).head().waiting == 0
    prefix = f"{derived_keys.BLOCK_PREFIX}0807.{project}."
    return sum(partition.startswith(prefix) for partition, _ in account.table.items)


def _build_and_deliver(api: Client, account: Cloud) -> None:
    """Create a project with webhooks, in which a pass finds something to change."""
    api.made("/v1/projects", {"id": "tower", "name": "Tower"})
    path = "/v1/projects/tower"
    api.made(f"{path}/attributes", PLAIN)
    webhook = api.made(f"{path}/webhooks", {"url": "https://hooks.example.org"})["id"]
    assert api.post(f"{path}/webhooks/{webhook}/rotate").status == 200
    assert api.delete(f"{path}/webhooks/{webhook}").status == 204
    api.made(f"{path}/webhooks", {"url": "https://hooks.example.org"})  # which goes with the project
    api.made(f"{path}/issues", {"name": "one", "fields": {"plain": "a"}})
    account.derive()
    assert [row["num"] for row in api.post(f"{path}/grid", {"count": True}).body["rows"]] == [1]
    assert api.patch(f"{path}/attributes/plain", {"indexed": True}).status == 200
    account.upkeep()
    api.made(f"{path}/attributes", TAGS)
    assert api.patch(f"{path}/attributes/tags", {"options": []}).status == 200
    _deliver(api, account, path)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_role_allows_all_that_the_function_asks_for(busy: Cloud, function: str) -> None:
    granted = statements(FUNCTIONS[function].grants)
    assert len(busy.asked[function]) >= 6
    assert [asked for asked in busy.asked[function] if not iam.allows(granted, asked)] == []


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_function_asks_for_all_that_the_role_allows(busy: Cloud, function: str) -> None:
    """Action by action, and key by key if partition keys are named: an unneeded grant is a difference here."""
    unused = [
        f"{one['Action'][0]} {one['Resource']} {one['Condition']}"
        for one in _smallest(function)
        if one["Effect"] == "Allow" and (function, one["Action"][0], _patterns(one)) not in ELSEWHERE
        if not any(iam.allows([one], alone) for asked in busy.asked[function] for alone in _one_by_one(asked))
    ]
    assert "\n".join(unused) == ""


def _one_by_one(asked: Asked) -> Iterator[Asked]:
    """A request that writes several items, in a batch or a transaction, split into requests that write one each."""
    context = dict(asked.context)
    partitions = context.get(PARTITIONS, ())
    if len(partitions) < 2:
        yield asked
        return
    for partition in partitions:
        yield asked._replace(context=tuple((context | {PARTITIONS: (partition,)}).items()))


def _patterns(statement: Statement) -> tuple[str, ...]:
    return tuple(statement["Condition"].get("ForAllValues:StringLike", {}).get(PARTITIONS, ()))


@pytest.mark.parametrize("function", SERVING)
def test_a_session_of_the_tenant_allows_it_and_no_other_does(busy: Cloud, function: str) -> None:
    granted = statements(FUNCTIONS[function].session_grants)
    assert {dict(asked.context)[TENANT_TAG] for asked in busy.asked[function]} == {("0807",)}
    assert [asked for asked in busy.asked[function] if not iam.allows(granted, asked)] == []
    assert [asked for asked in busy.asked[function] if others_may(granted, asked)] == []


@pytest.mark.parametrize("function", SERVING)
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
    """The rights of a session without one action, or without the keys of one pattern."""
    granted = statements(FUNCTIONS[function].session_grants)
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
    for statement in statements(FUNCTIONS[function].grants):
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
    """With isolated sessions. Without them the same defect would read and write other tenants' items."""
    worked_example.load(account.api(tenant="another"))
    account.derive()
    home = keys if hasattr(keys, maker) else derived_keys
    before, make = account.items(), getattr(home, maker)
    monkeypatch.setattr(home, maker, lambda _, *rest: make("another", *rest))
    answer = call(account.api(), bridge)
    assert answer.kind == (500, "internal")
    assert account.items() == before


def test_a_call_out_of_reach_is_denied(account: Cloud) -> None:
    block = {keys.PK: derived_keys.block("0807", "35e9", "a1.1", "0"), keys.SK: "x"}
    for function in ("query", "command", "live"):
        with acting_for("0807"), pytest.raises(ClientError, match="not authorized"):
            account.modules[function].table.put(block)
    with pytest.raises(ClientError, match="not authorized"):
        account.modules["maintain"].table.put(block)
    account.modules["upkeep"].table.put(block)
    asked = Asked(
        "dynamodb:PutItem",
        "table",
        (("dynamodb:Attributes", ("PK", "SK")), ("dynamodb:LeadingKeys", (block["PK"],))),
    )
    assert {tuple(sorted(one.context)) for one in account.asked["upkeep"]} >= {asked.context}
