"""The keys of rows have the order of the rows under every comparison."""

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from gridview.encoding.sort_strings import SPEC_VERSION
from gridview.query.row_keys import row_key
from gridview.query.sort_order import OrderKey, in_order, place_of
from gridview.schema.fields import Field, FieldOrder, FieldType
from gridview.schema.generations import Index, IndexState

FIELDS = [Field(name, name, name, FieldType.TEXT) for name in ("a1", "a2", "a3")]
ORDERS = [
    FieldOrder(f"{field.key}.1", field, Index(1, IndexState.READY, 1, SPEC_VERSION)) for field in FIELDS
]
TEXTS = st.one_of(
    st.none(),
    st.sampled_from(
        [
            "a",
            "ab",
            "b",
            "\x01",
            "\x02",
            "~",
            "\x7f",
            "é",
            "\ud7ff",
            "\ue000",
            "\uffff",
            "\U00010000",
            "\U0010ffff",
        ]
    ),
    st.text(min_size=1, max_size=4),
)
DIRECTIONS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=3)
ISSUES = st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=12)


@given(DIRECTIONS, ISSUES, st.booleans(), st.booleans())
@example([(True, False)], [("\ue000", None, None), ("\U00010000", None, None)], False, False)
def test_keys_are_in_the_order_of_the_rows(
    directions: list[tuple[bool, bool]], issues: list[tuple[Any, ...]], by_number: bool, descending: bool
) -> None:
    asked = [OrderKey(order, *how) for order, how in zip(ORDERS, directions, strict=False)]
    keys = tuple([*asked[:2], OrderKey(None, descending)] if by_number else asked)
    documents = [
        {"num": num, "fields": {f"a{at}": text for at, text in enumerate(texts, 1) if text is not None}}
        for num, texts in enumerate(issues, 1)
    ]
    expected = [place.num for place in in_order(keys, [place_of(keys, one) for one in documents])]
    known = {document["num"]: row_key(keys, place_of(keys, document)) for document in documents}
    assert sorted(known, key=lambda num: known[num].encode()) == expected
    assert sorted(known, key=lambda num: known[num].encode("utf-16-be")) == expected  # JavaScript
    assert sorted(known, key=lambda num: known[num]) == expected
    assert len(set(known.values())) == len(known)
