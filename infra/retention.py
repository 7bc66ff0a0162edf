"""How CloudFormation treats data and logs when their stack, or they themselves, are removed."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.settings import Settings

_KEPT = {14: logs.RetentionDays.TWO_WEEKS, 90: logs.RetentionDays.THREE_MONTHS}


def data_policy(settings: Settings) -> RemovalPolicy:
    """Data outlive their stack, except one whose creation failed: nothing is in them yet, and they would bar the next attempt."""
    return RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE if settings.protect else RemovalPolicy.DESTROY


def log_group(scope: Construct, construct_id: str, settings: Settings) -> logs.LogGroup:
    """A log group that forgets after a while, and goes with its stack."""
    return logs.LogGroup(
        scope, construct_id, retention=_KEPT[settings.log_days], removal_policy=RemovalPolicy.DESTROY
    )
