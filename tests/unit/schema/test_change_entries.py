"""The lists of changes: each version once, in few items, however they are combined."""

from itertools import pairwise
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest

from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import item_size
from gridview.schema.catalog import HistorySetting
from gridview.schema.change_entries import (
    activity_entries,
    begun_at,
    is_listed_by_time,
    list_items,
    member_entries,
)
from gridview.schema.history import Change, Values
from gridview.support import clock

CHANGE = UUID("5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3")
AT = "2026-11-21T08:00:00.000000Z"


def change(num: int = 7, version: int = 3, **other: Any) -> Change:
    values: dict[str, Any] = {"kind": "update", "by": "ann", "at": AT, "change": CHANGE.bytes}
    return Change(num, version, fields={"a2": Values("secret", None)}, **{**values, **other})


def entries(items: list[dict[str, Any]], kind: str) -> list[tuple[int, int]]:
    entries_of = activity_entries if kind == "activity" else member_entries
    found = [entry for item in items if item[keys.PK].startswith(kind) for entry in entries_of(item)]
    return [(entry["num"], entry["version"]) for entry in found]


@pytest.mark.parametrize(
    ("setting", "kinds", "days"),
    [
        (HistorySetting(), ["activity", "change"], 90),
        (HistorySetting(True, 3650), ["activity", "change"], 3650),
        (HistorySetting(True, 1), ["activity", "change"], 7),
        (HistorySetting(False, 90), [], 7),
    ],
)
def test_the_setting_says_which_items_there_are_and_for_how_long(
    setting: HistorySetting, kinds: list[str], days: int
) -> None:
    items = list_items("acme", "bridge", setting, [change()])
    assert [item[keys.PK].partition("-")[0] for item in items] == kinds
    assert {item[keys.TTL_ATTRIBUTE] for item in items} <= {int(clock.instant(AT)) + days * 86_400}


def test_a_version_that_is_part_of_nothing_is_listed_under_no_change() -> None:
    items = list_items("acme", "bridge", HistorySetting(), [change(change=None)])
    assert [item[keys.PK] for item in items] == ["activity-acme.bridge"]
    (entry,) = activity_entries(items[0])
    assert "change" not in entry


def test_an_entry_names_fields_and_holds_no_values() -> None:
    activity, member = list_items("acme", "bridge", HistorySetting(), [change()])
    (entry,), (part,) = activity_entries(activity), member_entries(member)
    assert entry.pop(keys.TTL_ATTRIBUTE) == part.pop(keys.TTL_ATTRIBUTE) == activity[keys.TTL_ATTRIBUTE]
    expected = {"num": 7, "version": 3, "kind": "update", "by": "ann", "at": AT}
    entry.pop(keys.PK, None), part.pop(keys.PK, None)
    assert entry == {
        **expected,
        keys.SK: f"{AT}.00000007.0000000000003",
        "keys": ["a2"],
        "change": CHANGE.bytes,
    }
    assert {**part, "change": CHANGE.bytes} == {
        **expected,
        keys.SK: "00000007.0000000000003",
        "change": CHANGE.bytes,
    }


def test_every_version_is_listed_once_by_any_number_of_groups() -> None:
    drawn = Random(5)  # noqa: S311  (the same one each time)
    made = {
        (num, version): change(
            num,
            version,
            at=clock.stored(1_800_000_000 + drawn.random() * 3),
            by=drawn.choice(["ann", "bob"]),
            change=drawn.choice([CHANGE.bytes, None, uuid4().bytes]),
        )
        for num in drawn.sample(range(1, 5_000), 300)
        for version in range(1, drawn.randrange(2, 4))
    }
    items = list_items("acme", "bridge", HistorySetting(), [*made.values(), *list(made.values())[:40]])
    assert sorted(entries(items, "activity")) == sorted(made)
    parts = [place for place, one in made.items() if one.change is not None]
    assert sorted(entries(items, "change")) == sorted(parts)
    assert len({(item[keys.PK], item[keys.SK]) for item in items}) == len(items)
    for item in items:
        if item[keys.PK].startswith("activity"):
            assert {derived_keys.parse_activity_second(entry["at"]) for entry in activity_entries(item)} == {
                item[keys.SK][:19]
            }
        else:
            spans = {derived_keys.change_span(entry["num"]) for entry in member_entries(item)}
            assert spans == {derived_keys.parse_change_span(item[keys.SK])}
    activity = [item for item in items if item[keys.PK].startswith("activity")]
    assert len(activity) < 20


def test_a_batch_of_fifty_takes_a_write_unit_for_each_list() -> None:
    fields = {f"a{number}": Values(None, "x") for number in range(20)}
    some = [
        Change(num, 1, "create", "ann", f"2026-11-21T08:00:00.{num:06}Z", CHANGE.bytes, fields)
        for num in range(1, 51)
    ]
    items = list_items("acme", "bridge", HistorySetting(), some)
    assert [item[keys.PK].partition("-")[0] for item in items] == ["activity", "change"]
    assert max(item_size(item) for item in items) <= 1_024


def test_a_group_is_named_by_what_it_lists_and_sorted_within_its_second() -> None:
    seconds = ["2026-11-21T07:59:59.999999Z", AT, "2026-11-21T08:00:01.000000Z"]
    stored = [
        list_items("acme", "bridge", HistorySetting(), [change(at=at)])[0][keys.SK] for at in (*seconds, AT)
    ]
    assert stored[1] == stored[3]
    assert stored[:3] == sorted(set(stored))
    for (earlier, group), (later, _) in pairwise(zip(seconds, stored, strict=False)):
        assert (
            derived_keys.parse_activity_second(earlier)
            <= derived_keys.activity_place(earlier, 1, 1)
            < group
            < derived_keys.parse_activity_second_end(earlier)
        )
        assert derived_keys.parse_activity_second_end(earlier) < derived_keys.parse_activity_second(later)


def of_time(seconds: float) -> bytes:
    return UUID(int=int(seconds * 1000) << 80 | 7 << 76 | 2 << 62).bytes


@pytest.mark.parametrize(
    ("id_at", "at", "expected"),
    [
        (1_800_000_000.0, 1_800_000_000.0, True),
        (1_800_000_000.999, 1_800_000_000.1, True),
        (1_800_000_000.999, 1_800_000_001.9, True),
        (1_800_000_000.0, 1_800_000_002.0, False),
        (1_800_000_001.0, 1_800_000_000.999, False),
    ],
)
def test_an_id_with_a_time_covers_its_second_and_the_next(id_at: float, at: float, expected: bool) -> None:
    made = of_time(id_at)
    assert is_listed_by_time(made, clock.stored(at)) is expected
    items = list_items("acme", "bridge", HistorySetting(), [change(at=clock.stored(at), change=made)])
    assert entries(items, "activity") == [(7, 3)]
    assert entries(items, "change") == ([] if expected else [(7, 3)])


@pytest.mark.parametrize(
    "made",
    [
        CHANGE.bytes,
        UUID(int=0).bytes,
        UUID(int=2**128 - 1).bytes,
        of_time(2**47 / 1000 + 1),
        of_time(2**48 / 1000 - 1),
    ],
)
def test_ids_of_other_uuid_versions_have_no_time(made: bytes) -> None:
    assert begun_at(made) is None
    assert not is_listed_by_time(made, AT)
