"""Keys of the table: its attributes, and the items of tenants, projects, issues, requests and jobs.

    issue-0807.35e9.00000001
    ^     ^    ^    ^
    type  tenant    issue number, zero padded so that string order is number order
               project

A key is a type, a tenant, a project and the rest. `derived_keys` has the keys of data derived from issues, `live_keys`
the keys of webhooks, sockets and polls; no other module makes keys.

The tenant always comes from the caller's token, so no handler can build another tenant's key. Ids never
contain `.`, `-` ends the type, and the types are distinct, so two different entities never share a key.
"""

from typing import NamedTuple

from gridview.encoding.sort_strings import ESCAPE, SEPARATOR, issue_number

PK = "PK"
SK = "SK"
SORT = "sort"
HOLDER = "holder"
GSI1 = "GSI1"
TTL_ATTRIBUTE = "ttl"
PROJECTED_ATTRIBUTES = (
    # The issue document, so that a page in number order is one Query; and some of the project item.
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
    # The attributes that a directory of blocks needs. A projection cannot be changed later, so these were
    # projected before blocks existed.
    "size",
    "upper",
    "next",
    "write_id",
)
"""Non-key attributes that GSI1 projects (INCLUDE). It never projects a ledger or a block's bitmaps."""


# Tenants and their users

TENANT_PREFIX = "tenant-"
TENANT_SELF = "*"
"""Sort key of the tenant's own item."""


def tenant(tenant_id: str) -> str:
    """Partition key of a tenant, and index partition of its projects: `tenant-0807`."""
    return f"{TENANT_PREFIX}{tenant_id}"


def parse_tenant(partition_key: str) -> str:
    """Return the tenant in a partition key; of a key without a tenant, the key."""
    rest = partition_key.partition("-")[2] or partition_key
    return rest.partition(".")[0]


USER_PREFIX = "user-"


def user(tenant_id: str, user_id: str) -> str:
    """Return the partition key of a user's item: `user-0807.ann`. The user's id is the rest, with any dots: a
    tenant's id has none.
    """
    return f"{USER_PREFIX}{tenant_id}.{user_id}"


def parse_user(partition_key: str) -> str:
    """Return the user's id in the partition key of a user's item."""
    return partition_key.removeprefix(USER_PREFIX).partition(".")[2]


def users(tenant_id: str) -> str:
    """Sort key of a user's item, and index partition of a tenant's users by name: `users-0807`."""
    return f"users-{tenant_id}"


RATE_PREFIX = "rate-"


def rate(tenant_id: str) -> str:
    """Partition key of the counts of a tenant's writes, whose sort keys are the windows: `rate-0807`."""
    return f"{RATE_PREFIX}{tenant_id}"


# Projects and their definitions

PROJECT_PREFIX = "project-"
CATALOG = "catalog"
"""Sort key of a project's catalog item: the epoch, the display order and the next internal attribute id."""
COUNTER = "counter"
"""Sort key of a project's issue counter."""


def project(tenant_id: str, project_id: str) -> str:
    """Partition key of a project, and index partition of its issues: `project-0807.35e9`."""
    return f"{PROJECT_PREFIX}{tenant_id}.{project_id}"


def is_project(key: str) -> bool:
    """Return whether this is a project's partition key, or the sort key of an issue document."""
    return key.startswith(PROJECT_PREFIX)


def parse_project(partition_key: str) -> tuple[str, str]:
    """Return the tenant and project in a project's partition key."""
    tenant_id, project_id = partition_key.removeprefix(PROJECT_PREFIX).split(".")
    return tenant_id, project_id


LIVING_PROJECTS = SEPARATOR + ESCAPE
"""In a tenant's index partition: after the sort strings of deleted projects, and before all others."""


def deleted_project(deleted_at: str, project_id: str) -> str:
    """Return the sort string of a deleted project that can be restored, by the stored instant:
    `␁␁2026-11-21T08:00:00.000000Z␁35e9`.

    It is before all others: the sort string of a project without a name that sorts is a separator and the id.
    """
    return f"{SEPARATOR}{SEPARATOR}{deleted_at}{SEPARATOR}{project_id}"


