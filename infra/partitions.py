"""Patterns of the table's partition keys by kind of item, as grants name them: of every tenant, and of one."""

from dataclasses import dataclass
from typing import Final

from gridview.dynamodb.sessions import TAG
from gridview.encoding import derived_keys, keys, live_keys

TENANT: Final = f"${{aws:PrincipalTag/{TAG}}}"
"""The tenant that a session is tagged with, as IAM reads it. In a session without the tag it matches nothing.

Neither a tenant's id nor the value of a tag can have a character that means something to a pattern.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """A pattern for each kind of partition that belongs to a tenant. `changes`: the parts of a change."""

    tenants: str
    projects: str
    issues: str
    blocks: str
    columns: str
    requests: str
    users: str
    rates: str
    notes: str
    journals: str
    histories: str
    activity: str
    changes: str
    views: str
    webhooks: str
    outboxes: str
    comments: str
    jobs: str
    job_parts: str
    job_lines: str
    trash: str
    placements: str
    sockets: str
    seats: str
    tickets: str
    polls: str


EVERY: Final = Partitions(
    tenants=f"{keys.TENANT_PREFIX}*",
    projects=f"{keys.PROJECT_PREFIX}*",
    issues=f"{keys.ISSUE_PREFIX}*",
    blocks=f"{derived_keys.BLOCK_PREFIX}*",
    columns=f"{derived_keys.COLUMN_PREFIX}*",
    requests=f"{keys.REQUEST_PREFIX}*",
    users=f"{keys.USER_PREFIX}*",
    rates=f"{keys.RATE_PREFIX}*",
    notes=f"{keys.LAG_PREFIX}*",
    journals=f"{derived_keys.JOURNAL_PREFIX}*",
    histories=f"{derived_keys.HISTORY_PREFIX}*",
    activity=f"{derived_keys.ACTIVITY_PREFIX}*",
    changes=f"{derived_keys.CHANGE_PREFIX}*",
    views=f"{keys.VIEW_PREFIX}*",
    webhooks=f"{live_keys.WEBHOOK_PREFIX}*",
    outboxes=f"{live_keys.OUTBOX_PREFIX}*",
    comments=f"{keys.COMMENT_PREFIX}*",
    jobs=f"{keys.JOBS_PREFIX}*",
    job_parts=f"{keys.JOB_PARTS_PREFIX}*",
    job_lines=f"{keys.JOB_LINE_PREFIX}*",
    trash=f"{keys.TRASH_PREFIX}*",
    placements=f"{keys.PLACEMENTS_PREFIX}*",
    sockets=f"{live_keys.SOCKETS_PREFIX}*",
    seats=f"{live_keys.SEATS_PREFIX}*",
    tickets=f"{live_keys.TICKET_PREFIX}*",
    polls=f"{live_keys.POLLS_PREFIX}*",
)
"""Those of all tenants."""

OWN: Final = Partitions(
    tenants=keys.tenant(TENANT),
    projects=keys.project(TENANT, "*"),
    issues=f"{keys.ISSUE_PREFIX}{TENANT}.*",
    blocks=f"{derived_keys.BLOCK_PREFIX}{TENANT}.*",
    columns=f"{derived_keys.COLUMN_PREFIX}{TENANT}.*",
    requests=keys.request(TENANT, "*"),
    users=keys.user(TENANT, "*"),
    rates=keys.rate(TENANT),
    notes=keys.lag(TENANT, "*"),
    journals=derived_keys.journal(TENANT, "*"),
    histories=f"{derived_keys.HISTORY_PREFIX}{TENANT}.*",
    activity=derived_keys.activity(TENANT, "*"),
    changes=f"{derived_keys.CHANGE_PREFIX}{TENANT}.*",
    views=keys.views(TENANT, "*"),
    webhooks=live_keys.webhooks(TENANT, "*"),
    outboxes=live_keys.outbox(TENANT, "*", "*"),
    comments=keys.comments(TENANT, "*"),
    jobs=keys.jobs(TENANT, "*"),
    job_parts=keys.job_parts(TENANT, "*", "*"),
    job_lines=keys.job_line(TENANT),
    trash=keys.trash(TENANT, "*"),
    placements=keys.placements(TENANT, "*"),
    sockets=live_keys.sockets(TENANT),
    seats=live_keys.seats(TENANT),
    tickets=live_keys.tickets(TENANT),
    polls=live_keys.polls(TENANT),
)
"""Those of the tenant that a session is tagged with."""

OWN_USER_LIST: Final = keys.users(TENANT)
"""The index partition of the tenant's users."""
OWN_ORDERS: Final = derived_keys.order(TENANT, "*", "*")
"""The index partitions of the tenant's orders."""
OWN_DIRECTORIES: Final = derived_keys.directory(TENANT, "*", "*")
"""The index partitions of the tenant's directories of blocks."""
