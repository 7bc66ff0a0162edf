"""What a catalog knows of fields that it does not have."""

import pytest

from gridview.schema.catalog import Catalog
from gridview.schema.fields import Field, FieldType
from gridview.schema.manual_orders import ManualOrder

CATALOG = Catalog(
    "acme",
    "bridge",
    9,
    (),
    (Field("cost", "a1", "Cost", FieldType.NUMBER),),
    5,
    manual_orders=(ManualOrder.begun(1, 2, 4, "2024-01-01T00:00:00.000000Z"),),
)


@pytest.mark.parametrize(
    ("key", "deleted"),
    [("a1", False), ("a3", True), ("a5", False), ("m2", False), ("m4", True), ("m5", False), ("name", False)],
)
def test_attributes_and_orders_are_deleted_if_their_number_was_given_out(key: str, deleted: bool) -> None:
    assert CATALOG.deleted(key) == deleted
