"""The room that an issue has in the index. Pure."""

from gridview.derive.images import Image, Underivable, target_of
from gridview.derive.packing import packed
from gridview.derive.sort_entries import UnknownSpec
from gridview.dynamodb.expressions import Item
from gridview.schema.catalog import Catalog
from gridview.support.errors import LimitExceeded

MAX_STRINGS_BYTES = 190_000
"""Limit of an issue's derived strings, compressed. Ledgers and journal items of 400 KB then have room for the
strings before and after an edit of all fields.
"""

_FEW_CHARACTERS = 25_000
"""Issues whose texts have fewer characters together need no look. Derived strings are these texts, case-folded:
once for the order and once as words. Values of other types are short, or much alike.
"""


def require_room(catalog: Catalog, document: Item) -> None:
    """Raise LimitExceeded if the index has no room for a document that is about to be written.

    Costs some ms for a document of 25,000 characters, otherwise nothing. A stored issue can still become too
    large for the index, if more of its fields get one.
    """
    if sum(len(value) for value in document["fields"].values() if isinstance(value, str)) < _FEW_CHARACTERS:
        return
    try:
        strings = target_of(catalog, Image.of(document))
    except (Underivable, UnknownSpec):
        return  # the stream consumer reports the one, and newer code knows the other
    if len(packed({"applied": strings})) > MAX_STRINGS_BYTES:
        raise LimitExceeded(
            "The indexed values of the issue would be larger than 190 KB, compressed. "
            "Shorten its texts, or index fewer attributes."
        )
