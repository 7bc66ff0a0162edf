"""The sort entries of an issue document. Pure, and shared by the stream consumer, bulk loads, rebuilds and checks."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from gridview.dynamodb.expressions import Condition
from gridview.encoding import derived_keys, keys, sort_strings
from gridview.schema.catalog import Catalog, CompositeOrder, Order
from gridview.schema.fields import Field, FieldType

ENTRY_TOMBSTONE_DAYS = 60
"""A cleared entry's tombstone outlives every write that may still be in flight, and the trash, as the ledger's does."""

Body = Callable[[Field, Any], str]

SPECS: dict[int, Mapping[str, Body]] = {
    1: {
        FieldType.TEXT: lambda _, value: sort_strings.text(value),
        FieldType.NUMBER: lambda _, value: sort_strings.number(Decimal(value)),
        FieldType.DATE: lambda _, value: sort_strings.date(value),
        FieldType.DATETIME: lambda _, value: sort_strings.datetime(value),
        FieldType.BOOL: lambda _, value: sort_strings.boolean(value),
        FieldType.ENUM: lambda field, value: sort_strings.enum(field.option(value).rank),
        FieldType.MULTI_ENUM: lambda field, value: sort_strings.multi_enum(
            field.option(one).rank for one in value
        ),
        FieldType.USER: lambda _, value: sort_strings.user(value),
        sort_strings.RANK: lambda _, value: sort_strings.manual_rank(value),
    }
}
"""Every version of the specification that an index may still use: `sort_strings.SPEC_VERSION` and earlier
ones.
"""


_WIDTHS = {
    FieldType.NUMBER: 48,
    FieldType.DATE: 13,
    FieldType.DATETIME: 30,
    FieldType.BOOL: 4,
    FieldType.ENUM: 7,
}
"""The most bytes of a value in a part of a composite key, with tag and terminator. Other types share what
these leave.
"""


class UnknownSpec(Exception):
    """An index uses a version of the specification that this code does not know: newer code began it."""


def sort_body(order: Order, document: Mapping[str, Any]) -> str | None:
    """Return the body of a document in one order, in the form of its index; None if the issue has no entry.
    UnknownSpec.
    """
    if isinstance(order, CompositeOrder):
        return _composite_body(order, document)
    value = order.field.value_in(document)
    return None if value is None else _form(order, order.field.form)(order.field, value)


def _composite_body(order: CompositeOrder, document: Mapping[str, Any]) -> str:
    widths = [_WIDTHS.get(field.type) for field in order.fields]
    left = sort_strings.COMPOSITE_BYTES - sum(width or 0 for width in widths)
    share = left // max(widths.count(None), 1)
    parts = []
    for part, field, width in zip(order.composite.normal, order.fields, widths, strict=True):
        form, value = _form(order, field.form), field.value_in(document)
        body = None if value is None else form(field, value)
        size = share if width is None else None
        parts.append(sort_strings.KeyPart(body, part.descending, part.nulls_first, size))
    return sort_strings.composite(parts)


def _form(order: Order, kind: str) -> Body:
    try:
        return SPECS[order.index.spec][kind]
    except KeyError:
        raise UnknownSpec(f"version {order.index.spec} of the sort strings") from None


def sort_string(order: Order, document: Mapping[str, Any]) -> str | None:
    """Return the sort string of a document in one order; None if the issue has no value. UnknownSpec."""
    body = sort_body(order, document)
    return None if body is None else sort_strings.sort_string(body, document["num"])


def sort_strings_of(catalog: Catalog, document: Mapping[str, Any]) -> dict[str, str]:
    """Order id -> sort string, for each order in which the issue has a value."""
    found = ((order.order_id, sort_string(order, document)) for order in catalog.orders)
    return {order_id: sort for order_id, sort in found if sort is not None}


def present_sort_strings(order: Order, document: Mapping[str, Any]) -> frozenset[str | None]:
    """Return the sort strings that an issue may validly have: one, or several while options of the field are
    being moved.
    """
    return frozenset(sort_string(one, document) for one in (order, *order.former))


def sort_entry(
    partition_key: str, order_id: str, sort: str, *, version: int, revision: int
) -> dict[str, Any]:
    """Return the item that puts an issue into one order."""
    return {
        keys.PK: partition_key,
        keys.SK: _order_key(partition_key, order_id),
        keys.SORT: sort,
        "version": version,
        "revision": revision,
    }


def tombstone(
    partition_key: str, order_id: str, *, version: int, revision: int, expires: int
) -> dict[str, Any]:
    """Return the item that replaces a cleared sort entry. It has no `sort`, so it leaves the index; `expires`
    is in seconds since 1970.
    """
    return {
        keys.PK: partition_key,
        keys.SK: _order_key(partition_key, order_id),
        "version": version,
        "revision": revision,
        keys.TTL_ATTRIBUTE: expires,
    }


def not_overtaken(revision: int) -> Condition:
    """Return the condition of every write of a sort entry or tombstone: none of a higher revision is there."""
    return Condition("attribute_not_exists(PK) OR revision <= :revision", values={":revision": revision})


def _order_key(partition_key: str, order_id: str) -> str:
    tenant, project, _ = keys.parse_issue(partition_key)
    return derived_keys.order(tenant, project, order_id)
