"""Deliver: sends the changes of projects to their webhooks. A schedule and two queues invoke it."""

from collections import Counter
from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from gridview.api.config import (
    required,
    stack_metrics,
    stack_transport,
    webhooks_to_localhost,
    works_alone,
)
from gridview.api.sealing import WebhookSeals
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.live.deliveries import TURN, Delivered, DeliveryMeans, take_turn
from gridview.live.outbox_store import due_outboxes
from gridview.live.sending import SECONDS, Sender
from gridview.maintenance.job_queue import JobQueue, hint_in
from gridview.schema.jobs import Hint
from gridview.schema.store import Catalogs
from gridview.support.concurrency import in_threads

_RESERVE = SECONDS + 10.0
"""No message is sent any more in these last seconds of an invocation: more than one can take, with all that
is remembered of it.
"""

_AT_ONCE = 10
"""Outboxes that are worked on at once: as many hints as an invocation is given."""

_SLOW = 1
"""The part that a hint names which comes through the slow queue."""

logger = Logger()
metrics = stack_metrics()
table = Table(required("TABLE_NAME"), transport=stack_transport(logger))
table.connect()
catalogs = Catalogs()
webhook_seals = WebhookSeals()
webhook_seals.prime()
sender = Sender(localhost=webhooks_to_localhost())
webhook_queue = JobQueue(required("WEBHOOK_QUEUE_URL"))
retry_queue = JobQueue(required("WEBHOOK_RETRY_QUEUE_URL"))
alone = works_alone()


def hint_at_outboxes(context: LambdaContext) -> dict[str, Any]:
    """Send a hint at each due outbox to one of the queues, whose messages invoke this function."""
    if alone:
        return deliver_alone(context)
    due = due_outboxes(table)
    for hint, slow in due:
        _hint_at(hint, slow)
    return {"due": len(due)}


def _hint_at(hint: Hint, slow: bool) -> None:
    """Webhooks whose receivers fail or answer slowly have a queue of their own, where they delay no quick one."""
    if slow:
        retry_queue.send(hint._replace(part=_SLOW))
    else:
        webhook_queue.send(hint)


def deliver_alone(context: LambdaContext) -> dict[str, Any]:
    """Work on the due outboxes until none is left or the time is up, in the order of `in_turns`.

    A small account has no other deliverer.
    """
    done = Delivered()
    while _left(context) > _RESERVE:
        turn = take_turns(in_turns(due_outboxes(table)), context)
        # The index may still list an outbox that was just delivered.
        if not any(turn):
            break
        done = Delivered.total((done, turn))
    return done._asdict()


def in_turns(due: Iterable[tuple[Hint, bool]]) -> list[tuple[str, bool]]:
    """Return due outboxes, quick receivers first, and of these the first of each tenant before the second of any."""
    seen: Counter[tuple[str, bool]] = Counter()
    ranked: list[tuple[bool, int, str]] = []
    for hint, slow in due:
        group = keys.parse_tenant(hint.partition), slow
        ranked.append((slow, seen[group], hint.partition))
        seen[group] += 1
    ranked.sort(key=itemgetter(0, 1))
    return [(partition, slow) for slow, _, partition in ranked]


def take_turns(outboxes: Iterable[tuple[str, bool]], context: LambdaContext) -> Delivered:
    """Work for a turn on each of these outboxes, in parallel: partitions, and whether the receiver is slow."""
    means = DeliveryMeans(table, catalogs, sender, webhook_seals, _hint_at)
    end = max(_left(context) - TURN, _RESERVE)

    def left() -> float:
        return _left(context) - end

    def turn(hint: tuple[str, bool]) -> Delivered | Exception:
        partition, slow = hint
        try:
            return take_turn(means, partition, left, slow=slow)
        except Exception as error:
            logger.exception("a turn of deliveries failed", extra={"partition": partition})
            return error

    results = in_threads(turn, dict.fromkeys(outboxes), _AT_ONCE)
    done = Delivered.total(one for one in results if isinstance(one, Delivered))
    if any(done):
        _count(done)
    for error in results:
        if isinstance(error, Exception):
            raise error
    return done


def _left(context: LambdaContext) -> float:
    """Return the seconds until the invocation is ended."""
    return context.get_remaining_time_in_millis() / 1000


def _count(done: Delivered) -> None:
    """Publish the outcome of an invocation. One that sent nothing publishes nothing: each metric is paid for
    by the hour.
    """
    for name, value in (
        ("WebhookAttempts", done.attempts),
        ("WebhookFailures", done.failures),
        ("DeliveriesGivenUp", done.given_up),
        ("WebhooksDisabled", done.disabled),
    ):
        metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)
    metrics.flush_metrics()


@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Run the schedule's `{"task": "webhooks"}`, or work after a queue's messages; returns a summary."""
    if "Records" in event:
        hints = map(hint_in, (record["body"] for record in event["Records"]))
        return take_turns([(hint.partition, hint.part == _SLOW) for hint in hints], context)._asdict()
    return hint_at_outboxes(context)
