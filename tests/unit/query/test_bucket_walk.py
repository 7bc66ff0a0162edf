"""The walk along ordered buckets: the rows ahead, the effect of an offset, the reads, and the order of ties."""

from collections.abc import Sequence

import pytest
from pyroaring import BitMap

from devtools.local.built_chains import built_chain
from gridview.chains.blocks import FIRST, Block, Entry, entry_of
from gridview.chains.directory import Directory, Range, range_of
from gridview.derive.families import NUMBERS
from gridview.dynamodb.expressions import Item
from gridview.encoding.fences import after
from gridview.encoding.sort_strings import sort_string
from gridview.query import planner
from gridview.query.bucket_walk import Ahead, KnownBuckets, Portion
from gridview.query.buckets import Bucket, BucketOrder, TieGroup
from gridview.query.grid_request import resolve
from gridview.query.order_walk import ALL, TooManyTies, Walked, early_ties, places_in, step
from gridview.query.sort_order import Place, Spot, place_of
from gridview.query.steps import Steps
from gridview.schema.catalog import Catalog

CATALOG = Catalog("0807", "35e9", 1, (), (), 1)
NAMES = {num: f"n{num % 3}" for num in range(1, 10)}
"""The names of the issues: 3 6 9 | 1 4 7 | 2 5 8."""


class Index:
    """The blocks of the names and of the numbers, as read by a request."""

    def __init__(self) -> None:
        self.chains: dict[str, Sequence[Block]] = {
            "name.1": built_chain("name.1", sorted(sort_string(name, num) for num, name in NAMES.items())),
            NUMBERS: built_chain(NUMBERS, sorted(sort_string("", num) for num in NAMES)),
        }

    def directory(self, family: str) -> Directory:
        return Directory(family, tuple(map(entry_of, self.chains[family])))

    def block(self, family: str, entry: Entry) -> Block:
        return next(one for one in self.chains[family] if one.id == entry.id)

    def keys(self, family: str, entry: Entry, range: Range) -> list[str]:  # noqa: A002
        members = self.block(family, entry).members
        found = sorted(sort_string(NAMES[num], num) for num in members)
        return [key for key in found if range.lower <= key and (range.upper is None or key < range.upper)]


def known(**sort: str) -> KnownBuckets:
    index = Index()
    keys = resolve(CATALOG, {"sort": [{"field": "name", **sort}]}).keys
    return KnownBuckets(BucketOrder(keys, index.directory("name.1"), len(NAMES)), index)


def rows(found: KnownBuckets, ahead: Ahead, *, backward: bool = False) -> list[int]:
    """The numbers of all rows ahead, once every bucket has been opened."""
    opened = ahead.opening(
        found.order, [(one, found.tie_groups(one)) for one in ahead.buckets], backward=backward
    )
    assert not opened.buckets
    numbers = []
    for portion in opened.opened:
        assert portion.end is not None
        places = found.order.places(portion.group, portion.begin, portion.end)
        numbers += [place.num for place in (places[::-1] if backward else places)]
    return numbers


ASCENDING = [3, 6, 9, 1, 4, 7, 2, 5, 8]


@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_all_rows_are_ahead_in_the_order_and_in_its_reverse(direction: str) -> None:
    found = known(direction=direction)
    order = ASCENDING if direction == "asc" else ASCENDING[::-1]
    assert rows(found, Ahead(found.order.buckets)) == order
    assert rows(found, Ahead(found.order.buckets[::-1]), backward=True) == order[::-1]


@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize("backward", [True, False])
@pytest.mark.parametrize("num", ASCENDING)
def test_a_spot_parts_the_rows(num: int, *, backward: bool, after: bool) -> None:
    found = known()
    spot = Spot(Place((NAMES[num],), num), after)
    at = found.order.at(spot)
    buckets = found.order.buckets[at::-1] if backward else found.order.buckets[at:]
    place = ASCENDING.index(num) + after
    expected = ASCENDING[:place][::-1] if backward else ASCENDING[place:]
    assert rows(found, Ahead(buckets, spot=spot), backward=backward) == expected


@pytest.mark.parametrize("skip", range(11))
def test_an_offset_passes_over_buckets_and_then_over_rows(skip: int) -> None:
    found = known()
    ahead = Ahead(found.order.buckets, skip).passing_over(found.known_hits)
    assert (
        ahead.skip
        + sum(bucket.size for bucket in found.order.buckets)
        - sum(bucket.size for bucket in ahead.buckets)
        == skip
    )
    assert rows(found, ahead) == ASCENDING[skip:]


