"""Parallel steps: the reads that share a round, and the steps that need not wait. Without a table."""

from collections.abc import Sequence
from typing import Any

import pytest

from gridview.query.plan import Node
from gridview.query.steps import (
    Ask,
    AtHand,
    NodeFacts,
    RoundsTaken,
    Steps,
    ask,
    ask_all,
    record,
    rounds_taken,
    side_by_side,
)
from gridview.view.reads import ReadIssue, ReadLedger

HERE, THERE = Node(), Node()


class Rounds:
    """Answers each read with its issue number; reads in `at_hand` take no call."""

    def __init__(self, at_hand: Sequence[int] = ()) -> None:
        self.made: list[list[int]] = []
        self.records: list[NodeFacts] = []
        self._at_hand = at_hand

    def run(self, steps: Steps[Any]) -> Any:
        answer: Any = None
        while True:
            try:
                asked = steps.send(answer)
            except StopIteration as ended:
                return ended.value
            answer = None
            if isinstance(asked, list):
                self.made.append([one.read.num for one in asked])  # type: ignore[union-attr]
                answer = [one.read.num for one in asked]  # type: ignore[union-attr]
            elif isinstance(asked, AtHand):
                numbers = [one.read.num for one in asked.asks]  # type: ignore[union-attr]
                answer = numbers if set(numbers) <= set(self._at_hand) else None
            elif isinstance(asked, RoundsTaken):
                answer = len(self.made)
            else:
                self.records.append(asked)


def reads(*numbers: int) -> Steps[list[int]]:
    found = []
    for num in numbers:
        found.append((yield from ask(HERE, ReadIssue(num))))
    return found


def test_reads_of_steps_side_by_side_share_rounds() -> None:
    rounds = Rounds()
    assert rounds.run(side_by_side(reads(1, 2, 3), reads(4), reads(5, 6))) == [[1, 2, 3], [4], [5, 6]]
    assert rounds.made == [[1, 4, 5], [2, 6], [3]]


def test_a_part_with_cached_reads_does_not_wait_for_the_others() -> None:
    rounds = Rounds(at_hand=(1, 2, 7))
    assert rounds.run(side_by_side(reads(1, 2, 3), reads(4, 5), reads(6, 7))) == [[1, 2, 3], [4, 5], [6, 7]]
    assert rounds.made == [[3, 4, 6], [5]]


def test_parts_may_have_parts_and_take_no_round() -> None:
    rounds = Rounds()

    def both() -> Steps[Any]:
        found = yield from side_by_side(reads(1, 2), side_by_side(reads(3), reads()))
        yield from record(THERE, found=found)
        return (found, (yield from rounds_taken()))

    assert rounds.run(side_by_side(both(), reads(4, 5, 6))) == [([[1, 2], [[3], []]], 2), [4, 5, 6]]
    assert rounds.made == [[1, 3, 4], [2, 5], [6]]
    assert rounds.records == [NodeFacts(THERE, {"found": [[1, 2], [[3], []]]})]


def test_several_reads_are_one_round_and_none_is_no_round() -> None:
    rounds = Rounds()
    assert rounds.run(ask_all([Ask(HERE, ReadIssue(1)), Ask(THERE, ReadLedger(2))])) == [1, 2]
    assert rounds.run(ask_all([])) == []
    assert rounds.made == [[1, 2]]


def test_an_error_of_one_part_ends_all() -> None:
    def fails() -> Steps[None]:
        yield from ask(HERE, ReadIssue(1))
        raise LookupError

    with pytest.raises(LookupError):
        Rounds().run(side_by_side(reads(1, 2), fails()))
