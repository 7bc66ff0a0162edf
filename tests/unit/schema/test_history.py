"""Changes as stored items and as events: nothing is lost, large ones fit, and the API returns everything that the
catalog knows.
"""

from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import item_from_wire, item_size, item_to_wire
from gridview.schema import history
from gridview.schema.catalog import Catalog, HistorySetting
from gridview.schema.fields import Field, FieldType, Option
from gridview.schema.history import Change, Values, event_json, from_item, parts_of, to_items
from gridview.support import clock

CHANGE = UUID("5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3")
AT = "2026-11-21T08:00:00.000000Z"
ITEM_BYTES = 400 * 1024


def change(fields: dict[str, Values] | None = None, **other: Any) -> Change:
    values: dict[str, Any] = {
        "num": 7,
        "version": 3,
        "kind": "update",
        "by": "ann",
        "at": AT,
        "change": CHANGE.bytes,
        "fields": fields or {"name": Values("a", "b")},
    }
    return Change(**values | other)


def read_back(items: list[dict[str, Any]]) -> Change:
    """The change, as read back from these items."""
    stored = {
        (item[keys.PK], item[keys.SK]): item_from_wire(item_to_wire(item))
        for item in items
        if item_size(item) <= ITEM_BYTES
    }
    main = stored[items[0][keys.PK], derived_keys.history_item(3)]
    return from_item(main, [stored[key] for key in parts_of(main)])


VALUES = st.one_of(
    st.none(),
    st.text(max_size=400),
    st.booleans(),
    st.integers(-(10**37), 10**37),
    st.decimals(allow_nan=False, allow_infinity=False, places=8, min_value=-(10**20), max_value=10**20),
    st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=8),
)


@given(
    fields=st.dictionaries(
        st.text("ab0123456789", min_size=1, max_size=4), st.builds(Values, VALUES, VALUES)
    ),
    change_id=st.one_of(st.none(), st.binary(min_size=16, max_size=16)),
    kind=st.sampled_from(["create", "update", "delete", "restore"]),
)
def test_a_stored_change_reads_back_as_it_was(
    fields: dict[str, Values], change_id: bytes | None, kind: str
) -> None:
    made = change(fields or {}, change=change_id, kind=kind)
    made = Change(made.num, made.version, made.kind, made.by, made.at, made.change, fields)
    assert read_back(to_items("acme", "bridge", made, 1)) == made


def test_a_small_change_is_stored_plainly_and_a_large_one_compressed() -> None:
    (small,) = to_items("acme", "bridge", change(), 1)
    assert small["edits"] == {"name": ["a", "b"]}
    (large,) = to_items("acme", "bridge", change({"name": Values(None, "word " * 200)}), 1)
    assert "edits" not in large
    assert item_size(large) < 200


def test_a_change_is_stored_plainly_as_long_as_it_takes_one_write_unit() -> None:
    plain = []
    for length in range(800, 1_024):
        (item,) = to_items("acme", "bridge", change({"name": Values(None, "x" * length)}), 1)
        plain += [item_size(item)] if "edits" in item else []
    assert plain == [*range(plain[0], 1_025)]


def test_a_create_of_forty_attributes_takes_one_write_unit() -> None:
    options = {f"a{place}": Values(None, f"o{place % 5}") for place in range(20)}
    dates = {f"a{place}": Values(None, f"2026-11-{place - 10}") for place in range(20, 30)}
    texts = {f"a{place}": Values(None, f"Span {place} of the north approach") for place in range(30, 40)}
    (item,) = to_items("acme", "bridge", change({**options, **dates, **texts}, kind="create"), 1)
    assert item_size(item) <= 1_024


def test_a_change_of_two_full_documents_is_kept_whole() -> None:
    drawn = Random(7)  # noqa: S311  (the same one each time)

    def noise() -> str:
        return "".join(chr(drawn.randrange(0x4E00, 0x9FFF)) for _ in range(130_000))

    made = change({"a1": Values(noise(), noise())})
    items = to_items("acme", "bridge", made, 1)
    assert len(items) > 1
    assert all(item_size(item) <= ITEM_BYTES for item in items)
    assert read_back(items) == made


