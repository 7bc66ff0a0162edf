"""Batches: always the same, and each delivered once in effect."""

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx
import pytest

from devtools.failure import Failure
from devtools.importer.batches import MAX_BYTES, MAX_OPERATIONS, Batch, cut
from devtools.importer.client import Api
from devtools.importer.plan import Plan
from devtools.importer.sender import Outcome, deliver, send_all
from devtools.importer.source import Row

PLAN = Plan(0, "title", None, (), (), ())


def rows(count: int, title: str = "t") -> list[Row]:
    return [Row(number, {"title": title}) for number in range(1, count + 1)]


def test_batches_hold_all_rows_in_order_within_the_limits() -> None:
    batches = list(cut(rows(1203), PLAN))
    assert [batch.index for batch in batches] == [0, 1, 2]
    assert [batch.rows for batch in batches] == [MAX_OPERATIONS, MAX_OPERATIONS, 203]
    assert [row.number for batch in batches for row in batch.sent] == list(range(1, 1204))


def test_batches_are_bounded_by_bytes_too() -> None:
    batches = list(cut(rows(40, "x" * 100_000), PLAN))
    assert all(batch.size <= MAX_BYTES for batch in batches)
    assert sum(batch.rows for batch in batches) == 40
    assert len(batches) == 5


def test_a_row_that_cannot_be_sent_stays_with_its_batch() -> None:
    (batch,) = cut([Row(1, {"title": "a"}), Row(2, {"title": ""}), Row(3, {"title": "c"})], PLAN)
    assert [row.number for row in batch.sent] == [1, 3]
    assert [(refusal.row, refusal.values) for refusal in batch.refused] == [(2, {"title": ""})]


def test_rows_that_cannot_be_sent_do_not_pile_up() -> None:
    assert [batch.rows for batch in cut(rows(1100, ""), PLAN)] == [500, 500, 100]


def test_no_rows_make_no_batch() -> None:
    assert list(cut([], PLAN)) == []


class Server:
    """An API with scripted results for each title.

    As the real one, it answers the same to the same key, unless a result was a 503: it then completes the batch.
    """

    def __init__(self, results: Callable[[str, int], int]) -> None:
        self.answers: dict[str, list[dict[str, Any]]] = {}
        self.requests: list[str] = []
        self.created: list[str] = []
        self._results = results
        self._seen: dict[str, int] = {}

    def __call__(self, request: httpx.Request) -> httpx.Response:
        key = request.headers["Idempotency-Key"]
        self.requests.append(key)
        names = [operation["create"]["name"] for operation in json.loads(request.content)["operations"]]
        before = self.answers.get(key) or [{"status": 503}] * len(names)
        again = any(result["status"] == 503 for result in before)
        self.answers[key] = [
            self._result(name) if again and result["status"] != 201 else result
            for name, result in zip(names, before, strict=True)
        ]
        return httpx.Response(200, json={"results": self.answers[key]})

    def _result(self, name: str) -> dict[str, Any]:
        self._seen[name] = self._seen.get(name, 0) + 1
        status = self._results(name, self._seen[name])
        if status != 201:
            return {"status": status, "problem": {"detail": f"{name}: {status}", "errors": []}}
        self.created.append(name)
        return {"status": 201, "issue": {}}


def send(server: Callable[[httpx.Request], httpx.Response], batch: Batch) -> Outcome:
    api = Api("http://api", lambda: "t", transport=httpx.MockTransport(server), sleep=lambda _: None)
    return deliver(api, "p", "import", {"kind": "Kind of part"}, batch)


def batch_of(*titles: str) -> Batch:
    (batch,) = cut([Row(number, {"title": title}) for number, title in enumerate(titles, 1)], PLAN)
    return batch


def test_refused_rows_are_reported_and_the_others_created() -> None:
    server = Server(lambda name, _: 400 if name == "bad" else 201)
    outcome = send(server, batch_of("a", "bad", "c"))
    assert outcome.created == 2
    assert [(refusal.row, refusal.reason, refusal.values) for refusal in outcome.refused] == [
        (2, "bad: 400", {"title": "bad"})
    ]


