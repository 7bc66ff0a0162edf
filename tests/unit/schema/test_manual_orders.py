"""The document of an issue that was placed in a manual order."""

from uuid import UUID

from gridview.schema import documents
from gridview.schema.manual_orders import ManualOrder

CHANGE = UUID("5d0e1a52-44c5-4f5e-9d2b-52a1e0c5b7a3")
MADE, PLACED = "2024-01-01T00:00:00.000000Z", "2024-01-02T00:00:00.000000Z"


def test_a_placement_is_stored_beside_the_last_update() -> None:
    """Invocations of an older version read the same attributes."""
    order = ManualOrder.begun(1, 2, 1, MADE)
    before = {
        "version": 1,
        "fields": {"a1": "x"},
        "updated": MADE,
        "updated_by": "ann",
        "change": UUID(int=7).bytes,
    }
    assert documents.placed(before, order.key, "V", user="ben", now=PLACED, change=CHANGE) == {
        "version": 2,
        "fields": {"a1": "x", "m2": "V"},
        "changed": {"m2": 2},
        "updated": MADE,
        "updated_by": "ann",
        "placed_at": PLACED,
        "placed_by": "ben",
        "placed_under": CHANGE.bytes,
    }
