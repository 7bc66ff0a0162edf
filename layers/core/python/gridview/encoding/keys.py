"""Every key string of the table, and nothing else. A key is a type, a tenant, a project and the rest.

    issue-0807.35e9.00000001
    ^     ^    ^    ^
    type  tenant    issue number, zero padded so that string order is number order
               project

The tenant always comes from the caller's token, so no handler can build another tenant's key. Ids never contain `.`, `-` ends
the type, and the types are distinct, so two different entities never share a key.
"""

from typing import NamedTuple

from gridview.encoding.sort_strings import ESCAPE, SEPARATOR, issue_number

PK = "PK"
SK = "SK"
SORT = "sort"
HOLDER = "holder"
GSI1 = "GSI1"
TTL_ATTRIBUTE = "ttl"

ISSUE_PREFIX = "issue-"
ISSUES = (ISSUE_PREFIX, "issue.")
"""The range of issue partition keys, upper bound exclusive: `.` follows `-`."""
PROJECT_PREFIX = "project-"

TENANT_PREFIX = "tenant-"
TENANT_SELF = "*"
"""Sort key of the tenant's own item."""
CATALOG = "catalog"
"""Sort key of a project's catalog item: the epoch, the display order and the next internal attribute id."""
COUNTER = "counter"
"""Sort key of a project's issue counter."""
JOB = "job"
"""Sort key of a project's background work, and index partition of all of it in due order."""
LAG = "lag"
"""Sort key of a lag note."""
BEAT = "beat"
"""Partition and sort key of the heartbeat, an item that is put again and again so that the stream consumer can note it."""
CANARY = "canary"
"""Partition and sort key of the canary, and its index partition: an item whose age in GSI1 says how late GSI1 is."""
CHECK = "fsck"
"""Partition key of the whole-table check in progress; its sort key is `JOB`."""
FOLD = "fold"
"""Sort key of the head of a project's journal, and index partition of the heads of all journals that wait to be folded."""
LINE = "line"
"""Sort key of the line of a tenant's user jobs, and index partition of all lines in due order."""
LEDGER = "xindex"
"""Sort key of an issue's ledger: what the stream consumer derived from the issue."""
RESTORE = "restore"
"""Partition and sort key of the note of the restore that made the table."""

PROJECTED_ATTRIBUTES = (
    # The issue document and the project item: a page in number order and a list of projects are one Query each.
    "num",
    "name",
    "state",
    "fields",
    "version",
    "created",
    "updated",
    "created_by",
    "updated_by",
    "states",
    # What a directory of blocks needs. A projection cannot be changed later, so these were projected before blocks existed.
    "size",
    "upper",
    "next",
    "write_id",
)
"""Non-key attributes that GSI1 projects (INCLUDE). It never projects a ledger or a block's bitmaps."""


class IssueKey(NamedTuple):
    """The parts of an issue's partition key."""

    tenant: str
    project: str
    num: int


def tenant(tenant_id: str) -> str:
    """Partition key of a tenant, and index partition of its projects: `tenant-0807`."""
    return f"{TENANT_PREFIX}{tenant_id}"


def project(tenant_id: str, project_id: str) -> str:
    """Partition key of a project, and index partition of its issues: `project-0807.35e9`."""
    return f"{PROJECT_PREFIX}{tenant_id}.{project_id}"


LIVING_PROJECTS = SEPARATOR + ESCAPE
"""In a tenant's index partition: behind the sort strings of deleted projects, and before those of all others."""


def deleted_project(deleted_at: str, project_id: str) -> str:
    """Sort string of a deleted project that can be restored, by the stored instant: `␁␁2026-11-21T08:00:00.000000Z␁35e9`.

    It is before those of all others: the one of a project without a name that sorts is a separator and the id.
    """
    return f"{SEPARATOR}{SEPARATOR}{deleted_at}{SEPARATOR}{project_id}"


LAG_PREFIX = "lag-"


def lag(tenant_id: str, project_id: str) -> str:
    """Partition key of the note of when the stream consumer last processed changes of a project: `lag-0807.35e9`. It is not in
    the project's partition, so the consumer needs to write nothing there.
    """
    return f"{LAG_PREFIX}{tenant_id}.{project_id}"


LAG_OF_BEAT = f"{LAG_PREFIX}{BEAT}"
"""Partition key of the note of when the stream consumer last took in the heartbeat, and of when upkeep last saw which canary. A
project's has a dot.
"""

