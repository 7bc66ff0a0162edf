"""Finds the faults in the blocks of a project piece by piece, so that a check can resume at any piece.

Each block of an order with sort entries is compared with the entries between its fences. Both are in key
order, so this takes no memory and no state. Other families (issue numbers, tokens, orders of few values) have
no entries. There the documents, a slice of numbers at a time, determine the content of the bitmaps
(`block_ranges`).

All of these reads go through the index, so a difference is only a doubt. Strongly consistent reads settle it
at once (`block_membership`): between a ledger and the blocks no write is in flight unless the ledger says so.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pyroaring import BitMap

from gridview.chains import blocks
from gridview.chains.blocks import FIRST, HEAD, Block, Unreadable
from gridview.derive.families import (
    INDEX_TOKENS_SUFFIX,
    column_families,
    derived_strings,
    families_of,
    has_entries,
    is_key,
    keys_of,
)
from gridview.derive.sort_entries import UnknownSpec
from gridview.dynamodb.expressions import Bound, Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.encoding.fences import right_after
from gridview.encoding.sort_strings import body_of, issue_number, number_of, sort_string
from gridview.fsck.block_membership import Misplaced, SuspectKey
from gridview.fsck.block_ranges import BlockRange, FamilySets, between
from gridview.fsck.chain_repair import Chain
from gridview.fsck.issue_diff import Difference, DifferenceKind
from gridview.schema.catalog import Catalog
from gridview.schema.fields import Field
from gridview.schema.generations import order_id
from gridview.support import clock

PIECE = 20
"""Blocks of a chain that are checked between two steps."""

SLICE = 5_000
"""Issue numbers that are checked between two steps, when documents are read."""

PAGES = 10
"""MB of documents that are read between two steps at most."""

_SETTLING = 1.0
"""Seconds that a writer may take between writing a block and splitting it."""

ABOVE_ALL_NUMBERS = 10**8
"""Greater than every issue number."""

_HOPS = 50

Doubted = Callable[[Sequence[SuspectKey]], None]


class ChainPiece(NamedTuple):
    """The faults in the blocks of a piece of a chain, except in their content; and where the next piece begins, if any.

    `moved`: it has no faults, but writers changed it meanwhile, so that not all of it was checked.
    """

    faults: list[Difference]
    next: str | None
    moved: bool = False


def former_families(catalog: Catalog) -> list[str]:
    """Families that may once have existed: past generations of the present fields and composite indexes."""
    former = (
        order_id(one.key, generation, entries=not isinstance(one, Field) or one.gets_entries)
        for one in catalog.definitions
        for generation in range(1, one.indexes.next_generation)
    )
    present = {*families_of(catalog), *left(catalog)}
    every = (family for one in former for family in (one, one + INDEX_TOKENS_SUFFIX))
    return [family for family in every if family not in present]


def left(catalog: Catalog) -> frozenset[str]:
    """Return the families whose blocks are being removed."""
    return frozenset(family for one in catalog.leaving for family in (one, one + INDEX_TOKENS_SUFFIX))


def look_at_chain(chain: Chain, at: str, doubted: Doubted) -> ChainPiece:
    """Check the next blocks of a chain, from the lower fence `at` on ("": the first).

    A strongly consistent read of each block; for an order also its sort entries, 0.5 units for 25 or so.
    `doubted` receives issues that seem missing or stray.
    """
    listed: list[str] = []
    for fence, block_id in chain.listed(at, PIECE + 1):
        if len(listed) == PIECE:
            following: str | None = fence
            break
        listed.append(block_id)
    else:
        following = None
    items = chain.read(list(dict.fromkeys([*([] if at else [HEAD]), *listed])))
    found, faults = [], []
    for block_id, item in items.items():
        try:
            found.append(Block.from_item(item))
        except Unreadable:
            faults.append(_fault(chain, block_id, DifferenceKind.UNREADABLE))
    found.sort(key=lambda block: block.lower)
    structure = _Structure(chain, {block.id: block for block in found})
    faults += structure.faults(first=not at)
    faults += _of_each(chain, found, items)
    moved = structure.moved or (bool(found) and found[-1].upper != following)
    if has_entries(chain.family):
        covering = found if items else [Block.head(chain.family)]
        moved |= not _compare_with_entries(chain, covering, doubted)
    return ChainPiece(faults, following, moved and not faults)


def _fault(
    chain: Chain, block_id: str, kind: DifferenceKind, found: str = "", expected: str = ""
) -> Difference:
    return Difference(chain.key(block_id), kind, chain.family, found, expected)


def _of_each(chain: Chain, found: Iterable[Block], items: Mapping[str, Item]) -> Iterator[Difference]:
    """Return the faults of single blocks."""
    for block in found:
        size = items[block.id].get("size")
        if blocks.misfit(block, size):
            yield _fault(chain, block.id, DifferenceKind.SIZE, str(size), str(block.size))
    large = [block for block in found if blocks.oversize(block)]
    if large:
        clock.sleep(_SETTLING)
        again = chain.read([block.id for block in large])
        for block in large:
            if again.get(block.id, {}).get("write_id") == block.write_id:
                yield _fault(chain, block.id, DifferenceKind.OVERSIZE, f"{block.weight:,} bytes")


class _Structure:
    """The links and fences of a piece's blocks. Apparent faults are read again: a fence or link belongs to
    one write of a block.
    """

    def __init__(self, chain: Chain, known: Mapping[str, Block]) -> None:
        self._chain = chain
        self._known = known
        self.moved = False
        """Whether an apparent fault had changed when it was read again."""

    def faults(self, *, first: bool) -> Iterator[Difference]:
        """Return all faults between blocks. `first`: the piece begins the chain."""
        if first and self._known:
            yield from self._of_the_head()
        for block in self._known.values():
            fault = self._of_the_link(block, self._known.get)
            if fault and self._of_the_link(block, self._read) and self._is_current(block):
                yield _fault(self._chain, block.id, DifferenceKind.CHAIN, fault)
        linked = {block.next for block in self._known.values()}
        for block in self._known.values():
            if block.id != HEAD and block.id not in linked and self._out_of_reach(block):
                yield _fault(self._chain, block.id, DifferenceKind.CHAIN, "no link leads to it")

    def _of_the_head(self) -> Iterator[Difference]:
        head = self._known.get(HEAD)
        if head is None and self._chain.get(HEAD) is not None:
            self.moved = True
        elif head is None and any(map(self._is_current, self._known.values())):
            yield _fault(self._chain, HEAD, DifferenceKind.CHAIN, "it is missing")
        elif head is not None and head.lower != FIRST:
            yield _fault(self._chain, HEAD, DifferenceKind.CHAIN, head.lower, FIRST)

    def _of_the_link(self, block: Block, read: Callable[[str], Block | None]) -> str:
        if block.next is None and block.upper is None:
            return ""
        if block.next is None or block.upper is None:
            return "its link and its upper fence do not match"
        following = read(block.next)
        if following is None and self._chain.get(block.next) is not None:
            following = self._read(block.next)
            if following is None:
                return ""  # unreadable, and reported as that
        if following is None:
            return "the next block is missing"
        return "" if following.lower == block.upper else "the next block begins elsewhere"

    def _out_of_reach(self, block: Block) -> bool:
        """Return whether another block covers this one's range, or another block with the same fence is
        linked instead.
        """
        page = self._chain.table.query(
            self._chain.directory,
            index=True,
            bound=Bound("<", block.lower),
            forward=False,
            limit=1,
            paths=(),
        )
        before = self._read(derived_keys.parse_block_id(page.items[0][keys.PK]) if page.items else HEAD)
        for _ in range(_HOPS):
            if before is None or (before.next, before.upper) == (block.id, block.lower):
                return False
            if before.upper is None or before.upper >= block.lower:
                return self._is_current(block) and self._is_current(before)
            before = None if before.next is None else self._read(before.next)
        return False

    def _read(self, block_id: str) -> Block | None:
        item = self._chain.get(block_id)
        try:
            return None if item is None else Block.from_item(item)
        except Unreadable:
            return None

    def _is_current(self, block: Block) -> bool:
        current = bool((self._chain.get(block.id) or {}).get("write_id") == block.write_id)
        self.moved |= not current
        return current


def _compare_with_entries(chain: Chain, found: Sequence[Block], doubted: Doubted) -> bool:
    """Compare blocks, in order, with the sort entries between their fences. Whether all of them have a block."""
    if not found:
        return True
    covered = True
    lowers = [block.lower for block in found]
    seen: dict[str, dict[str, BitMap]] = defaultdict(lambda: defaultdict(BitMap))
    for page in _entries(chain, found[0].lower, found[-1].upper):
        missing = []
        for item in page:
            key, num = item[keys.SORT], keys.parse_issue(item[keys.PK]).num
            block = found[max(bisect_right(lowers, key) - 1, 0)]
            if not is_key(key, num):
                continue  # reported of the issue
            if not block.covers(key):
                covered = False
                continue
            body = body_of(key) if block.sets is not None else ""
            seen[block.id][body].add(num)
            if num not in (block.members if block.sets is None else block.sets.get(body, ())):
                missing.append(SuspectKey(num, chain.family, key))
        doubted(missing)
    for block in found:
        bodies = {"": block.members} if block.sets is None else block.sets
        strays = (
            (num, blocks.some_key(block, None if block.sets is None else body, num))
            for body, numbers in bodies.items()
            for num in numbers - seen[block.id].get(body, BitMap())
        )
        doubted([SuspectKey(num, chain.family, key) for num, key in strays if key is not None])
    return covered


def _entries(chain: Chain, lower: str, upper: str | None) -> Iterator[Sequence[Item]]:
    order = derived_keys.order(chain.tenant, chain.project, chain.family)
    while upper is None or lower <= upper:
        bound = Bound(">=", lower) if upper is None else Bound("between", lower, upper)
        page = chain.table.query(order, index=True, bound=bound, paths=())
        yield page.items
        if page.last is None:
            return
        lower = right_after(page.last)


class DerivedSlice(NamedTuple):
    """The keys of issues that have a number among some, by family, and the issues of which none can be derived."""

    among: range
    keys: Mapping[str, Sequence[str]]
    unknown: BitMap


def derived_slice(table: Table, catalog: Catalog, first: int, stop: int, blocks: BlockRange) -> DerivedSlice:
    """Return the keys of the issues from `first` to before `stop`, by the documents that the index shows.

    The slice ends earlier if its documents are large. Only keys in these blocks count; with the first range also the
    keys of columns. 0.5 read units for each 4 KB of documents.
    """
    columns = frozenset(column_families(catalog)) if blocks.is_first else frozenset()
    families = columns.union(blocks.families(catalog))
    found: dict[str, list[str]] = defaultdict(list)
    unknown = BitMap()
    documents, stop = _documents(table, catalog, first, stop)
    for document in documents:
        num = keys.parse_issue(document[keys.PK]).num
        try:
            wanted = [
                (family, key)
                for family, string in derived_strings(catalog, document).items()
                if family in families and is_key(string, num)
                for key in keys_of(family, string)
                if family in columns or blocks.covers(family, key)
            ]
        except UnknownSpec:
            raise
        except Exception:
            unknown.add(num)
            continue
        for family, key in wanted:
            found[family].append(key)
    return DerivedSlice(range(first, stop), found, unknown)


def look_at_numbers(derived: DerivedSlice, sets: FamilySets, doubted: Doubted) -> None:
    """Compare bitmaps with the keys of a slice of issues."""
    expected: dict[tuple[str, str], BitMap] = defaultdict(BitMap)
    for family in derived.keys:
        if not has_entries(family):
            for key in derived.keys[family]:
                expected[family, body_of(key)].add(number_of(key))
    among, unknown = derived.among, derived.unknown
    doubts = []
    for family, body in {*expected, *((family, body) for family, some in sets.items() for body in some)}:
        held = between(sets.get(family, {}).get(body, BitMap()), among)
        for num in (held ^ expected.get((family, body), BitMap())) - unknown:
            doubts.append(SuspectKey(num, family, sort_string(body, num)))
    doubted(sorted(doubts))


def _documents(table: Table, catalog: Catalog, first: int, stop: int) -> tuple[list[Item], int]:
    """Return the documents of the next issues, and the number before which they end: `stop`, or earlier."""
    found: list[Item] = []
    lower, upper = issue_number(first), issue_number(stop - 1)
    pages = 0
    while lower <= upper:
        page = table.query(
            keys.project(catalog.tenant, catalog.project), index=True, bound=Bound("between", lower, upper)
        )
        found += page.items
        pages += 1
        if page.last is None:
            break
        num = keys.parse_issue(page.items[-1][keys.PK]).num
        if pages >= PAGES and page.last == issue_number(num):  # else someone changed this document by hand
            return found, num + 1
        lower = right_after(page.last)
    return found, stop


def difference_of(chain: Chain, misplaced: Misplaced) -> Difference:
    """Return the report of a misplaced issue."""
    kind = DifferenceKind.UNLISTED if misplaced.missing else DifferenceKind.STRAY
    issue = keys.issue(chain.tenant, chain.project, misplaced.num)
    if misplaced.missing:
        return Difference(issue, kind, chain.family, "", misplaced.key)
    return Difference(issue, kind, chain.family, misplaced.key)
