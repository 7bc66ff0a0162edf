"""The function that delivers to webhooks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from typing_extensions import override

from infra.event_sources import EventSource, Hints, QueueName, Schedule
from infra.function_spec import FunctionSpec
from infra.grants import READS, allow_within
from infra.limits import BACKGROUND_SECONDS, WEBHOOK_BATCH
from infra.partitions import EVERY

if TYPE_CHECKING:
    from infra.function import GridFunction
    from infra.parts import Parts
    from infra.settings import Settings


class Deliver(FunctionSpec):
    """The changes of projects, sent to their webhooks."""

    name = "deliver"
    description = "gridview: sends the changes of projects to their webhooks"
    timeout_seconds = BACKGROUND_SECONDS
    # It waits for receivers most of the time, but TLS with ten of them at once takes a share of a CPU.
    memory_mib = 1024
    recursive = True

    grants = (
        *READS,
        # It disables webhooks whose receivers fail, and empties numbers of journals as `live` does.
        allow_within(("PutItem",), (EVERY.outboxes, EVERY.webhooks, EVERY.journals)),
        allow_within(("UpdateItem", "DeleteItem"), (EVERY.outboxes,)),
    )

    @override
    def environment(self, parts: "Parts") -> Mapping[str, str | None]:
        return {
            "WEBHOOK_SECRET_ARN": parts.webhook_secret.arn,
            "WEBHOOK_QUEUE_URL": parts.webhooks.queue.queue_url,
            "WEBHOOK_RETRY_QUEUE_URL": parts.retries.queue.queue_url,
            # A look-up of a name that hangs is over before the time for an attempt is.
            "RES_OPTIONS": "timeout:1 attempts:2",
            "SINGLE_WORKER": "true" if parts.settings.deliverers == 1 else None,
        }

    @override
    def permit(self, function: "GridFunction", parts: "Parts") -> None:
        """Let it read the secret that seals the secrets of webhooks."""
        parts.webhook_secret.grant(function.role, "secretsmanager:GetSecretValue")
        parts.webhooks.grant_send(function.role)
        parts.retries.grant_send(function.role)

    @override
    def event_sources(self, settings: "Settings") -> tuple[EventSource, ...]:
        """Hints at webhooks, and each minute the task that sends a hint at each due outbox. The next minute is the retry.

        A single deliverer has no hints, as a single worker has none. In a small account it has the odd minutes, and the worker
        the even ones.
        """
        most, several = settings.deliverers, settings.deliverers > 1
        queues: tuple[QueueName, ...] = ("webhooks", "retries") if several else ()
        return (
            *(Hints(queue=queue, invocations=most, batch=WEBHOOK_BATCH) for queue in queues),
            Schedule(
                construct="DeliverySchedule",
                name="Webhooks",
                task="webhooks",
                times="cron(1/2 * * * ? *)" if settings.small_account else "rate(1 minute)",
                description="gridview: webhooks of the deliver function",
            ),
        )
