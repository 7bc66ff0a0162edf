"""What a request asks of blocks, and what it read of them: plain values. Pure."""

from dataclasses import dataclass
from typing import NamedTuple

from gridview.index.blocks import Entry
from gridview.index.directory import Range


class Want(NamedTuple):
    """What is needed of a block: its set unless `members` is false, and the sort strings of its members in the range `keys`.

    Those of a plain block take a Query of its sort entries, for a detailed one they are made from its sets.
    """

    family: str
    entry: Entry
    keys: Range | None = None
    members: bool = True


@dataclass(slots=True)
class Reads:
    """What a request read, for `explain`: blocks from the table and from the cache, Query calls of sort entries, races settled."""

    blocks: int = 0
    cached: int = 0
    ranges: int = 0
    settled: int = 0
