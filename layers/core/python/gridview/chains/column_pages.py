"""Pages of columns: the stored numbers of 256 issues in one order of a number field. Pure.

Like a block, a page has a write id that was never used before. Its position is the number up to which the journal is
folded into it. It is not in GSI1: a page's key says which issues it has. A page that does not exist is empty.

```
column-0807.35e9.a1.1   000000   issues 1 to 255
                        000001   issues 256 to 511
                        000003   issues 768 to 1,023 (issues 512 to 767 have no numbers)
```
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Self

from gridview.dynamodb.expressions import Key
from gridview.encoding import derived_keys, keys, number_pages
from gridview.encoding.number_pages import SLOTS, Slices, UnreadablePage

# A column of a million numbers has 3,907 pages. Each byte of them all is half a read unit, so names and ids are short.
BITS = "bits"
"""The attribute of the numbers."""

_POSITION = "at"


@dataclass(frozen=True, slots=True)
class ColumnPage:
    """One page as it was read, or as it is to be written. Without a write id it does not exist."""

    family: str
    number: int
    write_id: str = ""
    position: int = 0
    stored: bytes = b""

    @property
    def slices(self) -> Slices:
        """Return its numbers. Raises UnreadablePage."""
        return number_pages.decoded(self.stored)

    def changed(self, values: Mapping[int, Decimal | None], position: int) -> Self:
        """Return the page with other numbers of some of its issues, by issue, under a new write id.

        Its position rises to `position`, if it is lower. Raises UnreadablePage.
        """
        slots = {slot_of(num): value for num, value in values.items()}
        return replace(
            self,
            write_id=secrets.token_urlsafe(6),
            position=max(self.position, position),
            stored=number_pages.changed(self.stored, slots),
        )

    def key(self, tenant: str, project: str) -> Key:
        """Return its key in the table."""
        return derived_keys.column(tenant, project, self.family), derived_keys.column_page(self.number)

    def to_item(self, tenant: str, project: str) -> dict[str, Any]:
        """Encode as the stored item."""
        partition_key, sort_key = self.key(tenant, project)
        return {
            keys.PK: partition_key,
            keys.SK: sort_key,
            "write_id": self.write_id,
            _POSITION: self.position,
            BITS: self.stored,
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item. UnreadablePage if it is no page; its numbers are not decoded yet."""
        try:
            family = derived_keys.parse_column(item[keys.PK]).family
            number = derived_keys.parse_column_page(item[keys.SK])
            write_id, position, stored = item["write_id"], int(item[_POSITION]), bytes(item[BITS])
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadablePage(f"{item.get(keys.PK)}: {type(error).__name__}") from error
        if not isinstance(write_id, str) or not write_id or position < 0:
            raise UnreadablePage(f"{item[keys.PK]}: no write id or position")
        return cls(family, number, write_id, position, stored)


def page_of(num: int) -> int:
    """Return the number of the page that has an issue."""
    return num // SLOTS


def slot_of(num: int) -> int:
    """Return the slot of an issue in its page."""
    return num % SLOTS


def by_page(values: Mapping[int, Decimal | None]) -> dict[int, dict[int, Decimal | None]]:
    """Return values of issues by their pages."""
    found: dict[int, dict[int, Decimal | None]] = {}
    for num, value in values.items():
        found.setdefault(page_of(num), {})[num] = value
    return found
