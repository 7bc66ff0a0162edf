"""A forgotten person is nowhere in the table, and everything else is unchanged."""

import json
import os
import time
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from devtools.operate.forgetting.person import NoFiles, Traces, forget_person
from devtools.operate.forgetting.places import PLACES, Trace, UnknownPlace, find
from devtools.operate.forgetting.redaction import NAMED
from devtools.operate.forgetting.tenant import forget_tenant
from devtools.proof.faults.watched import Attempted
from gridview.chains.blocks import Block
from gridview.commands.attempts import once
from gridview.commands.idempotency import Scope, recall, stored_items, use_of
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.json_codec import dumps
from gridview.journal.history import remove_values
from gridview.schema.fields import WRITERS
from gridview.schema.history import from_item
from gridview.schema.ids import FORMER_USER
from gridview.schema.remembered import Answer
from tests.support import worked_example
from tests.support.checked import differences_in
from tests.support.cloud import Cloud
from tests.support.http import Client
from tests.support.passing import Passing
from tests.support.sockets import connected
from tests.unit.test_docs import ENTITIES

ANN = "7f3a-ann.person"
BRIDGE = worked_example.PATH
BOTH = {"name": "Pier", "fields": {"who": ANN, "also": ANN}}
KEY = {"idempotency-key": "k"}


