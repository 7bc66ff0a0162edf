"""Attempts at a batch with an Idempotency-Key: answered once, even if they die."""

import os
import time
from collections.abc import Callable
from uuid import uuid4

import pytest

from gridview.commands.attempts import Attempt, once
from gridview.commands.idempotency import Scope, use_of
from gridview.commands.marks import Mark
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema.remembered import KEPT_DAYS, Answer
from gridview.support.errors import Conflict, Overloaded, RequestInProgress
from tests.support import cloud

Work = Callable[[Attempt], bytes]
BODY = b'{"operations": []}'


@pytest.fixture
def table(account: cloud.Cloud) -> Table:
    return account.table


class Killed(BaseException):
    """Lambda ends a function that is out of time."""


SCOPE = Scope("0807", "ann", "batch", "35e9")


def die(_: Attempt) -> bytes:
    raise Killed


def never(_: Attempt) -> bytes:
    raise AssertionError("the work was done again")


def run(
    table: Table,
    work: Work,
    *,
    key: str = "key",
    scope: Scope = SCOPE,
    body: bytes = BODY,
    alive_for: float = 30,
) -> bytes:
    use = use_of(scope, key, body)
    answer = once(
        table, use, uuid4(), time.time() + alive_for, lambda attempt: Answer(200, {}, work(attempt))
    )
    return answer.body


def test_the_second_time_the_first_answer_is_given(table: Table) -> None:
    assert run(table, lambda _: b"first") == b"first"
    assert run(table, never) == b"first"


def test_an_answer_of_several_items_comes_back_whole(table: Table) -> None:
    answer = os.urandom(1_100_000)
    run(table, lambda _: answer)
    assert run(table, never) == answer


@pytest.mark.parametrize("answer", [b"", b"{}"])
def test_an_answer_of_nearly_nothing_comes_back(table: Table, answer: bytes) -> None:
    run(table, lambda _: answer)
    assert run(table, never) == answer


def test_another_body_under_the_same_key_is_a_conflict(table: Table) -> None:
    run(table, lambda _: b"first")
    with pytest.raises(Conflict):
        run(table, never, body=BODY + b" ")


@pytest.mark.parametrize(
    "scope",
    [
        Scope("3cc8", "ann", "batch", "35e9"),
        Scope("0807", "bob", "batch", "35e9"),
        Scope("0807", "ann", "other", "35e9"),
        Scope("0807", "ann", "batch", "7b7e"),
        Scope("0807", "annbatch", "", "35e9"),
    ],
)
def test_the_same_key_elsewhere_is_another_key(table: Table, scope: Scope) -> None:
    run(table, lambda _: b"first")
    assert run(table, lambda _: b"second", scope=scope) == b"second"


def test_while_an_attempt_may_be_alive_the_request_is_in_progress(table: Table) -> None:
    with pytest.raises(Killed):
        run(table, die)
    with pytest.raises(RequestInProgress):
        run(table, never)
    with pytest.raises(Conflict):
        run(table, never, body=b"other")


def test_after_its_deadline_the_next_attempt_takes_over_and_knows_it(table: Table) -> None:
    with pytest.raises(Killed):
        run(table, die, alive_for=-1)
    seen = []

    def work(attempt: Attempt) -> bytes:
        seen.append(attempt.again)
        return b"done"

    assert run(table, work) == b"done"
    assert run(table, never) == b"done"
    assert seen == [True]


def test_a_first_attempt_knows_that_it_is_the_first(table: Table) -> None:
    run(table, lambda attempt: str(attempt.again).encode())
    assert run(table, never) == b"False"


def test_an_attempt_that_is_left_open_is_not_remembered_and_the_next_one_need_not_wait(table: Table) -> None:
    def half(attempt: Attempt) -> bytes:
        attempt.leave_open()
        return b"half"

    assert run(table, half) == b"half"
    assert run(table, lambda attempt: str(attempt.again).encode()) == b"True"
    assert run(table, never) == b"True"
    with pytest.raises(Conflict):
        run(table, never, body=b"other")


