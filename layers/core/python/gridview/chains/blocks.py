"""Blocks: a family's keys, cut at fence keys into bitmaps of issue numbers of at most about 4 KB. Pure.

    FIRST                "open" SEP             after "open"            None
      |  closed, done ...  |  open, open, open ...  |  waiting, ... ...   |
      block 0 ------next-----> block 7f3a ------next---> block 91c0

The blocks of a family form a B-link chain: each knows its lower and upper fence and the next one's id. A block holds the
numbers of the issues whose keys are between its fences. Adding to a set is idempotent, and a count is the size of a set,
so counts cannot drift. Every write gives the block a `write_id` that was never used before.

A *detailed* block has a bitmap for each body and is readable by itself. If nearly every issue has a different body, such a
block would be ten times as large. It is therefore *plain*: it has a single bitmap, and the sort entries supply the keys.
Blocks of a family without sort entries are detailed.
"""

import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from struct import Struct
from struct import error as StructError  # noqa: N812
from typing import Any, NamedTuple, Self

from pyroaring import BitMap

from gridview.derive.families import FamilyKind, has_entries, kind_of
from gridview.encoding import derived_keys, keys
from gridview.encoding.fences import after, before, body_between, fence_at
from gridview.encoding.number_sets import bitmap, packed, unpacked
from gridview.encoding.sort_strings import body_of, number_of, sort_string

FIRST = before("")
"""The lower fence of every chain: no key comes before it."""
HEAD = "0"
"""The id of the first block of every chain. That block is never merged into another."""

MAX_BYTES = 3_600
"""Limit of a block's bitmaps, before they are packed.

With keys and fences, its item stays within 4 KB: half a read unit, at most four write units.
"""

POPULAR = 500
"""A body with this many issues gets blocks of its own."""

UNPOPULAR = POPULAR // 2
"""With at most this many issues, such a block may be merged with its neighbour again."""

MERGED = MAX_BYTES // 4
"""A block below this size is merged with the next one if both fit into `ROOMY`."""
ROOMY = MAX_BYTES * 6 // 10

_HALF = 0.55
_FULL = 0.9
"""How far blocks are filled: `_HALF` by a split in the middle of a chain, `_FULL` at its end or by a bulk load."""

PLAIN_KEYS = 1_800
"""The most keys of a plain block: finding one row in it takes a read of up to as many sort entries."""
_MERGED_KEYS = PLAIN_KEYS // 4
_ROOMY_KEYS = PLAIN_KEYS * 6 // 10
"""As `MERGED` and `ROOMY`, in keys. A bitmap of consecutive numbers is small however many they are."""

DETAILED_BODIES = 32
DETAILED_BYTES = 1_000
"""A block of an order is detailed up to this many bodies, with this many bytes in all."""

_HEADER = Struct(">HI")


class Unreadable(Exception):
    """A stored item in a block's place is not a block."""


Sets = Mapping[str, BitMap]
"""Body -> issue numbers. Never changed once made."""


