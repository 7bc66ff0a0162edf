"""The times at which issue numbers were given out: the counter's record of them, and its conclusions."""

from random import Random

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.dynamodb.expressions import Condition
from gridview.schema.numbering import Numbering, marking

EXISTS = Condition("attribute_exists(PK)")


def given(times: list[float], count: int = 1) -> Numbering:
    """The counter after numbers were given out at these times."""
    table = MemoryTable()
    table.put({"PK": "p", "SK": "counter", "last": 0})
    item = {"last": 0}
    for now in times:
        item = table.update("p", "counter", EXISTS, add={"last": count}, **marking(now)._asdict())
    return Numbering.from_item(item)


def test_an_idle_project_is_known_to_have_given_out_all() -> None:
    numbering = given([1_000_000.0])
    assert numbering.given_by(1_000_000.0, 1_000_500.0) == 1
    assert numbering.given_by(999_999.0, 1_000_500.0) == 0


def test_a_counter_of_an_older_version_gave_out_all_long_ago() -> None:
    assert Numbering.from_item({"last": 7}).given_by(0.0, 1_000_000.0) == 7


def test_the_first_number_of_a_minute_marks_what_had_been_given_out_before_it() -> None:
    minute = 1_000_020.0
    numbering = given([minute - 300, minute + 1, minute + 59])
    assert numbering.given_by(minute + 60, minute + 70) == 3
    assert numbering.given_by(minute + 58, minute + 70) == 0
    assert given([minute - 300, minute + 1, minute + 61]).given_by(minute + 60, minute + 70) == 1


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_said_to_have_been_given_out_before_it_was(seed: int) -> None:
    random = Random(seed)  # noqa: S311  (the same one each time)
    times, now = list[float](), 1_000_000.0
    for _ in range(random.choice((3, 30, 300))):
        now += random.choice((0.1, 5, 50, 400, 1_900, 2_000, 90_000)) * random.random()
        times.append(now)
    numbering = given(times)
    later = now + random.choice((0, 30, 100, 3_000))
    for _ in range(20):
        instant = later - random.choice((10, 200, 1_000, 5_000)) * random.random()
        given_out = numbering.given_by(instant, later)
        assert given_out <= sum(time <= instant for time in times)
        # A reader's clock may lag the writer's.
        assert numbering.given_by(instant - 60, later - 60) <= sum(time <= instant for time in times)


def test_while_numbers_are_given_out_the_marks_are_exact_to_the_minute() -> None:
    times = [1_000_000.0 + second for second in range(1_800)]
    numbering, now = given(times), 1_001_800.0
    for ago in (130, 300, 600, 840):
        assert numbering.given_by(now - ago, now) >= sum(time <= now - ago for time in times) - 120


def test_a_counter_stays_small() -> None:
    numbering = given([60.0 * minute for minute in range(100)])
    assert len(numbering.marks) == 16
