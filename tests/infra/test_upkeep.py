"""The schedules of the background functions, and that nothing accumulates after them."""

import json
from typing import Any

import pytest

from infra.paths import ROOT
from tests.support.templates import functions_of, of_construct, resources

KIND = "AWS::Events::Rule"


def _schedules(template: dict[str, Any], function: str = "UpkeepFunction") -> dict[str, str]:
    """The schedule of each task of a function."""
    found = {}
    for rule in resources(template, KIND).values():
        (target,) = rule["Targets"]
        if target["Arn"] != {"Fn::GetAtt": [function, "Arn"]}:
            continue
        assert rule["State"] == "ENABLED"
        event = json.loads(target["Input"])
        assert set(event) == {"task"}
        found[event["task"]] = rule["ScheduleExpression"]
    return found


def _rules(template: dict[str, Any]) -> dict[str, Any]:
    return {name: rule for name, rule in resources(template, KIND).items() if name.startswith("Schedules")}


def test_jobs_each_minute_and_the_check_each_night(template: dict[str, Any]) -> None:
    assert _schedules(template) == {"jobs": "rate(1 minute)", "check": "cron(17 3 * * ? *)"}


def test_outboxes_are_looked_for_each_minute(template: dict[str, Any]) -> None:
    assert _schedules(template, "DeliverFunction") == {"webhooks": "rate(1 minute)"}
    assert len(resources(template, KIND)) == 4


def test_the_event_files_are_what_the_schedules_send(template: dict[str, Any]) -> None:
    for function in ("upkeep", "deliver"):
        for task in _schedules(template, f"{function.capitalize()}Function"):
            event = json.loads((ROOT / "events" / f"{function}_{task}.json").read_text("utf-8"))
            assert event == {"task": task}


def test_the_check_may_be_at_another_time(chosen_template: dict[str, Any]) -> None:
    assert _schedules(chosen_template) == {"jobs": "rate(1 minute)", "check": "rate(12 hours)"}


def test_the_next_minute_is_the_retry(template: dict[str, Any]) -> None:
    configs = resources(template, "AWS::Lambda::EventInvokeConfig").values()
    assert sorted(config["FunctionName"]["Ref"] for config in configs) == [
        "DeliverFunction",
        "SocketFunction",
        "UpkeepFunction",
    ]
    for config in configs:
        assert (config["MaximumRetryAttempts"], config["MaximumEventAgeInSeconds"]) == (0, 60)
    for rule in _rules(template).values():
        assert rule["Targets"][0]["RetryPolicy"] == {
            "MaximumEventAgeInSeconds": 60,
            "MaximumRetryAttempts": 0,
        }


def test_each_message_is_a_turn_of_work_and_workers_are_bounded(
    template: dict[str, Any], chosen_template: dict[str, Any]
) -> None:
    for of, workers in ((template, 2), (chosen_template, 9)):
        mapping = of_construct(of, "AWS::Lambda::EventSourceMapping", "Jobs")
        assert mapping["FunctionName"] == {"Ref": "UpkeepFunction"}
        assert mapping["BatchSize"] == 1
        assert mapping["ScalingConfig"] == {"MaximumConcurrency": workers}
        assert mapping.get("Enabled", True) is True
        (queue,) = (name for name in resources(of, "AWS::SQS::Queue") if name.startswith("Jobs"))
        assert mapping["EventSourceArn"] == {"Fn::GetAtt": [queue, "Arn"]}
        functions = functions_of(of)
        for sender in ("UpkeepFunction", "MaintainFunction", "CommandFunction"):
            assert functions[sender]["Environment"]["Variables"]["JOB_QUEUE_URL"] == {"Ref": queue}


