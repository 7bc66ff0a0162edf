"""What an issue document is indexed under: pure, and the same for the stream consumer, bulk loads, rebuilds and checks."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from gridview import keys, sortstrings
from gridview.catalog import Catalog, Field, FieldType
from gridview.ledger import Ledger

_BODIES: dict[FieldType, Callable[[Field, Any], str]] = {
    FieldType.TEXT: lambda _, value: sortstrings.text(value),
    FieldType.NUMBER: lambda _, value: sortstrings.number(Decimal(value)),
    FieldType.DATE: lambda _, value: sortstrings.date(value),
    FieldType.DATETIME: lambda _, value: sortstrings.datetime(value),
    FieldType.BOOL: lambda _, value: sortstrings.boolean(value),
    FieldType.ENUM: lambda field, value: sortstrings.enum(field.option(value).rank),
    FieldType.MULTI_ENUM: lambda field, value: sortstrings.multi_enum(
        field.option(one).rank for one in value
    ),
    FieldType.USER: lambda _, value: sortstrings.user(value),
}


def sort_string(field: Field, document: Mapping[str, Any]) -> str | None:
    """The sort string of one field of a document; None where the issue has no value."""
    value = field.value_in(document)
    return (
        None if value is None else sortstrings.sort_string(_BODIES[field.type](field, value), document["num"])
    )


def sort_strings(catalog: Catalog, document: Mapping[str, Any]) -> dict[str, str]:
    """Order id -> sort string, for each indexed field in which the issue has a value."""
    found = ((field.order_id, sort_string(field, document)) for field in catalog.indexed)
    return {order_id: sort for order_id, sort in found if sort is not None}


def sort_entry(
    partition_key: str, order_id: str, sort: str, *, version: int, revision: int
) -> dict[str, Any]:
    """The item that puts an issue into one order."""
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
    """What stands in a cleared sort entry's place: no `sort`, so the index forgets it; `expires` in seconds since 1970."""
    return {
        keys.PK: partition_key,
        keys.SK: _order_key(partition_key, order_id),
        "version": version,
        "revision": revision,
        keys.TTL_ATTRIBUTE: expires,
    }


def _order_key(partition_key: str, order_id: str) -> str:
    tenant, project, _ = keys.parse_issue(partition_key)
    return keys.order(tenant, project, order_id)


def derived_items(catalog: Catalog, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every derived item of an issue that has none yet: its ledger, finished, and its sort entries. For bulk loads."""
    partition_key = keys.issue(catalog.tenant, catalog.project, document["num"])
    target = sort_strings(catalog, document)
    ledger = Ledger(version=document["version"], epoch=catalog.epoch, revision=1, applied=target)
    entries = [
        sort_entry(partition_key, order_id, sort, version=ledger.version, revision=ledger.revision)
        for order_id, sort in target.items()
    ]
    return [ledger.to_item(partition_key), *entries]
