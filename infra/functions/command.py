"""The function that writes for callers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from typing_extensions import override

from gridview.encoding import keys
from infra.event_sources import Endpoints, EventSource
from infra.function_spec import FunctionSpec
from infra.grants import READ_OPERATIONS, READS, Grant, allow_within
from infra.limits import ANSWER_SECONDS, SETTLE_SECONDS
from infra.partitions import EVERY, OWN, OWN_DIRECTORIES, OWN_ORDERS, Partitions

if TYPE_CHECKING:
    from infra.function import GridFunction
    from infra.parts import Parts
    from infra.settings import Settings


def _writes(of: Partitions) -> tuple[Grant, ...]:
    what_people_save_and_say = (of.views, of.comments, of.activity, of.webhooks)
    return (
        allow_within(
            ("PutItem",),
            (
                # A tenant's projects are counted.
                of.tenants,
                of.projects,
                of.issues,
                of.requests,
                of.users,
                of.journals,
                # The note that a user has just written under a change.
                of.changes,
                *what_people_save_and_say,
                of.jobs,
                of.job_parts,
                of.job_lines,
                of.outboxes,
                of.placements,
            ),
        ),
        # DynamoDB may judge an update or a delete of a transaction by the keys of all its writes. A view that is deleted
        # takes its manual order along, which is defined in the project's partition.
        allow_within(("UpdateItem",), (of.tenants, of.projects, of.issues, of.rates, of.jobs, of.outboxes)),
        allow_within(("DeleteItem",), (of.projects, of.issues, *what_people_save_and_say, of.outboxes)),
    )


class Command(FunctionSpec):
    """Everything that writes for a caller."""

    name = "command"
    description = "gridview: carries out the writes of callers"
    timeout_seconds = ANSWER_SECONDS
    memory_mib = 1769
    published = True
    traced = True

    grants = (*READS, *_writes(EVERY))
    session_grants = (
        allow_within(
            READ_OPERATIONS,
            (
                OWN.projects,
                OWN.issues,
                OWN.blocks,
                OWN.requests,
                OWN.users,
                OWN.journals,
                OWN.views,
                OWN.webhooks,
                # The contents of a message that is replayed.
                OWN.outboxes,
                OWN.comments,
                OWN.jobs,
                OWN.job_lines,
                OWN.placements,
                OWN.tenants,
                # The changes that an undo takes back or that such a message contains, and whether they are recorded yet.
                OWN.histories,
                OWN.changes,
                OWN.activity,
                OWN.notes,
                keys.LAG_OF_BEAT,
            ),
        ),
        # The last for the rows beside a place in a manual order.
        allow_within(("Query",), (OWN.projects, OWN_DIRECTORIES, OWN_ORDERS), on_index=True),
        *_writes(OWN),
    )

    @override
    def environment(self, parts: "Parts") -> Mapping[str, str | None]:
        settings = parts.settings
        rate = settings.writes_per_second
        return {
            "CURSOR_SECRET_ARN": parts.cursor_secret.arn,
            "WEBHOOK_SECRET_ARN": parts.webhook_secret.arn,
            "JOB_QUEUE_URL": parts.jobs.queue.queue_url,
            "WEBHOOK_QUEUE_URL": parts.webhooks.queue.queue_url,
            "SETTLE_SECONDS": str(SETTLE_SECONDS),
            "WRITES_PER_SECOND": str(rate) if rate else None,
            "PROJECTS_PER_TENANT": str(settings.projects_per_tenant),
            "STORED_FORM": str(settings.stored_form),
        }

    @override
    def permit(self, function: "GridFunction", parts: "Parts") -> None:
        """Let it read both secrets, and send hints at jobs and webhooks."""
        for secret in (parts.cursor_secret, parts.webhook_secret):
            secret.grant(function.role, "secretsmanager:GetSecretValue")
        parts.jobs.grant_send(function.role)
        parts.webhooks.grant_send(function.role)

    @override
    def event_sources(self, settings: "Settings") -> tuple[EventSource, ...]:
        del settings
        return (Endpoints(),)
