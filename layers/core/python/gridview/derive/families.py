"""Families: the ordered sets of keys that are cut into blocks (`blocks`), and the keys of an issue in each.
Pure.

```
family id     kind      an issue's keys                                    purpose
num           NUMBERS   the empty body                                     how many issues there are, and
which
a1.1          ORDER     its sort string, if it has a value                 ranges, counts of values, row
numbers
state.1b      ORDER     the same, without a sort entry beside it           the same, of fields with few values
c1.1          ORDER     its sort string by several keys                    sorting by them
a1.1.has      TOKENS    one for each option (multi_enum) or word (text)    has_any, has_all, has_none,
has_words
```

A key is a *body*, a separator and the issue number, like a sort string (`sort_strings`). A ledger holds one
string of an issue for each family, its *derived string*. It is the key itself, or for TOKENS all bodies and
the number, separated.
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from gridview.derive.sort_entries import sort_strings_of
from gridview.encoding import sort_strings
from gridview.encoding.tokenizer import words
from gridview.schema.catalog import Catalog, Order
from gridview.schema.fields import FieldOrder, FieldType
from gridview.schema.generations import ENTRYLESS_SUFFIX

NUMBERS = "num"
"""The family of all issues."""
INDEX_TOKENS_SUFFIX = ".has"

INDEX_TOKEN_WIDTH = 100
"""Characters of a word that are kept. Documents distinguish issues with longer words that begin alike."""


class FamilyKind(Enum):
    """The kinds of families, by their keys."""

    NUMBERS = "numbers"
    ORDER = "order"
    INDEX_TOKENS = "tokens"


def kind_of(family: str) -> FamilyKind:
    """Return the kind of family that an id names."""
    if family == NUMBERS:
        return FamilyKind.NUMBERS
    return FamilyKind.INDEX_TOKENS if family.endswith(INDEX_TOKENS_SUFFIX) else FamilyKind.ORDER


def has_entries(family: str) -> bool:
    """Return whether issues have sort entries in this family, not only keys in its blocks, which have all
    bodies without them.
    """
    return kind_of(family) is FamilyKind.ORDER and not family.endswith(ENTRYLESS_SUFFIX)


def with_entries(strings: Mapping[str, str]) -> dict[str, str]:
    """Return an issue's derived strings, by family, for which it has sort entries."""
    return {family: string for family, string in strings.items() if has_entries(family)}


def index_token_family(order: Order) -> str | None:
    """Return the family of an order's tokens; None if it has none."""
    if not isinstance(order, FieldOrder):
        return None
    has_index_tokens = order.field.type is FieldType.MULTI_ENUM or order.searched
    return order.order_id + INDEX_TOKENS_SUFFIX if has_index_tokens else None


def families_of(catalog: Catalog) -> list[str]:
    """Return every family that is written under these definitions."""
    index_token_families = (index_token_family(order) for order in catalog.orders)
    return [
        NUMBERS,
        *(order.order_id for order in catalog.orders),
        *(one for one in index_token_families if one is not None),
    ]


def derived_strings(catalog: Catalog, document: Mapping[str, Any]) -> dict[str, str]:
    """Return family id -> derived string of an issue, for every family that it is in. UnknownSpec as for
    `sort_strings_of`.
    """
    num = document["num"]
    derived = {NUMBERS: sort_strings.sort_string("", num), **sort_strings_of(catalog, document)}
    for order in catalog.orders:
        family = index_token_family(order)
        if isinstance(order, FieldOrder) and family is not None and order.order_id in derived:
            found = sort_strings.joined(index_tokens(order, document))
            if found:
                derived[family] = sort_strings.sort_string(found, num)
    return derived


def index_tokens(order: FieldOrder, document: Mapping[str, Any]) -> Iterable[str]:
    """Return the bodies of an issue's keys in the family of an order's tokens: option ids, or words."""
    value = order.field.value_in(document)
    if order.field.type is FieldType.MULTI_ENUM:
        return frozenset(value)
    return {word[:INDEX_TOKEN_WIDTH] for word in words(value)}


def is_key(derived: str, num: int) -> bool:
    """Return whether this can be a derived string of the issue with this number."""
    try:
        return sort_strings.number_of(derived) == num
    except ValueError:
        return False


def keys_of(family: str, derived: str) -> frozenset[str]:
    """Return the keys in the family's blocks of an issue with this derived string."""
    if kind_of(family) is not FamilyKind.INDEX_TOKENS:
        return frozenset((derived,))
    num = sort_strings.number_of(derived)
    return frozenset(
        sort_strings.sort_string(index_token, num)
        for index_token in sort_strings.joined_in(sort_strings.body_of(derived))
    )
