"""Where the index may still show an issue, and where it belongs: what a reader lays over what it has read. Pure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gridview.dynamodb.expressions import Item
from gridview.index.families import is_key
from gridview.index.images import Image, Underivable, target_of
from gridview.index.journal import JournalItem
from gridview.index.ledger import EVERY_FAMILY, Ledger
from gridview.index.sort_entries import UnknownSpec
from gridview.schema.catalog import Catalog


class FamilyMove(NamedTuple):
    """The derived strings under which an issue may be found in a family, and the one that it belongs under (None: none)."""

    leaves: tuple[str, ...]
    takes: str | None


class Move(NamedTuple):
    """What has become of an issue: its document (None: it was deleted), and the families in which the index may show it elsewhere.

    In all other families the index has it where it belongs. `known`: whether the document was read; a journal does not tell it.
    `pending`: whether the index itself may not have it there yet; otherwise some readers alone are shown it late.
    """

    num: int
    families: Mapping[str, FamilyMove]
    document: Item | None
    known: bool = True
    pending: bool = False


class Unheard(NamedTuple):
    """The issues that the index has not heard of; and if these were too many to read, how many numbers there are in question."""

    moves: tuple[Move, ...]
    missing: int = 0


FamilyMoves = Mapping[str, FamilyMove]
"""The moves of an issue, by family."""


def logged_moves(
    items: Iterable[JournalItem], before: Mapping[int, FamilyMoves] | None = None
) -> dict[int, FamilyMoves]:
    """The moves of each issue that journal items name, in order: what it left in any of them, and what it took last.

    `before`: those of the items just before these.
    """
    found: dict[int, FamilyMoves] = dict(before or {})
    for item in items:
        for change in item.changes:
            moves = dict(found.get(change.num, {}))
            for family, one in change.moves.items():
                known = moves.get(family, FamilyMove((), None))
                had = (*known.leaves, *(() if known.takes is None else (known.takes,)), *one.left)
                moves[family] = FamilyMove(_keys(had, change.num), one.to)
            found[change.num] = moves
    return found


def move_of(
    catalog: Catalog,
    num: int,
    document: Item | None,
    ledger: Ledger,
    now: int,
    logged: FamilyMoves | None = None,
) -> Move | None:
    """The move of an issue to its document, as the consumer will make it or has made it shortly before `now`.

    `logged`: the moves that the journal tells of it. None if the consumer cannot make it either: nothing can be derived from the
    document. The index keeps the issue where it is.
    """
    target: dict[str, str] = {}
    if document is not None:
        try:
            target = target_of(catalog, Image.of(document))
        except (Underivable, UnknownSpec):
            return None
    present, left = ledger.present, ledger.left_by(now)
    unfinished, unsure = {*(ledger.intent or {})}, {*left}
    families, pending = {}, False
    for family in {**present, **left, **target, **(logged or {})}.keys() - {EVERY_FAMILY}:
        takes, told = target.get(family), (logged or {}).get(family)
        shown = (*left.get(family, ()), *present.get(family, ()))
        differs = family in unfinished or present.get(family, ()) != (() if takes is None else (takes,))
        pending = pending or differs or told is not None
        if told or differs or {family, EVERY_FAMILY} & unsure:
            also = () if told is None else (*told.leaves, *(() if told.takes is None else (told.takes,)))
            families[family] = FamilyMove(_keys((*also, *shown), num), takes)
    return Move(num, families, document, pending=pending)


def _keys(strings: Iterable[str], num: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in strings if is_key(one, num)))
