"""Compares an issue with the data derived from it. Pure.

Content decides, not versions: after an edit that changed nothing indexed, the ledger's version is rightly
older than the document's.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Self

from gridview.derive.families import INDEX_TOKENS_SUFFIX, has_entries, index_token_family, with_entries
from gridview.derive.images import Image, Underivable, target_of
from gridview.derive.ledger import Ledger
from gridview.derive.sort_entries import UnknownSpec, present_sort_strings
from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys, keys
from gridview.encoding.keys import IssueKey
from gridview.encoding.sort_strings import issue_number
from gridview.journal.items import Head, JournalItem
from gridview.schema.catalog import Catalog, Order
from gridview.schema.generations import IndexState
from gridview.schema.trash import is_trashed


class DifferenceKind(StrEnum):
    """The kinds of differences."""

    MISSING = "missing"
    """A sort entry is missing."""
    EXTRA = "extra"
    """A sort entry should not exist."""
    WRONG = "wrong"
    """A sort entry has a wrong sort string."""
    EXPIRY = "expiry"
    """An expiry is missing or unwanted: the table would delete an item that has to stay, or keep one forever
    that has to go.
    """
    LEDGER = "ledger"
    """The ledger's content is wrong, or a needed ledger is missing."""
    MALFORMED = "malformed"
    """A ledger, sort entry or tombstone is malformed: no condition can be put on it, so no consumer can get past it."""
    UNDERIVABLE = "underivable"
    """Nothing can be derived from this document."""
    UNKNOWN = "unknown"
    """No part of this code writes such an item. Only a person may remove it."""
    ORPHAN = "orphan"
    """A document of a project that is deleted or has no definitions."""
    UNLISTED = "unlisted"
    """An issue is missing from the block that covers one of its keys."""
    STRAY = "stray"
    """An issue is in a block, or under a body in it, where it has no key."""
    SIZE = "size"
    """A block's stored size or kind does not match its bitmaps."""
    CHAIN = "chain"
    """A block's upper fence and link do not fit the next block, or no link leads to a block."""
    UNREADABLE = "unreadable"
    """A block is unreadable, so no consumer can get past it."""
    OVERSIZE = "oversize"
    """A block is far above the size at which it should be split."""
    HOLE = "hole"
    """A number of a journal has no item, and the time of its writer is over: nothing after it is folded."""
    UNMARKED = "unmarked"
    """A journal item has no mark, so perhaps no sort entries: nothing after it is folded."""
    UNFOLDED = "unfolded"
    """A journal item has waited for the fold far too long."""
    LOST = "lost"
    """A journal item is gone before its time. Its changes are folded."""
    HEADLESS = "headless"
    """A journal has no head, so that nothing can be written any more."""
    NUMBERS = "numbers"
    """A page of a column has other numbers than its issues."""
    NO_PAGE = "no-page"
    """An item among the pages of a column has a key that no page has."""
    TOTAL = "total"
    """The stored total of a column is not that of its pages."""
    DEAD = "dead"
    """A family that nobody writes or reads any more still has blocks or pages."""


LEFT_ALONE = frozenset({DifferenceKind.UNKNOWN, DifferenceKind.ORPHAN})
"""The faults of items that are not derived: only a person can know their purpose."""


class Difference(NamedTuple):
    """One fault. `found` and `expected` hold values of the issue, for the operator's eyes only."""

    key: str
    kind: DifferenceKind
    place: str
    """The order id, or the other part of the item collection that is concerned."""
    found: str = ""
    expected: str = ""