@dataclass(frozen=True)
class Block:
    """One block. Either `sets` (detailed) or `rest` (plain) is not None."""

    family: str
    id: str
    lower: str
    upper: str | None
    next: str | None
    write_id: str
    sets: Sets | None
    rest: BitMap | None = None

    @classmethod
    def head(cls, family: str) -> Self:
        """The first block of a new chain."""
        return cls(family, HEAD, FIRST, None, None, "", {})

    @property
    def detailed(self) -> bool:
        """Whether it has a bitmap for each body."""
        return self.sets is not None

    @property
    def position(self) -> int:
        """The number up to which the journal is folded into it; 0 for a bulk load."""
        return position_in(self.write_id)

    @cached_property
    def members(self) -> BitMap:
        """The numbers of all issues with keys in it."""
        if self.rest is not None:
            return self.rest
        return BitMap.union(*self.sets.values()) if self.sets else BitMap()

    @property
    def size(self) -> int:
        """The number of keys in it."""
        return len(self.rest) if self.rest is not None else sum(map(len, (self.sets or {}).values()))

    @cached_property
    def weight(self) -> int:
        """Bytes of its bitmaps, unpacked. Splits and merges use this size, so that packing does not move any key."""
        return sum(_HEADER.size + len(body.encode()) + len(bitmap(numbers)) for body, numbers in self._stored)

    @cached_property
    def encoded(self) -> bytes:
        """Its sets as stored: packed."""
        return _encode(self._stored)

    @property
    def _stored(self) -> Collection[tuple[str, BitMap]]:
        return ((_PLAIN, self.rest or BitMap()),) if self.sets is None else self.sets.items()

    def covers(self, key: str) -> bool:
        """Whether a key is between its fences."""
        return self.lower <= key and (self.upper is None or key < self.upper)

    def to_item(self, tenant: str, project: str) -> dict[str, Any]:
        """Encode as the stored item. GSI1 has everything except `set`: the directory."""
        item: dict[str, Any] = {
            keys.PK: derived_keys.block(tenant, project, self.family, self.id),
            keys.SK: derived_keys.directory(tenant, project, self.family),
            keys.SORT: self.lower,
            "size": self.size,
            "write_id": self.write_id,
            "set": self.encoded,
        }
        if self.upper is not None:
            item |= {"upper": self.upper, "next": self.next}
        return item

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the stored item. Unreadable if it is not a block."""
        family, block_id = derived_keys.parse_block(item[keys.PK])[2:]
        try:
            sets, rest = _decode(item["set"])
            if sets is None and not has_entries(family):
                raise ValueError("neither the block nor sort entries have its keys")
            return cls(
                family,
                block_id,
                item[keys.SORT],
                item.get("upper"),
                item.get("next"),
                item["write_id"],
                sets,
                rest,
            )
        except (IndexError, KeyError, TypeError, ValueError, StructError) as error:
            raise Unreadable(f"{item[keys.PK]}: {type(error).__name__}") from error


class Entry(NamedTuple):
    """A block as listed in the directory, without its bitmaps."""

    id: str
    lower: str
    upper: str | None
    next: str | None
    write_id: str
    size: int

    @property
    def detailed(self) -> bool:
        """Whether the block has a bitmap for each body."""
        return self.write_id.startswith("d")

    @property
    def position(self) -> int:
        """The number up to which the journal is folded into the block; 0 for a bulk load."""
        return position_in(self.write_id)

    @property
    def body(self) -> str | None:
        """The body of every key in it, if its fences allow only one."""
        return body_between(self.lower, self.upper)

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the item in GSI1."""
        return cls(
            derived_keys.parse_block_id(item[keys.PK]),
            item[keys.SORT],
            item.get("upper"),
            item.get("next"),
            item["write_id"],
            int(item["size"]),
        )


def entry_of(block: Block) -> Entry:
    """The directory's entry of a block."""
    return Entry(block.id, block.lower, block.upper, block.next, block.write_id, block.size)


class KeyChange(NamedTuple):
    """A key to add or remove for an issue in a family. `number`: that of the journal item with this change."""

    issue: str
    family: str
    key: str
    present: bool
    number: int = 0


class BlockChange(NamedTuple):
    """Keys to add to a block and keys to remove from it; the two are disjoint."""

    add: frozenset[str] = frozenset()
    remove: frozenset[str] = frozenset()


def changed(block: Block, change: BlockChange, position: int = 0) -> Block:
    """The block with keys between its fences added and removed, under a new write id.

    Its position rises to `position`, if it is lower. An added issue stays even if another of its keys is removed: a plain
    block does not distinguish its keys.
    """
    position = max(position, block.position)
    if block.sets is None:
        rest = BitMap(block.rest)
        rest -= BitMap(number_of(key) for key in change.remove)
        rest |= BitMap(number_of(key) for key in change.add)
        return _rewritten(block, None, rest, position)
    sets = dict(block.sets)
    for key in change.remove:
        body, num = body_of(key), number_of(key)
        if num in sets.get(body, ()):
            sets[body] = sets[body] - BitMap((num,))
    for key in change.add:
        body = body_of(key)
        sets[body] = sets.get(body, BitMap()) | BitMap((number_of(key),))
    sets = {body: numbers for body, numbers in sorted(sets.items()) if numbers}
    return _rewritten(block, *_representation(block.family, sets), position)


def _rewritten(block: Block, sets: Sets | None, rest: BitMap | None, position: int) -> Block:
    return replace(block, sets=sets, rest=rest, write_id=_write_id(sets is not None, position))


def touched(block: Block) -> Block:
    """The same block under a new write id."""
    return replace(block, write_id=_write_id(block.detailed, block.position))


def _write_id(detailed: bool, position: int) -> str:
    """A new write id with the block's kind and position, for the directory: `d7f3a01c04b2e@57`."""
    return ("d" if detailed else "p") + secrets.token_hex(6) + (f"@{position}" if position else "")


def position_in(write_id: str) -> int:
    """The position in a write id; 0 if it has none."""
    return int(write_id.partition("@")[2] or 0)


def _representation(family: str, sets: Sets) -> tuple[Sets | None, BitMap | None]:
    """Detailed, unless there are many bodies and sort entries that supply them."""
    if has_entries(family) and not _detailable(len(sets), sum(len(body.encode()) for body in sets)):
        return None, BitMap.union(*sets.values())
    return sets, None


