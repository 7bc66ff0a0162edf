"""What each function may do with the table: by action, and when it writes also by partition key.

A function makes keys of its caller's tenant only (`gridview.encoding.keys`). Should a defect make another key, or run another
operation, its role still refuses: that is what these grants are for. DynamoDB tells IAM the partition keys of a request
(`dynamodb:LeadingKeys`; of a query of GSI1 those of the index) and the names of the attributes that it writes or names
(`dynamodb:Attributes`), but no sort key.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from gridview.dynamodb.sessions import TAG
from gridview.encoding import keys

PARTITIONS: Final = "dynamodb:LeadingKeys"
ATTRIBUTES: Final = "dynamodb:Attributes"

Conditions = Mapping[str, Mapping[str, Any]]


class Grant(NamedTuple):
    """One statement of a policy about the table, or about GSI1."""

    actions: tuple[str, ...]
    conditions: Conditions
    on_index: bool = False
    effect: Literal["Allow", "Deny"] = "Allow"


def _allow(*operations: str, on_index: bool = False) -> Grant:
    return Grant(_actions(operations), {}, on_index)


def _within(operations: Iterable[str], partitions: Iterable[str], *, on_index: bool = False) -> Grant:
    """Allow operations on items whose partition keys match one of these patterns."""
    return Grant(_actions(operations), within(partitions), on_index)


def within(partitions: Iterable[str]) -> Conditions:
    """The conditions that a request names partition keys, and that all of them match one of these patterns."""
    return {
        "ForAllValues:StringLike": {PARTITIONS: sorted(partitions)},
        # All of no keys match anything, so a request must name one.
        "Null": {PARTITIONS: "false"},
    }


def _never_written(operations: Iterable[str], attributes: Iterable[str]) -> Grant:
    """Refuse writes that name one of these attributes. A refusal fails safe: what AWS may see otherwise stays allowed."""
    return Grant(
        _actions(operations),
        {"ForAnyValue:StringEquals": {ATTRIBUTES: sorted(attributes)}},
        effect="Deny",
    )


def _actions(operations: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"dynamodb:{operation}" for operation in operations)


_READS_OF_TABLE: Final = _allow("GetItem", "BatchGetItem", "Query")
_READS: Final = (_READS_OF_TABLE, _allow("Query", on_index=True))

_PROJECTS: Final = f"{keys.PROJECT_PREFIX}*"
_ISSUES: Final = f"{keys.ISSUE_PREFIX}*"
_BLOCKS: Final = f"{keys.BLOCK_PREFIX}*"
_REQUESTS: Final = f"{keys.REQUEST_PREFIX}*"
_USERS: Final = f"{keys.USER_PREFIX}*"
_RATES: Final = f"{keys.RATE_PREFIX}*"
_NOTES: Final = f"{keys.LAG_PREFIX}*"
_JOURNALS: Final = f"{keys.JOURNAL_PREFIX}*"
_REMEMBERED: Final = tuple(
    f"{prefix}*" for prefix in (keys.HISTORY_PREFIX, keys.ACTIVITY_PREFIX, keys.CHANGE_PREFIX)
)
_CHANGES: Final = f"{keys.CHANGE_PREFIX}*"
_VIEWS: Final = f"{keys.VIEW_PREFIX}*"
_WEBHOOKS: Final = f"{keys.WEBHOOK_PREFIX}*"
_OUTBOXES: Final = f"{keys.OUTBOX_PREFIX}*"
_COMMENTS: Final = f"{keys.COMMENT_PREFIX}*"
_ACTIVITY: Final = f"{keys.ACTIVITY_PREFIX}*"
_JOBS: Final = f"{keys.JOBS_PREFIX}*"
_JOB_PARTS: Final = f"{keys.JOB_PARTS_PREFIX}*"
_JOB_LINES: Final = f"{keys.JOB_LINE_PREFIX}*"
_TENANTS: Final = f"{keys.TENANT_PREFIX}*"

_SOCKETS: Final = f"{keys.SOCKETS_PREFIX}*"
_SEATS: Final = f"{keys.SEATS_PREFIX}*"
_TICKETS: Final = f"{keys.TICKET_PREFIX}*"
_POLLS: Final = f"{keys.POLLS_PREFIX}*"

_TRASH: Final = f"{keys.TRASH_PREFIX}*"
_HISTORIES: Final = f"{keys.HISTORY_PREFIX}*"

DOCUMENT: Final = "fields"
"""The attribute that every issue document has, and no item that is derived from one."""


def _commands(
    tenants: str,
    projects: str,
    issues: str,
    requests: str,
    users: str,
    rates: str,
    journals: str,
    changes: str,
    of_people: tuple[str, ...],
    jobs: str,
    parts: str,
    lines: str,
    outboxes: str,
) -> tuple[Grant, ...]:
    """The writes of the command function, by the patterns of its keys. `of_people`: what they save and say."""
    return (
        _within(
            ("PutItem",),
            # A tenant's projects are counted. Of changes, that one was just written.
            (
                tenants,
                projects,
                issues,
                requests,
                users,
                journals,
                changes,
                *of_people,
                jobs,
                parts,
                lines,
                outboxes,
            ),
        ),
        # DynamoDB may judge an update of a transaction by the keys of all its writes.
        _within(("UpdateItem",), (tenants, projects, issues, rates, jobs, outboxes)),
        _within(("DeleteItem",), (issues, *of_people, outboxes)),
    )


def _sockets(sockets: str, seats: str, tickets: str, journals: str) -> tuple[Grant, ...]:
    """The writes of the socket function, by the patterns of its keys."""
    return (
        _within(("PutItem",), (sockets, seats, tickets, journals)),
        _within(("UpdateItem", "DeleteItem"), (sockets, seats)),
    )


def _polls(journals: str, polls: str) -> tuple[Grant, ...]:
    """The writes of the live function, by the patterns of its keys."""
    return (_within(("PutItem",), (journals,)), _within(("UpdateItem", "DeleteItem"), (polls,)))


GRANTS: Final[Mapping[str, tuple[Grant, ...]]] = {
    "query": _READS,
    "command": (
        *_READS,
        *_commands(
            *(_TENANTS, _PROJECTS, _ISSUES, _REQUESTS, _USERS, _RATES, _JOURNALS, _CHANGES),
            (_VIEWS, _COMMENTS, _ACTIVITY, _WEBHOOKS),
            *(_JOBS, _JOB_PARTS, _JOB_LINES, _OUTBOXES),
        ),
    ),
    # A number of a journal at which followers wait is emptied; requests that wait are listed.
    "live": (_READS_OF_TABLE, *_polls(_JOURNALS, _POLLS)),
    "socket": (_READS_OF_TABLE, *_sockets(_SOCKETS, _SEATS, _TICKETS, _JOURNALS)),
    # It disables webhooks whose receivers fail, and empties numbers as `live` does.
    "deliver": (
        *_READS,
        _within(("PutItem",), (_OUTBOXES, _WEBHOOKS, _JOURNALS)),
        _within(("UpdateItem", "DeleteItem"), (_OUTBOXES,)),
    ),
    "maintain": (
        _READS_OF_TABLE,
        _within(("PutItem",), (_ISSUES, _NOTES, _JOURNALS, _TRASH)),
        _within(("UpdateItem",), (_JOURNALS,)),
        _within(("DeleteItem",), (_TRASH, _HISTORIES, _COMMENTS)),
        _within(("BatchWriteItem",), _REMEMBERED),
        # A document and what is derived from it share a partition key.
        _never_written(("PutItem",), (DOCUMENT,)),
    ),
    "upkeep": (
        *_READS,
        _allow("Scan"),
        # Documents too: people have it change many issues.
        _within(
            ("PutItem", "DeleteItem"),
            (_PROJECTS, _ISSUES, _BLOCKS, _JOURNALS, _JOBS, _JOB_PARTS, keys.CHECK),
        ),
        _within(("PutItem",), (_JOB_LINES, keys.BEAT)),
        _within(("DeleteItem",), (_VIEWS, _WEBHOOKS, _OUTBOXES, _COMMENTS, _TRASH, *_REMEMBERED)),
        # Values of deleted attributes are taken out of documents in place. The writes of tenants are counted, if they are limited.
        _within(("UpdateItem",), (_ISSUES, _JOURNALS, _RATES)),
        # A lease is taken in place.
        _within(("UpdateItem",), (_PROJECTS, _JOB_LINES, keys.CHECK)),
    ),
}
"""By function. Only upkeep reads the table without a key, in a statement of its own."""

SOCKET_OWNERS: Final = (
    _within(("GetItem", "PutItem", "DeleteItem"), (f"{keys.SOCKET_PREFIX}*",)),
    _within(("Query",), (keys.SOCKET, keys.OWED), on_index=True),
)
"""What the socket function does for no tenant, also where sessions are isolated: it looks up the tenant of a
connection, which sockets are due to end, and which projects' sockets are owed changes.
"""

TENANT: Final = f"${{aws:PrincipalTag/{TAG}}}"
"""What IAM reads as the tenant that a session is tagged with. In a session without the tag it matches nothing. A tenant's id has
none of the characters that mean something to a pattern, and neither can the value of a tag.
"""

_OWN_PROJECTS: Final = keys.project(TENANT, "*")
_OWN_ISSUES: Final = f"{keys.ISSUE_PREFIX}{TENANT}.*"
_OWN_REQUESTS: Final = keys.request(TENANT, "*")
_OWN_USERS: Final = keys.user(TENANT, "*")
_OWN_RATE: Final = keys.rate(TENANT)
_OWN_NOTES: Final = keys.lag(TENANT, "*")
_OWN_JOURNALS: Final = keys.journal(TENANT, "*")
_OWN_HISTORIES: Final = f"{keys.HISTORY_PREFIX}{TENANT}.*"
_OWN_MEMBERS: Final = f"{keys.CHANGE_PREFIX}{TENANT}.*"
_OWN_VIEWS: Final = keys.views(TENANT, "*")
_OWN_WEBHOOKS: Final = keys.webhooks(TENANT, "*")
_OWN_OUTBOXES: Final = keys.outbox(TENANT, "*", "*")
_OWN_COMMENTS: Final = keys.comments(TENANT, "*")
_OWN_ACTIVITY: Final = keys.activity(TENANT, "*")
_OWN_JOBS: Final = keys.jobs(TENANT, "*")
_OWN_JOB_PARTS: Final = keys.job_parts(TENANT, "*", "*")
_OWN_JOB_LINE: Final = keys.job_line(TENANT)
_OWN_BLOCKS: Final = f"{keys.BLOCK_PREFIX}{TENANT}.*"
_OWN_ORDERS: Final = keys.order(TENANT, "*", "*")
_OWN_DIRECTORIES: Final = keys.directory(TENANT, "*", "*")
_OWN_TRASH: Final = keys.trash(TENANT, "*")
_OWN_SOCKETS: Final = keys.sockets(TENANT)
_OWN_SEATS: Final = keys.seats(TENANT)
_OWN_TICKETS: Final = keys.tickets(TENANT)
_OWN_POLLS: Final = keys.polls(TENANT)

SESSION_GRANTS: Final[Mapping[str, tuple[Grant, ...]]] = {
    "query": (
        _within(
            ("GetItem", "BatchGetItem", "Query"),
            # The heartbeat's note tells nothing of anybody.
            (
                _OWN_PROJECTS,
                _OWN_ISSUES,
                _OWN_BLOCKS,
                _OWN_NOTES,
                _OWN_JOURNALS,
                _OWN_VIEWS,
                _OWN_WEBHOOKS,
                _OWN_OUTBOXES,
                _OWN_COMMENTS,
                _OWN_HISTORIES,
                _OWN_ACTIVITY,
                _OWN_TRASH,
                _OWN_JOBS,
                _OWN_JOB_PARTS,
                keys.LAG_OF_BEAT,
            ),
        ),
        _within(
            ("Query",),
            (keys.tenant(TENANT), keys.users(TENANT), _OWN_PROJECTS, _OWN_ORDERS, _OWN_DIRECTORIES),
            on_index=True,
        ),
    ),
    "command": (
        _within(
            ("GetItem", "BatchGetItem", "Query"),
            (
                _OWN_PROJECTS,
                _OWN_ISSUES,
                _OWN_BLOCKS,
                _OWN_REQUESTS,
                _OWN_USERS,
                _OWN_JOURNALS,
                _OWN_VIEWS,
                _OWN_WEBHOOKS,
                # What a message told that is replayed.
                _OWN_OUTBOXES,
                _OWN_COMMENTS,
                _OWN_JOBS,
                _OWN_JOB_LINE,
                keys.tenant(TENANT),
                # What an undo takes back, or such a message told, and whether it has been told.
                _OWN_HISTORIES,
                _OWN_MEMBERS,
                _OWN_ACTIVITY,
                _OWN_NOTES,
                keys.LAG_OF_BEAT,
            ),
        ),
        _within(("Query",), (_OWN_PROJECTS, _OWN_DIRECTORIES), on_index=True),
        *_commands(
            *(keys.tenant(TENANT), _OWN_PROJECTS, _OWN_ISSUES, _OWN_REQUESTS, _OWN_USERS),
            *(_OWN_RATE, _OWN_JOURNALS, _OWN_MEMBERS),
            (_OWN_VIEWS, _OWN_COMMENTS, _OWN_ACTIVITY, _OWN_WEBHOOKS),
            *(_OWN_JOBS, _OWN_JOB_PARTS, _OWN_JOB_LINE, _OWN_OUTBOXES),
        ),
    ),
    "live": (
        _within(
            ("GetItem", "BatchGetItem", "Query"),
            (_OWN_PROJECTS, _OWN_JOURNALS, _OWN_HISTORIES, _OWN_ISSUES, _OWN_VIEWS, _OWN_POLLS),
        ),
        *_polls(_OWN_JOURNALS, _OWN_POLLS),
    ),
    "socket": (
        _within(
            ("GetItem", "BatchGetItem", "Query"),
            (
                *(_OWN_PROJECTS, _OWN_JOURNALS, _OWN_HISTORIES, _OWN_ISSUES, _OWN_VIEWS),
                *(_OWN_SOCKETS, _OWN_SEATS),
            ),
        ),
        *_sockets(_OWN_SOCKETS, _OWN_SEATS, _OWN_TICKETS, _OWN_JOURNALS),
    ),
}
"""By function that serves callers, what a session of its session role may do, if sessions are isolated: the same within one tenant.
The function's own role then may do nothing with the table.
"""
