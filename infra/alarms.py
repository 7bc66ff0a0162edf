"""The alarms. Each has its meaning and a command to run."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from aws_cdk import Aws, CfnCondition, Duration, Fn, RemovalPolicy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from gridview.encoding import keys
from infra.checks import acknowledge
from infra.dead_letters import DeadLetters
from infra.front import Front
from infra.function import GridFunction
from infra.functions import FUNCTIONS
from infra.ingress import TOO_MANY, Ingress
from infra.job_queue import JobQueue
from infra.paths import RUNBOOK
from infra.settings import Settings
from infra.socket_api import SocketApi
from infra.table import GridTable

LAG_SECONDS = 300
"""How many seconds the grid's orders may lag the issues.

An import lags by seconds; minutes mean a stuck shard or too little capacity.
"""

PUSH_SECONDS = 30
"""How many seconds late sockets may receive changes."""

NEAR_TIMEOUT = 0.75
"""The fraction of its timeout that an invocation of the consumer may take."""

LATENCY_SECONDS = 3
"""The limit of the API's p99 latency; this includes batches of 500 operations."""

SERVER_ERRORS = 10
"""5xx answers in five minutes that raise an alarm. One or two may be a lost container."""

UNCOUNTED = 100
"""Writes in five minutes that the rate of writes did not count.

A few are a tenant's busy count; so many are a rate that limits no one.
"""

CALLERS_REFUSED = 100
"""Requests or attempts to connect, refused in five minutes, that raise an alarm. A user at a limit of their own causes a few."""

PAGE_ERRORS = 5
"""Percent of CloudFront's answers in a minute that are 5xx."""

FOLD_SECONDS = 900
"""Seconds after which a fold that is due should have been done: as long again as it may wait for company."""

INDEX_SECONDS = 90
"""The age at which the newest canary in GSI1 is late: upkeep puts one each minute, and looks for up to a second."""

REFUSALS = 20
"""Times in succession that a job could not go on. It is tried again after seconds, so one or two are a busy table."""

_MINUTE = Duration.minutes(1)
_FIVE_MINUTES = Duration.minutes(5)
_DAY = Duration.days(1)

_AT_LEAST = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
_BELOW = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD

# The meaning of missing data, which differs from metric to metric.
_IDLE = cloudwatch.TreatMissingData.NOT_BREACHING
"""Nothing happened, so nothing went wrong."""
_AS_BEFORE = cloudwatch.TreatMissingData.IGNORE
"""Without data, the last state still holds."""
_SILENT = cloudwatch.TreatMissingData.BREACHING
"""The metric must report all the time, so missing data is the fault."""

_OPERATIONS = (
    "GetItem",
    "BatchGetItem",
    "Query",
    "Scan",
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "BatchWriteItem",
    "TransactWriteItems",
)
"""The DynamoDB operations that the functions use."""

STACK = "$STACK"
"""The stack's name in the commands of rules. An alarm has the name itself there, since operators copy its text."""

CLOUDFRONT_REGION = "us-east-1"
"""The region that has CloudFront's metrics. An alarm can only watch metrics of its own."""

_DEPLOYED = f"--deployed --stack-name {STACK}"
_LIST = f"`./dev dlq list {_DEPLOYED}`"
_REDRIVE = f"`./dev dlq redrive --all {_DEPLOYED}`"
_CHECK = f"`./dev fsck {_DEPLOYED}`"
_REPAIR = f"`./dev fsck {_DEPLOYED} --repair`"
_JOBS = f"`./dev jobs {_DEPLOYED}`"
_JOURNALS = f"`./dev journal list --all {_DEPLOYED}`"

_NOTICED_THROTTLES: Mapping[str, str] = {
    "query": "Callers: 5xx.",
    "command": "Callers: 5xx.",
    "live": "Callers: 5xx.",
    "socket": "Users of the page: it polls.",
    "deliver": "Receivers: late messages.",
    "maintain": "Users: sorted grids show old values.",
    "upkeep": "Users: jobs and builds are late.",
}
"""The people who notice that Lambda refuses to run a function, and their symptom."""

_NO_TLS = "An engine on this machine uses plain HTTP, on the loopback interface."


