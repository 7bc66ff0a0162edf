"""Which changes an answer counts: up to which place of the feed, and which versions behind it. Pure.

    the index, with what the journal tells laid over    all up to the journal's last number
    issues that tokens name, new issues,                these versions too: they are *ahead*
    items behind a missing number
    documents that decide what is counted               exact only if the journal has told of the very version that was read

Where documents or sort entries that decide may be of another moment than the journal, nobody can tell; nor where a document that is
shown is older than what the journal tells of it, since nobody would tell it again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyroaring import BitMap

from gridview.chains.blocks import Entry
from gridview.derive.families import NUMBERS
from gridview.derive.issue_changes import IssueChange
from gridview.dynamodb.expressions import Item
from gridview.encoding.sort_strings import issue_number
from gridview.journal.feed_cursors import MAX_AHEAD
from gridview.journal.items import JournalItem
from gridview.query.group_blocks import is_plain
from gridview.query.plan import BitmapScan, FullScan, Node, Recheck, TopN
from gridview.query.steps import Ask
from gridview.schema.catalog import Catalog
from gridview.schema.fields import FieldOrder
from gridview.support import clock
from gridview.view.moves import FamilyMoves, Logged
from gridview.view.overlay import Overlay, was_read
from gridview.view.reads import Documents, Listed, ReadDocuments, ReadIssue, ReadRange, ReadRanges
from gridview.view.shown_versions import TAKEN_IN, Laid, Shown, ShownVersion, beyond

Decides = Callable[[Node], bool]
"""Whether what a node reads decides what is counted."""


def always(_: Node) -> bool:
    """Of groups and figures all that is read decides."""
    return True


def never(_: Node) -> bool:
    """Of a page that counts nothing, nothing does: its rows are what they are."""
    return False


def of_a_page(node: Node) -> bool:
    """Of a page, what tells which issues match; where its rows stand is told by their keys."""
    return isinstance(node, BitmapScan | Recheck | TopN | FullScan)


class Counted(NamedTuple):
    """An answer counts all in front of the journal's number `number`, and of some issues the versions up to those in `ahead`."""

    number: int
    ahead: Mapping[int, int]


class _Span(NamedTuple):
    """Documents that were read in number order."""

    read: ReadRange
    listed: Listed
    there: BitMap


