"""Upkeep: the background work. Schedules and a queue invoke it."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from gridview.api.config import (
    required,
    stack_metrics,
    stack_transport,
    use_fold_pace,
    use_forms,
    works_alone,
    writes_per_second,
)
from gridview.chains.fence_cache import Fences
from gridview.commands.write_rate import WriteRate
from gridview.derive.images import Poison
from gridview.dynamodb.table import Table
from gridview.fsck import nightly
from gridview.fsck.progress import Finding, Tally
from gridview.maintenance import redrive
from gridview.maintenance.batch_bucket import BatchBucket, Batches
from gridview.maintenance.dead_letters import DeadLetters
from gridview.maintenance.job_queue import JobQueue, hint_in
from gridview.maintenance.job_worker import Worker, due_jobs, fold_overdue
from gridview.maintenance.stream_consumer import derive_again
from gridview.maintenance.waiting import Batch
from gridview.schema.jobs import Hint, Turn
from gridview.schema.store import Catalogs
from gridview.schema.user_jobs import JobKind
from gridview.support.errors import Overloaded
from gridview.view.beats import Canary, Heart

_RESERVE = 15.0
"""No new piece of work begins in these last seconds of an invocation: more than the longest piece should take."""

use_forms()
use_fold_pace()
logger = Logger()
metrics = stack_metrics()
table = Table(required("TABLE_NAME"), transport=stack_transport(logger))
table.connect()
catalogs = Catalogs()
fences = Fences()
heart = Heart()
canary = Canary()
dead_letters = DeadLetters(required("DEAD_LETTER_QUEUE_URL"))
job_queue = JobQueue(required("JOB_QUEUE_URL"))
batches: Batches = BatchBucket(required("FAILED_BATCHES_BUCKET"))
settling = float(required("SETTLE_SECONDS"))
export_bucket = required("EXPORT_BUCKET")
alone = works_alone()
user_pool = os.environ.get("USER_POOL_ID", "")
"""Empty on a local stack, whose tokens anyone can make: there is nobody to look up."""

_JOBS_SHARE = 0.5
"""The jobs' share of a tenant's writes, if they are limited: once half of a window's writes are made, the
rest is only for people.
"""


def _uncounted() -> None:
    metrics.add_metric(name="UncountedWrites", unit=MetricUnit.Count, value=1)


rate = WriteRate(writes_per_second(), _uncounted, _JOBS_SHARE)


def hint_at_jobs(context: LambdaContext) -> dict[str, Any]:
    """Send a hint at each due job to the queue, whose messages invoke this function for a turn of work each; then beat.

    The rest of the time is for batches that wait.
    """
    if alone:
        return work_alone(context)
    hints = list(due_jobs(table))
    _report_overdue(fold_overdue(hints))
    for hint in hints:
        job_queue.send(hint)
    metrics.add_metric(name="JobsDue", unit=MetricUnit.Count, value=len(hints))
    _beat()
    return {"due": len(hints), **redrive_batches(_remaining(context))}


def work_alone(context: LambdaContext) -> dict[str, Any]:
    """Beat, and work on the due jobs until none is left or the time is up. A small account has no other worker.

    Batches that wait come first, and take half of the time at most.
    """
    _beat()
    _report_overdue(fold_overdue(due_jobs(table)))
    remaining = _remaining(context)
    half = remaining() / 2
    redriven = redrive_batches(lambda: remaining() - half)
    worked = _worker(context).work(_report_turn)
    metrics.add_metric(name="IssuesProcessed", unit=MetricUnit.Count, value=worked.issues)
    return {**worked._asdict(), **redriven}


def redrive_batches(remaining: Callable[[], float]) -> dict[str, int]:
    """Derive again what the stream consumer could not. Returns the outcome, or nothing if nothing was due."""
    try:
        done = redrive.redrive(batches, _derive_again, _send, remaining, _report_crash)
    except Overloaded:
        logger.warning("the waiting batches cannot be read", exc_info=True)
        return {}
    if not any(done):
        return {}
    logger.info("batches derived again", extra=done._asdict())
    return {f"batches_{name}": count for name, count in done._asdict().items()}


def _derive_again(batch: Batch) -> Batch:
    own = batch.of_table(table.name)
    if lost := len(batch.records) - len(own.records):
        logger.warning("dropped records of a table that was replaced", extra={"records": lost})
        metrics.add_metric(name="LostRecords", unit=MetricUnit.Count, value=lost)
    return derive_again(table, catalogs, own, _send)


def _report_crash(_: Exception) -> None:
    logger.exception("a waiting batch cannot be derived")
    metrics.add_metric(name="RedriveCrashes", unit=MetricUnit.Count, value=1)


def beat(context: LambdaContext) -> dict[str, Any]:
    """Beat, in the minutes in which a small account has no time for jobs."""
    del context
    _beat()
    return {}


def _beat() -> None:
    """Show that upkeep runs, and look how late GSI1 is."""
    heart.beat(table)
    age = canary.look(table)
    if age is not None:
        metrics.add_metric(name="CanaryAge", unit=MetricUnit.Seconds, value=age)


def _report_overdue(seconds: float) -> None:
    """Idle stacks write no metric: it is paid for by the hour."""
    if seconds > 0:
        metrics.add_metric(name="FoldOverdue", unit=MetricUnit.Seconds, value=seconds)


def begin_check(context: LambdaContext) -> dict[str, Any]:
    """Request a check of the whole table; it is among the jobs from then on."""
    del context
    begun = nightly.begin(table)
    if not begun:
        logger.warning("the last check is still in progress")
    return {"begun": begun}


def take_turns(records: Sequence[dict[str, Any]], context: LambdaContext) -> dict[str, Any]:
    """Work for a turn on each job that these messages hint at, and send the hints to continue with."""
    worker = _worker(context)
    worked_on = {"jobs": 0, "issues": 0}
    for record in records:
        hint = hint_in(record["body"])
        turn = worker.take_turn(hint)
        if turn is not None:
            worked_on = {"jobs": worked_on["jobs"] + 1, "issues": worked_on["issues"] + turn.issues}
            _report_turn(hint, turn)
            for following in turn.hints:
                job_queue.send(following)
    metrics.add_metric(name="IssuesProcessed", unit=MetricUnit.Count, value=worked_on["issues"])
    return worked_on


def _remaining(context: LambdaContext) -> Callable[[], float]:
    return lambda: context.get_remaining_time_in_millis() / 1000 - _RESERVE


def _worker(context: LambdaContext) -> Worker:
    return Worker(
        table,
        catalogs,
        _remaining(context),
        _send,
        settling=settling,
        fences=fences,
        check=_go_on_with_check,
        lines=_take_turn_of_line,
    )


def _report_turn(hint: Hint, turn: Turn) -> None:
    logger.info("worked on a job", extra={"partition": hint.partition, "issues": turn.issues})
    _report_overdue(turn.overdue)
    if turn.refusals:
        metrics.add_metric(name="JobFailures", unit=MetricUnit.Count, value=turn.refusals)


def _send(poison: Poison) -> None:
    logger.error("poison issue", extra=poison._asdict())
    metrics.add_metric(name="DeadLetters", unit=MetricUnit.Count, value=1)
    dead_letters.send(poison)


def _go_on_with_check(hint: Hint, remaining: Callable[[], float]) -> Turn | None:
    return nightly.go_on(table, hint, remaining, _report_difference, _report_tally)


def _take_turn_of_line(hint: Hint, remaining: Callable[[], float]) -> Turn | None:
    # Only these jobs need the modules of queries, and most containers see none.
    from gridview.maintenance.bulk import BulkChanges
    from gridview.maintenance.export import Exports
    from gridview.maintenance.export_files import ExportFiles
    from gridview.maintenance.job_line import LineWorker, Works
    from gridview.maintenance.job_rights import role_source
    from gridview.maintenance.undo_job import UndoChanges

    changes = BulkChanges(table, catalogs, rate)
    works: Works = {
        JobKind.UPDATE: changes,
        JobKind.DELETE: changes,
        JobKind.UNDO: UndoChanges(table, catalogs, rate),
        JobKind.EXPORT: Exports(table, catalogs, ExportFiles(export_bucket)),
    }
    return LineWorker(table, works, role_source(user_pool)).take_turn(hint, remaining)


def _report_difference(finding: Finding) -> None:
    for one in finding.differences:  # without the found and expected values, which are values of the issue
        logger.error("index differs", extra={"issue": one.key, "kind": one.kind.value, "place": one.place})


def _report_tally(tally: Tally) -> None:
    logger.info("checked", extra=tally.counts)
    metrics.add_metric(name="FsckDifferences", unit=MetricUnit.Count, value=tally.differences)
    metrics.add_metric(name="FsckIssues", unit=MetricUnit.Count, value=tally.issues)
    metrics.flush_metrics()  # before the check's items are deleted


TASKS = {"jobs": hint_at_jobs, "beat": beat, "check": begin_check}


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Run the task of a schedule (`{"task": "jobs"}`, `beat` or `check`), or work after the queue's messages;
    returns a summary.
    """
    if "Records" in event:
        return take_turns(event["Records"], context)
    return TASKS[event["task"]](context)