def test_a_bucket_of_unknown_rows_is_not_passed_over() -> None:
    ahead = Ahead(known().order.buckets, 5)
    assert ahead.passing_over(lambda _: None) is ahead


def test_only_matching_rows_are_ahead() -> None:
    found = known().among(BitMap((2, 4, 9)))
    assert rows(found, Ahead(found.order.buckets)) == [9, 4, 2]
    numbers = Ahead(found.order.buckets, 1).opening_set(found.order, BitMap((2, 4, 9)), backward=False)
    assert (numbers.buckets, [(one.begin, one.rows) for one in numbers.opened]) == ((), [(1, 2)])


def test_how_many_match_is_known_when_the_sets_have_been_read() -> None:
    everything, some = known(), known().among(BitMap((2, 4, 9)))
    bucket = some.order.buckets[0]
    assert everything.known_hits(bucket) == bucket.size
    assert some.known_hits(bucket) is None
    reading = some.reading(some.order.buckets)
    assert {want.family for want in reading.wants} == {"name.1"}
    assert reading.blocks == len(some.order.directory.entries)
    assert sum(reading.known.hits(one) for one in some.order.buckets) == 3
    assert reading.known.reading(some.order.buckets).wants == ()


def test_the_sort_entries_of_plain_blocks_are_read_too() -> None:
    found = known()
    plain = [entry for entry in found.order.directory.entries if not entry.detailed and entry.body is None]
    reading = found.reading((), by_keys=found.order.buckets)
    assert [want.entry for want in reading.wants if want.keys is not None] == plain
    assert all(want.keys in (None, range_of(want.entry)) for want in reading.wants)


def test_the_sort_entries_of_a_plain_block_show_the_bodies_in_a_run_of_blocks() -> None:
    """The name n1 begins in a plain block, and continues in one of its own."""
    index, inside = Index(), sort_string("n1", 4)
    end = after("n1")
    index.chains["name.1"] = [
        Block("name.1", "0", FIRST, inside, "1", "p1", None, BitMap((1, 3, 6, 9))),
        Block("name.1", "1", inside, end, "2", "d1", {"n1": BitMap((4, 7))}),
        Block("name.1", "2", end, None, None, "d2", {"n2": BitMap((2, 5, 8))}),
    ]
    found = of_two_keys(index)
    run, *_ = found.order.buckets
    assert len(run.entries) == 2
    assert [group.body_known for group in found.tie_groups(run)] == [False]
    read = found.reading((), by_keys=[run]).known
    assert read.tie_groups(run) == [TieGroup(BitMap((3, 6, 9)), "n0"), TieGroup(BitMap((1, 4, 7)), "n1")]


def test_a_portion_is_split_in_the_direction_of_travel() -> None:
    portion = Portion(known().order.buckets[0], TieGroup(BitMap(range(10)), "n"), 2, 8)
    first, rest = portion.split(2, from_end=False)
    assert ((first.begin, first.end), (rest.begin, rest.end)) == ((2, 4), (4, 8))
    last, others = portion.split(2, from_end=True)
    assert ((last.begin, last.end), (others.begin, others.end)) == ((6, 8), (2, 6))


# The walk


def walked(
    found: KnownBuckets, ahead: Ahead, missing: int, **how: bool
) -> tuple[Walked, list[Portion]] | TooManyTies:
    """The result of a step along buckets that have been read."""

    def open_all(at: Walked, _: int) -> Steps[Walked]:
        yield from ()
        groups = [(one, at.known.tie_groups(one)) for one in at.ahead.buckets]
        return Walked(at.known, at.ahead.opening(at.known.order, groups, backward=how.get("backward", False)))

    steps = step(Walked(found, ahead), missing, open_all, **how)
    with pytest.raises(StopIteration) as end:
        next(steps)
    result: tuple[Walked, list[Portion]] | TooManyTies = end.value.value
    return result


