"""Patterns of the table's partition keys by kind of item, as grants name them: of every tenant, and of one."""

from dataclasses import dataclass
from typing import Final

from gridview.dynamodb.sessions import TAG
from gridview.encoding import keys

TENANT: Final = f"${{aws:PrincipalTag/{TAG}}}"
"""What IAM reads as the tenant that a session is tagged with. In a session without the tag it matches nothing. A tenant's id has
none of the characters that mean something to a pattern, and neither can the value of a tag.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """A pattern for each kind of partition that belongs to a tenant. `changes`: what is part of a change."""

    tenants: str
    projects: str
    issues: str
    blocks: str
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
    sockets: str
    seats: str
    tickets: str
    polls: str


EVERY: Final = Partitions(
    tenants=f"{keys.TENANT_PREFIX}*",
    projects=f"{keys.PROJECT_PREFIX}*",
    issues=f"{keys.ISSUE_PREFIX}*",
    blocks=f"{keys.BLOCK_PREFIX}*",
    requests=f"{keys.REQUEST_PREFIX}*",
    users=f"{keys.USER_PREFIX}*",
    rates=f"{keys.RATE_PREFIX}*",
    notes=f"{keys.LAG_PREFIX}*",
    journals=f"{keys.JOURNAL_PREFIX}*",
    histories=f"{keys.HISTORY_PREFIX}*",
    activity=f"{keys.ACTIVITY_PREFIX}*",
    changes=f"{keys.CHANGE_PREFIX}*",
    views=f"{keys.VIEW_PREFIX}*",
    webhooks=f"{keys.WEBHOOK_PREFIX}*",
    outboxes=f"{keys.OUTBOX_PREFIX}*",
    comments=f"{keys.COMMENT_PREFIX}*",
    jobs=f"{keys.JOBS_PREFIX}*",
    job_parts=f"{keys.JOB_PARTS_PREFIX}*",
    job_lines=f"{keys.JOB_LINE_PREFIX}*",
    trash=f"{keys.TRASH_PREFIX}*",
    sockets=f"{keys.SOCKETS_PREFIX}*",
    seats=f"{keys.SEATS_PREFIX}*",
    tickets=f"{keys.TICKET_PREFIX}*",
    polls=f"{keys.POLLS_PREFIX}*",
)
"""Those of all tenants."""

OWN: Final = Partitions(
    tenants=keys.tenant(TENANT),
    projects=keys.project(TENANT, "*"),
    issues=f"{keys.ISSUE_PREFIX}{TENANT}.*",
    blocks=f"{keys.BLOCK_PREFIX}{TENANT}.*",
    requests=keys.request(TENANT, "*"),
    users=keys.user(TENANT, "*"),
    rates=keys.rate(TENANT),
    notes=keys.lag(TENANT, "*"),
    journals=keys.journal(TENANT, "*"),
    histories=f"{keys.HISTORY_PREFIX}{TENANT}.*",
    activity=keys.activity(TENANT, "*"),
    changes=f"{keys.CHANGE_PREFIX}{TENANT}.*",
    views=keys.views(TENANT, "*"),
    webhooks=keys.webhooks(TENANT, "*"),
    outboxes=keys.outbox(TENANT, "*", "*"),
    comments=keys.comments(TENANT, "*"),
    jobs=keys.jobs(TENANT, "*"),
    job_parts=keys.job_parts(TENANT, "*", "*"),
    job_lines=keys.job_line(TENANT),
    trash=keys.trash(TENANT, "*"),
    sockets=keys.sockets(TENANT),
    seats=keys.seats(TENANT),
    tickets=keys.tickets(TENANT),
    polls=keys.polls(TENANT),
)
"""Those of the tenant that a session is tagged with."""

OWN_USER_LIST: Final = keys.users(TENANT)
"""The index partition of the tenant's users."""
OWN_ORDERS: Final = keys.order(TENANT, "*", "*")
"""The index partitions of the tenant's orders."""
OWN_DIRECTORIES: Final = keys.directory(TENANT, "*", "*")
"""The index partitions of the tenant's directories of blocks."""
