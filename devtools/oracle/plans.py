"""Which plan an answer was found by, told from its explanation."""

from devtools.oracle.world import Json

_BEGINNINGS = {
    "Read the issues in number order": "walk: numbers",
    "Read the sort entries of": "walk: an order",
    "The request asks for": "whole",
    "The project has given out at most": "whole: groups",
}


def plan_of(explain: Json) -> str:
    """The name of the plan."""
    first = explain["plan"][0]
    return next((name for beginning, name in _BEGINNINGS.items() if first.startswith(beginning)), first)
