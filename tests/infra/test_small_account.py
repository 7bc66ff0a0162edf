"""The limits in an account of ten concurrent executions, such as a new one, so that four remain for callers."""

import json
from typing import Any

from gridview.live import push_turn
from tests.support.templates import functions_of, resources

SHARDS = 4
"""The shards of a new table's stream."""
QUOTA = 10
EVEN, ODD = "cron(0/2 * * * ? *)", "cron(1/2 * * * ? *)"
MAPPINGS = "AWS::Lambda::EventSourceMapping"


def _mappings(template: dict[str, Any], function: str) -> list[dict[str, Any]]:
    return [one for one in resources(template, MAPPINGS).values() if function in str(one["FunctionName"])]


def _tasks(template: dict[str, Any], function: str) -> dict[str, str]:
    """The schedules of a function, by task."""
    return {
        json.loads(rule["Targets"][0]["Input"])["task"]: rule["ScheduleExpression"]
        for rule in resources(template, "AWS::Events::Rule").values()
        if function in str(rule["Targets"])
    }


def test_background_work_leaves_four_of_ten_invocations(small_template: dict[str, Any]) -> None:
    (stream,) = _mappings(small_template, "MaintainFunction")
    deriving = SHARDS * stream["ParallelizationFactor"]
    # A queue's mapping would take two at least; the minute's tasks do the work, in turns.
    assert _mappings(small_template, "UpkeepFunction") == _mappings(small_template, "DeliverFunction") == []
    assert _tasks(small_template, "DeliverFunction") == {"webhooks": ODD}
    upkeep = _tasks(small_template, "UpkeepFunction")
    assert (upkeep["jobs"], upkeep["beat"]) == (EVEN, ODD)
    working = 1
    # One invocation pushes at a time; the others end at once.
    socket = functions_of(small_template)["SocketFunction"]
    assert socket["Environment"]["Variables"]["SINGLE_WORKER"] == "true"
    pushing = 1
    assert deriving + working + pushing == QUOTA - 4


def test_an_account_with_more_takes_no_turns(template: dict[str, Any]) -> None:
    assert _tasks(template, "DeliverFunction") == {"webhooks": "rate(1 minute)"}
    upkeep = _tasks(template, "UpkeepFunction")
    assert (upkeep["jobs"], "beat" in upkeep) == ("rate(1 minute)", False)
    assert "SINGLE_WORKER" not in functions_of(template)["SocketFunction"]["Environment"]["Variables"]


def test_the_minutes_tasks_are_over_before_the_next_minute(small_template: dict[str, Any]) -> None:
    functions = functions_of(small_template)
    for name in ("UpkeepFunction", "DeliverFunction"):
        assert functions[name]["Timeout"] <= 60
        assert functions[name]["Environment"]["Variables"]["SINGLE_WORKER"] == "true"
    assert functions["SocketFunction"]["Timeout"] < push_turn.SECONDS


def test_pushes_have_one_short_invocation_a_second_and_shard(
    small_template: dict[str, Any], template: dict[str, Any]
) -> None:
    (small,), (usual,) = (_mappings(one, "SocketFunction") for one in (small_template, template))
    assert (small["ParallelizationFactor"], small["MaximumBatchingWindowInSeconds"]) == (1, 1)
    assert usual["MaximumBatchingWindowInSeconds"] == 0


def test_an_output_says_so_and_names_the_quota(
    small_template: dict[str, Any], template: dict[str, Any]
) -> None:
    said = small_template["Outputs"]["Concurrency"]["Value"]
    for word in ("10 functions", "parallelization 1", "workers 1", "deliverers 1", "L-B99A9384", "1,000"):
        assert word in said
    assert "Concurrency" not in template["Outputs"]


def test_queues_without_a_reader_have_no_alarm(
    small_template: dict[str, Any], template: dict[str, Any]
) -> None:
    def names(of: dict[str, Any]) -> set[str]:
        return {one["AlarmName"] for one in resources(of, "AWS::CloudWatch::Alarm").values()}

    assert names(template) - names(small_template) == {"Gridview-JobsLag", "Gridview-WebhooksLag"}


def test_ses_can_send_the_invitations(small_template: dict[str, Any], template: dict[str, Any]) -> None:
    def mailer(of: dict[str, Any]) -> Any:
        (pool,) = resources(of, "AWS::Cognito::UserPool").values()
        return pool.get("EmailConfiguration")

    assert mailer(template) is None
    chosen = mailer(small_template)
    assert (chosen["EmailSendingAccount"], chosen["From"]) == (
        "DEVELOPER",
        "gridview <grid@mail.example.org>",
    )
    arn = chosen["SourceArn"]["Fn::Join"][1]
    assert {"Ref": "AWS::Region"} in arn
    assert arn[-1] == ":identity/mail.example.org"