def test_hints_at_webhooks_share_invocations_and_those_that_fail_have_their_own(
    template: dict[str, Any],
) -> None:
    queues = {
        kind: next(one for one in resources(template, "AWS::SQS::Queue") if one.startswith(f"{kind}Queue"))
        for kind in ("Webhooks", "WebhookRetries")
    }
    mappings = [
        mapping
        for mapping in resources(template, "AWS::Lambda::EventSourceMapping").values()
        if mapping["FunctionName"] == {"Ref": "DeliverFunction"}
    ]
    assert sorted(mapping["EventSourceArn"]["Fn::GetAtt"][0] for mapping in mappings) == sorted(
        queues.values()
    )
    for mapping in mappings:
        assert (mapping["BatchSize"], mapping["ScalingConfig"]) == (10, {"MaximumConcurrency": 2})
        assert mapping.get("Enabled", True) is True
    variables = {name: one["Environment"]["Variables"] for name, one in functions_of(template).items()}
    for sender in ("DeliverFunction", "MaintainFunction", "CommandFunction"):
        assert variables[sender]["WEBHOOK_QUEUE_URL"] == {"Ref": queues["Webhooks"]}
    assert variables["DeliverFunction"]["WEBHOOK_RETRY_QUEUE_URL"] == {"Ref": queues["WebhookRetries"]}


def test_a_message_is_given_out_once_while_a_worker_may_be_at_it(template: dict[str, Any]) -> None:
    queue = of_construct(template, "AWS::SQS::Queue", "Jobs")
    assert queue["VisibilityTimeout"] >= functions_of(template)["UpkeepFunction"]["Timeout"]
    assert queue["SqsManagedSseEnabled"] is True
    (statement,) = of_construct(template, "AWS::SQS::QueuePolicy", "Jobs")["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Condition"]) == (
        "Deny",
        {"Bool": {"aws:SecureTransport": "false"}},
    )


def test_sending_the_next_hint_is_no_loop_that_lambda_has_to_stop(template: dict[str, Any]) -> None:
    recursive = {
        logical_id
        for logical_id, function in functions_of(template).items()
        if function.get("RecursiveLoop") == "Allow"
    }
    assert recursive == {"DeliverFunction", "UpkeepFunction"}


def test_a_lease_and_no_reserved_concurrency_keeps_workers_apart(template: dict[str, Any]) -> None:
    for function in functions_of(template).values():
        assert "ReservedConcurrentExecutions" not in function


def test_concurrency_is_reserved_on_request(chosen_template: dict[str, Any]) -> None:
    functions = functions_of(chosen_template)
    reserved = {name: one.get("ReservedConcurrentExecutions") for name, one in functions.items()}
    assert reserved == {
        "QueryFunction": 100,
        "CommandFunction": None,
        "LiveFunction": 234,
        "SocketFunction": 78,
        "DeliverFunction": None,
        "MaintainFunction": 20,
        "UpkeepFunction": None,
    }


def test_a_tenant_has_a_third_of_what_requests_that_wait_may_run(
    template: dict[str, Any], chosen_template: dict[str, Any]
) -> None:
    for one, most in ((template, "1"), (chosen_template, "78")):
        live = functions_of(one)["LiveFunction"]
        assert live["Environment"]["Variables"]["POLLS_PER_TENANT"] == most


@pytest.mark.parametrize("attribute", ["Principal", "Action"])
def test_only_the_two_schedules_may_invoke_it(template: dict[str, Any], attribute: str) -> None:
    allowed = [
        permission
        for permission in resources(template, "AWS::Lambda::Permission").values()
        if permission["FunctionName"] == {"Fn::GetAtt": ["UpkeepFunction", "Arn"]}
    ]
    expected = {"Principal": "events.amazonaws.com", "Action": "lambda:InvokeFunction"}
    assert {permission[attribute] for permission in allowed} == {expected[attribute]}
    assert {permission["SourceArn"]["Fn::GetAtt"][0] for permission in allowed} == {
        name
        for name, rule in _rules(template).items()
        if rule["Targets"][0]["Arn"] == {"Fn::GetAtt": ["UpkeepFunction", "Arn"]}
    }
