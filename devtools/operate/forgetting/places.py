"""Every kind of item of the table, and the traces of a person in it. Pure.

An item of a kind that is not in this list ends a run: nothing of an unknown kind is forgotten. A test compares the
list with the chart of entities and with the keys that the core makes.
"""

import re
from enum import Enum
from typing import Final, NamedTuple

from gridview.encoding import derived_keys, keys, live_keys


class Trace(Enum):
    """Traces of a person in an item, and how each is removed."""

    NONE = "nothing"
    NAMED = "the id in attributes: replaced in place"
    OWN = "the item is the person's own: deleted"
    DOCUMENT = "the id in attributes and in values: values are replaced by a new version"
    HISTORY = "the id in packed values: written again"
    LISTED = "the id in packed rows: replaced in place"
    ANSWER = "the id in a packed answer: written again"
    LEDGER = "former sort strings: written again once they are settled"
    JOURNAL = "sort strings of moves: replaced once they are folded"
    DERIVED = "sort strings: gone with the values, by the stream consumer and the fold"
    BLOCK = "fence keys: the index is built again"
    PART = "part of another item, which is written again with it"
    SHORT = "gone by itself within a day"


class Place(NamedTuple):
    """A kind of item: the patterns of its keys, and the traces in it. `tenant` is the group of the tenant, if it has one."""

    name: str
    partition: re.Pattern[str]
    sort: re.Pattern[str]
    trace: Trace


_T = r"(?P<tenant>[a-z0-9]+)"
_P = r"[a-z0-9]+"
_NUM = r"\d{8}"
_AT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"


def _place(name: str, partition: str, sort: str, trace: Trace) -> Place:
    return Place(name, re.compile(partition, re.DOTALL), re.compile(sort, re.DOTALL), trace)


_PROJECT = rf"{keys.PROJECT_PREFIX}{_T}\.{_P}"
_ISSUE = rf"{keys.ISSUE_PREFIX}{_T}\.{_P}\.{_NUM}"
_JOURNAL = rf"{derived_keys.JOURNAL_PREFIX}{_T}\.{_P}"
_HISTORY = rf"{derived_keys.HISTORY_PREFIX}{_T}\.{_P}\.{_NUM}"
_ACTIVITY = rf"{derived_keys.ACTIVITY_PREFIX}{_T}\.{_P}"
_CHANGE = rf"{derived_keys.CHANGE_PREFIX}{_T}\.{_P}\.[0-9a-f]{{32}}"
_REQUEST = rf"{keys.REQUEST_PREFIX}{_T}\.(?:{_P})?"
_OUTBOX = rf"{live_keys.OUTBOX_PREFIX}{_T}\.{_P}\.w[a-z0-9]+"
_VIEWS = rf"{keys.VIEW_PREFIX}{_T}\.{_P}"
_COMMENTS = rf"{keys.COMMENT_PREFIX}{_T}\.{_P}"
_PARTS = rf"{keys.JOB_PARTS_PREFIX}{_T}\.{_P}\.[0-9a-z]+"
_SOCKETS = rf"{live_keys.SOCKETS_PREFIX}{_T}"
_SEATS = rf"{live_keys.SEATS_PREFIX}{_T}"