JOURNAL_PREFIX = "journal-"
_JOURNAL_DIGITS = 12
MAX_JOURNAL_NUMBER = 10**_JOURNAL_DIGITS - 1
_MARK = "+"


def journal(tenant_id: str, project_id: str) -> str:
    """Partition key of a project's journal: `journal-0807.35e9`."""
    return f"{JOURNAL_PREFIX}{tenant_id}.{project_id}"


def journal_item(number: int) -> str:
    """Sort key of the journal item of a number, zero padded so that string order is number order: `000000000057`."""
    return f"{number:0{_JOURNAL_DIGITS}}"


def journal_mark(number: int) -> str:
    """Sort key of the mark that the sort entries of a journal item are there, right behind the item: `000000000057+`."""
    return f"{journal_item(number)}{_MARK}"


HISTORY_PREFIX = "history-"
_VERSION_DIGITS = 13
MAX_VERSION = 10**_VERSION_DIGITS - 1
"""The highest version that a key of the history can hold. After a restore of the table, versions begin at that instant, in
milliseconds since 1970 (docs/decisions/0077-restore.md).
"""
_PART_OF_CHANGE = "part."


def history(tenant_id: str, project_id: str, num: int) -> str:
    """Partition key of what is remembered of an issue's changes: `history-0807.35e9.00000001`."""
    return f"{HISTORY_PREFIX}{tenant_id}.{project_id}.{issue_number(num)}"


def history_item(version: int) -> str:
    """Sort key of the change that made a version, zero padded so that string order is number order: `0000000000003`."""
    return f"{version:0{_VERSION_DIGITS}}"


def history_part(version: int, part: int) -> str:
    """Sort key of a further part of a large change, behind all changes: `part.0000000000003.1`."""
    return f"{_PART_OF_CHANGE}{history_item(version)}.{part}"


ACTIVITY_PREFIX = "activity-"
ACTIVITY_END = ":"
"""Behind every change in the order of time: an instant begins with a digit."""


def activity(tenant_id: str, project_id: str) -> str:
    """Partition key of a project's changes in the order of time: `activity-0807.35e9`."""
    return f"{ACTIVITY_PREFIX}{tenant_id}.{project_id}"


_SECOND = len("2026-11-21T08:00:00")
_GROUP = "~"
"""Stands before what tells groups apart: behind all single items of the same second, or of the same thousand."""


def activity_place(at: str, num: int, version: int) -> str:
    """Place of a change in the order of time: `2026-11-21T08:00:00.000000Z.00000001.0000000000003`. Cursors hold it."""
    return f"{at}.{change_place(num, version)}"


def activity_group(at: str, digest: str) -> str:
    """Sort key of changes of the same second: `2026-11-21T08:00:00~5f0c7a9be1d2c3a4`."""
    return f"{parse_activity_second(at)}{_GROUP}{digest}"


def parse_activity_second(place: str) -> str:
    """The second in a place, an instant or a sort key in the order of time: none of this second is before it."""
    return place[:_SECOND]


def parse_activity_second_end(place: str) -> str:
    """Behind everything of the second in a place, an instant or a sort key in the order of time, and before the next one."""
    return f"{parse_activity_second(place)}{_GROUP}{_GROUP}"


def parse_activity_at(place: str) -> str:
    """The instant, of fixed length, in a place in the order of time."""
    return place[: len("2026-11-21T08:00:00.000000Z")]


CHANGE_PREFIX = "change-"


def change(tenant_id: str, project_id: str, change_id: bytes) -> str:
    """Partition key of what is part of a change: `change-0807.35e9.5d0e1a5244c54f5e9d2b52a1e0c5b7a3`."""
    return f"{CHANGE_PREFIX}{tenant_id}.{project_id}.{change_id.hex()}"


def change_place(num: int, version: int) -> str:
    """Place of a version among those of a change: `00000001.0000000000003`. Cursors hold it."""
    return f"{issue_number(num)}.{history_item(version)}"


_CHANGE_SPAN = 1_000


def change_span(num: int) -> int:
    """The first of the thousand numbers that share groups of a change."""
    return num - num % _CHANGE_SPAN


