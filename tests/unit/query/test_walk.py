"""Walking along an order: from every gap, both ways, against a list of rows that one can count on the fingers."""

from collections.abc import Iterator
from itertools import product

import pytest

from gridview.dynamodb.expressions import Bound
from gridview.query.walk import Gap, Stretch, Walk

KEYS = {Stretch.VALUES: ["b", "d", "f"], Stretch.NULLS: ["2", "4"]}
"""What there is to walk along; `a`, `c` and `1`, `3` are places where a row was or will be."""
BETWEEN = {Stretch.VALUES: ["a", "c", "e", "g"], Stretch.NULLS: ["1", "3", "5"]}

Row = tuple[Stretch, str]

WALKS = [
    Walk(descending, nulls_first, nullable, backward)
    for descending, nulls_first, nullable, backward in product((False, True), repeat=4)
]
every_walk = pytest.mark.parametrize(
    "walk",
    WALKS,
    ids=lambda walk: "-".join(name for name, value in walk._asdict().items() if value) or "plain",
)


def turned(walk: Walk) -> Walk:
    """The same order, travelled the other way."""
    return walk._replace(backward=not walk.backward)


def line(walk: Walk, keys: dict[Stretch, list[str]]) -> list[Row]:
    """The rows in the order in which they are shown."""
    stretches = [Stretch.VALUES]
    if walk.nullable:
        stretches = [Stretch.NULLS, Stretch.VALUES] if walk.nulls_first else [Stretch.VALUES, Stretch.NULLS]
    return [(stretch, key) for stretch in stretches for key in sorted(keys[stretch], reverse=walk.descending)]


def travelled(walk: Walk, gap: Gap) -> list[Row]:
    """The rows that a reader gets who reads each range in the direction of the keys."""
    found = []
    for stretch, bound in walk.ranges_from(gap):
        for key in sorted(KEYS[stretch], reverse=not walk.ascending_keys):
            if bound is None or keeps(bound, key):
                found.append((stretch, key))
    return found


def keeps(bound: Bound, key: str) -> bool:
    return {
        "<": key < bound.value,
        "<=": key <= bound.value,
        ">": key > bound.value,
        ">=": key >= bound.value,
    }[bound.operator]


def gaps(walk: Walk) -> Iterator[tuple[Gap, list[Row]]]:
    """Every gap, and the rows that are shown after it. A gap may be named by a row that is gone."""
    everything = {stretch: KEYS[stretch] + BETWEEN[stretch] for stretch in Stretch}
    places = line(walk, everything)
    shown = line(walk, KEYS)
    for place, (stretch, key) in enumerate(places):
        for after in (False, True):
            rest = places[place + after :]
            yield Gap(stretch, key, after), [row for row in shown if row in rest]
    for place, stretch in enumerate(walk.stretches):
        yield Gap(stretch), [row for row in shown if row[0] in walk.stretches[place:]]


@every_walk
def test_from_every_gap_a_walk_meets_the_rows_on_its_side_of_it_in_order(walk: Walk) -> None:
    shown = line(walk, KEYS)
    for gap, after in gaps(walk):
        before = shown[: len(shown) - len(after)]
        assert travelled(walk, gap) == (before[::-1] if walk.backward else after)


@every_walk
def test_turned_at_any_gap_it_meets_all_the_others(walk: Walk) -> None:
    for gap, _ in gaps(walk):
        there, back = travelled(walk, gap), travelled(turned(walk), gap)
        assert sorted(there + back) == sorted(line(walk, KEYS))


@every_walk
def test_the_beginning_has_everything_on_one_side(walk: Walk) -> None:
    assert travelled(walk._replace(backward=False), walk.beginning) == line(walk, KEYS)
    assert travelled(walk._replace(backward=True), walk.beginning) == []


def test_no_stretch_is_read_that_lies_behind() -> None:
    walk = Walk(descending=False, nulls_first=False, nullable=True)
    assert list(walk.ranges_from(Gap(Stretch.NULLS, "2", after=True))) == [(Stretch.NULLS, Bound(">", "2"))]
    assert list(turned(walk).ranges_from(Gap(Stretch.VALUES, "d"))) == [(Stretch.VALUES, Bound("<", "d"))]
