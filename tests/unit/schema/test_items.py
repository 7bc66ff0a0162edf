"""The stored items of a project, read back."""

from dataclasses import replace

from gridview.schema.fields import BUILTINS, WRITERS, Field, FieldType
from gridview.schema.generations import Indexes
from gridview.schema.items import orders_in, to_item

FIELD = Field("cost", "a1", "Cost", FieldType.NUMBER)


def test_an_order_that_is_left_may_still_have_entries() -> None:
    built_in = {f"{name}.1" for name in BUILTINS if name not in WRITERS} | {f"{name}.1b" for name in WRITERS}
    left = replace(FIELD, indexes=Indexes.complete().off(2))
    assert orders_in([to_item("acme", "bridge", left)]) == {*built_in, "a1.1"}
    again = replace(FIELD, indexes=Indexes.complete().off(2).on(3))
    assert orders_in([to_item("acme", "bridge", again)]) == {*built_in, "a1.1", "a1.2"}
    gone = replace(FIELD, indexes=Indexes.complete().off(2).after_pass(2, 3))
    assert orders_in([to_item("acme", "bridge", gone)]) == built_in