ATTRIBUTE_PREFIX = "xattrib-"


def attribute(tenant_id: str, project_id: str, attribute_id: str) -> str:
    """Sort key of an attribute's definition: `xattrib-0807.35e9.3812`."""
    return f"{ATTRIBUTE_PREFIX}{tenant_id}.{project_id}.{attribute_id}"


def is_attribute(sort_key: str) -> bool:
    """Return whether this is the sort key of an attribute's definition."""
    return sort_key.startswith(ATTRIBUTE_PREFIX)


COMPOSITE_PREFIX = "xsorted-"


def composite(tenant_id: str, project_id: str, index_id: str) -> str:
    """Sort key of a composite index's definition: `xsorted-0807.35e9.c1`."""
    return f"{COMPOSITE_PREFIX}{tenant_id}.{project_id}.{index_id}"


def is_composite(sort_key: str) -> bool:
    """Return whether this is the sort key of a composite index's definition."""
    return sort_key.startswith(COMPOSITE_PREFIX)


# Issues

ISSUE_PREFIX = "issue-"
ISSUES = (ISSUE_PREFIX, "issue.")
"""The range of issue partition keys, upper bound exclusive: `.` follows `-`."""


class IssueKey(NamedTuple):
    """The parts of an issue's partition key."""

    tenant: str
    project: str
    num: int


def issue(tenant_id: str, project_id: str, num: int) -> str:
    """Partition key of an issue and of everything derived from it: `issue-0807.35e9.00000001`."""
    return f"{ISSUE_PREFIX}{tenant_id}.{project_id}.{issue_number(num)}"


def is_issue(partition_key: str) -> bool:
    """Return whether this is an issue's partition key, judged only by its type."""
    return partition_key.startswith(ISSUE_PREFIX)


def parse_issue(partition_key: str) -> IssueKey:
    """Return the parts of an issue's partition key; ValueError for any other key."""
    if not partition_key.startswith(ISSUE_PREFIX):
        raise ValueError("not an issue's partition key")
    tenant_id, project_id, num = partition_key.removeprefix(ISSUE_PREFIX).split(".")
    return IssueKey(tenant_id, project_id, int(num))


TRASH_PREFIX = "trash-"


def trash(tenant_id: str, project_id: str) -> str:
    """Partition key of the list of a project's deleted issues: `trash-0807.35e9`."""
    return f"{TRASH_PREFIX}{tenant_id}.{project_id}"


def trash_place(deleted_at: str, num: int, version: int) -> str:
    """Sort key of a deleted issue in that list, by the stored instant: `2026-11-21T08:00:00.000000Z.00000042.3`."""
    return f"{deleted_at}.{issue_number(num)}.{version}"


def parse_trash_place(sort_key: str) -> tuple[int, int]:
    """Return the issue number in such a sort key, and the version that was deleted."""
    _, num, version = sort_key.rsplit(".", 2)
    return int(num), int(version)


# Comments

COMMENT_PREFIX = "comment-"
_COMMENT_DIGITS = 6


def comments(tenant_id: str, project_id: str) -> str:
    """Partition key of the comments on a project's issues: `comment-0807.35e9`."""
    return f"{COMMENT_PREFIX}{tenant_id}.{project_id}"


def comment_register(num: int) -> str:
    """Sort key of the register of an issue's comments, ahead of them: `00000001`."""
    return issue_number(num)


def comment(num: int, comment_id: int) -> str:
    """Sort key of a comment on an issue, zero padded so that string order is number order: `00000001.000012`."""
    return f"{comment_register(num)}.{comment_id:0{_COMMENT_DIGITS}}"


def comment_activity(at: str, num: int, comment_id: int) -> str:
    """Sort key of a comment among a project's changes: `2026-11-21T08:00:00.000000Z.00000001.comment.000012`."""
    return f"{at}.{issue_number(num)}.comment.{comment_id:0{_COMMENT_DIGITS}}"


