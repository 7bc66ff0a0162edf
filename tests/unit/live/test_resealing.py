"""Sealing all webhooks again: the writes of a pass, and what neither a kill nor a concurrent writer can lose."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.api.sealing import SECRETS
from gridview.dynamodb.errors import ConditionFailed
from gridview.dynamodb.expressions import version_is
from gridview.encoding import keys, live_keys
from gridview.encoding.seals import Seals
from gridview.live.resealing import Resealed, reseal_webhooks
from gridview.live.webhook import SealedSecret, Webhook, binding_of
from gridview.support.errors import Overloaded
from tests.support.webhooks import stored

OLD, NEW, NEWEST = b"old", b"new", b"newest"
LATER = "2099-11-22T08:00:00.000000Z"
ROTATED = Seals([NEW, OLD], SECRETS)


@pytest.fixture
def table() -> MemoryTable:
    return MemoryTable()


def seals(*values: bytes) -> Seals:
    return Seals(values, SECRETS)


def put(table: MemoryTable, webhook: str, *values: bytes, by: bytes = OLD, **parts: Any) -> None:
    """A webhook with these secrets, the present one first, sealed under one of the stack."""
    bound = binding_of("0807", "35e9", webhook)
    sealed = [seals(by).seal(value, bound) for value in values]
    secrets = tuple(SealedSecret(one, LATER if place else None) for place, one in enumerate(sealed))
    table.put(stored(webhook, secrets=secrets, **parts))


def opened(table: MemoryTable, webhook: str, *by: bytes) -> list[bytes]:
    """The secrets of a webhook, opened by these of the stack."""
    found = Webhook.from_item(table.items[live_keys.webhooks("0807", "35e9"), webhook])
    return [seals(*by).open(one.sealed, found.binding) for one in found.secrets]


def test_every_secret_is_sealed_again_and_nothing_else_changes(table: MemoryTable) -> None:
    put(table, "w1", b"one", b"former")
    put(table, "w2", b"two", enabled=False)
    put(table, "w3", b"three", by=NEW)
    before = {place: Webhook.from_item(item) for place, item in table.items.items()}
    assert reseal_webhooks(table, ROTATED) == Resealed(3, 2, ())
    assert opened(table, "w1", NEW) == [b"one", b"former"]
    assert opened(table, "w2", NEW) == [b"two"]
    for place, item in table.items.items():
        after, was = Webhook.from_item(item), before[place]
        assert [one.until for one in after.secrets] == [one.until for one in was.secrets]
        assert after.version == was.version + (place[1] != "w3")
        assert was.resealed(after.secrets) == after if place[1] != "w3" else after == was
    items = dict(table.items)
    assert reseal_webhooks(table, ROTATED) == Resealed(3, 0, ())
    assert table.items == items


def test_a_pass_continues_on_every_page_of_the_table(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("w1", "w2", "w3"):
        put(table, name, b"one")
    monkeypatch.setattr(table, "scan", partial(table.scan, limit=1))
    assert reseal_webhooks(table, ROTATED) == Resealed(3, 3, ())


def test_other_items_than_webhooks_are_not_touched(table: MemoryTable) -> None:
    table.put({keys.PK: "issue-0807.35e9.1", keys.SK: "project-0807.35e9", "secrets": [["sealed", None]]})
    assert reseal_webhooks(table, ROTATED) == Resealed(0, 0, ())


def test_a_secret_that_does_not_open_is_named_and_kept_and_the_others_go_on(table: MemoryTable) -> None:
    put(table, "w1", b"one", by=b"lost")
    table.put(stored("w2", secrets=(SealedSecret("&"),)))
    put(table, "w3", b"three")
    before = dict(table.items)
    assert reseal_webhooks(table, ROTATED) == Resealed(3, 1, ("0807.35e9.w1", "0807.35e9.w2"))
    changed = {sk for (_, sk), item in table.items.items() if item != before[_, sk]}
    assert changed == {"w3"}


@pytest.mark.parametrize("call", range(8))
def test_killed_at_any_call_every_webhook_opens_and_the_next_pass_goes_on(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    names = ["w1", "w2", "w3"]
    for name in names:
        put(table, name, name.encode())
    calls = iter(range(100))

    def dying(real: Callable[..., Any], *, after: bool) -> Callable[..., Any]:
        def called(*given: Any, **more: Any) -> Any:
            dies = next(calls) == call
            if dies and not after:
                raise Overloaded("killed")
            found = real(*given, **more)
            if dies:
                raise Overloaded("killed")
            return found

        return called

    with monkeypatch.context() as patch:
        patch.setattr(table, "scan", dying(table.scan, after=False))
        patch.setattr(table, "get", dying(table.get, after=False))
        patch.setattr(table, "put", dying(table.put, after=call % 2 == 0))
        try:
            assert reseal_webhooks(table, ROTATED).resealed == 3
        except Overloaded:
            assert call < 7
        else:
            assert call == 7
    for name in names:
        assert opened(table, name, NEW, OLD) == [name.encode()]
    reseal_webhooks(table, ROTATED)
    for name in names:
        assert opened(table, name, NEW) == [name.encode()]


def test_a_writer_with_an_older_copy_cannot_bring_former_seals_back(table: MemoryTable) -> None:
    put(table, "w1", b"one")
    read = Webhook.from_item(table.items[live_keys.webhooks("0807", "35e9"), "w1"])
    reseal_webhooks(table, ROTATED)
    with pytest.raises(ConditionFailed):
        table.put(read.written("ann", LATER).to_item(), version_is(read.version))
    assert opened(table, "w1", NEW) == [b"one"]


def test_a_webhook_that_is_changed_or_deleted_meanwhile_is_read_again(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(table, "w1", b"one")
    put(table, "w2", b"two")
    real, raced = table.put, list[str]()

    def meanwhile(item: Any, condition: Any = None) -> None:
        if not raced:
            raced.append(item[keys.SK])
            was = Webhook.from_item(table.items[item[keys.PK], item[keys.SK]])
            real(was.written("bob", LATER).to_item())
            table.delete(item[keys.PK], "w2")
        real(item, condition)

    monkeypatch.setattr(table, "put", meanwhile)
    assert reseal_webhooks(table, ROTATED) == Resealed(2, 1, ())
    assert opened(table, "w1", NEW) == [b"one"]
    assert table.items[live_keys.webhooks("0807", "35e9"), "w1"]["updated_by"] == "bob"


def test_a_listed_webhook_that_late_copies_of_the_table_lack_is_sealed_again(
    table: MemoryTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = table.scan

    def listed(**asked: Any) -> Any:
        table.stale(None)
        found = scan(**asked)
        table.stale(lambda _, states: states)
        return found

    table.stale(lambda _, states: states)
    put(table, "w1", b"one")
    monkeypatch.setattr(table, "scan", listed)
    assert reseal_webhooks(table, ROTATED) == Resealed(1, 1, ())
    assert opened(table, "w1", NEW) == [b"one"]