def change_group(num: int, digest: str) -> str:
    """Sort key of versions that are part of a change, of issues numbered in the same thousand: `00001000~5f0c7a9be1d2c3a4`."""
    return f"{issue_number(max(change_span(num), 1))}{_GROUP}{digest}"


def change_range(first: int, last: int) -> tuple[str, str]:
    """The sort keys between which stands what is part of a change, of the thousands of issues from `first` to `last`."""
    end = change_span(last) + _CHANGE_SPAN - 1
    return issue_number(max(change_span(first), 1)), f"{issue_number(end)}{_GROUP}{_GROUP}"


CHANGE_NOTE = "written."
"""Begins the sort keys of the notes that a user has just written under a change: behind all that is listed of it."""


def change_note(user_id: str) -> str:
    """Sort key of the note that a user has just written under a change: `written.ann`."""
    return f"{CHANGE_NOTE}{user_id}"


def parse_change_note(sort_key: str) -> str:
    """The user of a note that a change was just written."""
    return sort_key.removeprefix(CHANGE_NOTE)


def parse_change_span(sort_key: str) -> int:
    """The thousand of a version, or of several, that are part of a change."""
    return change_span(int(sort_key[: len(issue_number(1))]))


def job(part: int = 0) -> str:
    """Sort key of background work, and index partition of all such work in due order: `job`; of one of its parts: `job-1`."""
    return f"{JOB}-{part}" if part else JOB


JOBS_PREFIX = "jobs-"
JOB_PARTS_PREFIX = "jobparts-"
ASKED = "asked"
"""Sort key of what a user job was asked to do."""
_BATCH_DIGITS = 10
_REFUSED = "refused."
_NUMBERS = "numbers."


def jobs(tenant_id: str, project_id: str) -> str:
    """Partition key of a project's user jobs, whose sort keys are their ids: `jobs-0807.35e9`."""
    return f"{JOBS_PREFIX}{tenant_id}.{project_id}"


JOBS_END = "g"
"""After every id of a user job: these are hexadecimal."""


JOB_LINE_PREFIX = "jobline-"


def job_line(tenant_id: str) -> str:
    """Partition key of the line of a tenant's user jobs: `jobline-0807`."""
    return f"{JOB_LINE_PREFIX}{tenant_id}"


def is_job_line(partition_key: str) -> bool:
    """Whether this is the partition key of a line of user jobs, judged by its type."""
    return partition_key.startswith(JOB_LINE_PREFIX)


def parse_job_line(partition_key: str) -> str:
    """The tenant in the partition key of a line of user jobs."""
    return partition_key.removeprefix(JOB_LINE_PREFIX)


def job_parts(tenant_id: str, project_id: str, job_id: str) -> str:
    """Partition key of what belongs to a user job: `jobparts-0807.35e9.018f3a5c2b7e1d4c90aa`."""
    return f"{JOB_PARTS_PREFIX}{tenant_id}.{project_id}.{job_id}"


def frozen_numbers(revision: int, chunk: int) -> str:
    """Sort key of a chunk of the issue numbers that a user job has frozen at a revision of it: `numbers.0000000002.0000000000`."""
    return f"{_NUMBERS}{revision:0{_BATCH_DIGITS}}.{chunk:0{_BATCH_DIGITS}}"


def refusals(batch: int | None = None) -> str:
    """Sort key of the issues of a batch that a user job could not change, `refused.0000000007`; what all of them begin with."""
    return _REFUSED if batch is None else f"{_REFUSED}{batch:0{_BATCH_DIGITS}}"


ATTRIBUTE_PREFIX = "xattrib-"


def attribute(tenant_id: str, project_id: str, attribute_id: str) -> str:
    """Sort key of an attribute's definition: `xattrib-0807.35e9.3812`."""
    return f"{ATTRIBUTE_PREFIX}{tenant_id}.{project_id}.{attribute_id}"


COMPOSITE_PREFIX = "xsorted-"


def composite(tenant_id: str, project_id: str, index_id: str) -> str:
    """Sort key of a composite index's definition: `xsorted-0807.35e9.c1`."""
    return f"{COMPOSITE_PREFIX}{tenant_id}.{project_id}.{index_id}"


def issue(tenant_id: str, project_id: str, num: int) -> str:
    """Partition key of an issue and of everything derived from it: `issue-0807.35e9.00000001`."""
    return f"{ISSUE_PREFIX}{tenant_id}.{project_id}.{issue_number(num)}"