# Saved views

VIEW_PREFIX = "view-"
VIEW_REGISTER = "register"
"""Sort key of the register of a project's views: the last number given out, and the order of the shared ones."""
_VIEW_DIGITS = 8


def views(tenant_id: str, project_id: str) -> str:
    """Partition key of a project's saved views: `view-0807.35e9`."""
    return f"{VIEW_PREFIX}{tenant_id}.{project_id}"


def is_views(partition_key: str) -> bool:
    """Return whether this is the partition key of a project's saved views."""
    return partition_key.startswith(VIEW_PREFIX)


def parse_views(partition_key: str) -> tuple[str, str]:
    """Return the tenant and project in the partition key of a project's saved views."""
    tenant_id, project_id = partition_key.removeprefix(VIEW_PREFIX).split(".")
    return tenant_id, project_id


def shared_view(num: int) -> str:
    """Sort key of a view that everybody sees, zero padded so that string order is number order: `shared/00000012`."""
    return f"shared/{num:0{_VIEW_DIGITS}}"


def private_view(user_id: str, num: int) -> str:
    """Sort key of a view that one user sees: `private/ann/00000013`. A user's id has no slash."""
    return f"private/{user_id}/{num:0{_VIEW_DIGITS}}"


def private_order(user_id: str) -> str:
    """Sort key of the order of a user's own views: `order/ann`."""
    return f"order/{user_id}"


def parse_view(sort_key: str) -> tuple[str | None, int]:
    """Return the only user who sees a saved view (None: everyone in the project) and the view's number, by
    its sort key.
    """
    *_, user, num = sort_key.split("/")
    return (None if sort_key.startswith("shared/") else user), int(num)


# Requests with an Idempotency-Key

REQUEST_PREFIX = "request-"


def request(tenant_id: str, project_id: str) -> str:
    """Partition key of the records of a project's requests with an Idempotency-Key: `request-0807.35e9`;
    `request-0807.` for requests of the tenant itself.
    """
    return f"{REQUEST_PREFIX}{tenant_id}.{project_id}"


def is_request(partition_key: str) -> bool:
    """Return whether this is the partition key of remembered requests, judged by its type. With the sort key `JOB` it
    has the purged issues that upkeep takes out of the answers.
    """
    return partition_key.startswith(REQUEST_PREFIX)


def parse_request(partition_key: str) -> tuple[str, str]:
    """Return the tenant and project in the partition key of remembered requests."""
    tenant_id, project_id = partition_key.removeprefix(REQUEST_PREFIX).split(".")
    return tenant_id, project_id


def remembered(digest: str) -> str:
    """Sort key of the record of a request, by the hash of its key: `9f86d081`."""
    return digest


def remembered_part(digest: str, attempt: int, place: int) -> str:
    """Return the sort key of a further part of a remembered answer, right after its record:
    `9f86d081.part-0-0001`.

    Each attempt has its own parts, so that a superseded attempt cannot spoil the other's answer.
    """
    return f"{digest}.part-{attempt}-{place:04d}"


def parse_remembered(sort_key: str) -> str:
    """Return the hash in the sort key of a record or of a part of its answer."""
    return sort_key.partition(".")[0]


# Jobs

JOB = "job"
"""Sort key of a project's background work, and index partition of all of it in due order."""
LINE = "line"
"""Sort key of the line of a tenant's user jobs, and index partition of all lines in due order."""


def job(part: int = 0) -> str:
    """Sort key of background work, and index partition of all such work in due order: `job`; of one of its
    parts: `job-1`.
    """
    return f"{JOB}-{part}" if part else JOB


JOBS_PREFIX = "jobs-"
JOB_PARTS_PREFIX = "jobparts-"
JOBS_END = "g"
"""After every id of a user job: these are hexadecimal."""
ASKED = "asked"
"""Sort key of a user job's order."""
_BATCH_DIGITS = 10
_REFUSED = "refused."
_NUMBERS = "numbers."
_FORMULA = "formula."


