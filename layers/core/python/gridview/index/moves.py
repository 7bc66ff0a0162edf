"""Where the index may still show an issue, and where it belongs: what a reader lays over what it has read. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from gridview.dynamodb.expressions import Item
from gridview.index.families import is_key
from gridview.index.images import Image, Underivable, target_of
from gridview.index.ledger import EVERY_FAMILY, Ledger
from gridview.index.sort_entries import UnknownSpec
from gridview.schema.catalog import Catalog


class FamilyMove(NamedTuple):
    """The derived strings under which an issue may be found in a family, and the one that it belongs under (None: none)."""

    leaves: tuple[str, ...]
    takes: str | None


class Move(NamedTuple):
    """What has become of an issue: its document (None: it was deleted), and the families in which the index may show it elsewhere.

    In all other families the index has it where it belongs.
    """

    num: int
    families: Mapping[str, FamilyMove]
    document: Item | None


def move_of(catalog: Catalog, num: int, document: Item | None, ledger: Ledger, now: int) -> Move | None:
    """The move of an issue to its document, as the consumer will make it or has made it shortly before `now`.

    None if the consumer cannot make it either: nothing can be derived from the document. The index keeps the issue where it is.
    """
    target: dict[str, str] = {}
    if document is not None:
        try:
            target = target_of(catalog, Image.of(document))
        except (Underivable, UnknownSpec):
            return None
    present, left = ledger.present, ledger.left_by(now)
    unsure = {*(ledger.intent or {}), *left}
    families = {}
    for family in {**present, **left, **target}.keys() - {EVERY_FAMILY}:
        takes = target.get(family)
        shown = (*left.get(family, ()), *present.get(family, ()))
        if {family, EVERY_FAMILY} & unsure or shown != (() if takes is None else (takes,)):
            leaves = tuple(dict.fromkeys(one for one in shown if is_key(one, num)))
            families[family] = FamilyMove(leaves, takes)
    return Move(num, families, document)
