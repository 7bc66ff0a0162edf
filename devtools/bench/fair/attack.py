"""The worst requests of one viewer, as data: the virtual account and the local stack send the same ones."""

import json
from collections.abc import Iterator
from itertools import cycle
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from devtools.bench import issues
from gridview.live.change_requests import MAX_WAIT
from gridview.live.seats import MAX_SUBSCRIPTIONS, MAX_USER_ROWS, MAX_USER_SOCKETS

KINDS: Final = ("polls", "sockets", "queries", "refusals")
"""Kinds of load. Jobs are part of `refusals`: three exports run, and a fourth is refused again and again."""


class Asked(NamedTuple):
    """A request below a project's path."""

    method: str
    path: str
    body: Any = None


class Rates(NamedTuple):
    """How much of each the viewer sends, a second. `parallel`: queries in flight at a time; `again`: the seconds after which a
    refused one is followed by the next.
    """

    polls: int = 100
    messages: int = 100
    connects: int = 2
    parallel: int = 6
    refusals: int = 50
    again: float = 0.1


ONE_KIND: Final = Rates(polls=70, messages=60, connects=1, refusals=35)
"""Loads of one kind that stay within the 100 requests a second that Lambda takes from an account of 10."""

ALL_KINDS: Final = Rates(polls=15, messages=15, connects=1, refusals=10, again=0.5)
"""Loads of all kinds that together stay within them."""

SOCKETS: Final = MAX_USER_SOCKETS
SUBSCRIPTIONS: Final = MAX_SUBSCRIPTIONS
ROWS: Final = MAX_USER_ROWS
_FILTER: Final = {"field": "name", "op": "contains", "value": "a"}
_NONE: Final = {"field": "name", "op": "eq", "value": "no issue has this name"}

DEAREST: Final = (
    Asked("POST", "/grid", {"filter": _FILTER, "sort": [{"field": issues.TEXT}], "count": True}),
    Asked("POST", "/groups", {"by": ["kind"], "filter": _FILTER, "explain": True}),
    Asked("POST", "/grid", {"sort": [{"field": issues.SPARSE}], "count": True, "explain": True}),
)
"""A count, groups and an explanation that no index gives."""

REFUSED: Final = (
    Asked("POST", "/issues", {"name": "not allowed to a viewer"}),
    Asked("POST", "/export", {"format": "csv"}),
    Asked("POST", "/grid", {"filter": {"field": "none", "op": "eq", "value": 1}}),
)
"""Requests that get 403, 429 (from the fourth export on) and 400."""


def poll_query(cursor: str) -> str:
    """The query of a long poll that no change ends: it follows rows that there are none of."""
    return urlencode({"since": cursor, "wait": MAX_WAIT, "filter": json.dumps(_NONE)})


def dear_requests() -> Iterator[Asked]:
    """The dearest queries, in turn."""
    return cycle(DEAREST)


def refused_requests() -> Iterator[Asked]:
    """Requests that are refused, in turn."""
    return cycle(REFUSED)


def rows_of(number: int) -> dict[str, Any]:
    """The filter of a subscription: `ROWS` different ones, each of which every change matches."""
    return {"field": "name", "op": "ne", "value": f"nothing {number % ROWS}"}
