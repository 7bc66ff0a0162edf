"""The first and the last sort entry of an order: its least and its greatest value. Pure."""

from collections.abc import Sequence

from gridview.query.plan import Node
from gridview.query.steps import Ask, Steps, ask_all
from gridview.view.reads import Listed, ReadRange, further


def end_of(family: str, *, first: bool) -> ReadRange:
    """Return the read of one end of an order: half a read unit."""
    return ReadRange(family, None, first, 1, ())


def not_empty(node: Node, reads: Sequence[ReadRange], pages: Sequence[Listed]) -> Steps[list[Listed]]:
    """Return the first sort entries of each end: reads more if recent changes have taken out all that were read."""
    reads, found = list(reads), list(pages)
    while True:
        onward = {
            at: further(read, page.last)
            for at, (read, page) in enumerate(zip(reads, found, strict=True))
            if not page.items and page.last is not None
        }
        if not onward:
            return found
        answers = yield from ask_all([Ask(node, read) for read in onward.values()])
        for (at, read), page in zip(onward.items(), answers, strict=True):
            reads[at], found[at] = read, page