def text_of(value: Any) -> str:
    """A value as text, with all packed values in it."""
    if isinstance(value, bytes):
        try:
            return text_of(json.loads(zlib.decompress(value)))
        except (zlib.error, ValueError):
            return repr(value)
    if isinstance(value, dict):
        return " ".join(f"{name} {text_of(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(text_of, value))
    return str(value)


def held(item: dict[str, Any]) -> str:
    """All contents of an item, including the bodies of a block."""
    text = text_of(item)
    if item[keys.PK].startswith(derived_keys.BLOCK_PREFIX):
        text += " ".join(Block.from_item(item).sets or ())
    return text


_INVERTED = "".join(chr(0x9E - ord(one)) for one in ANN)


def traces(account: Cloud) -> list[tuple[str, str]]:
    """The keys of the items that contain the person."""
    return [
        key
        for key, item in account.table.items.items()
        if ANN in (text := held(item)).casefold() or _INVERTED in text or ANN in str(key)
    ]


class World:
    """The account, in which time passes while a run waits."""

    def __init__(self, account: Cloud, passing: Passing) -> None:
        self.account = account
        self._passing = passing
        self.meanwhile: Callable[[], object] = lambda: None

    def wait(self, seconds: float) -> None:
        """Let the stream, the background work and the folds run, and time pass."""
        self.meanwhile()
        self.account.follow()
        self.account.upkeep()
        self.account.follow()
        self.account.fold()
        self._passing.over += seconds

    def forget(self, most: int = 12, table: Table | None = None) -> Traces:
        """Forget the person, and let everything settle."""
        self.wait(0)
        return forget_person(
            table or self.account.table,
            "0807",
            ANN,
            wait=self.wait,
            files=NoFiles(),
            settling=0,
            tokens=0,
            most=most,
        )


@pytest.fixture
def world(account: Cloud, monkeypatch: pytest.MonkeyPatch) -> World:
    """A project that contains the person everywhere."""
    monkeypatch.setattr("gridview.chains.blocks.POPULAR", 4)
    monkeypatch.setattr("gridview.chains.blocks.UNPOPULAR", 2)
    made = World(account, Passing(monkeypatch))
    ann, bob = account.api(user=ANN), account.api(user="bob")
    for client in (ann, bob, account.api(tenant="3cc8", user=ANN)):
        assert client.get("/v1/me").status == 200
    worked_example.load(ann)
    news = account.api(tenant="3cc8", user=ANN)
    worked_example.load_news(news)
    for body in (
        {"id": "who", "name": "Who", "type": "user", "default": ANN},
        {"id": "also", "name": "Also", "type": "user"},
    ):
        ann.made(f"{BRIDGE}/attributes", body)
    for sort in (
        [{"field": "who", "direction": "desc"}, {"field": "name"}],
        [{"field": "state"}, {"field": "who"}],
        [{"field": "updated_by", "direction": "desc"}, {"field": "created_by"}],
    ):
        ann.made(f"{BRIDGE}/indexes", {"sort": sort})
    made.wait(0)
    ann.made(f"{BRIDGE}/issues", BOTH, headers=KEY)
    assert ann.get(f"{BRIDGE}/attributes/who").body["default"] == ANN
    others = [{"create": {"name": f"Pier {at}", "fields": _people(at)}} for at in range(24)]
    assert bob.batch("35e9", *others, key="b").status == 200
    made.wait(0)
    ann.batch("35e9", *({"update": {"num": one, "name": f"Mine {one}"}} for one in (5, 6)), key="c")
    bob.patch(f"{BRIDGE}/issues/7", {"fields": {"who": "bob"}})
    bob.patch(f"{BRIDGE}/issues/1", {"fields": {"who": ANN}})
    bob.patch(f"{BRIDGE}/issues/1", {"fields": {"who": None}})
    ann.delete(f"{BRIDGE}/issues/8")
    bob.delete(f"{BRIDGE}/issues/4")
    made.wait(0)
    mine = {"sort": [{"field": "who"}], "filter": {"field": "who", "op": "eq", "value": ANN}}
    ann.made(f"{BRIDGE}/views", {"name": "Own", "query": mine})
    bob.made(f"{BRIDGE}/views", {"name": "Of Ann", "visibility": "shared", "query": mine})
    shared = ann.made(f"{BRIDGE}/views", {"name": "By Ann", "visibility": "shared", "query": mine})
    ann.made(f"{BRIDGE}/webhooks", {"url": "https://hooks.example.org/x", "view": shared["id"]})
    ann.made(f"{BRIDGE}/issues/2/comments", {"text": "Rust!"})
    bob.made(f"{BRIDGE}/issues/2/comments", {"text": "Look", "mentions": [ANN, "bob"]}, headers=KEY)
    only = mine["filter"]
    bulk = ann.post(f"{BRIDGE}/issues/update-matching", {"filter": only, "set": {"name": "Set"}})
    export = bob.post(f"{BRIDGE}/export", {"format": "csv", "query": {"filter": only}})
    assert (bulk.status, export.status) == (202, 202), (bulk.text, export.text)
    made.wait(0)
    connected(account, ann, BRIDGE)
    connected(account, bob, BRIDGE).subscribe("rows", filter=only, sort=[{"field": "name"}])
    ann.patch(
        f"{BRIDGE}/issues/9",
        {"name": "Named"},
        headers={"x-change-id": "5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3"},
    )
    assert ann.delete(f"{BRIDGE}/attributes/also").status == 204
    made.wait(0)
    return made


def _people(at: int) -> dict[str, str]:
    return dict.fromkeys(("who", "also"), ANN if at % 2 else f"u{at}")


def others(account: Cloud) -> dict[tuple[str, str], Any]:
    """The items of another tenant."""
    return {key: item for key, item in account.table.items.items() if "3cc8" in key[0]}


def asked(api: Client, user: str, field: str = "who") -> tuple[list[int], int]:
    """The issues of a user, by a filter and its count."""
    only = {"field": field, "op": "eq", "value": user}
    answer = api.post(f"{BRIDGE}/grid", {"filter": only, "limit": 100, "count": True})
    assert answer.status == 200, answer.text
    return sorted(row["num"] for row in answer.body["rows"]), answer.body["matched"]


def test_a_forgotten_user_appears_nowhere(world: World) -> None:
    account, bob = world.account, world.account.api(user="bob")
    found = {find(*key).place.name for key in traces(account)}
    assert found >= {
        *("project", "issue", "sort entry", "ledger", "block", "journal item", "history", "activity"),
        *(
            "comment activity",
            "note of a change",
            "part of a change",
            "remembered request",
            "webhook",
            "user",
        ),
        *(
            "shared view",
            "private view",
            "order of private views",
            "comment",
            "job",
            "job request",
            "socket",
        ),
        *("subscription", "seat of a socket", "attribute"),
    }
    before, elsewhere = asked(bob, ANN), others(account)
    written = {field: asked(bob, ANN, field) for field in WRITERS}
    assert len(before[0]) > 5
    assert len(written["created_by"][0]) == 3
    assert len(written["updated_by"][0]) == 15
    moment = {num: bob.get(f"{BRIDGE}/issues/{num}").body for num in written["created_by"][0]}
    assert not world.forget().any
    world.wait(0)
    assert traces(account) == [key for key in traces(account) if "3cc8" in key[0]] != []
    assert others(account) == elsewhere
    assert differences_in(account.table) == []
    assert asked(bob, ANN) == ([], 0)
    assert asked(bob, FORMER_USER) == before
    assert asked(bob, "bob")[0] == [7]
    assert {field: asked(bob, ANN, field) for field in WRITERS} == dict.fromkeys(WRITERS, ([], 0))
    assert asked(bob, FORMER_USER, "created_by") == written["created_by"]
    assert {*written["updated_by"][0]} <= {*asked(bob, FORMER_USER, "updated_by")[0]}
    for num, was in moment.items():
        now = bob.get(f"{BRIDGE}/issues/{num}").body
        assert (now["created"], now["created_by"]) == (was["created"], FORMER_USER)
    sort = [{"field": "updated_by", "direction": "desc"}, {"field": "created_by"}]
    rows = bob.post(f"{BRIDGE}/grid", {"sort": sort, "limit": 100}).body["rows"]
    assert rows == sorted(
        rows, key=lambda row: (row["updated_by"] != FORMER_USER, row["created_by"], row["num"])
    )
    assert bob.get(f"{BRIDGE}/attributes/who").body["default"] is None
    assert bob.made(f"{BRIDGE}/issues", {"name": "New"})["fields"] == {}, "no container keeps the default"
    history = bob.get(f"{BRIDGE}/issues/1/history").body["items"]
    assert [one["version"] for one in history] == [3, 2, 1]
    assert history[0]["fields"]["who"] == {"old": FORMER_USER, "new": None}
    again = bob.post(f"{BRIDGE}/issues/2/comments", {"text": "Look", "mentions": [ANN, "bob"]}, headers=KEY)
    assert (again.status, again.body["mentions"]) == (201, [FORMER_USER, "bob"])
    assert [one["created_by"] for one in bob.get(f"{BRIDGE}/issues/2/comments").body["items"]] == [
        FORMER_USER,
        "bob",
    ]


def test_issues_with_a_replaced_writer_are_derived_again_in_the_same_version(
    account: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a fence key that names the person, no index is built again."""
    made = World(account, Passing(monkeypatch))
    ann, bob = account.api(user=ANN), account.api(user="bob")
    worked_example.load(ann)
    bob.patch(f"{BRIDGE}/issues/2", {"name": "By Bob"})
    made.wait(0)
    assert asked(bob, ANN, "created_by") == ([1, 2, 3], 3)
    assert not made.forget().any
    made.wait(0)
    assert traces(account) == []
    assert asked(bob, FORMER_USER, "created_by") == ([1, 2, 3], 3)
    assert asked(bob, FORMER_USER, "updated_by") == ([1, 3], 2)
    assert [bob.get(f"{BRIDGE}/issues/{num}").body["version"] for num in (1, 2, 3)] == [1, 2, 1]
    assert differences_in(account.table) == []


def test_a_run_that_is_killed_anywhere_ends_the_same_way_when_it_is_started_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run is killed after some writes, later each time, until one ends."""
    table, runs = world.account.table, 0

    class Killed(Exception):
        """The process dies."""

    for writes in (1, 2, 3, 5, 8, 13, 21, 34, 55):
        left = [writes]
        with monkeypatch.context() as patch:
            for name in ("put", "update", "delete", "transact"):
                patch.setattr(table, name, _dying(getattr(table, name), left, Killed))
            try:
                forget_person(
                    table, "0807", ANN, wait=lambda _: None, files=NoFiles(), settling=0, tokens=0, most=1
                )
            except Killed:
                runs += 1
    assert runs > 5
    assert not world.forget().any
    assert [key for key in traces(world.account) if "3cc8" not in key[0]] == []
    assert differences_in(table) == []


def _dying(call: Callable[..., Any], left: list[int], error: type[Exception]) -> Callable[..., Any]:
    def dies(*given: Any, **named: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise error
        return call(*given, **named)

    return dies


def test_a_later_pass_finds_concurrent_writes(world: World) -> None:
    account = world.account
    ann, bob = account.api(user=ANN), account.api(user="bob")
    late = [
        lambda: ann.patch(f"{BRIDGE}/issues/10", {"name": "Late"}),
        lambda: ann.get("/v1/me"),
        lambda: bob.patch(f"{BRIDGE}/issues/11", {"fields": {"who": ANN}}),
        lambda: bob.post(f"{BRIDGE}/trash/4/restore", b"", headers=KEY),
    ]
    world.meanwhile = lambda: late.pop(0)() if late else None
    assert not world.forget(most=20).any
    assert late == []
    assert [key for key in traces(account) if "3cc8" not in key[0]] == []
    assert differences_in(account.table) == []


def test_values_that_leave_the_history_during_a_pass_stay_removed(world: World) -> None:
    table = world.account.table
    history = derived_keys.history("0807", "35e9", 1)
    removals = [partial(remove_values, table, "0807", "35e9", 1, lambda key: key == "name")]

    def around(attempted: Attempted, perform: Callable[[], Any]) -> Any:
        if attempted.operation == "transact" and attempted.keys[0][0] == history and removals:
            removals.pop()()
        return perform()

    assert not world.forget(table=table.seen_through(around)).any
    assert removals == []
    items = table.query(history).items
    assert len(items) == 3
    assert not [item for item in items if "name" in from_item(item).fields or ANN in held(item)]


def test_a_remembered_answer_of_many_items_is_rewritten_whole(world: World) -> None:
    account = world.account
    use = use_of(Scope("0807", "bob", "batch", "35e9"), "long", b"{}")
    body = dumps({"results": [ANN, os.urandom(1_000_000).hex(), ANN]})
    answer = once(account.table, use, uuid4(), time.time() + 30, lambda _: Answer(200, {}, body))
    assert answer.body == body
    assert len(list(stored_items(account.table, use.partition, use.digest))) > 2
    world.forget()
    kept = recall(account.table, use).answer
    assert kept is not None
    assert kept.body == body.replace(ANN.encode(), FORMER_USER.encode())


def test_the_last_pass_begins_when_the_last_token_has_expired(world: World) -> None:
    passes: list[Traces] = []
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        world.wait(seconds)

    forget_person(
        world.account.table,
        "0807",
        "nobody",
        wait=wait,
        files=NoFiles(),
        settling=0,
        tokens=900,
        most=5,
        say=passes.append,
    )
    assert len(passes) == 2
    assert 800 < sum(waited) <= 900


def test_the_list_knows_every_kind_of_item() -> None:
    same = {"deleted project": "project", "slice of it": "background work", "deleted issue": "issue"}
    same |= {"segment of it": "check of the table"}
    named = {name: find(pk, sk).place.name for name, (pk, sk, _) in ENTITIES.items()}
    assert named == {name: same.get(name, name) for name in ENTITIES}
    assert {place.name for place in PLACES} == {*named.values()}
    for pk, sk in (("note-0807.35e9", "x"), (keys.project("0807", "35e9"), "other")):
        with pytest.raises(UnknownPlace):
            find(pk, sk)


def test_each_kind_of_item_says_where_its_users_are() -> None:
    own = {place.name for place in PLACES if place.trace is Trace.OWN}
    in_keys = {
        place.name for place in PLACES if "user" in {**place.partition.groupindex, **place.sort.groupindex}
    }
    assert own == in_keys | {"socket"}, "a socket has its user in an attribute"
    named = {place.name for place in PLACES if place.trace is Trace.NAMED}
    packed = {"subscription", "delivery"}
    assert named <= {*NAMED} | packed, "the attributes of each"
    assert not packed & {*NAMED}


def test_nothing_is_left_of_a_tenant_that_is_forgotten(world: World) -> None:
    account = world.account
    elsewhere = others(account)
    left = forget_tenant(
        account.table, "0807", wait=world.wait, files=NoFiles(), settling=0, tokens=0, most=12
    )
    assert left == 0
    assert {key for key in account.table.items if "0807" in key[0]} == set()
    assert others(account) == elsewhere
    assert [item for item in account.table.items.values() if "0807" in held(item)] == []
    world.wait(0)
    assert {key for key in account.table.items if "0807" in key[0]} == set()
    assert account.api(tenant="3cc8", user=ANN).get(worked_example.NEWS).status == 200
