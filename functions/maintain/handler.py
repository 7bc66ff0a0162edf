"""The stream consumer: derives data from a batch of changed issues, and reports the first record that failed.

The records of issues that the table refuses for the moment go to the bucket of waiting batches, and count as done.
"""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from gridview.api.config import required, stack_metrics, stack_transport, use_fold_pace, use_forms
from gridview.derive.images import Poison, projects_in
from gridview.dynamodb.table import Table
from gridview.live.delivery_hints import DeliveryHints
from gridview.maintenance import redrive
from gridview.maintenance.batch_bucket import BatchBucket, Batches
from gridview.maintenance.dead_letters import DeadLetters
from gridview.maintenance.fold_wakes import Wakes
from gridview.maintenance.job_queue import JobQueue
from gridview.maintenance.stream_consumer import consume
from gridview.maintenance.waiting import Records, of_table
from gridview.schema.store import Catalogs
from gridview.view.freshness import Notes

use_forms()
use_fold_pace()
logger = Logger()
metrics = stack_metrics()
table = Table(required("TABLE_NAME"), transport=stack_transport(logger))
table.connect()
catalogs = Catalogs()
dead_letters = DeadLetters(required("DEAD_LETTER_QUEUE_URL"))
batches: Batches = BatchBucket(required("FAILED_BATCHES_BUCKET"))
job_queue = JobQueue(required("JOB_QUEUE_URL"))
notes = Notes()
wakes = Wakes(lambda hint: job_queue.send(hint))
webhook_queue = JobQueue(required("WEBHOOK_QUEUE_URL"))
delivery_hints = DeliveryHints(lambda hint: webhook_queue.send(hint))


def _send(poison: Poison) -> None:
    logger.error("poison issue", extra=poison._asdict())
    metrics.add_metric(name="DeadLetters", unit=MetricUnit.Count, value=1)
    dead_letters.send(poison)


def _hand_over(records: Records) -> None:
    redrive.hand_over(batches, records)
    logger.warning("throttled records put into the bucket", extra={"records": len(records)})
    metrics.add_metric(name="ThrottledRecords", unit=MetricUnit.Count, value=len(records))


def _own(records: Records) -> Records:
    """Return the records of this table. A deployment after a restore changes the table before the stream."""
    own = of_table(records, table.name)
    if lost := len(records) - len(own):
        logger.warning("dropped records of a table that was replaced", extra={"records": lost})
        metrics.add_metric(name="LostRecords", unit=MetricUnit.Count, value=lost)
    return own


def _note(records: Records) -> None:
    """Note the lag of the index. The batch is done, whether or not the note is written."""
    try:
        notes.note(table, records)
    except Exception:
        logger.exception("could not write the note of the lag")


def _wake_folds(records: Records) -> None:
    """Have the journals folded in which enough waits. If that fails, the next minute does it."""
    try:
        wakes.look(table, catalogs, records)
    except Exception:
        logger.exception("could not send the hint for a fold")


def _hint_at_deliveries(records: Records) -> None:
    """Have the changes delivered to webhooks. If that fails, they are looked at within minutes."""
    try:
        delivery_hints.look(table, catalogs, records)
    except Exception:
        logger.exception("could not send the hints for webhooks")


def _of_other_projects(records: Records, waiting: Records) -> list[Mapping[str, Any]]:
    """Return the records of projects of which no record waits: the index of the others lags."""
    lagging = {*projects_in(waiting)}
    return [one for one in records if not lagging.intersection(projects_in([one]))]


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], _: LambdaContext) -> dict[str, Any]:
    """Process a DynamoDB stream event; returns a partial batch response."""
    metrics.add_metric(name="Records", unit=MetricUnit.Count, value=len(event["Records"]))
    records = _own(event["Records"])
    waiting: list[Mapping[str, Any]] = []

    def hand_over(some: Records) -> None:
        _hand_over(some)
        waiting.extend(some)

    failed = consume(table, catalogs, records, _send, hand_over)
    if failed is None:
        _hint_at_deliveries(records)
        _note(_of_other_projects(records, waiting))
        _wake_folds(records)
        return {"batchItemFailures": []}
    logger.warning("batch not finished", extra={"first_failed": failed})
    return {"batchItemFailures": [{"itemIdentifier": failed}]}
