"""The alarms: their metrics, thresholds and recipients, and the page that shows all of them."""

import json
from typing import Any

import pytest

from infra.paths import RUNBOOK
from tests.support.dev_commands import commands_in, why_wrong
from tests.support.templates import functions_of, of_construct, only, resources

KIND = "AWS::CloudWatch::Alarm"

MAINTAIN = {"FunctionName": "MaintainFunction"}
UPKEEP = {"FunctionName": "UpkeepFunction"}
SOCKET = {"FunctionName": "SocketFunction"}
DELIVER = {"FunctionName": "DeliverFunction"}
API = {"ApiId": "api", "Stage": "$default"}
TABLE = {"TableName": "table"}
GSI1 = {"TableName": "table", "GlobalSecondaryIndexName": "GSI1"}
SOCKETS = {"ApiId": "sockets", "Stage": "live"}
OWN = {"service": "upkeep", "stack": "Gridview"}

# Name: (namespace, metric, dimensions), statistic, threshold, seconds of a period, periods, effect of missing
# data.
EXPECTED: dict[str, tuple[tuple[str, str, dict[str, str]], str, float, int, int, str]] = {
    "ConsumerLag": (("AWS/Lambda", "IteratorAge", MAINTAIN), "Maximum", 300_000, 60, 5, "notBreaching"),
    "DeadLetters": (
        ("AWS/SQS", "ApproximateNumberOfMessagesVisible", {"QueueName": "queue"}),
        *("Maximum", 1, 60, 1, "ignore"),
    ),
    "FailedBatches": (
        ("AWS/Lambda", "OnFailureDestinationDeliveredEventCount", {"EventSourceMappingUUID": "mapping"}),
        *("Sum", 1, 300, 1, "notBreaching"),
    ),
    "FailedBatchesWaiting": (
        ("AWS/S3", "NumberOfObjects", {"BucketName": "bucket", "StorageType": "AllStorageTypes"}),
        *("Maximum", 1, 86_400, 1, "notBreaching"),
    ),
    "FailedBatchesLost": (
        ("AWS/Lambda", "DestinationDeliveryFailures", MAINTAIN),
        *("Sum", 1, 300, 1, "notBreaching"),
    ),
    "UncountedWrites": (
        ("gridview", "UncountedWrites", {"service": "command", "stack": "Gridview"}),
        *("Sum", 100, 300, 1, "notBreaching"),
    ),
    "ConsumerErrors": (("AWS/Lambda", "Errors", MAINTAIN), "Sum", 3, 300, 1, "notBreaching"),
    "ConsumerSlow": (("AWS/Lambda", "Duration", MAINTAIN), "Maximum", 45_000, 300, 3, "notBreaching"),
    "FsckDifferences": (("gridview", "FsckDifferences", OWN), "Maximum", 1, 300, 1, "ignore"),
    "CheckMissing": (("gridview", "FsckDifferences", OWN), "SampleCount", 1, 86_400, 2, "breaching"),
    "JobFailing": (("gridview", "JobFailures", OWN), "Maximum", 20, 300, 1, "notBreaching"),
    "UpkeepErrors": (("AWS/Lambda", "Errors", UPKEEP), "Sum", 1, 300, 1, "notBreaching"),
    "JobsLag": (
        ("AWS/SQS", "ApproximateAgeOfOldestMessage", {"QueueName": "jobs"}),
        *("Maximum", 300, 60, 5, "notBreaching"),
    ),
    "FoldOverdue": (("gridview", "FoldOverdue", OWN), "Maximum", 900, 300, 1, "notBreaching"),
    "IndexLag": (("gridview", "CanaryAge", OWN), "Maximum", 90, 60, 3, "notBreaching"),
    "ConnectsRefused": (
        ("AWS/ApiGateway", "IntegrationError", SOCKETS),
        *("Sum", 100, 300, 1, "notBreaching"),
    ),
    "SocketsThrottled": (("AWS/ApiGateway", "ClientError", SOCKETS), "Sum", 100, 300, 1, "notBreaching"),
    "TooManyRequests": (
        ("gridview", "TooManyRequests", {"stack": "Gridview"}),
        *("Sum", 100, 300, 1, "notBreaching"),
    ),
    "PageErrors": (
        ("AWS/CloudFront", "5xxErrorRate", {"DistributionId": "distribution", "Region": "Global"}),
        *("Average", 5, 60, 5, "notBreaching"),
    ),
    "UpkeepNotRunning": (("AWS/Lambda", "Invocations", UPKEEP), "Sum", 1, 300, 3, "breaching"),
    "PushesLag": (("AWS/Lambda", "IteratorAge", SOCKET), "Maximum", 30_000, 60, 5, "notBreaching"),
    "SocketErrors": (("AWS/Lambda", "Errors", SOCKET), "Sum", 3, 300, 1, "notBreaching"),
    "DeliverErrors": (("AWS/Lambda", "Errors", DELIVER), "Sum", 3, 300, 1, "notBreaching"),
    "DeliverNotRunning": (("AWS/Lambda", "Invocations", DELIVER), "Sum", 1, 300, 3, "breaching"),
    "WebhooksLag": (
        ("AWS/SQS", "ApproximateAgeOfOldestMessage", {"QueueName": "queue"}),
        *("Maximum", 300, 60, 5, "notBreaching"),
    ),
    "TransportFallback": (
        ("gridview", "TransportFallback", {"service": "table", "stack": "Gridview"}),
        *("Sum", 1, 300, 1, "notBreaching"),
    ),
    "ServerErrors": (("AWS/ApiGateway", "5xx", API), "Sum", 10, 300, 1, "notBreaching"),
    **{
        f"{name}Slow": (
            ("AWS/Lambda", "Duration", {"FunctionName": f"{name}Function"}),
            *("p99", 3000, 300, 3, "notBreaching"),
        )
        for name in ("Query", "Command")
    },
    **{
        f"{name}Throttled": (
            ("AWS/Lambda", "Throttles", {"FunctionName": f"{name}Function"}),
            *("Sum", 1, 300, 1, "notBreaching"),
        )
        for name in ("Query", "Command", "Live", "Socket", "Deliver", "Maintain", "Upkeep")
    },
    **{
        f"{place}{kind}s{end}": (
            ("AWS/DynamoDB", f"{kind}{events}", dimensions),
            *("Sum", 1, 60, 5, "notBreaching"),
        )
        for end, events in (
            ("Throttled", "ThrottleEvents"),
            ("Hot", "KeyRangeThroughputThrottleEvents"),
        )
        for place, dimensions in (("Table", TABLE), ("GSI1", GSI1))
        for kind in ("Read", "Write")
    },
}
OF_AN_EXPRESSION = {"TableErrors"}
OF_A_REGION = {"PageErrors": "us-east-1"}
"""Alarms whose metric only one region has. No dashboard shows them: CloudFormation leaves them out elsewhere."""
SILENCE = {"CheckMissing", "DeliverNotRunning", "UpkeepNotRunning"}
"""Alarms that fire when data are missing."""


