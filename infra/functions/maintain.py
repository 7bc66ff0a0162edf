"""The function that derives the index: the stream's consumer."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import override

from gridview.encoding import keys
from infra.event_sources import EventSource, StreamRecords
from infra.function_spec import FunctionSpec
from infra.grants import READS_OF_TABLE, allow_within, never_written
from infra.limits import BACKGROUND_SECONDS, MAX_RECORD_AGE_HOURS, RETRIES
from infra.partitions import EVERY

if TYPE_CHECKING:
    from infra.function import GridFunction
    from infra.parts import Parts
    from infra.settings import Settings

_DOCUMENT: Final = "fields"
"""The attribute that every issue document has, and no item that is derived from one."""

_WAKING: Final[tuple[Mapping[str, Any], ...]] = (
    # Issue documents. Derived items have other keys, so the consumer never triggers itself.
    {
        "dynamodb": {
            "Keys": {
                keys.PK: {"S": [{"prefix": keys.ISSUE_PREFIX}]},
                keys.SK: {"S": [{"prefix": keys.PROJECT_PREFIX}]},
            }
        }
    },
    # The heartbeat.
    {"dynamodb": {"Keys": {keys.PK: {"S": [keys.BEAT]}}}},
)


class Maintain(FunctionSpec):
    """The index and the history, derived from the stream of issue documents."""

    name = "maintain"
    description = "gridview: derives the index from the stream of issue documents"
    timeout_seconds = BACKGROUND_SECONDS
    memory_mib = 1769

    grants = (
        READS_OF_TABLE,
        allow_within(("PutItem",), (EVERY.issues, EVERY.notes, EVERY.journals, EVERY.trash, EVERY.requests)),
        allow_within(("UpdateItem",), (EVERY.journals, keys.LAG_OF_BEAT)),
        allow_within(("DeleteItem",), (EVERY.trash, EVERY.histories, EVERY.comments, EVERY.activity)),
        allow_within(("BatchWriteItem",), (EVERY.histories, EVERY.activity, EVERY.changes)),
        # A document and the items derived from it share a partition key.
        never_written(("PutItem",), (_DOCUMENT,)),
    )

    @override
    def environment(self, parts: "Parts") -> Mapping[str, str | None]:
        settings = parts.settings
        return {
            "JOB_QUEUE_URL": parts.jobs.queue.queue_url,
            "WEBHOOK_QUEUE_URL": parts.webhooks.queue.queue_url,
            "DEAD_LETTER_QUEUE_URL": parts.dead_letters.queue.queue_url,
            "FAILED_BATCHES_BUCKET": parts.dead_letters.bucket.bucket_name,
            "STORED_FORM": str(settings.stored_form),
            **settings.fold_environment,
        }

    @override
    def permit(self, function: "GridFunction", parts: "Parts") -> None:
        """Let it send dead letters, and hints at jobs and webhooks, and hand over batches."""
        parts.dead_letters.grant_send(function.role)
        parts.dead_letters.grant_hand_over(function.role)
        parts.jobs.grant_send(function.role)
        parts.webhooks.grant_send(function.role)

    @override
    def event_sources(self, settings: "Settings") -> tuple[EventSource, ...]:
        """The stream. `limits` explains its retries and the records' maximum age.

        By default two batches of a shard run at once. Lambda keeps the order of each item's records even so, and the
        consumer needs no more: it derives state from state, each issue by itself.

        A new table has four shards and sustains 4,000 writes a second, which are 400 issues of ten writes. One batch
        derives 130 of them a second (ten writes of 6 ms, eight threads). So eight batches outrun the table, and they
        leave two invocations to a new account that has ten. An order is one partition of GSI1 and takes 1,000 writes
        a second. Many more batches would be throttled there, and with them the users' own writes. Records of issues
        that are throttled leave the shard (decision 0075).
        """
        return (
            StreamRecords(
                construct="Stream",
                filters=_WAKING,
                starting_position="TRIM_HORIZON",
                batches_per_shard=settings.parallelization,
                retries=RETRIES,
                oldest_seconds=MAX_RECORD_AGE_HOURS * 3600,
                keeps_failures=True,
            ),
        )
