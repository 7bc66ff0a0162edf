"""The places where the index may still show an issue, and where it belongs: a reader lays them over its reads. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pyroaring import BitMap

from gridview.derive.families import is_key
from gridview.derive.images import Image, Underivable, target_of
from gridview.derive.issue_changes import FamilyChange
from gridview.derive.ledger import EVERY_FAMILY, Ledger
from gridview.derive.sort_entries import UnknownSpec
from gridview.dynamodb.expressions import Item
from gridview.journal.items import JournalItem
from gridview.schema.catalog import Catalog


class JournalStep(NamedTuple):
    """A change of an issue's derived string in a family, by one journal item: the string before and the string after."""

    number: int
    had: str | None
    takes: str | None


class FamilyMove(NamedTuple):
    """The derived strings under which an issue may be found in a family, and the one where it belongs (None: none).

    `steps`: the changes that led there, if they are all from journal items and certain. A block's position then determines
    the string under which the block counts the issue.
    """

    leaves: tuple[str, ...]
    takes: str | None
    steps: tuple[JournalStep, ...] = ()

    def had_at(self, position: int) -> str | None:
        """The string under which a block of this position counts the issue, by the steps."""
        return next((step.had for step in self.steps if step.number > position), self.takes)


class Move(NamedTuple):
    """The outcome of an issue's changes: its document (None: deleted), and the families that may show it elsewhere.

    In all other families the index has it where it belongs.

    - `known`: whether the document was read; a journal does not contain it.
    - `pending`: whether the index itself may not have it there yet; otherwise only some readers are shown it late.
    """

    num: int
    families: Mapping[str, FamilyMove]
    document: Item | None
    known: bool = True
    pending: bool = False


class NewIssues(NamedTuple):
    """The issues that the index does not have yet; `missing`: how many numbers are in question, if too many to read."""

    moves: tuple[Move, ...]
    missing: int = 0


FamilyMoves = Mapping[str, FamilyMove]
"""The moves of an issue, by family."""


class Logged(NamedTuple):
    """The journal's changes: where issues were and are, and which of them some readers may not be shown there.

    They are complete up to the number `last`, for reads of GSI1 from the instant `since` on, in seconds since 1970.
    `items`: all after the number `floor`, up to `last`. `beyond`: items after a missing number.
    """

    moves: Mapping[int, FamilyMoves] = {}
    pending: BitMap = BitMap()
    last: int = 0
    since: float = 0.0
    items: Sequence[JournalItem] = ()
    beyond: Sequence[JournalItem] = ()
    floor: int = 0

    def is_unchanged_since(self, before: "Logged") -> bool:
        """Whether no item has come since."""
        return self.last == before.last and self.moves is before.moves

    def changed_since(self, before: "Logged") -> frozenset[int]:
        """The issues in items that were not known before."""
        items = (item for item in (*self.items, *self.beyond) if item.number > before.last)
        return frozenset(change.num for item in items for change in item.changes)


def logged_moves(
    items: Iterable[JournalItem], before: Mapping[int, FamilyMoves] | None = None
) -> dict[int, FamilyMoves]:
    """The moves of each issue in journal items: all strings that it had, and the one that it has after the last item.

    `before`: the moves by the items just before these. `items` are in the order of their numbers.
    """
    found: dict[int, FamilyMoves] = dict(before or {})
    for item in items:
        for change in item.changes:
            moves = dict(found.get(change.num, {}))
            for family, one in change.moves.items():
                known = moves.get(family)
                had = (*_shown(known), *one.left)
                steps = _steps(known, item.number, change.num, one)
                moves[family] = FamilyMove(_keys(had, change.num), one.to, steps)
            found[change.num] = moves
    return found


def _steps(known: FamilyMove | None, number: int, num: int, one: FamilyChange) -> tuple[JournalStep, ...]:
    """The steps with that of another item. None at all if it is uncertain which string the issue had."""
    had = one.left[0] if one.left else None
    sure = (
        not one.thorough and len(one.left) < 2 and all(is_key(key, num) for key in (*one.left, one.to) if key)
    )
    if not sure or (known is not None and (not known.steps or known.takes != had)):
        return ()
    return (*(known.steps if known is not None else ()), JournalStep(number, had, one.to))


def _shown(move: FamilyMove | None) -> tuple[str, ...]:
    """All strings of a move."""
    if move is None:
        return ()
    return move.leaves if move.takes is None else (*move.leaves, move.takes)


def move_of(
    catalog: Catalog,
    num: int,
    document: Item | None,
    ledger: Ledger,
    now: int,
    logged: FamilyMoves | None = None,
) -> Move | None:
    """The move of an issue to its document, as the consumer will make it or has made it shortly before `now`.

    `logged`: the issue's moves by the journal. None if the consumer cannot make the move either: nothing can be derived
    from the document. The index keeps the issue where it is.
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
        takes, moved = target.get(family), (logged or {}).get(family)
        shown = (*left.get(family, ()), *present.get(family, ()))
        differs = family in unfinished or present.get(family, ()) != (() if takes is None else (takes,))
        pending = pending or differs or moved is not None
        if moved or differs or {family, EVERY_FAMILY} & unsure:
            families[family] = FamilyMove(_keys((*_shown(moved), *shown), num), takes)
    return Move(num, families, document, pending=pending)


def _keys(strings: Iterable[str], num: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in strings if is_key(one, num)))
