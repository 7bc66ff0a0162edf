"""The function that works in the background."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from gridview.encoding import keys
from infra.event_sources import EventSource, Hints, Schedule
from infra.function_spec import FunctionSpec
from infra.grants import READS, allow, allow_within
from infra.limits import BACKGROUND_SECONDS, SETTLE_SECONDS
from infra.partitions import EVERY

if TYPE_CHECKING:
    from infra.function import GridFunction
    from infra.parts import Parts
    from infra.settings import Settings

_BEAT: Final = Schedule(
    construct="Schedules",
    name="Beat",
    task="beat",
    times="cron(1/2 * * * ? *)",
    description="gridview: heartbeat of the upkeep function",
)
"""In the minutes in which jobs have none."""


class Upkeep(FunctionSpec):
    """Jobs of projects and users, folds of journals, and the check of the whole index."""

    name = "upkeep"
    description = "gridview: builds and sweeps in the background, and checks the index"
    timeout_seconds = BACKGROUND_SECONDS
    memory_mib = 1769
    recursive = True

    grants = (
        *READS,
        allow("Scan"),
        # Documents too: people have it change many issues.
        allow_within(
            ("PutItem", "DeleteItem"),
            (
                EVERY.projects,
                EVERY.issues,
                EVERY.blocks,
                EVERY.columns,
                EVERY.journals,
                EVERY.jobs,
                EVERY.job_parts,
                # Values of deleted attributes leave histories and remembered answers.
                EVERY.histories,
                EVERY.requests,
                EVERY.placements,
                keys.CHECK,
            ),
        ),
        allow_within(("PutItem",), (EVERY.job_lines, keys.BEAT, keys.CANARY)),
        # Batches that Lambda gave up: the history of their issues, and the list of deleted ones.
        allow_within(("BatchWriteItem",), (EVERY.histories, EVERY.activity, EVERY.changes)),
        allow_within(("PutItem",), (EVERY.trash,)),
        allow_within(
            ("DeleteItem",),
            (
                EVERY.views,
                EVERY.webhooks,
                EVERY.outboxes,
                EVERY.comments,
                EVERY.trash,
                EVERY.activity,
                EVERY.changes,
            ),
        ),
        # Leases are taken in place, and values of deleted attributes are taken out of documents. The writes of tenants are
        # counted, if they are limited.
        allow_within(
            ("UpdateItem",),
            (
                EVERY.projects,
                EVERY.issues,
                EVERY.journals,
                EVERY.job_lines,
                EVERY.rates,
                keys.CHECK,
                # The note of which canary GSI1 shows is beside that of the heartbeat.
                keys.LAG_OF_BEAT,
            ),
        ),
    )

    @override
    def environment(self, parts: "Parts") -> Mapping[str, str | None]:
        settings = parts.settings
        rate = settings.writes_per_second
        return {
            "JOB_QUEUE_URL": parts.jobs.queue.queue_url,
            "DEAD_LETTER_QUEUE_URL": parts.dead_letters.queue.queue_url,
            "FAILED_BATCHES_BUCKET": parts.dead_letters.bucket.bucket_name,
            "EXPORT_BUCKET": parts.exports.bucket.bucket_name,
            "USER_POOL_ID": parts.identity.pool.user_pool_id,
            "SETTLE_SECONDS": str(SETTLE_SECONDS),
            "WRITES_PER_SECOND": str(rate) if rate else None,
            "SINGLE_WORKER": "true" if settings.workers == 1 else None,
            "STORED_FORM": str(settings.stored_form),
            **settings.fold_environment,
        }

    @override
    def permit(self, function: "GridFunction", parts: "Parts") -> None:
        """Let it send dead letters, derive batches again, write exports, and look up the rights of the users of its jobs."""
        parts.dead_letters.grant_send(function.role)
        parts.dead_letters.grant_redrive(function.role)
        parts.exports.grant_write(function.role)
        parts.identity.pool.grant(function.role, "cognito-idp:AdminGetUser")
        parts.jobs.grant_send(function.role)

    @override
    def event_sources(self, settings: "Settings") -> tuple[EventSource, ...]:
        """Hints at jobs, each minute the task that sends a hint at each due job, and each night the check.

        EventBridge and Lambda deliver at least once and not always on time. A lease in the table gives each job a single worker, so
        ticks may overlap or repeat, and no concurrency is reserved. A failed check is an error and raises an alarm, and so does a
        missing one.

        A single worker has no hints, since Lambda takes no lower maximum for a queue than two: the minute's task does the work.
        In a small account it has the even minutes, and the single deliverer the odd ones, so that one of both works at a time.
        The heart beats in all.
        """
        return (
            *([Hints(queue="jobs", invocations=settings.workers)] if settings.workers > 1 else []),
            Schedule(
                construct="Schedules",
                name="Jobs",
                task="jobs",
                times="cron(0/2 * * * ? *)" if settings.small_account else "rate(1 minute)",
                description="gridview: jobs of the upkeep function",
            ),
            *([_BEAT] if settings.small_account else []),
            Schedule(
                construct="Schedules",
                name="Check",
                task="check",
                times=settings.check_schedule,
                description="gridview: check of the upkeep function",
            ),
        )