@dataclass(slots=True)
class Seen:
    """What one request has seen, besides the index with the journal laid over.

    `documents`: version of each, and when it was made (stored form). `deciding`: those that decide what is counted. `gone`: issues
    that the index has and that had no document. `unsure`: sort entries that decide, of the moment at which they were read.
    """

    decides: Decides = always
    documents: dict[int, tuple[int, str]] = field(default_factory=dict)
    deciding: BitMap = field(default_factory=BitMap)
    gone: BitMap = field(default_factory=BitMap)
    unsure: bool = False
    _spans: list[_Span] = field(default_factory=list)

    def look(self, asked: Ask, answer: Any, overlay: Overlay) -> None:
        """At an answer to steps, with the overlay in it."""
        known = overlay.documents
        match asked.read:
            case ReadDocuments(numbers):
                found: Documents = answer
                self._take(found.found.values(), known)
                self.gone |= BitMap(
                    num
                    for num in numbers
                    if num not in found.found and num not in found.left and num not in known
                )
                if self.decides(asked.node):
                    self.deciding |= BitMap(numbers) - _sure_of(asked.node)
            case ReadRange(None) as read:
                listed: Listed = answer
                self._take(listed.items, known)
                self._spans.append(_Span(read, listed, BitMap(item["num"] for item in listed.items)))
            case ReadRanges():
                for one in answer:
                    self._take(one.items, known)
                    if self.decides(asked.node):
                        self.deciding |= BitMap(item["num"] for item in one.items)
            case ReadIssue():
                self._take((answer,), known)

    def look_at_entries(self, node: Node, entry: Entry) -> None:
        """At the sort entries of a block, which were read anew."""
        self.unsure = self.unsure or (is_plain(entry) and self.decides(node))

    def miss(self, node: Node, documents: int) -> None:
        """So many documents were missing of those that the index has."""
        self.unsure = self.unsure or (documents > 0 and self.decides(node))

    def _take(self, items: Iterable[Item], known: Mapping[int, Item | None]) -> None:
        for item in items:
            if item["num"] not in known:
                self.documents[item["num"]] = item["version"], item["updated"]

    def counted(self, catalog: Catalog, over: Laid, late: float | None) -> Counted | None:
        """What the answer counts, with what was laid over; None where nobody can tell.

        `late`: how many seconds the index is behind.
        """
        if over.outrun:
            return None
        logged, laid = over.logged, over.versions
        told = _told(logged.items)
        ahead = dict(_untold(logged, told))
        for num, version in laid.items():
            known = told.get(num)
            if version is None and known is not None and known.removed:
                continue
            if version is None or (known is not None and version < known.version):
                return None
            ahead.pop(num, None)
            if known is None or version > known.version:
                ahead[num] = version
        if self.unsure or len(ahead) > MAX_AHEAD or not self._agree(told, laid, late):
            return None
        there = {
            num: moves
            for num, moves in logged.moves.items()
            if num in told and not told[num].removed and num not in laid
        }
        if any(self._lacks(span, catalog, there) for span in self._spans):
            return None
        return Counted(logged.last + 1, ahead)

    def shown(self, over: Laid, late: float | None, documents: Iterable[Item] | None) -> Shown:
        """What of this the index may lack. `late`: how many seconds it is behind; None: nobody knows.

        `documents`: those that the answer shows; None: it is made of all that were read.
        """
        if documents is None:
            found = [ShownVersion(num, *one) for num, one in self.documents.items()]
        else:
            found = [ShownVersion(one["num"], one["version"], one["updated"]) for one in documents]
        known = {one.num for one in over.again}
        gone = (ShownVersion(num, 0, removed=True) for num in self.gone if num not in known)
        return Shown.of(found, late, [*over.again, *beyond(over.logged), *gone], over.logged)

    def _agree(
        self, told: Mapping[int, IssueChange], laid: Mapping[int, int | None], late: float | None
    ) -> bool:
        """Whether the documents are not older than what is told of them; and where they decide, not newer either."""
        taken_in = "" if late is None else clock.stored(clock.seconds() - TAKEN_IN - max(late, 0.0))
        for num in self.gone:
            if num not in laid and (num in self.deciding or (num in told and not told[num].removed)):
                return False
        for num, (version, made) in self.documents.items():
            known = told.get(num)
            if known is not None and (
                version < known.version or (known.removed and version == known.version)
            ):
                return False
            if num in self.deciding and (version > known.version if known is not None else made >= taken_in):
                return False
        return True

    @staticmethod
    def _lacks(span: _Span, catalog: Catalog, moves_of: Mapping[int, FamilyMoves]) -> bool:
        """Whether documents that GSI1 gave in number order lack one of issues that the journal tells of."""
        families = _families_of(catalog, span.read.lacking)
        for num, moves in moves_of.items():
            if num in span.there:
                continue
            new = NUMBERS in moves and moves[NUMBERS].takes is not None
            values = [moves[family].takes for family in families if family in moves]
            comes = not any(values) and (new or bool(values))
            if comes and was_read(issue_number(num), span.listed, span.read.bound, forward=span.read.forward):
                return True
        return False


def _sure_of(node: Node) -> BitMap:
    """The issues that match by the index, whatever their documents are."""
    return node.sure if isinstance(node, TopN) else BitMap()


def _families_of(catalog: Catalog, path: Sequence[str] | None) -> list[str]:
    orders = catalog.orders if path is not None else ()
    return [
        one.order_id
        for one in orders
        if isinstance(one, FieldOrder) and tuple(one.field.path) == tuple(path or ())
    ]


def _told(items: Iterable[JournalItem]) -> dict[int, IssueChange]:
    """The last version of each issue that these items tell the feed."""
    return {
        change.num: change
        for item in items
        for change in item.changes
        if change.before is None or change.before < change.version + change.removed
    }


def _untold(logged: Logged, told: Mapping[int, IssueChange]) -> Iterator[tuple[int, int]]:
    """Versions that the journal has in the index, and that the feed may tell later: behind a missing number; by a pass."""
    for item in (*logged.items, *logged.beyond):
        for change in item.changes:
            if change.num not in told or told[change.num].version < change.version:
                yield change.num, change.version
