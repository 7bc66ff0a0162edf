"""The plan of an answer, by the nodes of its explanation."""

import re
from collections.abc import Iterator

from devtools.proof.oracle.world import Json

_WORDS = {
    "summary from blocks": r"Calculate the functions of .* from the blocks",
    "summary from totals and columns": r"Count the issues by the index\.",
    "summary from documents": r"calculate the functions in memory",
    "groups by documents": r"group them by .* in memory",
    "groups by the sizes of blocks": r"Group by .*, whose index has",
    "groups by sets": r"Intersect .*the sets of",
}
"""Name -> the words in its explanation."""

_PAGES: dict[str, tuple[frozenset[str], str]] = {
    "whole": (frozenset({"full scan"}), ""),
    "number order, from sets": (frozenset({"set order"}), ""),
    "all that match, sorted in memory": (frozenset({"top n"}), ""),
    "sort entries, then the rows without a value": (frozenset({"index scan", "bucket scan"}), ""),
    "blocks of a composite index": (frozenset({"bucket scan"}), r"Follow the blocks of c\d+, "),
    "blocks, several keys": (frozenset({"bucket scan"}), r"Sort the issues with one"),
    "blocks under a filter": (frozenset({"bucket scan", "bitmap scan"}), ""),
    "blocks, from a row on": (frozenset({"bucket scan"}), r"Find row [\d,]+ by adding up"),
    "blocks": (frozenset({"bucket scan"}), ""),
    "sort entries": (frozenset({"index scan"}), ""),
    "documents in number order": (frozenset({"number scan"}), ""),
}
"""Name -> the nodes and the words that its explanation has, and none of those before it."""

PLANS = frozenset({*_WORDS, *_PAGES})


def plan_of(explain: Json) -> str:
    """The name of the plan."""
    text, nodes = " ".join(explain["plan"]), set(_nodes(explain["tree"]))
    found = [name for name, pattern in _WORDS.items() if re.search(pattern, text)]
    found += [
        name for name, (needed, pattern) in _PAGES.items() if needed <= nodes and re.search(pattern, text)
    ]
    return (found or [text])[0]


def _nodes(tree: Json) -> Iterator[str]:
    yield tree["node"]
    for child in tree.get("children", ()):
        yield from _nodes(child)