@pytest.fixture(scope="module")
def alarms(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Every alarm by its visible name, without the stack's."""
    return {
        alarm["AlarmName"].removeprefix("Gridview-"): alarm for alarm in resources(template, KIND).values()
    }


def test_there_are_these_alarms_and_no_others(alarms: dict[str, dict[str, Any]]) -> None:
    assert set(alarms) == {*EXPECTED, *OF_AN_EXPRESSION}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_alarm_watches_its_metric(
    template: dict[str, Any], alarms: dict[str, dict[str, Any]], name: str
) -> None:
    alarm = alarms[name]
    metric = (alarm["Namespace"], alarm["MetricName"], _dimensions(template, alarm["Dimensions"]))
    statistic = alarm.get("Statistic") or alarm["ExtendedStatistic"]
    assert (
        metric,
        statistic,
        alarm["Threshold"],
        alarm["Period"],
        alarm["EvaluationPeriods"],
        alarm["TreatMissingData"],
    ) == EXPECTED[name]
    assert alarm["DatapointsToAlarm"] == alarm["EvaluationPeriods"]
    assert alarm["ComparisonOperator"] == (
        "LessThanThreshold" if name in SILENCE else "GreaterThanOrEqualToThreshold"
    )


def test_gridview_metrics_have_the_stack_as_a_dimension(
    template: dict[str, Any], chosen_template: dict[str, Any]
) -> None:
    """Otherwise the check of one stage would satisfy the alarm of another."""
    for of, name in ((template, "Gridview"), (chosen_template, "Gridview-staging")):
        for alarm in resources(of, KIND).values():
            if alarm.get("Namespace") == "gridview":
                assert {"Name": "stack", "Value": name} in alarm["Dimensions"]
        for widget in _widgets(of):
            for metric in widget.get("properties", {}).get("metrics", []):
                if metric[0] == "gridview":
                    assert metric[metric.index("stack") + 1] == name
        for function in functions_of(of).values():
            assert function["Environment"]["Variables"]["STACK_NAME"] == name


def _actions(statement: dict[str, Any]) -> list[str]:
    """The actions of a statement of a policy, as a list; a single one is not a list there."""
    found: str | list[str] = statement["Action"]
    return [found] if isinstance(found, str) else found


def test_errors_of_the_table_are_summed_over_what_is_asked_of_it(
    template: dict[str, Any], alarms: dict[str, dict[str, Any]]
) -> None:
    total, *parts = alarms["TableErrors"]["Metrics"]
    assert total["ReturnData"] is True
    assert total["Expression"] == f"SUM([{', '.join(part['Id'] for part in parts)}])"
    operations = set()
    for part in parts:
        metric = part["MetricStat"]["Metric"]
        assert (metric["Namespace"], metric["MetricName"]) == ("AWS/DynamoDB", "SystemErrors")
        assert part["MetricStat"]["Stat"] == "Sum"
        dimensions = _dimensions(template, metric["Dimensions"])
        assert dimensions.pop("TableName") == "table"
        operations.add(dimensions.pop("Operation"))
        assert dimensions == {}
    granted = {
        action.removeprefix("dynamodb:")
        for policy in resources(template, "AWS::IAM::Policy").values()
        for statement in policy["PolicyDocument"]["Statement"]
        for action in _actions(statement)
        if action.startswith("dynamodb:") and "Stream" not in json.dumps(statement["Resource"])
    }
    # A transaction is granted by its parts, and counted as itself.
    assert operations == granted | {"TransactWriteItems"}


def test_every_alarm_describes_itself_links_the_runbook_and_notifies_the_topic(
    template: dict[str, Any], alarms: dict[str, dict[str, Any]]
) -> None:
    (topic,) = resources(template, "AWS::SNS::Topic")
    for name, alarm in alarms.items():
        assert alarm["AlarmActions"] == [{"Ref": topic}]
        assert alarm.get("ActionsEnabled", True) is True
        description = alarm["AlarmDescription"]
        assert description.startswith(("Look now: ", "Look today: ", "Look soon: "))
        assert description.endswith(f" {RUNBOOK}: {name}.")
        assert 100 < len(description) <= 1024


@pytest.mark.parametrize("of", ["template", "chosen_template"])
def test_every_command_of_an_alarm_acts_on_the_stack_of_the_alarm(
    of: str, request: pytest.FixtureRequest
) -> None:
    stack = {"template": "Gridview", "chosen_template": "Gridview-staging"}[of]
    found = {
        alarm["AlarmName"].removeprefix(f"{stack}-"): [*commands_in(alarm["AlarmDescription"])]
        for alarm in resources(request.getfixturevalue(of), KIND).values()
    }
    for commands in found.values():
        for command in commands:
            assert why_wrong(command) is None
            assert f" --deployed --stack-name {stack}" in command
    redriven, repaired = (
        f"./dev {one}"
        for one in (
            f"dlq redrive --all --deployed --stack-name {stack}",
            f"fsck --deployed --stack-name {stack} --repair",
        )
    )
    for name in ("DeadLetters", "FailedBatches", "FailedBatchesWaiting"):
        assert redriven in found[name]
    for name in ("FailedBatchesLost", "FsckDifferences"):
        assert repaired in found[name]


@pytest.mark.parametrize(("name", "region"), OF_A_REGION.items())
def test_an_alarm_on_a_metric_of_one_region_is_made_there_only(
    template: dict[str, Any], name: str, region: str
) -> None:
    conditions = {
        one["Properties"]["AlarmName"].removeprefix("Gridview-"): one.get("Condition")
        for one in template["Resources"].values()
        if one["Type"] == KIND
    }
    assert template["Conditions"][conditions[name]] == {"Fn::Equals": [{"Ref": "AWS::Region"}, region]}
    assert {one for one, condition in conditions.items() if condition} == set(OF_A_REGION)


def test_a_stack_without_cloudfront_has_no_alarm_on_it(api_template: dict[str, Any]) -> None:
    assert not [
        one for one in resources(api_template, KIND).values() if one.get("Namespace") == "AWS/CloudFront"
    ]


def test_one_worker_takes_no_hints_so_their_age_says_nothing(small_template: dict[str, Any]) -> None:
    named = {one["AlarmName"] for one in resources(small_template, KIND).values()}
    assert not {one for one in named if one.endswith(("-JobsLag", "-WebhooksLag"))}


def test_answers_with_429_are_counted_from_the_access_log(template: dict[str, Any]) -> None:
    filtered = only(template, "AWS::Logs::MetricFilter")
    assert filtered["FilterPattern"] == '{ $.status = "429" }'
    (made,) = filtered["MetricTransformations"]
    assert (made["MetricNamespace"], made["MetricName"], made["MetricValue"]) == (
        "gridview",
        "TooManyRequests",
        "1",
    )
    assert made["Dimensions"] == [{"Key": "stack", "Value": "$.stack"}]
    stage = of_construct(template, "AWS::ApiGatewayV2::Stage", "Ingress")
    logged = json.loads(stage["AccessLogSettings"]["Format"])
    assert (logged["status"], logged["stack"]) == ("$context.status", "Gridview")
    group = filtered["LogGroupName"]["Ref"]
    assert {"Ref": group} in stage["AccessLogSettings"]["DestinationArn"]["Fn::Join"][1]


def test_the_period_is_one_that_cloudwatch_takes(alarms: dict[str, dict[str, Any]]) -> None:
    for alarm in alarms.values():
        period = alarm["Period"] if "Period" in alarm else alarm["Metrics"][1]["MetricStat"]["Period"]
        longest = 7 * 86_400 if period >= 3600 else 86_400
        assert period * alarm["EvaluationPeriods"] <= longest


def test_the_topic_is_encrypted_with_a_key_that_alarms_may_use(template: dict[str, Any]) -> None:
    (key,) = resources(template, "AWS::KMS::Key")
    (topic,) = resources(template, "AWS::SNS::Topic")
    assert only(template, "AWS::SNS::Topic")["KmsMasterKeyId"] == {"Fn::GetAtt": [key, "Arn"]}
    allowed = [
        statement["Action"]
        for statement in only(template, "AWS::KMS::Key")["KeyPolicy"]["Statement"]
        if statement["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    ]
    assert allowed == [["kms:Decrypt", "kms:GenerateDataKey*"]]
    policy = only(template, "AWS::SNS::TopicPolicy")
    assert policy["Topics"] == [{"Ref": topic}]
    deny, allow = policy["PolicyDocument"]["Statement"]
    assert (deny["Effect"], deny["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert allow["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert allow["Action"] == "sns:Publish"
    assert allow["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


def test_only_a_configured_address_gets_alarm_mail(
    template: dict[str, Any], chosen_template: dict[str, Any]
) -> None:
    assert resources(template, "AWS::SNS::Subscription") == {}
    subscription = only(chosen_template, "AWS::SNS::Subscription")
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "ops@example.org")


def test_the_page_shows_every_alarm_twice(template: dict[str, Any]) -> None:
    """Their states together, and each metric with its threshold."""
    widgets = _widgets(template)
    # Dashboards are global in an account.
    name = only(template, "AWS::CloudWatch::Dashboard")["DashboardName"]
    assert name == {"Fn::Join": ["", ["Gridview-", {"Ref": "AWS::Region"}]]}
    alarms = resources(template, KIND)
    every = {
        logical_id
        for logical_id, alarm in alarms.items()
        if alarm["AlarmName"].removeprefix("Gridview-") not in OF_A_REGION
    }
    (states,) = (widget["properties"]["alarms"] for widget in widgets if widget["type"] == "alarm")
    assert set(states) == every
    assert len(states) == len(every)
    graphed = [
        alarm
        for widget in widgets
        if widget["type"] == "metric"
        for alarm in widget["properties"].get("annotations", {}).get("alarms", [])
    ]
    assert set(graphed) == every
    assert len(graphed) == len(every)


def test_the_page_shows_what_to_compare_them_with(template: dict[str, Any]) -> None:
    shown = {
        (metric[0], metric[1])
        for widget in _widgets(template)
        for metric in widget.get("properties", {}).get("metrics", [])
    }
    assert shown == {
        ("AWS/ApiGateway", "Count"),
        ("AWS/Lambda", "Invocations"),
        ("gridview", "Records"),
        ("gridview", "IssuesProcessed"),
        *(("gridview", name) for name in ("WebhookAttempts", "WebhookFailures", "WebhooksDisabled")),
        ("gridview", "DeadLetters"),
        ("AWS/DynamoDB", "ConsumedReadCapacityUnits"),
        ("AWS/DynamoDB", "ConsumedWriteCapacityUnits"),
    }


def test_a_local_engine_gets_all_that_it_can_take(
    template: dict[str, Any], local_template: dict[str, Any]
) -> None:
    local = {alarm["AlarmName"] for alarm in resources(local_template, KIND).values()}
    deployed = {alarm["AlarmName"] for alarm in resources(template, KIND).values()}
    assert deployed - local == {f"Gridview-{name}" for name in OF_AN_EXPRESSION}
    assert local <= deployed
    assert all("Metrics" not in alarm for alarm in resources(local_template, KIND).values())
    assert len(resources(local_template, "AWS::CloudWatch::Dashboard")) == 1


def _widgets(template: dict[str, Any]) -> list[dict[str, Any]]:
    """The dashboard's widgets, with a logical id for each reference."""
    (join,) = only(template, "AWS::CloudWatch::Dashboard")["DashboardBody"].values()
    separator, parts = join
    body = separator.join(part if isinstance(part, str) else _referred(part) for part in parts)
    widgets: list[dict[str, Any]] = json.loads(body)["widgets"]
    return widgets


def _referred(reference: dict[str, Any]) -> str:
    match reference:
        case {"Ref": str(logical_id)} | {"Fn::GetAtt": [str(logical_id), _]}:
            return logical_id
    raise AssertionError(reference)


def _dimensions(template: dict[str, Any], declared: list[dict[str, Any]]) -> dict[str, str]:
    """A metric's dimensions; a reference to a resource becomes the function's logical id, or the resource's kind."""
    places = {"SocketsApi": "sockets", "JobsQueue": "jobs"}
    kinds = {
        "AWS::CloudFront::Distribution": "distribution",
        "AWS::DynamoDB::GlobalTable": "table",
        "AWS::SQS::Queue": "queue",
        "AWS::S3::Bucket": "bucket",
        "AWS::ApiGatewayV2::Api": "api",
        "AWS::Lambda::EventSourceMapping": "mapping",
    }
    found = {}
    for dimension in declared:
        value = dimension["Value"]
        if not isinstance(value, str):
            logical_id = _referred(value)
            value = kinds.get(template["Resources"][logical_id]["Type"], logical_id)
            value = next((name for start, name in places.items() if logical_id.startswith(start)), value)
        found[dimension["Name"]] = value
    return found
