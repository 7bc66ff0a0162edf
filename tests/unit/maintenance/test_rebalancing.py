"""New ranks for rows of a manual order whose ranks are too long."""

from itertools import pairwise
from random import Random

import pytest

from gridview.encoding.fractional_keys import between, default_key, default_key_above, default_key_up_to
from gridview.maintenance.rebalancing import SHORT, Respread, respread
from gridview.schema.placements import RankedRow


def written(rows: list[RankedRow], new: list[Respread]) -> list[RankedRow]:
    """The rows after all writes. AssertionError if one of the writes changes their order."""
    ranks = dict(rows)
    for one in new:
        assert ranks[one.row.num] == one.row.rank
        ranks[one.row.num] = one.rank
        assert all(ranks[first.num] < ranks[next_.num] for first, next_ in pairwise(rows))
    return [RankedRow(num, ranks[num]) for num, _ in rows]


def crowded(random: Random, count: int, low: str | None, high: str | None, first: int) -> list[RankedRow]:
    """So many rows between two ranks, most of them placed beside the same row."""
    ranks = [low, high]
    for _ in range(count):
        at = random.choice([1, 1, 1, random.randrange(1, len(ranks))])
        ranks[at:at] = between(ranks[at - 1], ranks[at], random.random)
    return [RankedRow(first + at, rank or "") for at, rank in enumerate(ranks[1:-1])]


@pytest.mark.parametrize("seed", range(20))
def test_long_ranks_become_short_and_pass_no_default_key(seed: int) -> None:
    random = Random(seed)  # noqa: S311  (the same each time)
    rows = [
        *crowded(random, random.randrange(20), None, default_key(1), 100),
        RankedRow(1, default_key(1)),
        *crowded(random, 90, default_key(1), default_key(2), 200),
        *crowded(random, 30, default_key(2), default_key(5), 300),
        RankedRow(5, default_key(5)),
        *crowded(random, random.randrange(20), default_key(6), None, 400),
    ]
    place = max(range(len(rows)), key=lambda at: len(rows[at].rank))
    assert len(rows[place].rank) > SHORT + 2
    new = respread(rows[:place][::-1], rows[place:], random.random)
    after = written(rows, new)
    # Beside a row that keeps its short rank, two more characters may be needed.
    assert len(after[place].rank) <= SHORT + 2
    for row, now in zip(rows, after, strict=True):
        assert default_key_up_to(now.rank) == default_key_up_to(row.rank)
        assert default_key_above(now.rank) == default_key_above(row.rank)
    assert after[rows.index(RankedRow(5, default_key(5)))].rank == default_key(5)


def test_a_row_that_has_another_issues_default_key_keeps_it() -> None:
    long = [RankedRow(8, default_key(3) + "0" * 14 + "1"), RankedRow(9, default_key(3) + "0" * 14 + "2")]
    rows = [RankedRow(7, default_key(3)), *long]
    new = respread(rows[:1], rows[1:], lambda: 0.5)
    assert {one.row.num for one in new} == {8, 9}
    assert [num for num, _ in written(rows, new)] == [7, 8, 9]


def test_short_ranks_stay() -> None:
    rows = [RankedRow(num, default_key(num)) for num in range(1, 30)]
    assert respread(rows[:10][::-1], rows[10:], lambda: 0.5) == []
    assert respread([], [], lambda: 0.5) == []
