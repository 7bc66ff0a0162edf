"""Finds which changes an answer counts: up to which place of the feed, and which versions after it. Pure.

- The index, with the journal's changes laid over: counts everything up to the journal's last number.
- Issues that tokens name, new issues, and items after a missing number: these versions are counted too. They are *ahead*.
- Documents that decide what is counted: exact only if the journal has the very version that was read.

The result is unknown if documents or sort entries that decide may be from another moment than the journal. It is also
unknown if a document that is shown is older than its version in the journal: the feed would not deliver that again.
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
from gridview.view.shown_versions import TAKEN_IN, Overlaid, Shown, ShownVersion, beyond

Decides = Callable[[Node], bool]
"""Whether the reads of a node decide what is counted."""


def always(_: Node) -> bool:
    """For groups and summaries, all reads decide."""
    return True


def never(_: Node) -> bool:
    """For a result page without counts, no read decides: its rows are as they were read."""
    return False


def of_a_page(node: Node) -> bool:
    """For a result page with counts, the reads that show which issues match decide; keys show the places of its rows."""
    return isinstance(node, BitmapScan | Recheck | TopN | FullScan)


class Counted(NamedTuple):
    """An answer counts everything before the journal's number `number`, and issues' versions up to those in `ahead`."""

    number: int
    ahead: Mapping[int, int]


class _Span(NamedTuple):
    """Documents that were read in number order."""

    read: ReadRange
    listed: Listed
    there: BitMap


@dataclass(slots=True)
class Seen:
    """The reads of one request, except the index with the journal laid over.

    - `documents`: the version of each, and when it was made (stored form).
    - `deciding`: the issues whose documents decide what is counted.
    - `gone`: issues that the index has and that had no document.
    - `unsure`: whether sort entries decide, which are of the moment at which they were read.
    """

    decides: Decides = always
    documents: dict[int, tuple[int, str]] = field(default_factory=dict)
    deciding: BitMap = field(default_factory=BitMap)
    gone: BitMap = field(default_factory=BitMap)
    unsure: bool = False
    _spans: list[_Span] = field(default_factory=list)

    def look(self, asked: Ask, answer: Any, overlay: Overlay) -> None:
        """Note an answer to steps, with the overlay in it."""
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
        """Note the sort entries of a block that were read from the table."""
        self.unsure = self.unsure or (is_plain(entry) and self.decides(node))

    def miss(self, node: Node, documents: int) -> None:
        """Note how many documents were missing that the index has."""
        self.unsure = self.unsure or (documents > 0 and self.decides(node))

    def _take(self, items: Iterable[Item], known: Mapping[int, Item | None]) -> None:
        for item in items:
            if item["num"] not in known:
                self.documents[item["num"]] = item["version"], item["updated"]

    def counted(self, catalog: Catalog, over: Overlaid, late: float | None) -> Counted | None:
        """Return the changes that the answer counts, including the laid-over ones; None if that is unknown.

        `late`: the lag of the index in seconds.
        """
        if over.outrun:
            return None
        logged, overlaid = over.logged, over.versions
        delivered = _delivered(logged.items)
        ahead = dict(_undelivered(logged, delivered))
        for num, version in overlaid.items():
            known = delivered.get(num)
            if version is None and known is not None and known.removed:
                continue
            if version is None or (known is not None and version < known.version):
                return None
            ahead.pop(num, None)
            if known is None or version > known.version:
                ahead[num] = version
        if self.unsure or len(ahead) > MAX_AHEAD or not self._agree(delivered, overlaid, late):
            return None
        there = {
            num: moves
            for num, moves in logged.moves.items()
            if num in delivered and not delivered[num].removed and num not in overlaid
        }
        if any(self._lacks(span, catalog, there) for span in self._spans):
            return None
        return Counted(logged.last + 1, ahead)

    def shown(self, over: Overlaid, late: float | None, documents: Iterable[Item] | None) -> Shown:
        """Return the versions in the answer that the index may lack. `late`: its lag in seconds; None: unknown.

        `documents`: the ones that the answer shows; None: it uses all that were read.
        """
        if documents is None:
            found = [ShownVersion(num, *one) for num, one in self.documents.items()]
        else:
            found = [ShownVersion(one["num"], one["version"], one["updated"]) for one in documents]
        known = {one.num for one in over.again}
        gone = (ShownVersion(num, 0, removed=True) for num in self.gone if num not in known)
        return Shown.of(found, late, [*over.again, *beyond(over.logged), *gone], over.logged)

    def _agree(
        self, delivered: Mapping[int, IssueChange], overlaid: Mapping[int, int | None], late: float | None
    ) -> bool:
        """Whether no document is older than its version in the journal, and none that decides is newer."""
        taken_in = "" if late is None else clock.stored(clock.seconds() - TAKEN_IN - max(late, 0.0))
        for num in self.gone:
            if num not in overlaid and (
                num in self.deciding or (num in delivered and not delivered[num].removed)
            ):
                return False
        for num, (version, made) in self.documents.items():
            known = delivered.get(num)
            if known is not None and (
                version < known.version or (known.removed and version == known.version)
            ):
                return False
            if num in self.deciding and (version > known.version if known is not None else made >= taken_in):
                return False
        return True

    @staticmethod
    def _lacks(span: _Span, catalog: Catalog, moves_of: Mapping[int, FamilyMoves]) -> bool:
        """Whether documents that GSI1 listed in number order lack an issue that the journal puts there."""
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
    """The issues that match by the index, whatever their documents contain."""
    return node.sure if isinstance(node, TopN) else BitMap()


def _families_of(catalog: Catalog, path: Sequence[str] | None) -> list[str]:
    orders = catalog.orders if path is not None else ()
    return [
        one.order_id
        for one in orders
        if isinstance(one, FieldOrder) and tuple(one.field.path) == tuple(path or ())
    ]


def _delivered(items: Iterable[JournalItem]) -> dict[int, IssueChange]:
    """The last version of each issue that the feed delivers from these items."""
    return {
        change.num: change
        for item in items
        for change in item.changes
        if change.before is None or change.before < change.version + change.removed
    }


def _undelivered(logged: Logged, delivered: Mapping[int, IssueChange]) -> Iterator[tuple[int, int]]:
    """Versions that the journal has in the index and the feed may deliver later: after a missing number, or by a pass."""
    for item in (*logged.items, *logged.beyond):
        for change in item.changes:
            if change.num not in delivered or delivered[change.num].version < change.version:
                yield change.num, change.version
