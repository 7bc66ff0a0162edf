"""The strings of a ledger, as its stored item has them."""

import zlib
from dataclasses import replace
from typing import Any

import pytest

from gridview.derive.ledger import EVERY_FAMILY, NUMBER, Intent, Ledger, Report, finished_in, paths_of
from gridview.derive.packing import PACKED
from gridview.dynamodb.expressions import Item
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_size
from gridview.fsck.issue_diff import Collection

KEY = keys.issue("acme", "bridge", 7)
FAMILIES = [f"a{place}.1" for place in range(150)]


def strings(begin: str) -> dict[str, str]:
    return {family: f"{begin} {family} ".ljust(300, ".") + "\x0100000007" for family in FAMILIES}


OLD, NEW, OLDER = strings("old"), strings("new"), strings("older")
WIDE = Ledger(
    4,
    False,
    3,
    9,
    OLD,
    {family: Intent(NEW[family], (OLDER[family],)) for family in FAMILIES[1:]} | {"a0.1": Intent(None)},
    {family: (OLD[family], OLDER[family]) for family in FAMILIES} | {"gone.1": (), EVERY_FAMILY: ()},
    1_700_000_000,
    12,
    Report(3, 4),
)


@pytest.mark.parametrize(
    "ledger",
    [
        WIDE,
        WIDE.committed(),
        replace(WIDE, intent={}),
        replace(WIDE, intent=None, left={}, at=0, number=0, report=None),
        replace(WIDE, applied={}),
    ],
)
def test_a_wide_ledger_is_stored_compressed_and_read_as_it_was(ledger: Ledger) -> None:
    item = ledger.to_item(KEY)
    assert PACKED in item
    assert ("intent" in item) is (ledger.intent is not None), "conditions look for it"
    assert Ledger.from_item(item) == ledger


def test_any_other_ledger_is_stored_plain() -> None:
    few = {family: OLD[family] for family in FAMILIES[:10]}
    item = Ledger(4, False, 3, 9, few).to_item(KEY)
    assert PACKED not in item
    assert item["applied"] == few


def projected(item: Item, family: str) -> Item:
    """What a read of these paths returns of an item."""
    found: dict[str, Any] = {}
    for path in (*paths_of(family), (NUMBER,)):
        value: Any = item
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            found |= {path[0]: {family: value} if len(path) > 1 else value}
    return found


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("family", ["a0.1", "a1.1", "b.1"])
def test_one_family_is_read_of_a_wide_ledger_as_of_any(family: str, committed: bool) -> None:
    expected = (NEW if committed else OLD).get(family)
    found = finished_in(projected(WIDE.to_item(KEY), family), family, committed=committed)
    assert found == (None if committed and family == "a0.1" else expected)


def test_if_former_strings_do_not_fit_either_the_families_are_named_without_them() -> None:
    def noise(generation: int) -> dict[str, str]:
        drawn = [f"{zlib.crc32(b'%d.%d' % (generation, at)):08x}" for at in range(len(FAMILIES) * 120)]
        return {
            family: "".join(drawn[at * 120 : (at + 1) * 120]) + "\x0100000007"
            for at, family in enumerate(FAMILIES)
        }

    generations = [noise(generation) for generation in range(9)]
    applied = generations[0]
    ledger = Ledger(
        4,
        False,
        3,
        9,
        applied,
        {family: Intent(generations[1][family]) for family in FAMILIES},
        {family: tuple(one[family] for one in generations) for family in FAMILIES},
        1_700_000_000,
    )
    item = ledger.to_item(KEY)
    assert item_size(item) < 400_000
    found = Ledger.from_item(item)
    assert found == replace(ledger, left=dict.fromkeys(FAMILIES, ()))


@pytest.mark.parametrize(
    "stored", [b"", b"x", 7, zlib.compress(b"x"), zlib.compress(b"[]"), zlib.compress(b'{"a1.1": ["x"]}')]
)
def test_strings_that_cannot_be_unpacked_are_no_ledger(stored: Any) -> None:
    item = WIDE.to_item(KEY) | {PACKED: stored}
    with pytest.raises(ValueError, match=r"unpacked|JSON|character"):
        Ledger.from_item(item)
    assert Collection.of(KEY, [item]).read_ledger() is None
    assert finished_in(item, "a1.1", committed=True) is None
