"""The blocks that a request wants, and a count of what it read: plain values. Pure."""

from dataclasses import dataclass
from typing import NamedTuple

from gridview.chains.blocks import Entry
from gridview.chains.directory import Range


class Want(NamedTuple):
    """The parts of a block that are needed: its bitmaps unless `members` is false, and the sort strings of its members in `keys`.

    The sort strings of a plain block take a Query of its sort entries; those of a detailed one are made from its bitmaps.
    """

    family: str
    entry: Entry
    keys: Range | None = None
    members: bool = True


@dataclass(slots=True)
class Reads:
    """The reads of a request, for `explain`: blocks from the table and the cache, Query calls of sort entries, resolved races."""

    blocks: int = 0
    cached: int = 0
    ranges: int = 0
    settled: int = 0