@dataclass(slots=True)
class Collection:
    """All items of one issue: its document, its ledger, its sort entries and tombstones by order id, and any
    other items.
    """

    key: str
    issue: IssueKey
    document: Item | None = None
    ledger: Item | None = None
    entries: dict[str, Item] = field(default_factory=dict)
    strangers: list[Item] = field(default_factory=list)
    committed: bool = False
    """Whether the journal's item of the number that the ledger names is there, and not empty."""

    @classmethod
    def of(cls, key: str, items: Iterable[Item]) -> Self:
        """From the stored items. ValueError if the key is not an issue's."""
        issue = keys.parse_issue(key)
        partition = keys.project(issue.tenant, issue.project)
        collection = cls(key, issue)
        for item in items:
            sort_key = item[keys.SK]
            order_id = derived_keys.parse_order_id(sort_key, issue.tenant, issue.project)
            if order_id is not None and has_entries(order_id):
                collection.entries[order_id] = item
            elif sort_key == derived_keys.LEDGER:
                collection.ledger = item
            elif sort_key == partition:
                collection.document = item
            else:
                collection.strangers.append(item)
        return collection

    @property
    def live(self) -> dict[str, str]:
        """Order id -> sort string, as the index has them."""
        return {order_id: entry[keys.SORT] for order_id, entry in self.entries.items() if keys.SORT in entry}

    @property
    def malformed(self) -> list[str]:
        """The orders whose sort entry or tombstone has no revision."""
        return [
            order_id for order_id, entry in self.entries.items() if not isinstance(entry.get("revision"), int)
        ]

    @property
    def revision(self) -> int:
        """The highest revision that a sort entry or tombstone carries."""
        return _highest(self.entries, "revision")

    @property
    def version(self) -> int:
        """The highest version that the issue is known to have had: of the trash, or that an entry or
        tombstone was derived from.
        """
        trashed = {"": self.document} if self.document is not None and is_trashed(self.document) else {}
        return _highest({**self.entries, **trashed}, "version")

    def image(self) -> Image | None:
        """Return the issue's present image; None if there is no document, or the issue is deleted.
        Underivable if it is not an issue's.
        """
        if self.document is None or is_trashed(self.document):
            return None
        image = Image.of(self.document)
        placed = self.document.get("num"), self.document.get(keys.SORT)
        if placed != (self.issue.num, issue_number(self.issue.num)):
            raise Underivable("the document does not belong to its key")
        return image

    def read_ledger(self) -> Ledger | None:
        """Return the ledger, or the empty one if there is none; None if the stored item is not a ledger.

        One that names a number of the journal is unfinished unless that is `committed`.
        """
        try:
            ledger = Ledger.from_item(self.ledger)
            _ = ledger.present
        except (AttributeError, KeyError, TypeError, ValueError):
            return None
        whole = all(isinstance(number, int) for number in (ledger.version, ledger.epoch, ledger.revision))
        if (
            not whole
            or not isinstance(ledger.applied, dict)
            or (self.ledger is not None and ledger.revision < 1)
        ):
            return None
        return ledger.committed() if ledger.number and self.committed else ledger

    def look_up(self, head: Head | None) -> None:
        """Look up in the head of the journal, if there is one, whether the ledger is finished; after the
        watermark it is not.
        """
        ledger = self.read_ledger()
        if ledger is not None and ledger.number and head is not None:
            self.committed = bool(head.committed(ledger.number))

    def waits_for_fold(self, head: Head) -> bool:
        """Return whether the ledger names a number after the watermark."""
        ledger = self.read_ledger()
        return ledger is not None and bool(ledger.number) and ledger.number > head.folded

    def look_in_journal(self, read_item: Callable[[int], JournalItem | None]) -> None:
        """See in the journal's item of the ledger's number, unless it is known already, whether the ledger is
        finished.
        """
        ledger = self.read_ledger()
        if ledger is not None and ledger.number and not self.committed:
            record = read_item(ledger.number)
            self.committed = record is not None and bool(record.changes)

    @property
    def fingerprint(self) -> str:
        """A value that changes with every write to the issue's items: 16 characters."""
        document, ledger = self.document or {}, self.ledger or {}
        state = [
            document.get("version"),
            ledger.get("revision"),
            ledger.get("version"),
            sorted(
                (order_id, entry.get(keys.SORT), entry.get("revision"))
                for order_id, entry in self.entries.items()
            ),
        ]
        return hashlib.blake2b(repr(state).encode(), digest_size=8).hexdigest()


def is_entry(item: Item) -> bool:
    """Return whether an item is a sort entry or a tombstone of one, even of another project."""
    return derived_keys.is_order(item[keys.SK])


def _highest(entries: Mapping[str, Item], attribute: str) -> int:
    found = (entry.get(attribute) for entry in entries.values())
    return max((value for value in found if isinstance(value, int)), default=0)


def differences(
    key: str,
    items: Iterable[Item],
    catalog: Catalog | None,
    *,
    removing: bool = False,
    head: Head | None = None,
) -> list[Difference]:
    """Return the faults in one issue's items under the definitions of `catalog`; empty if all is right.
    UnknownSpec.

    Without a catalog (the project is deleted) no derived item may exist, unless its removal is in progress
    (`removing`). `head`: the journal's, None if it is lost.
    """
    try:
        collection = Collection.of(key, items)
    except ValueError:
        return [Difference(key, DifferenceKind.UNKNOWN, keys.PK)]
    collection.look_up(head)
    return compared(collection, catalog, removing=removing)


def compared(collection: Collection, catalog: Catalog | None, *, removing: bool = False) -> list[Difference]:
    """Like `differences`, for a collection."""
    key = collection.key
    found = [
        Difference(key, DifferenceKind.EXTRA if is_entry(item) else DifferenceKind.UNKNOWN, item[keys.SK])
        for item in collection.strangers
    ]
    if catalog is None and removing:
        return found
    try:
        image = collection.image()
        target = {} if image is None else target_of(catalog, image)
        found += _of_orders(collection, catalog, image, target)
        places = _places_of(catalog, image, target)
    except Underivable as error:
        return [*found, Difference(key, DifferenceKind.UNDERIVABLE, "document", str(error))]
    if collection.document is not None:
        if catalog is None:
            found.append(Difference(key, DifferenceKind.ORPHAN, "document"))
        if (keys.TTL_ATTRIBUTE in collection.document) is not is_trashed(collection.document):
            found.append(Difference(key, DifferenceKind.EXPIRY, "document"))
    found += (Difference(key, DifferenceKind.MALFORMED, order_id) for order_id in collection.malformed)
    found += (
        Difference(key, DifferenceKind.EXPIRY, order_id)
        for order_id, entry in collection.entries.items()
        if (keys.SORT in entry) == (keys.TTL_ATTRIBUTE in entry)
    )
    return [*found, *_of_ledger(collection, catalog, image, places)]


