"""Deleted issues, as documents: the form of a deleted issue, until it is restored, purged, or removed by the
table. Pure.

A deleted issue has one more version, with who deleted it and when. It has no sort string, so it is in no
order of GSI1, and it expires. Only the trash shows such an issue: code that reads documents by their keys
asks here.
"""

from collections.abc import Mapping
from typing import Any

from gridview.dynamodb.expressions import Condition, Item
from gridview.encoding import keys
from gridview.support import clock

DELETED_BY = "deleted_by"
DELETED_AT = "deleted_at"

KEPT_DAYS = 30.0
"""Days for which a deleted issue can be restored. The tombstones of its derived items outlive this
(`derive.ledger`).
"""

LIVING = Condition("attribute_exists(PK) AND attribute_not_exists(#deleted)", {"#deleted": DELETED_BY})
"""The condition that an issue is there and not deleted."""

TRASHED = Condition("attribute_exists(#deleted)", {"#deleted": DELETED_BY})
"""The condition that an issue is deleted and can be restored."""


def changed_before(now: str) -> Condition:
    """Return the condition that an issue was changed for the last time before a stored instant."""
    return Condition("#updated < :now", {"#updated": "updated"}, {":now": now})


def is_trashed(document: Mapping[str, Any]) -> bool:
    """Return whether a stored document, plain or as the stream has it, is of a deleted issue."""
    return DELETED_BY in document


def living(document: Item | None) -> Item | None:
    """Return the document, unless the issue is deleted."""
    return None if document is None or is_trashed(document) else document


def is_restorable(document: Mapping[str, Any], now: float) -> bool:
    """Return whether a document is in the trash at `now`, in seconds since 1970: the table may hold it for
    days after that.
    """
    return is_trashed(document) and bool(document[keys.TTL_ATTRIBUTE] > now)


def mark_of(user: str, now: str) -> Item:
    """Return the attributes of a document that a delete by a user at the instant `now` sets."""
    return {
        DELETED_BY: user,
        DELETED_AT: now,
        "updated": now,
        "updated_by": user,
        keys.TTL_ATTRIBUTE: clock.expiry(KEPT_DAYS),
    }


SET_BY_A_DELETE = (DELETED_BY, DELETED_AT, keys.TTL_ATTRIBUTE)
"""Attributes that a restored document loses."""