PLACES: Final = (
    _place("tenant", rf"{keys.TENANT_PREFIX}{_T}", r"\*", Trace.NONE),
    _place("project", _PROJECT, rf"{keys.TENANT_PREFIX}.+", Trace.NAMED),
    _place("catalog", _PROJECT, keys.CATALOG, Trace.NONE),
    _place("issue counter", _PROJECT, keys.COUNTER, Trace.NONE),
    _place("attribute", _PROJECT, rf"{keys.ATTRIBUTE_PREFIX}.+", Trace.NAMED),
    _place("composite index", _PROJECT, rf"{keys.COMPOSITE_PREFIX}.+", Trace.NONE),
    _place("background work", _PROJECT, rf"{keys.JOB}(?:-\d+)?", Trace.NONE),
    _place("issue", _ISSUE, rf"{keys.PROJECT_PREFIX}.+", Trace.DOCUMENT),
    _place("sort entry", _ISSUE, rf"{derived_keys.ORDER_PREFIX}.+", Trace.DERIVED),
    _place("ledger", _ISSUE, derived_keys.LEDGER, Trace.LEDGER),
    _place(
        "block", rf"{derived_keys.BLOCK_PREFIX}{_T}\..+", rf"{derived_keys.DIRECTORY_PREFIX}.+", Trace.BLOCK
    ),
    _place("page of a column", rf"{derived_keys.COLUMN_PREFIX}{_T}\..+", r"\d{6}", Trace.NONE),
    _place("place in the trash", rf"{keys.TRASH_PREFIX}{_T}\.{_P}", rf"{_AT}.+", Trace.NONE),
    _place("journal", _JOURNAL, derived_keys.FOLD, Trace.NONE),
    _place("totals of columns", _JOURNAL, derived_keys.TOTALS, Trace.NONE),
    _place("journal item", _JOURNAL, r"\d{12}", Trace.JOURNAL),
    _place("journal mark", _JOURNAL, r"\d{12}\+", Trace.NONE),
    _place("history", _HISTORY, r"\d{13}", Trace.HISTORY),
    _place("history part", _HISTORY, r"part\..+", Trace.PART),
    _place("activity", _ACTIVITY, rf"{_AT}~.+", Trace.LISTED),
    _place("comment activity", _ACTIVITY, rf"{_AT}\..+\.comment\..+", Trace.NAMED),
    _place("part of a change", _CHANGE, rf"{_NUM}~.+", Trace.LISTED),
    _place("note of a change", _CHANGE, rf"{re.escape(derived_keys.CHANGE_NOTE)}(?P<user>.+)", Trace.OWN),
    _place("lag", rf"{keys.LAG_PREFIX}{_T}\.{_P}", keys.LAG, Trace.NONE),
    _place("lag of the heartbeat", keys.LAG_OF_BEAT, keys.LAG, Trace.NONE),
    _place("heartbeat", keys.BEAT, keys.BEAT, Trace.NONE),
    _place("canary", keys.CANARY, keys.CANARY, Trace.NONE),
    _place("restore", keys.RESTORE, keys.RESTORE, Trace.NONE),
    _place("check of the table", keys.CHECK, rf"{keys.JOB}(?:-\d+)?", Trace.SHORT),
    _place("purged issues", _REQUEST, keys.JOB, Trace.NONE),
    _place("remembered request", _REQUEST, r"[^.]+", Trace.ANSWER),
    _place("answer part", _REQUEST, r".+\.part-.+", Trace.PART),
    _place("webhook", rf"{live_keys.WEBHOOK_PREFIX}{_T}\.{_P}", r"w[a-z0-9]+", Trace.NAMED),
    _place("outbox of a webhook", _OUTBOX, live_keys.OUTBOX, Trace.NONE),
    _place("delivery", _OUTBOX, r"delivery\..+", Trace.NAMED),
    _place("next attempt", _OUTBOX, r"retry\..+", Trace.NONE),
    _place("user", rf"{keys.USER_PREFIX}{_T}\.(?P<user>.+)", r"users-.+", Trace.OWN),
    _place("register of views", _VIEWS, keys.VIEW_REGISTER, Trace.NONE),
    _place("shared view", _VIEWS, r"shared/.+", Trace.NAMED),
    _place("private view", _VIEWS, r"private/(?P<user>[^/]+)/.+", Trace.OWN),
    _place("order of private views", _VIEWS, r"order/(?P<user>[^/]+)", Trace.OWN),
    _place("comments of an issue", _COMMENTS, _NUM, Trace.NONE),
    _place("comment", _COMMENTS, rf"{_NUM}\.\d+", Trace.NAMED),
    _place("last placements", rf"{keys.PLACEMENTS_PREFIX}{_T}\.{_P}", keys.JOB, Trace.NONE),
    _place("line of jobs", rf"{keys.JOB_LINE_PREFIX}{_T}", keys.LINE, Trace.NAMED),
    _place("job", rf"{keys.JOBS_PREFIX}{_T}\.{_P}", r"[0-9a-f]{20}", Trace.NAMED),
    _place("job request", _PARTS, keys.ASKED, Trace.NAMED),
    _place("issues of a job", _PARTS, r"numbers\..+", Trace.NONE),
    _place("formula of a job", _PARTS, rf"formula\.\d{{10}}\.{_P}", Trace.NONE),
    _place("issues refused by a job", _PARTS, r"refused\..+", Trace.NAMED),
    _place("counted writes", rf"{keys.RATE_PREFIX}{_T}", r"\d+", Trace.NONE),
    _place("last presence", _SOCKETS, _P, Trace.NONE),
    _place("socket", _SOCKETS, rf"{_P}\.[^.]+", Trace.OWN),
    _place("subscription", _SOCKETS, rf"{_P}\.[^.]+\..+", Trace.NAMED),
    _place("bucket of a user's starts", _SEATS, r"(?P<user>[^/]+)/", Trace.OWN),
    _place("seat of a socket", _SEATS, r"(?P<user>[^/]+)/.+", Trace.OWN),
    _place("owed pushes", rf"{live_keys.SOCKET_PREFIX}{_T}\.{_P}", live_keys.OWED, Trace.NONE),
    _place("turn to push", live_keys.PUSHING, live_keys.PUSHING, Trace.NONE),
    _place("owner of a socket", rf"{live_keys.SOCKET_PREFIX}[^.]+", live_keys.SOCKET, Trace.NONE),
    _place("open polls of a user", rf"{live_keys.POLLS_PREFIX}{_T}", r"(?P<user>.+)", Trace.OWN),
    _place("used ticket", rf"{live_keys.TICKET_PREFIX}{_T}", r"[0-9a-f]+", Trace.NONE),
)
"""All kinds of items. Their names are those of the chart of entities in docs/data-model.md."""


class Found(NamedTuple):
    """A kind of item, with the tenant and the user in its key; empty where there is none."""

    place: Place
    tenant: str
    user: str


class UnknownPlace(Exception):
    """The table has an item of a kind that the list does not know."""


def find(partition: str, sort: str) -> Found:
    """The kind of the item with this key. UnknownPlace."""
    for place in PLACES:
        in_partition, in_sort = place.partition.fullmatch(partition), place.sort.fullmatch(sort)
        if in_partition and in_sort:
            named = in_partition.groupdict() | in_sort.groupdict()
            return Found(place, named.get("tenant") or "", named.get("user") or "")
    raise UnknownPlace(f"{partition} {sort}")