ORDER_PREFIX = "xvalue-"


def order(tenant_id: str, project_id: str, order_id: str) -> str:
    """Sort key of a sort entry, and index partition of one order: `xvalue-0807.35e9.a1.1`.

    `order_id` is the internal id of the field or composite index, and the generation (`order_id_of` in `schema.catalog`).
    """
    return f"{ORDER_PREFIX}{tenant_id}.{project_id}.{order_id}"


BLOCK_PREFIX = "block-"
BLOCKS = (BLOCK_PREFIX, "block.")
"""The range of block partition keys, like `ISSUES`."""
DIRECTORY_PREFIX = "blocks-"


def block(tenant_id: str, project_id: str, family_id: str, block_id: str) -> str:
    """Partition key of a block: `block-0807.35e9.a1.1.0`. For family ids see `derive.families`."""
    return f"{BLOCK_PREFIX}{tenant_id}.{project_id}.{family_id}.{block_id}"


def directory(tenant_id: str, project_id: str, family_id: str) -> str:
    """Sort key of the blocks of a family, and index partition of its directory: `blocks-0807.35e9.a1.1`."""
    return f"{DIRECTORY_PREFIX}{tenant_id}.{project_id}.{family_id}"


TRASH_PREFIX = "trash-"


def trash(tenant_id: str, project_id: str) -> str:
    """Partition key of the list of a project's deleted issues: `trash-0807.35e9`."""
    return f"{TRASH_PREFIX}{tenant_id}.{project_id}"


def trash_place(deleted_at: str, num: int, version: int) -> str:
    """Sort key of a deleted issue in that list, by the stored instant: `2026-11-21T08:00:00.000000Z.00000042.3`."""
    return f"{deleted_at}.{issue_number(num)}.{version}"


def parse_trash_place(sort_key: str) -> tuple[int, int]:
    """The issue number in such a sort key, and the version that was deleted."""
    _, num, version = sort_key.rsplit(".", 2)
    return int(num), int(version)


REQUEST_PREFIX = "request-"


def request(tenant_id: str, project_id: str) -> str:
    """Partition key of the records of a project's requests with an Idempotency-Key: `request-0807.35e9`; `request-0807.` for
    requests of the tenant itself.
    """
    return f"{REQUEST_PREFIX}{tenant_id}.{project_id}"


def remembered(digest: str) -> str:
    """Sort key of the record of a request, by the hash of its key: `9f86d081`."""
    return digest


def remembered_part(digest: str, attempt: int, place: int) -> str:
    """Sort key of a further part of a remembered answer, right behind its record: `9f86d081.part-0-0001`.

    Each attempt has its own parts, so that a superseded attempt cannot spoil the other's answer.
    """
    return f"{digest}.part-{attempt}-{place:04d}"


def parse_remembered(sort_key: str) -> str:
    """The hash in the sort key of a record or of a part of its answer."""
    return sort_key.partition(".")[0]


USER_PREFIX = "user-"


def user(tenant_id: str, user_id: str) -> str:
    """Partition key of a user's item: `user-0807.ann`. The user's id is the rest, whatever is in it: a tenant's has no dot."""
    return f"{USER_PREFIX}{tenant_id}.{user_id}"


def users(tenant_id: str) -> str:
    """Sort key of a user's item, and index partition of a tenant's users by name: `users-0807`."""
    return f"users-{tenant_id}"


RATE_PREFIX = "rate-"


def rate(tenant_id: str) -> str:
    """Partition key of the counts of a tenant's writes, whose sort keys are the windows: `rate-0807`."""
    return f"{RATE_PREFIX}{tenant_id}"


VIEW_PREFIX = "view-"
VIEW_REGISTER = "register"
"""Sort key of the register of a project's views: the last number given out, and how many are shared."""
_VIEW_DIGITS = 8


def views(tenant_id: str, project_id: str) -> str:
    """Partition key of a project's saved views: `view-0807.35e9`."""
    return f"{VIEW_PREFIX}{tenant_id}.{project_id}"


def shared_view(num: int) -> str:
    """Sort key of a view that everybody sees, zero padded so that string order is number order: `shared/00000012`."""
    return f"shared/{num:0{_VIEW_DIGITS}}"


def private_view(user_id: str, num: int) -> str:
    """Sort key of a view that one user sees: `private/ann/00000013`. A user's id has no slash."""
    return f"private/{user_id}/{num:0{_VIEW_DIGITS}}"


