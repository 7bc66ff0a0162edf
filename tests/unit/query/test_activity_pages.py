"""The activity lists changes newest first and each once, however its entries are grouped and its pages cut."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.encoding import derived_keys, keys
from gridview.query import activity_pages
from gridview.query.activity_pages import PageStart, read_back
from gridview.schema.catalog import HistorySetting
from gridview.schema.change_entries import list_items
from gridview.schema.history import Change
from gridview.support import clock

PARTITION = derived_keys.activity("acme", "bridge")
BEGUN = 1_800_000_000


def filled(seed: int, count: int, seconds: float) -> tuple[MemoryTable, list[str]]:
    """So many changes in so many seconds, in groups, some of them twice; and their places, newest first."""
    drawn = Random(seed)  # noqa: S311  (the same one each time)
    table = MemoryTable()
    changes = [
        Change(
            drawn.randrange(1, 50),
            version,
            "update",
            "ann",
            clock.stored(BEGUN + drawn.random() * seconds),
            None,
            {},
        )
        for version in range(1, count + 1)
    ]
    left = changes + drawn.sample(changes, count // 5)
    while left:
        some = [left.pop() for _ in range(min(len(left), drawn.choice([1, 2, 7, 60])))]
        for item in list_items("acme", "bridge", HistorySetting(), some):
            table.put(item)
    return table, sorted(
        (derived_keys.activity_place(one.at, one.num, one.version) for one in changes), reverse=True
    )


def listed(table: MemoryTable, lower: str, upper: str, limit: int) -> list[str]:
    """All places, page by page: of each stretch up to `limit` entries, then the rest after the last
    of them, or of all.
    """
    places: list[str] = []
    begin: PageStart | None = PageStart.before(upper)
    while begin is not None:
        stretch = read_back(table, PARTITION, lower, begin, lambda entries: len(entries) >= min(limit, 5))
        some = stretch.entries[:limit]
        places += [entry[keys.SK] for entry in some]
        assert some or stretch.rest != begin
        begin = begin.at(some[-1]) if len(stretch.entries) > limit else stretch.rest
    return places


@pytest.mark.parametrize("limit", [1, 3, 100])
@pytest.mark.parametrize("items", [1, 2, 60])
@pytest.mark.parametrize("seed", range(4))
def test_each_change_once_and_newest_first(
    seed: int, items: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity_pages, "_ITEMS", items)
    table, expected = filled(seed, 90, 12)
    assert listed(table, clock.stored(BEGUN), derived_keys.ACTIVITY_END, limit) == expected
    lower, upper = (derived_keys.parse_activity_at(expected[at]) for at in (70, 15))
    assert listed(table, lower, upper, limit) == [place for place in expected if lower <= place < upper]


@pytest.mark.parametrize("limit", [1, 7, 500])
@pytest.mark.parametrize("seed", range(4))
def test_a_second_with_too_many_changes_is_listed_run_by_run(
    seed: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity_pages, "_ITEMS", 4)
    monkeypatch.setattr(activity_pages, "_IN_ORDER", 20)
    table, expected = filled(seed, 200, 1)
    found = listed(table, clock.stored(BEGUN), derived_keys.ACTIVITY_END, limit)
    assert set(found) == set(expected)
    begin = PageStart.before(derived_keys.ACTIVITY_END)
    first = read_back(table, PARTITION, clock.stored(BEGUN), begin, lambda _: False)
    assert 20 <= len(first.entries) < 200
    # A repeated change in another group may be in two runs.
    assert len(found) <= len(expected) * 6 / 5


def test_no_more_is_read_than_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity_pages, "_ITEMS", 5)
    table, expected = filled(1, 90, 60)
    asked: list[int] = []

    def enough(entries: Sequence[Any]) -> bool:
        asked.append(len(entries))
        return len(entries) >= 10

    stretch = read_back(
        table, PARTITION, clock.stored(BEGUN), PageStart.before(derived_keys.ACTIVITY_END), enough
    )
    assert [entry[keys.SK] for entry in stretch.entries] == expected[: len(stretch.entries)]
    assert asked[-1] >= 10 > asked[-2]
    assert stretch.rest is not None
