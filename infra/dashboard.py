"""One page with every metric that the alarms watch, and the metrics to compare them with."""

from collections.abc import Mapping, Sequence

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.alarms import Alarms
from infra.function import GridFunction
from infra.ingress import Ingress
from infra.table import GridTable

_FULL = 24
"""Columns of a dashboard."""
_HEIGHT = 6


class Dashboard(Construct):
    """The state of every alarm, the traffic of the system, and each alarm's metric with its threshold."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        alarms: Alarms,
        table: GridTable,
        functions: Mapping[str, GridFunction],
        ingress: Ingress,
    ) -> None:
        super().__init__(scope, construct_id)
        every = [alarm for group in alarms.groups.values() for alarm in group]
        stack = Stack.of(self)
        # An account has one list of dashboards for all regions.
        dashboard = cloudwatch.Dashboard(
            self, "Dashboard", dashboard_name=f"{stack.stack_name}-{stack.region}"
        )
        dashboard.add_widgets(
            cloudwatch.AlarmStatusWidget(title="Alarms", alarms=every, width=_FULL, height=_HEIGHT)
        )
        dashboard.add_widgets(*_load(stack.stack_name, table, functions, ingress))
        for title, group in alarms.groups.items():
            dashboard.add_widgets(cloudwatch.TextWidget(markdown=f"## {title}", width=_FULL, height=1))
            dashboard.add_widgets(*(_of_alarm(alarm) for alarm in group))


def _of_alarm(alarm: cloudwatch.Alarm) -> cloudwatch.IWidget:
    # The alarm's own metric with its period and statistic, so that the graph shows what the alarm judges.
    return cloudwatch.AlarmWidget(alarm=alarm, title=alarm.node.id, width=_FULL // 4, height=_HEIGHT)


def _load(
    stack_name: str, table: GridTable, functions: Mapping[str, GridFunction], ingress: Ingress
) -> Sequence[cloudwatch.IWidget]:
    five_minutes = Duration.minutes(5)
    consumed = [
        cloudwatch.Metric(
            namespace="AWS/DynamoDB",
            metric_name=f"Consumed{kind}CapacityUnits",
            dimensions_map={"TableName": table.name},
            statistic="Sum",
            period=five_minutes,
        )
        for kind in ("Read", "Write")
    ]
    return [
        _graph("Requests", [ingress.stage.metric_count(period=five_minutes)]),
        _graph(
            "Invocations",
            [
                one.function.metric_invocations(label=name, period=five_minutes)
                for name, one in functions.items()
            ],
        ),
        _graph("Read and write units", consumed),
        _graph(
            "Stream records, and issues processed by jobs",
            [
                _custom("Records", "maintain", stack_name, five_minutes),
                _custom("IssuesProcessed", "upkeep", stack_name, five_minutes),
            ],
        ),
        _graph(
            "Attempts at webhooks, all and failed",
            [
                _custom(name, "deliver", stack_name, five_minutes)
                for name in ("WebhookAttempts", "WebhookFailures", "WebhooksDisabled")
            ],
        ),
        _graph(
            "Dead letters sent",
            [_custom("DeadLetters", service, stack_name, five_minutes) for service in ("maintain", "upkeep")],
        ),
    ]


def _custom(name: str, service: str, stack_name: str, period: Duration) -> cloudwatch.Metric:
    """A metric that a function writes, with the dimensions that all its metrics have."""
    return cloudwatch.Metric(
        namespace="gridview",
        metric_name=name,
        dimensions_map={"service": service, "stack": stack_name},
        statistic="Sum",
        period=period,
    )


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.IWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=_FULL // 4, height=_HEIGHT)
