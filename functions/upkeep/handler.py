"""Upkeep: the background work, invoked by schedules."""

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from gridview.api.config import required, stack_metrics
from gridview.dynamodb.table import Table
from gridview.fsck import nightly
from gridview.fsck.progress import Finding, Tally
from gridview.index.dead_letters import DeadLetters
from gridview.index.fence_cache import Fences
from gridview.index.images import Poison
from gridview.maintenance.job_worker import Worker
from gridview.schema.store import Catalogs

_RESERVE = 15.0
"""No new piece of work begins in these last seconds of an invocation: more than the longest piece should take."""

logger = Logger()
metrics = stack_metrics()
table = Table(required("TABLE_NAME"))
table.connect()
catalogs = Catalogs()
fences = Fences()
dead_letters = DeadLetters(required("DEAD_LETTER_QUEUE_URL"))
settling = float(required("SETTLE_SECONDS"))


def _send(poison: Poison) -> None:
    logger.error("poison issue", extra=poison._asdict())
    metrics.add_metric(name="DeadLetters", unit=MetricUnit.Count, value=1)
    dead_letters.send(poison)


def work_on_jobs(context: LambdaContext) -> dict[str, Any]:
    """Continue the background work of all projects until the invocation's time is up."""

    def remaining() -> float:
        return context.get_remaining_time_in_millis() / 1000 - _RESERVE

    worked = Worker(
        table, catalogs, remaining, _send, settling=settling, fences=fences, check=_go_on_with_check
    ).work()
    metrics.add_metric(name="PassedOver", unit=MetricUnit.Count, value=worked.issues)
    if worked.refusals:
        metrics.add_metric(name="JobRefusals", unit=MetricUnit.Count, value=worked.refusals)
    if worked.jobs:
        logger.info("worked on jobs", extra=worked._asdict())
    return worked._asdict()


def begin_check(_: LambdaContext) -> dict[str, Any]:
    """Request a check of the whole table; the invocations that work on jobs carry it out."""
    begun = nightly.begin(table)
    if not begun:
        logger.warning("the last check is still in progress")
    return {"begun": begun}


def _go_on_with_check(remaining: Callable[[], float]) -> bool:
    return nightly.go_on(table, remaining, _tell_difference, _tell_checked)


def _tell_difference(finding: Finding) -> None:
    for one in finding.differences:  # without the found and expected values: those are values of the issue
        logger.error("index differs", extra={"issue": one.key, "kind": one.kind.value, "place": one.place})


def _tell_checked(tally: Tally) -> None:
    counts = {name: count for name, count in tally.to_state().items() if name not in ("suspects", "visits")}
    logger.info("checked", extra=counts)
    metrics.add_metric(name="FsckDifferences", unit=MetricUnit.Count, value=tally.differences)
    metrics.add_metric(name="FsckIssues", unit=MetricUnit.Count, value=tally.issues)
    metrics.flush_metrics()  # before the check's item is deleted


TASKS = {"jobs": work_on_jobs, "check": begin_check}


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Run `{"task": "jobs"}` or `{"task": "check"}`; returns a summary of the work."""
    return TASKS[event["task"]](context)