def _detailable(bodies: int, size: int) -> bool:
    return bodies <= DETAILED_BODIES and size <= DETAILED_BYTES


def misfit(block: Block, size: object) -> bool:
    """Whether a block's stored size or kind is wrong, or it has bodies outside its fences."""
    bodies = block.sets or {}
    return (
        size != block.size
        or block.detailed != block.write_id.startswith("d")
        or not all(
            block.covers(sort_string(body, numbers.min())) and block.covers(sort_string(body, numbers.max()))
            for body, numbers in bodies.items()
            if numbers
        )
    )


def fitted(block: Block, upper: str | None, following: str | None) -> Block:
    """The block under a new write id, with this upper fence and link, and without keys outside its fences."""
    fitting = replace(block, upper=upper, next=following)
    if fitting.sets is None:
        return touched(fitting)
    sets = {
        body: BitMap(num for num in numbers if fitting.covers(sort_string(body, num)))
        for body, numbers in fitting.sets.items()
    }
    kept = {body: numbers for body, numbers in sets.items() if numbers}
    return _rewritten(fitting, kept, None, block.position)


def empty(family: str, lower: str, upper: str | None, following: str | None, position: int) -> Block:
    """A new block without keys between two fences."""
    write_id = _write_id(detailed=True, position=position)
    return Block(family, secrets.token_hex(4), lower, upper, following, write_id, {})


def oversize(block: Block) -> bool:
    """Whether a block is far larger than the size at which it should be split."""
    return block.weight > 2 * MAX_BYTES or (needs_keys(block) and block.size > 2 * PLAIN_KEYS)


def some_key(block: Block, body: str | None, num: int) -> str | None:
    """A key between the fences of a block, with `body` if given; None if there is none."""
    key = sort_string(block.lower if body is None else body, num)
    return key if block.covers(key) else None


# Splitting and merging


def wants_split(block: Block) -> bool:
    """Whether a block should be split: it is too large, or one of its bodies should have a block of its own."""
    if block.sets is not None and kind_of(block.family) is not FamilyKind.NUMBERS:
        alone = body_between(block.lower, block.upper)
        if any(len(numbers) >= POPULAR and body != alone for body, numbers in block.sets.items()):
            return True
    return block.weight > MAX_BYTES or (needs_keys(block) and block.size > PLAIN_KEYS)


def needs_keys(block: Block) -> bool:
    """Whether a split of the block requires its members' keys, which the block itself does not hold."""
    return block.sets is None and body_between(block.lower, block.upper) is None


def split(block: Block, found: Iterable[str] = ()) -> list[Block]:
    """The blocks that replace a block, the first under its id; only the block itself if it cannot be cut.

    `found` are the keys of the members of a block that `needs_keys`; members without a key between its fences are dropped.
    """
    if block.sets is not None:
        runs = [(body, numbers) for body, numbers in sorted(block.sets.items())]
    elif not needs_keys(block):
        runs = [(body_between(block.lower, block.upper) or "", block.members)]
    else:
        between = sorted(key for key in found if block.covers(key) and number_of(key) in block.members)
        runs = [(body, BitMap(map(number_of, run))) for body, run in groupby(between, key=body_of)]
    return _chained(block, _pieces(block, runs, _FULL if block.next is None else _HALF))


def wants_merge(block: Block) -> bool:
    """Whether a block is so small that it should be merged with the next one, if both fit."""
    if block.next is None or _own(block) or block.weight >= MERGED:
        return False
    return not needs_keys(block) or block.size < _MERGED_KEYS


def merged(block: Block, following: Block) -> Block | None:
    """One block in place of two neighbours, at the higher of their positions; None if they should stay two."""
    if _own(following):
        return None
    if block.sets is not None and following.sets is not None:
        sets = dict(block.sets)
        for body, numbers in following.sets.items():
            sets[body] = sets.get(body, BitMap()) | numbers
        representation = _representation(block.family, sets)
    else:
        representation = None, block.members | following.members
    position = max(block.position, following.position)
    rewritten = _rewritten(block, *representation, position)
    whole = replace(rewritten, upper=following.upper, next=following.next)
    fits = whole.weight <= ROOMY and not (needs_keys(whole) and whole.size > _ROOMY_KEYS)
    return whole if fits else None


def _own(block: Block) -> bool:
    """Whether this is a block of one body with many issues."""
    return body_between(block.lower, block.upper) is not None and block.size > UNPOPULAR


class _Piece(NamedTuple):
    """The content between a lower fence and that of the next piece."""

    lower: str
    sets: Sets