@pytest.mark.parametrize("missing", [0, 1, 2, 3, 4, 7, 9, 20])
@pytest.mark.parametrize("backward", [False, True])
def test_a_walk_takes_only_the_missing_rows(missing: int, *, backward: bool) -> None:
    found = known()
    buckets = found.order.buckets[::-1] if backward else found.order.buckets
    rows_of_all = ASCENDING[::-1] if backward else ASCENDING
    at, ahead, numbers = Walked(found, Ahead(buckets)), missing, []
    while ahead > 0 and not at.ahead.over:
        result = walked(found, at.ahead, ahead, backward=backward)
        assert not isinstance(result, TooManyTies)
        at, portions = result
        ahead -= sum(portion.rows for portion in portions)
        for portion in portions:
            numbers += [one.num for one in places_in(found.order, portion, {}, backward=backward)]
    assert numbers == rows_of_all[:missing]
    rest = [
        one for portion in at.ahead.opened for one in places_in(found.order, portion, {}, backward=backward)
    ]
    assert [one.num for one in rest] == (rows_of_all[missing:] if missing else [])


def of_two_keys(index: Index | None = None) -> KnownBuckets:
    """The same, with issues of one name sorted by creation."""
    index = index or Index()
    keys = resolve(CATALOG, {"sort": [{"field": "name"}, {"field": "created", "direction": "desc"}]}).keys
    return KnownBuckets(BucketOrder(keys, index.directory("name.1"), len(NAMES)), index)


def documents() -> dict[int, Item]:
    """The documents of all issues: the greater the number, the later it was created."""
    return {
        num: {"num": num, "name": name, "created": f"2024-01-0{num}T00:00:00.000000Z"}
        for num, name in NAMES.items()
    }


def test_documents_decide_the_order_of_ties_if_there_are_further_keys() -> None:
    found = of_two_keys()
    result = walked(found, Ahead(found.order.buckets), 4)
    assert not isinstance(result, TooManyTies)
    _, portions = result
    assert [(one.rows, one.end) for one in portions] == [(3, None), (3, None)]
    numbers = [[one.num for one in places_in(found.order, portion, documents())] for portion in portions]
    assert numbers == [[9, 6, 3], [7, 4, 1]]
    (first, _) = portions
    back = places_in(found.order, first, documents(), backward=True)
    assert [one.num for one in back] == [3, 6, 9]
    assert [one.num for one in places_in(found.order, first._replace(begin=2), documents())] == [3]


def test_a_walk_orders_issues_by_the_index_not_by_their_documents() -> None:
    found = of_two_keys()
    result = walked(found, Ahead(found.order.buckets), 1)
    assert not isinstance(result, TooManyTies)
    ((portion,), moved) = result[1], {**documents(), 6: {**documents()[6], "name": "z"}}
    assert [one.num for one in places_in(found.order, portion, moved)] == [9, 6, 3]
    only = places_in(found.order, portion, moved, belongs=lambda one: one["name"] == "n0")
    assert [one.num for one in only] == [9, 3]
    del moved[9]
    assert [one.num for one in places_in(found.order, portion, moved)] == [6, 3]


@pytest.mark.parametrize(("after", "before", "following"), [(False, [9], [6, 3]), (True, [9, 6], [3])])
def test_a_spot_parts_the_rows_that_documents_order(
    after: bool, before: list[int], following: list[int]
) -> None:
    found = of_two_keys()
    spot = Spot(place_of(found.order.keys, documents()[6]), after)
    at = found.order.at(spot)
    for backward, expected in ((True, before[::-1]), (False, following)):
        result = walked(found, Ahead(found.order.buckets[at : at + 1], spot=spot), ALL, backward=backward)
        assert not isinstance(result, TooManyTies)
        portion = result[1][0]
        assert portion.rows == 0, "only documents give their number"
        places = places_in(found.order, portion, documents(), backward=backward)
        assert [one.num for one in places] == expected


def test_a_walk_stops_at_more_ties_than_documents_are_read_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "CANDIDATES", 2)
    found = of_two_keys()
    ahead = Ahead(found.order.buckets)
    assert walked(found, ahead, 1) == TooManyTies(3)
    assert early_ties(found, found.order.buckets[:1]) is None, "a block of several bodies does not show it"
    assert early_ties(found, [Bucket((), 3)]) == TooManyTies(3)
    assert early_ties(found, [Bucket((), 2)]) is early_ties(known(), [Bucket((), 3)]) is None
    for missing, skip, too_many in ((3, 0, False), (6, 0, False), (2, 0, True), (3, 7, True)):
        result = walked(found, Ahead(found.order.buckets, skip), missing, ordered=False)
        assert (result == TooManyTies(3)) == too_many, (
            "which rows they are is known where all of a group are wanted"
        )
    monkeypatch.setattr(planner, "CANDIDATES", 3)
    assert not isinstance(walked(found, ahead, ALL), TooManyTies)