class Severity(StrEnum):
    """How soon an operator has to look."""

    NOW = "now"
    """Callers are refused, or data may be lost within hours."""
    TODAY = "today"
    """Something is late or wrong, and stays so until someone looks."""
    SOON = "soon"
    """Within days: nothing is lost by waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """An alarm without its actions. It goes off when all of the last `periods` periods are on the wrong side of
    `threshold`. `only_in`: the one region that has the metric; CloudFormation makes no alarm in others.
    `notices`, `logs`, `means` and `do` are those of `Advice`.
    """

    severity: Severity
    metric: cloudwatch.IMetric
    threshold: float
    periods: int = 1
    missing: cloudwatch.TreatMissingData = _IDLE
    wrong: cloudwatch.ComparisonOperator = _AT_LEAST
    few_samples: str | None = None
    only_in: str | None = None
    notices: str
    logs: str
    means: str
    do: str


class Advice(NamedTuple):
    """The row of an alarm in the runbook. Its commands name the stack `STACK`."""

    severity: Severity
    notices: str
    """The people who notice the fault, and their symptom."""
    logs: str
    """Functions, or `access` for the access log, each with the runbook's queries for its log group; `none`: no log shows it."""
    means: str
    do: str


class Alarms(Construct):
    """A topic and the alarms that publish to it.

    `groups` holds by subject the alarms that every region has, for the dashboard. `advice` holds the texts of each by
    its name, for the runbook.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        table: GridTable,
        functions: Mapping[str, GridFunction],
        mapping: lambda_.CfnEventSourceMapping,
        dead_letters: DeadLetters,
        ingress: Ingress,
        sockets: SocketApi,
        front: Front,
        jobs: JobQueue,
        webhooks: JobQueue,
    ) -> None:
        super().__init__(scope, construct_id)
        self.topic = self._make_topic(settings)
        rules = {
            "The index": _index_rules(functions["maintain"].function, mapping, dead_letters),
            "Upkeep": _upkeep_rules(functions["upkeep"].function, jobs, settings),
            "Sockets": _socket_rules(functions["socket"].function, sockets),
            "Webhooks": _webhook_rules(functions["deliver"].function, webhooks, settings),
            "API": _api_rules(functions, ingress, settings),
            "Lambda throttles": _throttle_rules(functions),
            "Page": _page_rules(front),
            "DynamoDB": _table_rules(table, settings),
        }
        self.advice = {
            name: Advice(rule.severity, rule.notices, rule.logs, rule.means, rule.do)
            for group in rules.values()
            for name, rule in group.items()
        }
        self._stack_name = settings.stack_name
        made = {
            title: [(self._make_alarm(name, rule), rule) for name, rule in group.items()]
            for title, group in rules.items()
        }
        # A dashboard cannot show an alarm that CloudFormation may leave out.
        shown = {
            title: [alarm for alarm, rule in group if rule.only_in is None] for title, group in made.items()
        }
        self.groups = {title: group for title, group in shown.items() if group}

    def _make_alarm(self, name: str, rule: _Rule) -> cloudwatch.Alarm:
        alarm = cloudwatch.Alarm(
            self,
            name,
            alarm_name=f"{Stack.of(self).stack_name}-{name}",
            alarm_description=f"Look {rule.severity}: {rule.means} {rule.do} {RUNBOOK}: {name}.".replace(
                STACK, self._stack_name
            ),
            metric=rule.metric,
            threshold=rule.threshold,
            comparison_operator=rule.wrong,
            evaluation_periods=rule.periods,
            datapoints_to_alarm=rule.periods,
            treat_missing_data=rule.missing,
            evaluate_low_sample_count_percentile=rule.few_samples,
        )
        if rule.only_in is not None:
            condition = CfnCondition(
                self, f"{name}InRegion", expression=Fn.condition_equals(Aws.REGION, rule.only_in)
            )
            resource = alarm.node.default_child
            assert isinstance(resource, cloudwatch.CfnAlarm)  # noqa: S101  what an Alarm is made of
            resource.cfn_options.condition = condition
        # No mail when an alarm clears: every deployment of a new stack would begin with one for each alarm.
        alarm.add_alarm_action(actions.SnsAction(self.topic))
        return alarm

    def _make_topic(self, settings: Settings) -> sns.Topic:
        # NOTE: a key of the stack, because the AWS-managed key for SNS lets no alarm publish, and its policy cannot
        # be changed.
        key = kms.Key(
            self,
            "Key",
            description="gridview: the topic that alarms are published to",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.DESTROY,
        )
        alarms = iam.ServicePrincipal("cloudwatch.amazonaws.com")
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[alarms], actions=["kms:Decrypt", "kms:GenerateDataKey*"], resources=["*"]
            )
        )
        topic = sns.Topic(self, "Topic", master_key=key, enforce_ssl=not settings.emulator)
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[alarms],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            )
        )
        if settings.emulator:
            acknowledge(topic, {"AwsSolutions-SNS3": _NO_TLS})
        if settings.alarm_email:
            topic.add_subscription(subscriptions.EmailSubscription(settings.alarm_email))
        return topic


def _index_rules(
    consumer: lambda_.Function, mapping: lambda_.CfnEventSourceMapping, dead_letters: DeadLetters
) -> dict[str, _Rule]:
    timeout = FUNCTIONS["maintain"].timeout_seconds
    return {
        "ConsumerLag": _Rule(
            severity=Severity.NOW,
            metric=_of_function(consumer, "IteratorAge", "Maximum", _MINUTE),
            threshold=LAG_SECONDS * 1000,
            periods=5,
            notices="Users: sorted grids show old values.",
            logs="maintain: errors, slow",
            means=f"For 5 minutes the consumer received records older than {LAG_SECONDS} s.",
            do="Check its errors, duration and throttles. After 12 hours Lambda gives up a record and puts it into "
            "the bucket.",
        ),
        "DeadLetters": _Rule(
            severity=Severity.TODAY,
            metric=dead_letters.queue.metric_approximate_number_of_messages_visible(period=_MINUTE),
            threshold=1,
            # An inactive queue reports nothing, but keeps its messages.
            missing=_AS_BEFORE,
            notices="Users: rows of those issues are missing or stale.",
            logs="maintain, upkeep: errors",
            means="Nothing can be derived from some issues.",
            do=f"Run {_LIST}. Remove the cause that it names, then run {_REDRIVE}. A message waits for 14 days.",
        ),
        "FailedBatches": _Rule(
            severity=Severity.TODAY,
            metric=_metric(
                "AWS/Lambda",
                "OnFailureDestinationDeliveredEventCount",
                {"EventSourceMappingUUID": mapping.ref},
            ),
            threshold=1,
            notices="Users, until upkeep is done: rows are stale.",
            logs="maintain, upkeep: errors",
            means="Lambda gave up a batch of records, which crashed or is older than 12 hours. Upkeep derives it again.",
            do=f"Run {_LIST}. After a day the rest becomes dead letters. {_REDRIVE} derives them now.",
        ),
        "FailedBatchesWaiting": _Rule(
            severity=Severity.TODAY,
            # S3 counts once a day, free of charge. The alarm above clears after minutes, but the batches remain.
            metric=_metric(
                "AWS/S3",
                "NumberOfObjects",
                {"BucketName": dead_letters.bucket.bucket_name, "StorageType": "AllStorageTypes"},
                "Maximum",
                _DAY,
            ),
            threshold=1,
            notices="Users: rows are missing or stale.",
            logs="upkeep: errors",
            means="The bucket has batches at the end of a day: upkeep has not derived them yet, or cannot read them.",
            do=f"Run {_LIST} and {_REDRIVE}.",
        ),
        "FailedBatchesLost": _Rule(
            severity=Severity.TODAY,
            metric=_of_function(consumer, "DestinationDeliveryFailures"),
            threshold=1,
            notices="Users: rows are missing or stale.",
            logs="maintain: errors",
            means="Lambda gave up stream records and could not put them into the bucket either.",
            do=f"Restore the role's s3:PutObject and s3:ListBucket, then run {_REPAIR}: it finds the lost changes.",
        ),
        "ConsumerErrors": _Rule(
            severity=Severity.TODAY,
            metric=_of_function(consumer, "Errors"),
            threshold=3,
            notices="Users, if it lasts: stale rows.",
            logs="maintain: errors",
            means="The consumer failed three times or more in 5 minutes. Lambda retries.",
            do="Read its log group.",
        ),
        "ConsumerSlow": _Rule(
            severity=Severity.TODAY,
            metric=_of_function(consumer, "Duration", "Maximum"),
            threshold=timeout * NEAR_TIMEOUT * 1000,
            periods=3,
            notices="Users, if it lasts: stale rows.",
            logs="maintain: slow, errors",
            means=f"For 15 minutes invocations of the consumer took more than {timeout * NEAR_TIMEOUT:.0f} of their "
            f"{timeout} s.",
            do="Look for throttles of the table and GSI1. If there are none, lower the mapping's batch size.",
        ),
    }


def _upkeep_rules(upkeep: lambda_.Function, jobs: JobQueue, settings: Settings) -> dict[str, _Rule]:
    own = {"service": "upkeep", "stack": settings.stack_name}
    rules = {
        "FsckDifferences": _Rule(
            severity=Severity.TODAY,
            metric=_metric("gridview", "FsckDifferences", own, "Maximum"),
            threshold=1,
            missing=_AS_BEFORE,
            notices="Users: wrong rows or counts.",
            logs="upkeep: errors",
            means="The last check found derived items that do not match the issues.",
            do=f"Run {_CHECK} to see them, and {_REPAIR}.",
        ),
        "CheckMissing": _Rule(
            severity=Severity.TODAY,
            metric=_metric("gridview", "FsckDifferences", own, "SampleCount", _DAY),
            threshold=1,
            periods=2,
            wrong=_BELOW,
            missing=_SILENT,
            notices="Nobody.",
            logs="upkeep: errors",
            means="No check has finished for two days (a new stack: not yet).",
            do=f"Read upkeep's log group. Run {_CHECK} meanwhile.",
        ),
        "UpkeepErrors": _Rule(
            severity=Severity.TODAY,
            metric=_of_function(upkeep, "Errors"),
            threshold=1,
            notices="Users: jobs and builds pause.",
            logs="upkeep: errors",
            means="The upkeep function failed. The next invocation continues its jobs, and a check in progress.",
            do=f"Read its log group, and run {_JOBS} to see what waits. If the check did not begin, run {_CHECK},"
            " or wait for the next night.",
        ),
        "JobFailing": _Rule(
            severity=Severity.TODAY,
            metric=_metric("gridview", "JobFailures", own, "Maximum"),
            threshold=REFUSALS,
            notices="Administrators: a build or removal hangs.",
            logs="upkeep: errors",
            means=f"A project's job failed {REFUSALS} times in succession.",
            do=f"Run {_JOBS} to see which. Look for throttles of the table and GSI1, and in upkeep's log group.",
        ),
        "UpkeepNotRunning": _Rule(
            severity=Severity.NOW,
            metric=_of_function(upkeep, "Invocations"),
            threshold=1,
            periods=3,
            wrong=_BELOW,
            missing=_SILENT,
            notices="Users: jobs and builds hang, reads get slower.",
            logs="upkeep: errors",
            means="The upkeep function has not run for 15 minutes (a new stack: not yet).",
            do="Check that its schedule is enabled. Look for throttles.",
        ),
        "JobsLag": _Rule(
            severity=Severity.TODAY,
            metric=jobs.queue.metric_approximate_age_of_oldest_message(period=_MINUTE),
            threshold=LAG_SECONDS,
            periods=5,
            notices="Users: jobs, builds and exports are late.",
            logs="upkeep: slow, errors",
            means=f"For 5 minutes hints for jobs waited more than {LAG_SECONDS} s.",
            do=f"Run {_JOBS} to see what waits. Look for throttles of upkeep. A higher `-c workers=` runs more jobs at once.",
        ),
        "FoldOverdue": _Rule(
            severity=Severity.TODAY,
            metric=_metric("gridview", "FoldOverdue", own, "Maximum"),
            threshold=FOLD_SECONDS,
            notices="Readers of that project: slow pages.",
            logs="upkeep: errors",
            means=f"A fold is {FOLD_SECONDS // 60} minutes overdue.",
            do=f"Run {_JOURNALS} to see which. Look for throttles, and in upkeep's log group. {_REPAIR} closes gaps.",
        ),
        "IndexLag": _Rule(
            severity=Severity.TODAY,
            metric=_metric("gridview", "CanaryAge", own, "Maximum", _MINUTE),
            threshold=INDEX_SECONDS,
            periods=3,
            notices="Readers: slow pages.",
            logs="none",
            means="For 3 minutes GSI1 showed writes a minute late or later. Answers stay right.",
            do="Look for throttles of GSI1, and at the AWS Health Dashboard. Pause imports and jobs until it clears.",
        ),
    }
    if settings.workers == 1:
        # No function takes hints from the queue: they expire there.
        del rules["JobsLag"]
    return rules


def _socket_rules(socket: lambda_.Function, sockets: SocketApi) -> dict[str, _Rule]:
    on_stage = {"ApiId": sockets.api.api_id, "Stage": sockets.stage.stage_name}
    return {
        "ConnectsRefused": _Rule(
            severity=Severity.TODAY,
            metric=_metric("AWS/ApiGateway", "IntegrationError", on_stage),
            threshold=CALLERS_REFUSED,
            notices="Users of the page: it polls.",
            logs="socket: errors",
            means=f"The socket function refused {CALLERS_REFUSED} or more attempts to connect in 5 minutes, or failed.",
            do="Read its log group for the reason: forged or used tickets, a user's limit, or an error.",
        ),
        "SocketsThrottled": _Rule(
            severity=Severity.NOW,
            metric=_metric("AWS/ApiGateway", "ClientError", on_stage),
            threshold=CALLERS_REFUSED,
            notices="Users of the page: it polls.",
            logs="none",
            means=f"API Gateway itself refused {CALLERS_REFUSED} or more connects or messages of sockets in 5 minutes.",
            do="Look at `ConnectCount` and `MessageCount` of the WebSocket API: above its throttle it refuses everyone.",
        ),
        "PushesLag": _Rule(
            severity=Severity.TODAY,
            metric=_of_function(socket, "IteratorAge", "Maximum", _MINUTE),
            threshold=PUSH_SECONDS * 1000,
            periods=5,
            notices="Users of the page: others' changes are late.",
            logs="socket: errors, slow",
            means=f"For 5 minutes sockets received changes more than {PUSH_SECONDS} s late.",
            do="Check the socket function's errors, duration and throttles. No change is lost: clients have cursors.",
        ),
        "SocketErrors": _Rule(
            severity=Severity.TODAY,
            metric=_of_function(socket, "Errors"),
            threshold=3,
            notices="Users of the page: it polls.",
            logs="socket: errors",
            means="The socket function failed three times or more in 5 minutes.",
            do="Read its log group.",
        ),
    }


def _webhook_rules(deliver: lambda_.Function, webhooks: JobQueue, settings: Settings) -> dict[str, _Rule]:
    rules = _delivery_rules(deliver, webhooks)
    if settings.deliverers == 1:
        # No function takes hints from the queue: a minute is as late as messages are meant to be.
        del rules["WebhooksLag"]
    return rules


def _delivery_rules(deliver: lambda_.Function, webhooks: JobQueue) -> dict[str, _Rule]:
    # None for receivers that fail: that is their business, and the administrators of their projects receive a notice.
    return {
        "DeliverErrors": _Rule(
            severity=Severity.TODAY,
            metric=_of_function(deliver, "Errors"),
            threshold=3,
            notices="Receivers: late messages.",
            logs="deliver: errors",
            means="The deliver function failed three times or more in 5 minutes.",
            do="Read its log group.",
        ),
        "DeliverNotRunning": _Rule(
            severity=Severity.TODAY,
            metric=_of_function(deliver, "Invocations"),
            threshold=1,
            periods=3,
            wrong=_BELOW,
            missing=_SILENT,
            notices="Receivers: no messages.",
            logs="deliver: errors",
            means="The deliver function has not run for 15 minutes (a new stack: not yet).",
            do="Check that its schedule is enabled. Look for throttles.",
        ),
        "WebhooksLag": _Rule(
            severity=Severity.TODAY,
            metric=webhooks.queue.metric_approximate_age_of_oldest_message(period=_MINUTE),
            threshold=LAG_SECONDS,
            periods=5,
            notices="Receivers: late messages.",
            logs="deliver: slow, errors",
            means=f"For 5 minutes hints for webhooks waited more than {LAG_SECONDS} s.",
            do="Look for throttles of the deliver function, and for slow receivers: `WebhookFailures` counts failed attempts.",
        ),
    }


def _api_rules(
    functions: Mapping[str, GridFunction], ingress: Ingress, settings: Settings
) -> dict[str, _Rule]:
    # Not the latency of the stage: a request for live changes waits for them, up to 20 s.
    slow = {
        f"{name.capitalize()}Slow": _Rule(
            severity=Severity.SOON,
            metric=_of_function(functions[name].function, "Duration", "p99"),
            threshold=LATENCY_SECONDS * 1000,
            periods=3,
            # With ten requests a night, one after a cold start is the p99.
            few_samples="ignore",
            notices="Callers: slow answers.",
            logs=f"access, {name}: slow",
            means=f"For 15 minutes one {what} in a hundred took longer than {LATENCY_SECONDS} s.",
            do=f"Look for throttles and routes. Large {large} also cause it.",
        )
        for name, what, large in (("query", "read", "summaries"), ("command", "write", "imports"))
    }
    rules = {
        "ServerErrors": _Rule(
            severity=Severity.NOW,
            metric=ingress.stage.metric_server_error(period=_FIVE_MINUTES, statistic="Sum"),
            threshold=SERVER_ERRORS,
            notices="Callers: 5xx.",
            logs="access: failed; query, command, live: errors",
            means=f"The API answered {SERVER_ERRORS} or more requests with 5xx in 5 minutes.",
            do="Find the routes in the access log, and the errors in the functions' log groups by `request_id`. "
            "For 503 look for throttles of the table. With `isolate-sessions`, look for `AssumeRole` in CloudTrail.",
        ),
        "TooManyRequests": _Rule(
            severity=Severity.NOW,
            metric=_metric("gridview", TOO_MANY, {"stack": settings.stack_name}),
            threshold=CALLERS_REFUSED,
            notices="Callers: 429.",
            logs="access: refused",
            means=f"{CALLERS_REFUSED} or more requests were answered with 429 in 5 minutes.",
            do="Find route and user in the access log. Without `integrationLatency` API Gateway's throttle refused "
            "everyone; otherwise it was a limit of that user or tenant. The route `{proxy+}` refuses only unknown "
            "paths and methods.",
        ),
        **slow,
    }
    if settings.writes_per_second:
        rules["UncountedWrites"] = _Rule(
            severity=Severity.TODAY,
            metric=_metric(
                "gridview", "UncountedWrites", {"service": "command", "stack": settings.stack_name}
            ),
            threshold=UNCOUNTED,
            notices="Nobody.",
            logs="command: errors",
            means=f"{UNCOUNTED} or more writes in 5 minutes were admitted uncounted: `writes-per-second` limits no tenant.",
            do="Look for throttles of the table, and in the command function's log group and role for refused updates.",
        )
    return rules


def _throttle_rules(functions: Mapping[str, GridFunction]) -> dict[str, _Rule]:
    return {
        f"{name.capitalize()}Throttled": _Rule(
            severity=Severity.NOW,
            metric=_of_function(function.function, "Throttles"),
            threshold=1,
            notices=_NOTICED_THROTTLES[name],
            logs="none",
            means=f"Lambda refused to run the {name} function: the account's concurrency is used up.",
            do="Find the cause, or request a higher quota.",
        )
        for name, function in functions.items()
    }


def _page_rules(front: Front) -> dict[str, _Rule]:
    if front.distribution_id is None:
        return {}
    return {
        "PageErrors": _Rule(
            severity=Severity.NOW,
            metric=_metric(
                "AWS/CloudFront",
                "5xxErrorRate",
                {"DistributionId": front.distribution_id, "Region": "Global"},
                "Average",
                _MINUTE,
            ),
            threshold=PAGE_ERRORS,
            periods=5,
            only_in=CLOUDFRONT_REGION,
            notices="Users: the page does not load.",
            logs="access: failed",
            means=f"For 5 minutes {PAGE_ERRORS} % or more of CloudFront's answers were 5xx.",
            do="If `ServerErrors` is in alarm too, the API fails. Otherwise check the bucket's policy and the AWS "
            "Health Dashboard.",
        )
    }


def _table_rules(table: GridTable, settings: Settings) -> dict[str, _Rule]:
    rules = {
        "TransportFallback": _Rule(
            severity=Severity.SOON,
            metric=_metric(
                "gridview", "TransportFallback", {"service": "table", "stack": settings.stack_name}
            ),
            threshold=1,
            notices="Nobody.",
            logs="all functions: errors",
            means="The direct client did not understand DynamoDB, so botocore made the calls. No write is lost.",
            do="Read `reason` in the functions' log groups. If it lasts, deploy with `-c transport=botocore`.",
        )
    }
    on_table = {"TableName": table.name}
    on_index = {**on_table, "GlobalSecondaryIndexName": keys.GSI1}
    for name, place, dimensions in (("Table", "the table", on_table), (keys.GSI1, keys.GSI1, on_index)):
        for kind in ("Read", "Write"):
            hot = f"{name}{kind}sHot"
            rules[f"{name}{kind}sThrottled"] = _Rule(
                severity=Severity.TODAY,
                metric=_metric("AWS/DynamoDB", f"{kind}ThrottleEvents", dimensions, period=_MINUTE),
                threshold=1,
                # Retries absorb short bursts, and the table grows with its load.
                periods=5,
                notices="Callers, if it lasts: 503.",
                logs="access: failed; maintain: errors",
                means=f"DynamoDB has throttled {kind.lower()}s of {place} for 5 minutes.",
                do=f"If `{hot}` is in alarm too, a key range is the reason. Otherwise check `max-reads`, `max-writes` and "
                "quotas.",
            )
            rules[hot] = _Rule(
                severity=Severity.TODAY,
                metric=_metric(
                    "AWS/DynamoDB", f"{kind}KeyRangeThroughputThrottleEvents", dimensions, period=_MINUTE
                ),
                threshold=1,
                periods=5,
                notices="Callers of a busy project: 503.",
                logs="access: failed; maintain: errors",
                means=f"For 5 minutes one key range of {place} received more {kind.lower()}s than a partition can take.",
                do="Lower `--rate` of imports and rebuilds. `-c hot-keys=true` names the keys.",
            )
    if not settings.emulator:  # MiniStack refuses alarms on expressions
        rules["TableErrors"] = _Rule(
            severity=Severity.NOW,
            metric=cloudwatch.MathExpression(
                label="SystemErrors",
                expression=f"SUM([{', '.join(f'm{n}' for n in range(len(_OPERATIONS)))}])",
                using_metrics={
                    f"m{n}": _metric(
                        "AWS/DynamoDB", "SystemErrors", {**on_table, "Operation": operation}, period=_MINUTE
                    )
                    for n, operation in enumerate(_OPERATIONS)
                },
                period=_MINUTE,
            ),
            threshold=1,
            periods=5,
            notices="Callers: 5xx.",
            logs="access: failed",
            means="DynamoDB has returned internal errors for 5 minutes.",
            do="Look at the AWS Health Dashboard. The consumer retries, and keeps the records that it gives up.",
        )
    return rules


def _of_function(
    function: lambda_.Function, name: str, statistic: str = "Sum", period: Duration = _FIVE_MINUTES
) -> cloudwatch.Metric:
    """A metric over all versions and aliases of a function."""
    return _metric("AWS/Lambda", name, {"FunctionName": function.function_name}, statistic, period)


def _metric(
    namespace: str,
    name: str,
    dimensions: Mapping[str, str],
    statistic: str = "Sum",
    period: Duration = _FIVE_MINUTES,
) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        dimensions_map=dict(dimensions),
        statistic=statistic,
        period=period,
    )
