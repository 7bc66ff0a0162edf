"""The schedules of the functions that work in the background."""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from infra.function import GridFunction

_OLDEST = Duration.minutes(1)


def _schedule(
    scope: Construct, name: str, function: GridFunction, task: str, schedule: events.Schedule
) -> None:
    target = targets.LambdaFunction(
        function.live,
        event=events.RuleTargetInput.from_object({"task": task}),
        retry_attempts=0,
        max_event_age=_OLDEST,
    )
    description = f"gridview: {task} of the {function.folder} function"
    events.Rule(scope, name, description=description, schedule=schedule, targets=[target])


class DeliverySchedule(Construct):
    """Each minute `{"task": "webhooks"}`: it sends a hint at each due outbox to the queues. As with upkeep, nobody retries."""

    def __init__(self, scope: Construct, construct_id: str, *, deliver: GridFunction) -> None:
        super().__init__(scope, construct_id)
        deliver.function.configure_async_invoke(retry_attempts=0, max_event_age=_OLDEST)
        _schedule(self, "Webhooks", deliver, "webhooks", events.Schedule.rate(Duration.minutes(1)))


class UpkeepSchedules(Construct):
    """Each minute `{"task": "jobs"}`, each night `{"task": "check"}`.

    The first sends a hint at each due job to the queue, whose messages invoke the function too (`job_queue`). EventBridge and
    Lambda deliver at least once and not always on time. A lease in the table gives each job a single worker, so ticks may overlap
    or repeat, and no concurrency is reserved. Neither EventBridge nor Lambda retries, and an event that waited for a minute is
    dropped: the next tick finds the same jobs. The check shares that setting, because it is the function's: a failed check is an
    error and raises an alarm, and so does a missing one.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, upkeep: GridFunction, check_schedule: str
    ) -> None:
        super().__init__(scope, construct_id)
        upkeep.function.configure_async_invoke(retry_attempts=0, max_event_age=_OLDEST)
        _schedule(self, "Jobs", upkeep, "jobs", events.Schedule.rate(Duration.minutes(1)))
        _schedule(self, "Check", upkeep, "check", events.Schedule.expression(check_schedule))