def test_no_stored_change_has_an_attribute_that_the_consumer_may_not_put() -> None:
    """Documents have `fields`, and the consumer's role refuses to put any item with it."""
    for item in to_items("acme", "bridge", change({"name": Values("a" * 9_000, None)}), 1):
        assert not {"fields", keys.SORT} & item.keys()


def test_the_setting_limits_the_age_of_the_history() -> None:
    floor = history.floor_of(HistorySetting(True, 30))
    assert 29.9 < -clock.until(floor) / 86_400 < 30.1
    floor = history.floor_of(HistorySetting(False, 30))
    assert 6.9 < -clock.until(floor) / 86_400 < 7.1


CATALOG = Catalog(
    tenant="acme",
    project="bridge",
    epoch=1,
    states=(Option("o1", "open", "a"), Option("o2", "closed", "b")),
    attributes=(
        Field("start", "a1", "Start", FieldType.DATE),
        Field("cost", "a2", "Cost", FieldType.NUMBER),
        Field(
            "kind", "a3", "Kind", FieldType.ENUM, (Option("o1", "red", "a"), Option("o2", "old", "b", True))
        ),
        Field("tags", "a4", "Tags", FieldType.MULTI_ENUM, (Option("o1", "x", "b"), Option("o2", "y", "a"))),
        Field("seen", "a5", "Seen", FieldType.DATETIME),
    ),
    next_key=7,
)


def fields_of(**values: tuple[Any, Any]) -> Any:
    return event_json(CATALOG, change({key: Values(*both) for key, both in values.items()}))["fields"]


def test_an_event_contains_the_user_the_instant_and_the_values_of_the_api() -> None:
    made = change(
        {
            "name": Values("Pier", "Pier 2"),
            "state": Values("o1", "o2"),
            "a1": Values(None, "2026-11-21"),
            "a2": Values(Decimal("1.50"), 2**70),
            "a3": Values("o2", "o1"),
            "a4": Values(["o1", "o2"], None),
            "a5": Values(None, AT),
        }
    )
    assert event_json(CATALOG, made) == {
        "id": "7.3",
        "num": 7,
        "version": 3,
        "kind": "update",
        "by": "ann",
        "at": "2026-11-21T08:00:00Z",
        "change": str(CHANGE),
        "fields": {
            "name": {"old": "Pier", "new": "Pier 2"},
            "state": {"old": "open", "new": "closed"},
            "start": {"old": None, "new": "2026-11-21"},
            "cost": {"old": Decimal("1.50"), "new": Decimal(2**70)},
            "kind": {"old": "old", "new": "red"},
            "tags": {"old": ["y", "x"], "new": None},
            "seen": {"old": None, "new": "2026-11-21T08:00:00Z"},
        },
    }


def test_deleted_fields_and_options_are_left_out() -> None:
    assert fields_of(a6=("was", "deleted")) == {}
    assert fields_of(a3=("o9", "o1")) == {"kind": {"old": None, "new": "red"}}
    assert fields_of(a4=(["o9", "o1"], ["o9"])) == {"tags": {"old": ["x"], "new": None}}


@pytest.mark.parametrize("wrong", [5, {"b": 1}, [["o1"]], True, "", ["o1", 3]])
@pytest.mark.parametrize("key", ["name", "state", "a1", "a2", "a3", "a4", "a5"])
def test_a_value_that_was_put_by_hand_breaks_no_event(key: str, wrong: object) -> None:
    assert len(fields_of(**{key: (wrong, wrong)})) == 1


def test_a_missing_user_and_change_are_null() -> None:
    event = event_json(CATALOG, change(by="", change=None, kind="delete"))
    assert (event["by"], event["change"]) == (None, None)