def _pieces(block: Block, runs: Iterable[tuple[str, BitMap]], fill: float) -> Iterator[_Piece]:
    """The keys of a block, body by body, cut into pieces of at most the fraction `fill` of a block's limit."""
    limit = int(MAX_BYTES * fill)
    kind = kind_of(block.family)
    entries = has_entries(block.family)
    lower, sets, cost = block.lower, dict[str, BitMap](), _Cost(entries=entries)
    for body, numbers in runs:
        own = kind is not FamilyKind.NUMBERS and len(numbers) >= POPULAR
        size = len(bitmap(numbers))
        if own or size > limit:
            begins = max(lower, before(body)) if own else lower
            if sets or begins > lower:
                yield _Piece(lower, sets)
                begins = max(block.lower, before(body))
            last = block.upper is None or block.upper == after(body)
            for chunk in _chunks(numbers, size, int(MAX_BYTES * (_FULL if last else _HALF)), even=not last):
                yield _Piece(begins, {body: chunk})
                begins = fence_at(body, chunk.max() + 1)
            lower, sets, cost = after(body), {}, _Cost(entries=entries)
            continue
        if sets and cost.with_(body, len(numbers)) > limit:
            yield _Piece(lower, sets)
            lower, sets, cost = before(body), {}, _Cost(entries=entries)
        sets[body] = numbers
        cost.add(body, len(numbers))
    if sets or (kind is not FamilyKind.NUMBERS and (block.upper is None or lower < block.upper)):
        yield _Piece(lower, sets)


class _Cost:
    """Approximate bytes of a piece's bitmaps so far. `entries`: whether it may be plain: sort entries supply keys."""

    def __init__(self, *, entries: bool) -> None:
        self._entries = entries
        self._bodies = self._bytes = self._members = 0

    def add(self, body: str, members: int) -> None:
        """Add one more body."""
        self._bodies += 1
        self._bytes += len(body.encode())
        self._members += members

    def with_(self, body: str, members: int) -> int:
        """Bytes with one more body: 2 for each number, 16 for each bitmap."""
        bodies, size = self._bodies + 1, self._bytes + len(body.encode())
        numbers = 2 * (self._members + members)
        if self._entries and not _detailable(bodies, size):
            return numbers + 16
        return numbers + size + bodies * (16 + _HEADER.size)


def _chunks(numbers: BitMap, size: int, limit: int, *, even: bool) -> Iterator[BitMap]:
    """Bitmaps of consecutive numbers of at most about `limit` bytes each, of about equal size if `even`."""
    count = -(-size // limit)
    take = -(-len(numbers) // count) if even else max(len(numbers) * limit // size, 1)
    at = 0
    while at < len(numbers):
        chunk = numbers[at : at + take]
        while len(chunk) > 1 and len(bitmap(chunk)) > limit * 1.1:
            chunk = chunk[: len(chunk) * 3 // 4]
        yield chunk
        at += len(chunk)


def _chained(block: Block, pieces: Iterable[_Piece]) -> list[Block]:
    """Blocks of these pieces that replace one block; the last links to that block's successor."""
    found = list(pieces) or [_Piece(block.lower, {})]
    ids = [block.id, *(secrets.token_hex(4) for _ in found[1:])]
    uppers = [*(piece.lower for piece in found[1:]), block.upper]
    following = [*ids[1:], block.next]
    chain = []
    for piece, block_id, upper, next_id in zip(found, ids, uppers, following, strict=True):
        sets, rest = _representation(block.family, piece.sets)
        write_id = _write_id(sets is not None, block.position)
        chain.append(Block(block.family, block_id, piece.lower, upper, next_id, write_id, sets, rest))
    return chain


# The stored form: for each set a header (bytes of the body, bytes of the set), the body, and the set (`number_sets`). A plain block
# has one set, under a body that no key has.

_PLAIN = "\x00"


def _encode(stored: Iterable[tuple[str, BitMap]]) -> bytes:
    parts = []
    for body, numbers in stored:
        name, content = body.encode(), packed(numbers)
        parts += [_HEADER.pack(len(name), len(content)), name, content]
    return b"".join(parts)


def _decode(encoded: bytes) -> tuple[Sets | None, BitMap | None]:
    sets = {}
    at = 0
    while at < len(encoded):
        name, content = _HEADER.unpack_from(encoded, at)
        at += _HEADER.size
        body = encoded[at : at + name].decode()
        at += name
        sets[body] = unpacked(encoded[at : at + content])
        at += content
    return (None, sets[_PLAIN]) if _PLAIN in sets else (sets, None)