def private_views(user_id: str) -> str:
    """Sort key of the count of a user's own views: `count/ann`."""
    return f"count/{user_id}"


WEBHOOK_PREFIX = "webhook-"


def webhooks(tenant_id: str, project_id: str) -> str:
    """Partition key of the webhooks of a project, whose sort keys are their ids: `webhook-0807.35e9`."""
    return f"{WEBHOOK_PREFIX}{tenant_id}.{project_id}"


OUTBOX_PREFIX = "outbox-"
OUTBOX = "outbox"
"""Sort key of the outbox of a webhook, and index partition of all outboxes in due order."""
_DELIVERY = "delivery."
DELIVERY_END = "delivery/"
"""Behind every delivery: `/` follows `.`."""
_PLACE_DIGITS = 6
RETRY = "retry."
"""What the sort keys of all next attempts begin with."""
_INSTANT = len("2026-11-21T08:00:00.000000Z")


def outbox(tenant_id: str, project_id: str, webhook_id: str) -> str:
    """Partition key of the outbox of a webhook and of its deliveries: `outbox-0807.35e9.w3k9q2m7x1c0z`."""
    return f"{OUTBOX_PREFIX}{tenant_id}.{project_id}.{webhook_id}"


def delivery(number: int, place: int, *, reset: bool = False) -> str:
    """Sort key of the delivery of what stands at a place of a journal item: `delivery.000000000057.000001`. The feed's order.

    That of a reset goes before what stands behind the place: `delivery.000000000057.000001r`.
    """
    return f"{_DELIVERY}{journal_item(number)}.{place:0{_PLACE_DIGITS}}{'r' if reset else ''}"


def retry(due: str, sort_key: str) -> str:
    """Sort key of the next attempt at a delivery, by the instant at which it is due: `retry.2026-11-21T…Z.000000000057.000001`."""
    return f"{RETRY}{due}.{sort_key.removeprefix(_DELIVERY)}"


def parse_retry(sort_key: str) -> tuple[str, str]:
    """The instant at which such an attempt is due, and the sort key of its delivery."""
    told = sort_key.removeprefix(RETRY)
    return told[:_INSTANT], _DELIVERY + told[_INSTANT + 1 :]


COMMENT_PREFIX = "comment-"
_COMMENT_DIGITS = 6


def comments(tenant_id: str, project_id: str) -> str:
    """Partition key of the comments on a project's issues: `comment-0807.35e9`."""
    return f"{COMMENT_PREFIX}{tenant_id}.{project_id}"


def comment(num: int, comment_id: int) -> str:
    """Sort key of a comment on an issue, zero padded so that string order is number order: `00000001.000012`."""
    return f"{comment_register(num)}.{comment_id:0{_COMMENT_DIGITS}}"


def comment_register(num: int) -> str:
    """Sort key of the register of an issue's comments, ahead of them: `00000001`."""
    return issue_number(num)


def comment_activity(at: str, num: int, comment_id: int) -> str:
    """Sort key of a comment among a project's changes: `2026-11-21T08:00:00.000000Z.00000001.comment.000012`."""
    return f"{at}.{issue_number(num)}.comment.{comment_id:0{_COMMENT_DIGITS}}"


SOCKETS_PREFIX = "sockets-"


def sockets(tenant_id: str) -> str:
    """Partition key of a tenant's open sockets and of what they subscribe to: `sockets-0807`."""
    return f"{SOCKETS_PREFIX}{tenant_id}"


def socket(project_id: str, connection: str = "") -> str:
    """Sort key of an open socket: `35e9.L0SM9cOFvHcCIhw=`; what those of a project begin with.

    What API Gateway calls a connection has no dot. A project's id alone is the sort key of when its people were told of each other.
    """
    return f"{project_id}.{connection}"


def subscription(project_id: str, connection: str, subscription_id: str) -> str:
    """Sort key of what a socket subscribes to, right behind the socket: `35e9.L0SM9cOFvHcCIhw=.rows`."""
    return f"{project_id}.{connection}.{subscription_id}"


SOCKET_PREFIX = "socket-"
PUSHING = f"{SOCKET_PREFIX}pushing"
"""Partition and sort key of the turn to push, in a small account. No connection and no project has such a key: its letters end
without `=` or a full stop.
"""
SOCKET = "socket"
"""Sort key of whose a socket is, and index partition of all sockets in the order in which they end."""


