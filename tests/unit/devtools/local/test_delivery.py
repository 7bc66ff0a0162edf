"""The event source mapping's semantics, with functions that fail in every way."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devtools.failure import FunctionError
from devtools.local.delivery import Delivery, Policy, Reason, Record, batches, sequence_number, settled_by


def record(number: int, *, wanted: bool = True, created: float = 1000.0, padding: int = 0) -> Record:
    return {
        "eventID": f"event-{number}",
        "wanted": wanted,
        "dynamodb": {
            "SequenceNumber": f"{number:021d}",
            "ApproximateCreationDateTime": created,
            "Keys": {"PK": {"S": "x" * padding}},
        },
    }


def numbers(records: Iterable[Record]) -> list[int]:
    return [int(sequence_number(one)) for one in records]


class World:
    """Everything around a delivery, and its results."""

    def __init__(self, respond: Callable[[list[int]], Any], **policy: Any) -> None:
        self.invocations: list[list[int]] = []
        self.discarded: list[tuple[list[int], Reason, int]] = []
        self.pauses: list[int] = []
        self._respond = respond
        self.delivery = Delivery(
            policy=Policy(**policy),
            invoke=self._invoke,
            discard=lambda records, reason, invocations: self.discarded.append(
                (numbers(records), reason, invocations)
            ),
            wanted=lambda one: one["wanted"],
            now=lambda: 1000.0,
            pause=self.pauses.append,
        )

    def _invoke(self, records: list[Record]) -> Any:
        self.invocations.append(numbers(records))
        return self._respond(numbers(records))

    def deliver(self, records: list[Record]) -> list[int]:
        return [int(number) for number in self.delivery.deliver(records)]


def succeed(_: list[int]) -> Any:
    return {"batchItemFailures": []}


def fail(_: list[int]) -> Any:
    raise FunctionError("no")


def fail_with(*poison: int) -> Callable[[list[int]], Any]:
    """A function that fails as a whole if one of these is in the batch."""

    def respond(batch: list[int]) -> Any:
        if set(poison) & set(batch):
            raise FunctionError("poison")
        return None

    return respond


def report(*poison: int) -> Callable[[list[int]], Any]:
    """A function that reports the ones of these in the batch."""

    def respond(batch: list[int]) -> Any:
        return {"batchItemFailures": [{"itemIdentifier": f"{n:021d}"} for n in batch if n in poison]}

    return respond


def test_records_come_in_order_in_batches_and_each_batch_is_settled() -> None:
    world = World(succeed, batch_size=3)
    assert world.deliver([record(n) for n in range(1, 9)]) == [3, 6, 8]
    assert world.invocations == [[1, 2, 3], [4, 5, 6], [7, 8]]
    assert world.discarded == []
    assert world.pauses == []


def test_unwanted_records_are_dropped_and_settled() -> None:
    world = World(succeed, batch_size=2)
    records = [record(n, wanted=n in {2, 5, 6}) for n in range(1, 9)]
    assert world.deliver(records) == [5, 6, 8]
    assert world.invocations == [[2, 5], [6]]


def test_nothing_wanted_invokes_nothing_and_settles_all() -> None:
    world = World(fail)
    assert world.deliver([record(n, wanted=False) for n in (1, 2)]) == [2]
    assert world.invocations == []


def test_no_records() -> None:
    assert World(fail).deliver([]) == []


def test_a_partial_response_settles_what_is_before_the_first_failure_and_retries_the_rest() -> None:
    failing = {4}

    def once(batch: list[int]) -> Any:
        response = report(*failing)(batch)
        failing.clear()
        return response

    world = World(once, batch_size=6)
    assert world.deliver([record(n) for n in range(1, 7)]) == [3, 6]
    assert world.invocations == [[1, 2, 3, 4, 5, 6], [4, 5, 6]]
    assert world.pauses == [1]
    assert world.discarded == []


def test_the_first_of_several_failures_in_the_batch_counts() -> None:
    batch = [record(n) for n in range(1, 6)]
    response = {"batchItemFailures": [{"itemIdentifier": f"{n:021d}"} for n in (4, 2, 5)]}
    assert settled_by(response, batch) == 1


def test_a_partial_failure_that_stays_is_given_up_with_all_that_follows_it_in_the_batch() -> None:
    world = World(report(3), batch_size=5, retries=2)
    assert world.deliver([record(n) for n in range(1, 8)]) == [2, 5, 7]
    assert world.invocations == [[1, 2, 3, 4, 5], [3, 4, 5], [3, 4, 5], [6, 7]]
    assert world.discarded == [([3, 4, 5], Reason.RETRIES, 3)]
    assert world.pauses == [1, 2]


def test_a_rest_that_starts_later_has_all_its_retries() -> None:
    left = {2: 2, 4: 2}

    def respond(batch: list[int]) -> Any:
        first = next((n for n in batch if left.get(n)), None)
        if first is None:
            return None
        left[first] -= 1
        return report(first)(batch)

    world = World(respond, retries=2)
    assert world.deliver([record(n) for n in range(1, 6)]) == [1, 3, 5]
    assert world.discarded == []


def test_a_failed_batch_is_split_down_to_the_record_that_fails() -> None:
    world = World(fail_with(6), batch_size=8, retries=2)
    assert world.deliver([record(n) for n in range(1, 9)]) == [4, 5, 6, 8]
    assert world.invocations == [
        [1, 2, 3, 4, 5, 6, 7, 8],
        [1, 2, 3, 4],
        [5, 6, 7, 8],
        [5, 6],
        [5],
        [6],
        [6],
        [6],
        [7, 8],
    ]
    # Splitting is no retry: the single record has all of them.
    assert world.discarded == [([6], Reason.RETRIES, 3)]
    assert world.pauses == [1, 2]


def test_without_bisection_the_whole_batch_is_retried_and_given_up() -> None:
    world = World(fail, batch_size=2, retries=1, bisect=False)
    assert world.deliver([record(n) for n in (1, 2)]) == [2]
    assert world.invocations == [[1, 2], [1, 2]]
    assert world.discarded == [([1, 2], Reason.RETRIES, 2)]


def test_without_retries_a_record_is_invoked_once() -> None:
    world = World(fail, retries=0)
    assert world.deliver([record(1)]) == [1]
    assert world.invocations == [[1]]
    assert world.discarded == [([1], Reason.RETRIES, 1)]


def test_old_records_are_discarded_without_an_invocation() -> None:
    world = World(succeed, max_age=100.0)
    records = [record(1, created=800.0), record(2, created=899.9), record(3, created=900.0), record(4)]
    assert world.deliver(records) == [2, 4]
    assert world.invocations == [[3, 4]]
    assert world.discarded == [([1, 2], Reason.AGE, 0)]


def test_a_record_that_grows_too_old_between_retries_is_discarded() -> None:
    clock = iter([1000.0, 1050.0, 1101.0])
    world = World(fail, max_age=100.0, retries=10)
    delivery = Delivery(
        policy=world.delivery.policy,
        invoke=world.delivery.invoke,
        discard=world.delivery.discard,
        wanted=world.delivery.wanted,
        now=lambda: next(clock),
        pause=world.delivery.pause,
    )
    assert list(delivery.deliver([record(1)])) == [f"{1:021d}"]
    assert world.invocations == [[1], [1]]
    assert world.discarded == [([1], Reason.AGE, 2)]


@pytest.mark.parametrize("response", [None, {}, {"batchItemFailures": []}, {"batchItemFailures": None}])
def test_responses_that_settle_all(response: Any) -> None:
    assert settled_by(response, [record(1), record(2)]) == 2


@pytest.mark.parametrize(
    "response",
    [
        {"batchItemFailures": [{"itemIdentifier": ""}]},
        {"batchItemFailures": [{"itemIdentifier": None}]},
        {"batchItemFailures": [{"identifier": f"{1:021d}"}]},
        {"batchItemFailures": [{"itemIdentifier": f"{9:021d}"}]},
        {"batchItemFailures": ["x"]},
        {"batchItemFailures": 7},
        "done",
        [],
    ],
)
def test_responses_that_lambda_takes_for_a_failure_of_the_batch(response: Any) -> None:
    with pytest.raises(FunctionError):
        settled_by(response, [record(1), record(2)])


def test_an_invalid_response_is_bisected_like_an_error() -> None:
    def respond(batch: list[int]) -> Any:
        return {"batchItemFailures": [{"itemIdentifier": ""}]} if 2 in batch else None

    world = World(respond, retries=0)
    assert world.deliver([record(1), record(2)]) == [1, 2]
    assert world.discarded == [([2], Reason.RETRIES, 1)]


def test_batches_stay_under_the_payload_limit() -> None:
    records = [record(n, padding=1000) for n in range(10)]
    cut = list(batches(records, size=100, max_bytes=4000))
    assert [one for batch in cut for one in batch] == records
    assert {len(batch) for batch in cut} == {1, 3}


def test_a_record_above_the_payload_limit_has_its_own_batch() -> None:
    cut = list(batches([record(1), record(2, padding=5000), record(3)], size=100, max_bytes=1000))
    assert [numbers(batch) for batch in cut] == [[1], [2], [3]]


def test_a_delivery_that_is_stopped_goes_on_from_what_it_settled() -> None:
    seen: list[int] = []

    def respond(batch: list[int]) -> Any:
        seen.extend(batch)

    records = [record(n) for n in range(1, 10)]
    first = iter(World(respond, batch_size=2).delivery.deliver(records))
    settled = [int(next(first)), int(next(first))][-1]
    del first
    World(respond, batch_size=2).deliver([one for one in records if int(sequence_number(one)) > settled])
    assert seen == list(range(1, 10))


@given(data=st.data())
def test_every_wanted_record_is_settled_or_discarded_once_and_in_order(
    data: st.DataObject,
) -> None:
    total = data.draw(st.integers(0, 30))
    records = [record(n, wanted=data.draw(st.booleans())) for n in range(total)]
    wanted = {int(sequence_number(one)) for one in records if one["wanted"]}
    accepted: list[int] = []

    def respond(batch: list[int]) -> Any:
        kind = data.draw(st.sampled_from(["all", "partial", "error", "nonsense"]))
        if kind == "error":
            raise FunctionError("no")
        if kind == "nonsense":
            return {"batchItemFailures": [{"itemIdentifier": "nonsense"}]}
        first = data.draw(st.integers(0, len(batch) - 1)) if kind == "partial" else len(batch)
        accepted.extend(batch[:first])
        return {"batchItemFailures": [{"itemIdentifier": f"{n:021d}"} for n in batch[first:]]}

    world = World(respond, batch_size=data.draw(st.integers(1, 8)), retries=data.draw(st.integers(0, 2)))
    settled = world.deliver(records)
    discarded = [n for batch, _, _ in world.discarded for n in batch]
    assert sorted(accepted + discarded) == sorted(wanted)
    assert accepted == sorted(accepted)
    assert settled == sorted(set(settled))
    assert settled[-1:] == [total - 1][: len(records)]
