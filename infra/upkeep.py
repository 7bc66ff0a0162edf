"""When the upkeep function runs."""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from infra.function import GridFunction


class UpkeepSchedules(Construct):
    """Each minute `{"task": "jobs"}`, each night `{"task": "check"}`.

    EventBridge and Lambda deliver at least once and not always on time. A lease in the table sees to it that a job has one
    worker, so that ticks may overlap or come twice, and no concurrency is reserved. Nothing is retried either, neither by
    EventBridge nor by Lambda, and what waited for a minute is dropped: the next tick finds the same jobs and goes on where the
    last one got, while retries would pile up behind one that fails for a reason of its own. The check shares that setting (it is
    the function's): a failed one is an error, and an alarm; a missing one is an alarm too.
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
