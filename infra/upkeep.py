"""The schedules of the upkeep function."""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from infra.function import GridFunction


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
        oldest = Duration.minutes(1)
        upkeep.function.configure_async_invoke(retry_attempts=0, max_event_age=oldest)
        for name, task, schedule in (
            ("Jobs", "jobs", events.Schedule.rate(Duration.minutes(1))),
            ("Check", "check", events.Schedule.expression(check_schedule)),
        ):
            target = targets.LambdaFunction(
                upkeep.live,
                event=events.RuleTargetInput.from_object({"task": task}),
                retry_attempts=0,
                max_event_age=oldest,
            )
            events.Rule(
                self,
                name,
                description=f"gridview: {task} of the upkeep function",
                schedule=schedule,
                targets=[target],
            )