def _of_orders(
    collection: Collection, catalog: Catalog | None, image: Image | None, target: Mapping[str, str]
) -> list[Difference]:
    """Return the missing, extra and wrong sort entries."""
    key, unexplained = collection.key, collection.live
    found = []
    if catalog is not None and image is not None:
        for order in catalog.orders:
            if not has_entries(order.order_id):
                continue
            sort = unexplained.get(order.order_id)
            expected = (
                _present(order, image.document) if order.moving else frozenset((target.get(order.order_id),))
            )
            if sort in expected:
                unexplained.pop(order.order_id, None)
            elif sort is None:
                if order.index.state is IndexState.READY:
                    found.append(
                        Difference(key, DifferenceKind.MISSING, order.order_id, "", _alternatives(expected))
                    )
            elif expected != {None}:
                found.append(
                    Difference(key, DifferenceKind.WRONG, order.order_id, sort, _alternatives(expected))
                )
                del unexplained[order.order_id]
        for order_id in catalog.leaving:
            unexplained.pop(order_id, None)
    found += (Difference(key, DifferenceKind.EXTRA, order_id, sort) for order_id, sort in unexplained.items())
    return found


def _present(order: Order, document: Mapping[str, Any]) -> frozenset[str | None]:
    try:
        return present_sort_strings(order, document)
    except UnknownSpec:
        raise
    except Exception as error:
        raise Underivable(f"{type(error).__name__}: {error}") from error


Places = frozenset[str | None]
"""The derived strings that an issue may have in a family; None: none."""


def _alternatives(expected: Iterable[str | None]) -> str:
    return " or ".join(sorted(sort or "nothing" for sort in expected))


def _of_ledger(
    collection: Collection, catalog: Catalog | None, image: Image | None, places: Mapping[str, Places]
) -> Iterable[Difference]:
    key, live, ledger = collection.key, collection.live, collection.read_ledger()
    if ledger is None:
        yield Difference(key, DifferenceKind.MALFORMED, derived_keys.LEDGER)
        return
    if collection.ledger is None and image is None and not live:
        return  # deleted after its time; a tombstone that still exists does no harm
    applied = with_entries(ledger.applied)
    if applied != live:
        for order_id in sorted({*applied, *live}):
            claimed, there = applied.get(order_id, "nothing"), live.get(order_id, "nothing")
            if claimed != there:
                yield Difference(key, DifferenceKind.LEDGER, order_id, claimed, there)
    yield from _of_places(key, catalog, ledger.applied, places)
    if collection.ledger is not None and (keys.TTL_ATTRIBUTE in collection.ledger) is not ledger.removed:
        yield Difference(key, DifferenceKind.EXPIRY, derived_keys.LEDGER)
    epoch = ledger.epoch if catalog is None else catalog.epoch
    yield from (
        Difference(key, DifferenceKind.LEDGER, derived_keys.LEDGER, what)
        for what, wrong in (
            ("an unfinished intent", ledger.intent is not None),
            ("an older revision than its entries", collection.revision > ledger.revision),
            ("an epoch that does not exist", ledger.epoch > epoch),
            ("not removed", image is None and not ledger.removed),
            ("removed", image is not None and ledger.removed),
            ("a version that does not exist", image is not None and ledger.version > image.order.version),
        )
        if wrong
    )


def _places_of(catalog: Catalog | None, image: Image | None, target: Mapping[str, str]) -> dict[str, Places]:
    """Return, by family, the derived strings that the ledger may name, for families in which issues have keys
    only in blocks.

    While options are being moved, an issue may still be at a former place.
    """
    found = {family: Places((string,)) for family, string in target.items() if not has_entries(family)}
    if catalog is not None and image is not None:
        for order in catalog.orders:
            if order.moving and order.order_id in found:
                found[order.order_id] |= _present(order, image.document)
    return found


def _of_places(
    key: str, catalog: Catalog | None, applied: Mapping[str, str], places: Mapping[str, Places]
) -> Iterable[Difference]:
    """Return the ledger's faults for families in which issues have keys in blocks, but no entries to compare."""
    claims = {family: string for family, string in applied.items() if not has_entries(family)}
    orders = () if catalog is None else catalog.orders
    built = [order for order in orders if order.index.state is IndexState.BUILDING]
    building = {family for order in built for family in (order.order_id, index_token_family(order))}
    left = () if catalog is None else catalog.leaving
    leaving = {family for order_id in left for family in (order_id, order_id + INDEX_TOKENS_SUFFIX)}
    for family in sorted({*claims, *places} - leaving):
        claimed, may = claims.get(family), places.get(family, Places((None,)))
        if claimed not in may and not (claimed is None and family in building):
            yield Difference(key, DifferenceKind.LEDGER, family, claimed or "nothing", _alternatives(may))
