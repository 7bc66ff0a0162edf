"""The record of a creation under an Idempotency-Key: complete, for a day, and in one transaction
with the created item.
"""

import os
from collections.abc import Mapping
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands.idempotency import Scope, Transact, created_once, recall, use_of
from gridview.dynamodb.expressions import ABSENT, put
from gridview.encoding import keys
from gridview.schema.remembered import Answer, Use
from gridview.support.errors import Conflict, InvalidRequest, RequestInProgress

SCOPE = Scope("0807", "ann", "create_issue", "35e9")
USE = use_of(SCOPE, "key", b"{}")


def run(table: MemoryTable, name: str, body: bytes = b"answer", use: Use = USE) -> Answer:
    """Create the item of this name once, and return this answer."""

    def create(transact: Transact) -> None:
        transact(table, [put({keys.PK: name, keys.SK: "x"}, ABSENT)], {"name": name})

    def answer(resource: Mapping[str, Any]) -> Answer:
        return Answer(201, {"Location": resource["name"]}, body)

    return created_once(table, use, create, answer)


def names(table: MemoryTable) -> set[str]:
    return {pk for pk, _ in table.items if not pk.startswith(keys.REQUEST_PREFIX)}


@pytest.mark.parametrize("size", [0, 1, 349_000, 800_000])
def test_an_answer_of_any_size_comes_back_whole(size: int) -> None:
    table = MemoryTable()
    body = os.urandom(size)
    first = run(table, "a", body)
    assert first == Answer(201, {"Location": "a"}, body)
    assert run(table, "b") == first
    assert names(table) == {"a"}


def test_another_body_is_a_conflict() -> None:
    table = MemoryTable()
    run(table, "a")
    with pytest.raises(Conflict):
        run(table, "b", use=use_of(SCOPE, "key", b"[]"))
    assert names(table) == {"a"}


@pytest.mark.parametrize(
    "scope",
    [
        SCOPE._replace(tenant="other"),
        SCOPE._replace(user="other"),
        SCOPE._replace(operation="other"),
        SCOPE._replace(project="other"),
        SCOPE._replace(further=("other",)),
    ],
)
def test_the_same_key_elsewhere_is_another_key(scope: Scope) -> None:
    table = MemoryTable()
    run(table, "a")
    run(table, "b", use=use_of(scope, "key", b"{}"))
    assert names(table) == {"a", "b"}


def test_an_expired_record_is_ignored_though_the_table_still_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = MemoryTable()
    with monkeypatch.context() as patch:
        patch.setattr("gridview.schema.remembered.KEPT_DAYS", -0.1)
        run(table, "a", os.urandom(800_000))
    second = run(table, "b", b"second", use_of(SCOPE, "key", b"[]"))
    assert second.body == b"second"
    assert run(table, "c", use=use_of(SCOPE, "key", b"[]")) == second
    assert names(table) == {"a", "b"}


def test_one_of_two_requests_with_an_expired_record_creates(monkeypatch: pytest.MonkeyPatch) -> None:
    table = MemoryTable()
    with monkeypatch.context() as patch:
        patch.setattr("gridview.schema.remembered.KEPT_DAYS", -0.1)
        run(table, "a")
    first: list[Answer] = []

    def create(transact: Transact) -> None:
        first.append(run(table, "b", b"faster"))
        transact(table, [put({keys.PK: "c", keys.SK: "x"}, ABSENT)], {})

    assert created_once(table, USE, create, lambda _: Answer(201, {}, b"slower")) == first[0]
    assert names(table) == {"a", "b"}


def test_a_part_that_is_missing_is_not_left_out() -> None:
    table = MemoryTable()
    run(table, "a", os.urandom(800_000))
    (part,) = (sk for pk, sk in table.items if sk.endswith("-0001"))
    table.delete(USE.partition, part)
    with pytest.raises(RequestInProgress):
        run(table, "b")


def test_all_of_a_record_expires_together() -> None:
    table = MemoryTable()
    run(table, "a", os.urandom(800_000))
    record = [item for (pk, _), item in table.items.items() if pk == USE.partition]
    assert len(record) == 3
    assert len({item[keys.TTL_ATTRIBUTE] for item in record}) == 1


def test_a_key_and_a_body_are_kept_as_hashes_only() -> None:
    table = MemoryTable()
    use = use_of(SCOPE, "a-secret-of-the-client", b"another-secret")
    run(table, "a", use=use)
    assert recall(table, use).answer is not None
    assert "secret" not in str(table.items)


def test_an_invalid_key_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="visible ASCII"):
        use_of(SCOPE, "", b"{}")