def test_numbers_reserved_by_a_dead_attempt_are_used_by_the_next(table: Table) -> None:
    def reserve_and_die(attempt: Attempt) -> bytes:
        assert attempt.numbers(lambda: range(5, 8)) == range(5, 8)
        raise Killed

    def reserve(attempt: Attempt) -> bytes:
        return str(list(attempt.numbers(lambda: range(100, 103)))).encode()

    with pytest.raises(Killed):
        run(table, reserve_and_die, alive_for=-1)
    assert run(table, reserve) == b"[5, 6, 7]"


def test_the_mark_of_an_operation_is_the_same_in_every_attempt_and_no_other_requests(table: Table) -> None:
    marks: list[Mark] = []

    def note(attempt: Attempt) -> bytes:
        marks.extend(attempt.mark(place) for place in range(2))
        raise Killed

    for options in ({"alive_for": -1}, {"alive_for": -1}, {"key": "another"}):
        with pytest.raises(Killed):
            run(table, note, **options)
    assert marks[:2] == marks[2:4]
    assert len(set(marks)) == 4


def test_an_attempt_that_was_overtaken_cannot_remember_its_answer(table: Table) -> None:
    def overtaken(_: Attempt) -> bytes:
        assert run(table, lambda _: b"the other's") == b"the other's"
        return b"late"

    with pytest.raises(RequestInProgress):
        run(table, overtaken, alive_for=-1)
    assert run(table, never) == b"the other's"


def test_an_attempt_that_was_overtaken_cannot_take_numbers(table: Table) -> None:
    def overtaken(attempt: Attempt) -> bytes:
        # The other has no answer yet.
        with pytest.raises(Killed):
            run(table, die)
        attempt.numbers(lambda: range(1, 2))
        raise AssertionError

    with pytest.raises(RequestInProgress):
        run(table, overtaken, alive_for=-1)


def test_all_that_is_remembered_expires_after_a_day(table: Table, account: cloud.Cloud) -> None:
    before = time.time()
    run(table, lambda _: os.urandom(800_000))
    expiries = [int(item["ttl"]["N"]) for item in account.items()]
    assert len(expiries) == 3
    assert all(before + 86_399 <= expiry <= time.time() + 86_400 for expiry in expiries)
    assert KEPT_DAYS == 1


def test_an_expired_record_is_ignored_though_the_table_still_has_it(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gridview.schema.remembered.KEPT_DAYS", -0.1)
    run(table, lambda _: b"first")
    monkeypatch.undo()
    assert run(table, lambda _: b"second", body=b"other") == b"second"
    assert run(table, never, body=b"other") == b"second"


def test_of_two_concurrent_takeovers_one_gets_in_progress(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Killed):
        run(table, die, alive_for=-1)
    put = table.put
    raced: list[bool] = []

    def put_after_another(item: dict[str, object], condition: object) -> None:
        if item.get("again") and not raced:
            raced.append(True)
            with pytest.raises(Killed):
                run(table, die, alive_for=60)
        put(item, condition)  # type: ignore[arg-type]

    monkeypatch.setattr(table, "put", put_after_another)
    with pytest.raises(RequestInProgress):
        run(table, never)
    assert raced


def test_a_key_is_kept_as_a_hash_only(table: Table, account: cloud.Cloud) -> None:
    run(table, lambda _: b"first", key="a-secret-of-the-client")
    assert "a-secret-of-the-client" not in str(account.items())
    assert all(item["PK"]["S"].startswith(keys.request("0807", "35e9")) for item in account.items())


def test_an_attempt_refused_as_a_whole_lets_the_next_one_start_at_once(table: Table) -> None:
    def refuse(_: Attempt) -> bytes:
        raise Overloaded("The table is busy; try again.")

    with pytest.raises(Overloaded):
        run(table, refuse)
    assert run(table, lambda attempt: str(attempt.again).encode()) == b"True"


def test_an_answer_of_which_a_part_is_missing_is_not_given(table: Table, account: cloud.Cloud) -> None:
    run(table, lambda _: os.urandom(800_000))
    (part,) = (item["SK"]["S"] for item in account.items() if item["SK"]["S"].endswith("-0001"))
    table.delete(account.items()[0]["PK"]["S"], part)
    with pytest.raises(RequestInProgress):
        run(table, never)
