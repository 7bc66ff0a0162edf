"""The schedules of functions."""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from infra.event_sources import Schedule
from infra.function import GridFunction

_OLDEST = Duration.minutes(1)
"""An event that waited for so long is dropped."""


def no_retries(function: GridFunction) -> None:
    """Let Lambda drop an event that the function fails at: the next one finds the same work. All tasks of a function share that."""
    function.function.configure_async_invoke(retry_attempts=0, max_event_age=_OLDEST)


def schedule(scope: Construct, function: GridFunction, source: Schedule) -> None:
    """Send the task's event to the function at its times. EventBridge does not retry."""
    target = targets.LambdaFunction(
        function.live,
        event=events.RuleTargetInput.from_object({"task": source.task}),
        retry_attempts=0,
        max_event_age=_OLDEST,
    )
    events.Rule(
        scope,
        source.name,
        description=source.description,
        schedule=events.Schedule.expression(source.times),
        targets=[target],
    )