def jobs(tenant_id: str, project_id: str) -> str:
    """Partition key of a project's user jobs, whose sort keys are their ids: `jobs-0807.35e9`."""
    return f"{JOBS_PREFIX}{tenant_id}.{project_id}"


def job_parts(tenant_id: str, project_id: str, job_id: str) -> str:
    """Return the partition key of the further items of a user job: `jobparts-0807.35e9.018f3a5c2b7e1d4c90aa`."""
    return f"{JOB_PARTS_PREFIX}{tenant_id}.{project_id}.{job_id}"


def frozen_numbers(revision: int, chunk: int) -> str:
    """Sort key of a chunk of the issue numbers that a user job has frozen at a revision of it:
    `numbers.0000000002.0000000000`.
    """
    return f"{_NUMBERS}{revision:0{_BATCH_DIGITS}}.{chunk:0{_BATCH_DIGITS}}"


def frozen_formula(revision: int, field: str) -> str:
    """Sort key of the formula of a field (its internal id) that a user job has frozen at a revision of it:
    `formula.0000000002.a7`.
    """
    return f"{_FORMULA}{revision:0{_BATCH_DIGITS}}.{field}"


def refusals(batch: int | None = None) -> str:
    """Sort key of the issues of a batch that a user job could not change, `refused.0000000007`; or the
    beginning of all.
    """
    return _REFUSED if batch is None else f"{_REFUSED}{batch:0{_BATCH_DIGITS}}"


JOB_LINE_PREFIX = "jobline-"


def job_line(tenant_id: str) -> str:
    """Partition key of the line of a tenant's user jobs: `jobline-0807`."""
    return f"{JOB_LINE_PREFIX}{tenant_id}"


def is_job_line(partition_key: str) -> bool:
    """Return whether this is the partition key of a line of user jobs, judged by its type."""
    return partition_key.startswith(JOB_LINE_PREFIX)


def parse_job_line(partition_key: str) -> str:
    """Return the tenant in the partition key of a line of user jobs."""
    return partition_key.removeprefix(JOB_LINE_PREFIX)


# Manual orders

PLACEMENTS_PREFIX = "placed-"


def placements(tenant_id: str, project_id: str) -> str:
    """Partition key of the last placements of rows in a project's manual orders: `placed-0807.35e9`. Their sort key is
    `JOB`, so they can be due.
    """
    return f"{PLACEMENTS_PREFIX}{tenant_id}.{project_id}"


def is_placements(partition_key: str) -> bool:
    """Return whether this is the partition key of placements, judged by its type."""
    return partition_key.startswith(PLACEMENTS_PREFIX)


def parse_placements(partition_key: str) -> tuple[str, str]:
    """Return the tenant and project in the partition key of placements."""
    tenant_id, project_id = partition_key.removeprefix(PLACEMENTS_PREFIX).split(".")
    return tenant_id, project_id


# The state of the whole table

LAG = "lag"
"""Sort key of a lag note."""
LAG_PREFIX = "lag-"


def lag(tenant_id: str, project_id: str) -> str:
    """Partition key of the note of when the stream consumer last processed changes of a project:
    `lag-0807.35e9`. It is not in the project's partition, so the consumer needs to write nothing there.
    """
    return f"{LAG_PREFIX}{tenant_id}.{project_id}"


BEAT = "beat"
"""Partition and sort key of the heartbeat, an item that is put again and again so that the stream consumer
can note it.
"""
LAG_OF_BEAT = f"{LAG_PREFIX}{BEAT}"
"""Partition key of the note of when the stream consumer last took in the heartbeat, and of when upkeep last
saw which canary. A project's has a dot.
"""
CANARY = "canary"
"""Partition and sort key of the canary, and its index partition: an item whose age in GSI1 says how late GSI1 is."""
CHECK = "fsck"
"""Partition key of the whole-table check in progress; its sort key is `JOB`."""
RESTORE = "restore"
"""Partition and sort key of the note of the restore that made the table."""