def socket_owner(connection: str) -> str:
    """Partition key of whose a socket is, by what API Gateway calls it: `socket-L0SM9cOFvHcCIhw=`."""
    return f"{SOCKET_PREFIX}{connection}"


POLLS_PREFIX = "polls-"


def polls(tenant_id: str) -> str:
    """Partition key of the open polls of a tenant, whose sort keys are its users: `polls-0807`."""
    return f"{POLLS_PREFIX}{tenant_id}"


OWED = "owed"
"""Sort key of the note that a project's sockets are owed changes, and index partition of all such notes, oldest first.
"""


def owed_pushes(tenant_id: str, project_id: str) -> str:
    """Partition key of the note that a project's sockets are owed changes: `socket-0807.35e9`."""
    return f"{SOCKET_PREFIX}{tenant_id}.{project_id}"


SEATS_PREFIX = "seats-"


def seats(tenant_id: str) -> str:
    """Partition key of a tenant's open sockets by user: `seats-0807`."""
    return f"{SEATS_PREFIX}{tenant_id}"


def seat(user_id: str, connection: str = "") -> str:
    """Sort key of a user's open socket: `ann/L0SM9cOFvHcCIhw=`; the prefix of all of one user. A user's id has no
    slash.
    """
    return f"{user_id}/{connection}"


TICKET_PREFIX = "ticket-"


def tickets(tenant_id: str) -> str:
    """Partition key of a tenant's tickets that were used, whose sort keys are their ids: `ticket-0807`."""
    return f"{TICKET_PREFIX}{tenant_id}"


def parse_project(partition_key: str) -> tuple[str, str]:
    """The tenant and project in a project's partition key."""
    tenant_id, project_id = partition_key.removeprefix(PROJECT_PREFIX).split(".")
    return tenant_id, project_id


def parse_journal(partition_key: str) -> tuple[str, str]:
    """The tenant and project in a journal's partition key."""
    tenant_id, project_id = partition_key.removeprefix(JOURNAL_PREFIX).split(".")
    return tenant_id, project_id


def parse_history(partition_key: str) -> IssueKey:
    """The issue in the partition key of what is remembered of its changes."""
    return parse_issue(ISSUE_PREFIX + partition_key.removeprefix(HISTORY_PREFIX))


def is_history_part(sort_key: str) -> bool:
    """Whether this is the sort key of a further part of a large change."""
    return sort_key.startswith(_PART_OF_CHANGE)


def parse_webhooks(partition_key: str) -> tuple[str, str]:
    """The tenant and project in the partition key of a project's webhooks."""
    tenant_id, project_id = partition_key.removeprefix(WEBHOOK_PREFIX).split(".")
    return tenant_id, project_id


def parse_outbox(partition_key: str) -> tuple[str, str, str]:
    """The tenant, project and webhook in the partition key of an outbox."""
    tenant_id, project_id, webhook_id = partition_key.removeprefix(OUTBOX_PREFIX).split(".")
    return tenant_id, project_id, webhook_id


def parse_user(partition_key: str) -> str:
    """The user's id in the partition key of a user's item."""
    return partition_key.removeprefix(USER_PREFIX).partition(".")[2]


def parse_issue(partition_key: str) -> IssueKey:
    """The parts of an issue's partition key; ValueError for any other key."""
    if not partition_key.startswith(ISSUE_PREFIX):
        raise ValueError("not an issue's partition key")
    tenant_id, project_id, num = partition_key.removeprefix(ISSUE_PREFIX).split(".")
    return IssueKey(tenant_id, project_id, int(num))


class BlockKey(NamedTuple):
    """The parts of a block's partition key."""

    tenant: str
    project: str
    family: str
    id: str


def parse_block(partition_key: str) -> BlockKey:
    """The parts of a block's partition key; ValueError for any other key."""
    if not partition_key.startswith(BLOCK_PREFIX):
        raise ValueError("not a block's partition key")
    tenant_id, project_id, rest = partition_key.removeprefix(BLOCK_PREFIX).split(".", 2)
    family_id, _, block_id = rest.rpartition(".")
    return BlockKey(tenant_id, project_id, family_id, block_id)


