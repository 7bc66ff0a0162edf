"""The operator's tools: the scheduled function, its schedules, the alarms and the dashboard."""

import json
from typing import Any

from devtools.deployed import ministack
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_from_wire
from gridview.fsck.nightly import PATIENCE
from gridview.support import clock
from tests.deploy.conftest import Deployment, Users
from tests.deploy.waiting import until
from tests.infra.test_alarms import EXPECTED, OF_A_REGION


def test_a_check_begins_and_jobs_go_on_with_it(deployment: Deployment, users: Users) -> None:
    """With the function's own role, layers and environment: a failed import, or a missing right, is an error here."""
    _make_issue(users, "checked")
    _set_kind(deployment, "checked", "o99", version=2)
    assert _upkeep(deployment, "check") == {"begun": True}
    assert _upkeep(deployment, "check") == {"begun": False}
    _upkeep(deployment, "jobs")

    def due() -> str:
        found = deployment.client("dynamodb").query(
            TableName=deployment.outputs["TableName"],
            KeyConditionExpression="PK = :check",
            ExpressionAttributeValues={":check": {"S": keys.CHECK}},
            ConsistentRead=True,
        )["Items"]
        return max(str(item[keys.SORT]["S"]) for item in found if keys.SORT in item)

    # A segment comes to the spoilt issue, and waits because that may still become right.
    late = clock.after(PATIENCE / 2)
    assert until(due, lambda found: found > late) > late


def test_upkeep_builds_sweeps_and_removes_with_its_own_role(deployment: Deployment, users: Users) -> None:
    attribute = "/v1/projects/built/attributes/rank"

    def fields() -> list[dict[str, Any]]:
        return [item["fields"] for item in _documents(deployment, "upkeep", "built")]

    with users.api("upkeep", "admin") as api:
        api.post("/v1/projects", json={"id": "built", "name": "Built"}).raise_for_status()
        unindexed = {"id": "rank", "name": "Rank", "type": "number", "indexed": False}
        api.post("/v1/projects/built/attributes", json=unindexed).raise_for_status()
        for rank in (3, 1, 2):
            issue = {"name": "Girder", "fields": {"rank": rank}}
            api.post("/v1/projects/built/issues", json=issue).raise_for_status()

        started = api.patch(attribute, json={"indexed": True}).raise_for_status().json()
        assert started["build"] == {"state": "building", "done": 0, "total": 3}
        _work_now(deployment, "upkeep", "built")
        assert until(lambda: api.get(attribute).json()["build"], lambda build: build is None) is None
        page = until(
            lambda: api.get("/v1/projects/built/grid", params={"sort": "rank"}), lambda page: page.is_success
        )
        assert [row["num"] for row in page.json()["rows"]] == [2, 3, 1]

        assert all(fields())
        api.delete(attribute).raise_for_status()
        api.delete("/v1/projects/built/deleted-attributes/rank").raise_for_status()
        _work_now(deployment, "upkeep", "built")
        assert until(fields, lambda found: not any(found)) == [{}, {}, {}]

        api.delete("/v1/projects/built").raise_for_status()
        api.delete("/v1/deleted-projects/built").raise_for_status()
        _work_now(deployment, "upkeep", "built")
        assert until(fields, lambda found: not found) == []


def test_each_task_has_a_schedule_that_invokes_upkeep(deployment: Deployment) -> None:
    events = deployment.client("events")
    found: dict[str, str] = {}
    for rule in events.list_rules()["Rules"]:
        for target in events.list_targets_by_rule(Rule=rule["Name"])["Targets"]:
            if target["Arn"].endswith(f":{deployment.name('Upkeep')}"):
                assert rule["State"] == "ENABLED"
                found[json.loads(target["Input"])["task"]] = rule["ScheduleExpression"]
    assert found == {"jobs": "rate(1 minute)", "check": "cron(17 3 * * ? *)"}


def test_alarms_watch_what_is_really_there(deployment: Deployment) -> None:
    """The names in their dimensions are those of the deployed resources. This engine refuses the
    one on an expression.
    """
    alarms = {
        alarm["AlarmName"].removeprefix("Gridview-"): alarm
        for alarm in deployment.client("cloudwatch").describe_alarms()["MetricAlarms"]
    }
    assert set(alarms) == set(EXPECTED) - {
        name for name, region in OF_A_REGION.items() if region != ministack.REGION
    }
    for alarm in alarms.values():
        assert alarm["AlarmActions"] == [deployment.outputs["AlarmTopicArn"]]
    queue = deployment.outputs["DeadLetterQueueUrl"].rsplit("/", 1)[1]
    mapping = _mapping_to(deployment, "Maintain")
    table = deployment.outputs["TableName"]
    assert _dimensions(alarms["DeadLetters"]) == {"QueueName": queue}
    assert _dimensions(alarms["FailedBatches"]) == {"EventSourceMappingUUID": mapping["UUID"]}
    assert _dimensions(alarms["FailedBatchesWaiting"]) == {
        "BucketName": deployment.outputs["FailedBatchesBucket"],
        "StorageType": "AllStorageTypes",
    }
    assert _dimensions(alarms["ConsumerLag"]) == {"FunctionName": deployment.name("Maintain")}
    assert _dimensions(alarms["GSI1WritesThrottled"]) == {
        "TableName": table,
        "GlobalSecondaryIndexName": "GSI1",
    }