def test_a_reason_names_the_columns() -> None:
    errors = [
        {"field": "fields.kind", "message": "has no option 'x'"},
        {"field": "fields.kind.0", "message": "is odd"},
        {"field": "title", "message": "is long"},
    ]

    def server(_: httpx.Request) -> httpx.Response:
        problem = {"detail": "The request is not valid.", "errors": errors}
        return httpx.Response(200, json={"results": [{"status": 400, "problem": problem}]})

    (refusal,) = send(server, batch_of("a")).refused
    assert refusal.reason == "Kind of part has no option 'x'; Kind of part is odd; title is long"
    assert refusal.errors == errors


@pytest.mark.parametrize(("status", "keys"), [(503, ["import-0-0"] * 2), (413, ["import-0-0", "import-0-1"])])
def test_only_operations_that_failed_temporarily_are_done_again(status: int, keys: list[str]) -> None:
    server = Server(lambda name, time: status if name == "late" and time < 3 else 201)
    outcome = send(server, batch_of("a", "late", "c", "late"))
    assert outcome.created == 4
    assert not outcome.refused
    assert sorted(server.created) == ["a", "c", "late", "late"]
    assert server.requests == keys


def test_an_operation_that_is_too_large_by_itself_is_refused() -> None:
    outcome = send(Server(lambda name, _: 413 if name == "huge" else 201), batch_of("a", "huge"))
    assert outcome.created == 1
    assert [refusal.row for refusal in outcome.refused] == [2]


@pytest.mark.parametrize("interrupted", [1, 2, 3])
def test_a_batch_that_is_sent_again_has_the_same_outcome_and_creates_nothing_twice(interrupted: int) -> None:
    server = Server(lambda name, time: 503 if name == "late" and time < 3 else 201)

    def until_interrupted(request: httpx.Request) -> httpx.Response:
        if len(server.requests) == interrupted:
            raise KeyboardInterrupt
        return server(request)

    with suppress(KeyboardInterrupt):
        send(until_interrupted, batch_of("a", "late"))
    assert send(server, batch_of("a", "late")).created == 2
    assert send(server, batch_of("a", "late")).created == 2
    assert sorted(server.created) == ["a", "late"]


def test_endless_refusal_for_now_ends() -> None:
    with pytest.raises(Failure, match="keeps refusing parts"):
        send(Server(lambda *_: 503), batch_of("a"))


def test_a_refused_batch_ends_the_import() -> None:
    with pytest.raises(Failure, match="refuses a batch: The role is too low"):
        send(lambda _: httpx.Response(403, json={"detail": "The role is too low."}), batch_of("a"))


def test_an_answer_for_another_number_of_operations_ends_the_import() -> None:
    with pytest.raises(Failure, match="another number of operations"):
        send(lambda _: httpx.Response(200, json={"results": []}), batch_of("a"))


def outcome_of(batch: Batch) -> Outcome:
    return Outcome(batch, batch.rows, [])


def test_all_batches_are_sent_and_counted_once() -> None:
    done: list[int] = []
    send_all(
        (Batch(n) for n in range(50)),
        outcome_of,
        lambda outcome: done.append(outcome.batch.index),
        workers=4,
        cancel=lambda: None,
    )
    assert sorted(done) == list(range(50))


def test_no_more_batches_are_made_than_are_under_way() -> None:
    made: list[int] = []
    done: list[int] = []
    ahead: list[int] = []

    def batches() -> Any:
        for index in range(40):
            ahead.append(len(made) - len(done))
            made.append(index)
            yield Batch(index)

    send_all(
        batches(),
        outcome_of,
        lambda outcome: done.append(outcome.batch.index),
        workers=3,
        cancel=lambda: None,
    )
    assert max(ahead) <= 3


def test_after_a_failure_nothing_is_sent_and_what_was_acknowledged_counts() -> None:
    done: list[int] = []
    sent: list[int] = []
    failing, cancelled = threading.Event(), threading.Event()

    def deliver_one(batch: Batch) -> Outcome:
        sent.append(batch.index)
        if batch.index == 2:
            failing.set()
            raise Failure("no more")
        if batch.index in (1, 3):
            # In flight while the other fails; acknowledged afterwards.
            failing.wait(5)
            cancelled.wait(5)
        return outcome_of(batch)

    with pytest.raises(Failure, match="no more"):
        send_all(
            (Batch(n) for n in range(1000)),
            deliver_one,
            lambda outcome: done.append(outcome.batch.index),
            workers=3,
            cancel=cancelled.set,
        )
    assert cancelled.is_set()
    assert len(sent) < 10
    assert sorted(done) == sorted(set(sent) - {2})
    assert len(done) == len(set(done))