def parse_block_id(partition_key: str) -> str:
    """The block id in a block's partition key."""
    return partition_key.rpartition(".")[2]


def is_issue(partition_key: str) -> bool:
    """Whether this is an issue's partition key, judged by its type alone."""
    return partition_key.startswith(ISSUE_PREFIX)


def is_project(key: str) -> bool:
    """Whether this is a project's partition key, or the sort key of an issue document."""
    return key.startswith(PROJECT_PREFIX)


def is_block(partition_key: str) -> bool:
    """Whether this is a block's partition key, judged by its type alone."""
    return partition_key.startswith(BLOCK_PREFIX)


def is_journal(partition_key: str) -> bool:
    """Whether this is a journal's partition key, judged by its type alone."""
    return partition_key.startswith(JOURNAL_PREFIX)


def is_socket(sort_key: str) -> bool:
    """Whether this is the sort key of an open socket, and not of a subscription or a project."""
    return sort_key.count(".") == 1


def parse_sockets(partition_key: str) -> str:
    """The tenant in the partition key of open sockets."""
    return partition_key.removeprefix(SOCKETS_PREFIX)


def parse_socket(sort_key: str) -> tuple[str, str, str]:
    """The project, the connection and the subscription in the sort key of a socket, which has none, or of a subscription."""
    project_id, connection, subscription_id = [*sort_key.split("."), ""][:3]
    return project_id, connection, subscription_id


def parse_socket_owner(partition_key: str) -> str:
    """The connection in the partition key of whose a socket is."""
    return partition_key.removeprefix(SOCKET_PREFIX)


def is_views(partition_key: str) -> bool:
    """Whether this is the partition key of a project's saved views."""
    return partition_key.startswith(VIEW_PREFIX)


def parse_views(partition_key: str) -> tuple[str, str]:
    """The tenant and project in the partition key of a project's saved views."""
    tenant_id, project_id = partition_key.removeprefix(VIEW_PREFIX).split(".")
    return tenant_id, project_id


def parse_seats(partition_key: str) -> str:
    """The tenant in the partition key of open sockets by user."""
    return partition_key.removeprefix(SEATS_PREFIX)


def parse_seat(sort_key: str) -> tuple[str, str]:
    """The user and the connection in the sort key of a user's open socket."""
    user_id, _, connection = sort_key.partition("/")
    return user_id, connection


def parse_owed_pushes(partition_key: str) -> tuple[str, str]:
    """The tenant and project in the partition key of the note that a project's sockets are owed changes."""
    tenant_id, project_id = partition_key.removeprefix(SOCKET_PREFIX).split(".")
    return tenant_id, project_id


def parse_view(sort_key: str) -> tuple[str | None, int]:
    """The only user who sees a saved view (None: everyone in the project) and the view's number, by its sort key."""
    *_, user, num = sort_key.split("/")
    return (None if sort_key.startswith("shared/") else user), int(num)


def is_journal_mark(sort_key: str) -> bool:
    """Whether this is the sort key of the mark of a journal item, and not of the item."""
    return sort_key.endswith(_MARK)


def parse_journal_number(sort_key: str) -> int:
    """The number in the sort key of a journal item or its mark."""
    return int(sort_key.removesuffix(_MARK))


def is_webhooks(partition_key: str) -> bool:
    """Whether this is the partition key of a project's webhooks."""
    return partition_key.startswith(WEBHOOK_PREFIX)


def is_outbox(partition_key: str) -> bool:
    """Whether this is the partition key of a webhook's outbox."""
    return partition_key.startswith(OUTBOX_PREFIX)


def is_attribute(sort_key: str) -> bool:
    """Whether this is the sort key of an attribute's definition."""
    return sort_key.startswith(ATTRIBUTE_PREFIX)


def is_composite(sort_key: str) -> bool:
    """Whether this is the sort key of a composite index's definition."""
    return sort_key.startswith(COMPOSITE_PREFIX)


def is_order(sort_key: str) -> bool:
    """Whether this is the sort key of a sort entry, in any project."""
    return sort_key.startswith(ORDER_PREFIX)


def parse_order_id(sort_key: str, tenant_id: str, project_id: str) -> str | None:
    """The order that a sort entry of this project belongs to; None for any other sort key."""
    prefix = order(tenant_id, project_id, "")
    return sort_key.removeprefix(prefix) if sort_key.startswith(prefix) else None