def test_the_dashboard_is_there_and_names_every_alarm(deployment: Deployment) -> None:
    cloudwatch = deployment.client("cloudwatch")
    body = cloudwatch.get_dashboard(DashboardName=f"Gridview-{ministack.REGION}")["DashboardBody"]
    (states,) = (
        widget["properties"]["alarms"] for widget in json.loads(body)["widgets"] if widget["type"] == "alarm"
    )
    alarms = cloudwatch.describe_alarms()["MetricAlarms"]
    assert sorted(states) == sorted(alarm["AlarmArn"] for alarm in alarms)


def test_the_bucket_of_failed_batches_is_the_mappings_destination(deployment: Deployment) -> None:
    mapping = _mapping_to(deployment, "Maintain")
    bucket = deployment.outputs["FailedBatchesBucket"]
    assert mapping["DestinationConfig"]["OnFailure"]["Destination"] == f"arn:aws:s3:::{bucket}"
    listed: dict[str, Any] = deployment.client("s3").list_objects_v2(Bucket=bucket)
    assert listed["KeyCount"] == 0


def test_an_operators_commands_work_on_a_deployed_stack(deployment: Deployment, users: Users) -> None:
    """Make a document underivable by hand, so that it goes to the dead letters; then fix it by hand and redrive it."""
    _make_issue(users, "operated")
    _set_kind(deployment, "operated", "o99", version=2)
    listed = until(
        lambda: _dev(deployment, "dlq", "list"), lambda output: "issue-operated.kept.00000001" in output
    )
    (letter,) = (line for line in listed.splitlines() if "issue-operated.kept.00000001" in line)
    assert "version 2" in letter

    wrong = _dev(deployment, "fsck", "--tenant", "operated", "--project", "kept", "--patience", "1", status=1)
    assert "underivable" in wrong

    _set_kind(deployment, "operated", "o2", version=3)
    assert "1 redriven, 0 left" in _dev(deployment, "dlq", "redrive", letter.split()[0])
    assert "issue-operated" not in _dev(deployment, "dlq", "list")
    right = _dev(deployment, "fsck", "--tenant", "operated", "--project", "kept", "--patience", "1")
    assert "No difference" in right

    assert "kind" in _dev(deployment, "reindex", "--tenant", "operated", "--project", "kept")
    assert "operated/kept: waits until" in _dev(deployment, "jobs")


def _mapping_to(deployment: Deployment, function: str) -> dict[str, Any]:
    """The event source mapping by which a function reads the table's stream."""
    (mapping,) = (
        one
        for one in deployment.client("lambda").list_event_source_mappings()["EventSourceMappings"]
        if ":dynamodb:" in one["EventSourceArn"]
        and deployment.name(function) in one["FunctionArn"].split(":")
    )
    return dict(mapping)


def _make_issue(users: Users, tenant: str) -> None:
    """A project with one issue, of which one field is indexed."""
    with users.api(tenant, "admin") as api:
        api.post("/v1/projects", json={"id": "kept", "name": "Kept"}).raise_for_status()
        kind = {"id": "kind", "name": "Kind", "type": "enum", "options": ["a", "b"]}
        api.post("/v1/projects/kept/attributes", json=kind).raise_for_status()
        issue = {"name": "Girder", "fields": {"kind": "a"}}
        api.post("/v1/projects/kept/issues", json=issue).raise_for_status()


def _set_kind(deployment: Deployment, tenant: str, option: str, *, version: int) -> None:
    """Change the issue's value in the table, past the API."""
    deployment.client("dynamodb").update_item(
        TableName=deployment.outputs["TableName"],
        Key={"PK": {"S": keys.issue(tenant, "kept", 1)}, "SK": {"S": keys.project(tenant, "kept")}},
        UpdateExpression="SET #fields.a1 = :option, #version = :version",
        ExpressionAttributeNames={"#fields": "fields", "#version": "version"},
        ExpressionAttributeValues={":option": {"S": option}, ":version": {"N": str(version)}},
    )


def _dev(deployment: Deployment, *arguments: str, status: int = 0) -> str:
    """The output of a command of `./dev` about the deployed stack."""
    return deployment.dev(*arguments, "--deployed", status=status)


def _work_now(deployment: Deployment, tenant: str, project: str) -> None:
    """Let a project's job be due at once, and invoke upkeep as its schedule does."""
    deployment.client("dynamodb").update_item(
        TableName=deployment.outputs["TableName"],
        Key={"PK": {"S": keys.project(tenant, project)}, "SK": {"S": keys.JOB}},
        UpdateExpression="SET #due = :past",
        ConditionExpression="attribute_exists(PK)",
        ExpressionAttributeNames={"#due": keys.SORT},
        ExpressionAttributeValues={":past": {"S": "2000-01-01T00:00:00.000000Z"}},
    )
    _upkeep(deployment, "jobs")


def _upkeep(deployment: Deployment, task: str) -> Any:
    """Invoke upkeep as a schedule does, and wait for its answer."""
    answer = deployment.client("lambda").invoke(
        FunctionName=deployment.name("Upkeep"), Payload=json.dumps({"task": task})
    )
    payload = answer["Payload"].read()
    assert "FunctionError" not in answer, payload
    return json.loads(payload)


def _documents(deployment: Deployment, tenant: str, project: str) -> list[dict[str, Any]]:
    """The documents of a project's issues."""
    items = deployment.client("dynamodb").scan(TableName=deployment.outputs["TableName"])["Items"]
    documents = [item_from_wire(item) for item in items]
    return [
        item
        for item in documents
        if item["SK"] == keys.project(tenant, project) and item["PK"].startswith(keys.ISSUE_PREFIX)
    ]


def _dimensions(alarm: dict[str, Any]) -> dict[str, str]:
    return {one["Name"]: one["Value"] for one in alarm["Dimensions"]}
