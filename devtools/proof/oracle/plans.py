"""Which plan an answer was found by, told from its explanation."""

import re

from devtools.proof.oracle.world import Json

_PLANS = {
    "summary from blocks": r"Tell the functions of .* by the blocks",
    "summary from documents": r"work the functions out in memory",
    "groups by documents": r"group them by .* in memory",
    "groups by the sizes of blocks": r"Group by .*: its index has",
    "groups by sets": r"Intersect .*the sets of",
    "whole": r"The request asks for",
    "number order, from sets": r"a set of issues is in that order already",
    "all that match, sorted in memory": r"They are few enough",
    "blocks of a composite index": r"Go along the blocks of c\d+, ",
    "blocks, several keys": r"Go along the blocks of .*Sort those of one",
    "blocks under a filter": r"Keep what matches.*Go along the blocks of",
    "blocks, from a row on": r"Go along the blocks of .*is found by adding up",
    "blocks": r"Go along the blocks of",
    "sort entries, and the rows without a value behind them": r"Read the sort entries of .*The entries ended on this page",
    "sort entries": r"Read the sort entries of",
    "documents in number order": r"Read the issues in number order",
}
"""Name -> what its explanation has and none of those before it."""

PLANS = frozenset(_PLANS)


def plan_of(explain: Json) -> str:
    """The name of the plan."""
    told = " ".join(explain["plan"])
    found = (name for name, pattern in _PLANS.items() if re.search(pattern, told, re.DOTALL))
    return next(found, told)
