import json
from typing import Any

import pytest

from devtools.local import pump, socket_server
from gridview.encoding import derived_keys, keys, live_keys
from gridview.encoding.attribute_values import item_to_wire
from gridview.journal.committer import LEDGER_TOMBSTONE_DAYS
from gridview.journal.items import JournalItem
from infra.limits import HELD_SECONDS, LONGEST_PAUSE_SECONDS, PUSH_RETRIES
from tests.support.event_patterns import fits
from tests.support.templates import functions_of, of_construct, resources

KIND = "AWS::Lambda::EventSourceMapping"


def test_batches_are_retried_a_bounded_number_of_times_and_then_kept(
    template: dict[str, Any],
) -> None:
    mapping = of_construct(template, KIND, "Stream")
    assert mapping["FunctionName"] == {"Fn::GetAtt": ["MaintainFunction", "Arn"]}
    assert mapping["BatchSize"] == 100
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert 0 < mapping["MaximumRecordAgeInSeconds"] <= 24 * 3600 / 2
    destination = mapping["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0]
    assert destination in resources(template, "AWS::S3::Bucket")


def test_a_batch_that_crashes_holds_its_shard_15_minutes_at_most(template: dict[str, Any]) -> None:
    """Each attempt may take all of the function's time, and Lambda may pause before each except the first."""
    mapping = of_construct(template, KIND, "Stream")
    timeout = int(functions_of(template)["MaintainFunction"]["Timeout"])
    retries = mapping["MaximumRetryAttempts"]

    def held(retries: int) -> int:
        return (retries + 1) * timeout + retries * LONGEST_PAUSE_SECONDS

    assert held(retries) <= HELD_SECONDS == 15 * 60 < held(retries + 1)
    assert retries > 0
    # Bisecting uses up no retry: 100 records that crash would be 199 attempts, and the retries of each
    # record.
    assert mapping["BisectBatchOnFunctionError"] is False


def test_a_batch_of_pushes_is_bisected_because_nothing_keeps_it(template: dict[str, Any]) -> None:
    assert of_construct(template, KIND, "Pushes")["BisectBatchOnFunctionError"] is True


def test_records_are_delivered_at_once_and_ordered_only_per_item(template: dict[str, Any]) -> None:
    mapping = of_construct(template, KIND, "Stream")
    assert mapping["MaximumBatchingWindowInSeconds"] == 0
    # A new table has four shards, and a new account may have ten invocations at once.
    assert 4 * mapping["ParallelizationFactor"] < 10
    # A window of state would limit a shard to one invocation at a time.
    assert "TumblingWindowInSeconds" not in mapping


def test_the_number_of_parallel_batches_is_a_setting(chosen_template: dict[str, Any]) -> None:
    assert of_construct(chosen_template, KIND, "Stream")["ParallelizationFactor"] == 5


def test_the_mapping_publishes_event_counts(template: dict[str, Any]) -> None:
    assert of_construct(template, KIND, "Stream")["MetricsConfig"] == {"Metrics": ["EventCount"]}


def test_the_local_pump_delivers_as_the_mapping_does(template: dict[str, Any]) -> None:
    mapping = of_construct(template, KIND, "Stream")
    assert pump.POLICY.batch_size == mapping["BatchSize"]
    assert pump.POLICY.retries == mapping["MaximumRetryAttempts"]
    assert pump.POLICY.bisect is mapping["BisectBatchOnFunctionError"]


def test_nothing_is_skipped_when_the_mapping_is_new(template: dict[str, Any]) -> None:
    assert of_construct(template, KIND, "Stream")["StartingPosition"] == "TRIM_HORIZON"


def test_only_issue_documents_and_the_heartbeat_wake_the_consumer(template: dict[str, Any]) -> None:
    declared = of_construct(template, KIND, "Stream")["FilterCriteria"]["Filters"]
    wanted = [json.loads(one["Pattern"])["dynamodb"]["Keys"] for one in declared]

    def passes(value: str, rule: Any) -> bool:
        return value.startswith(rule["prefix"]) if isinstance(rule, dict) else value == rule

    def wakes(pk: str, sk: str) -> bool:
        key = {"PK": pk, "SK": sk}
        found = any(
            all(any(passes(key[name], rule) for rule in one[name]["S"]) for name in one) for one in wanted
        )
        assert found == pump.wanted(
            {"dynamodb": {"Keys": {name: {"S": value} for name, value in key.items()}}}
        )
        return found

    issue, project = keys.issue("0807", "35e9", 1), keys.project("0807", "35e9")
    assert wakes(issue, project)
    assert wakes(keys.BEAT, keys.BEAT)
    assert not wakes(keys.LAG_OF_BEAT, keys.LAG)
    assert not wakes(issue, derived_keys.LEDGER)
    assert not wakes(issue, derived_keys.order("0807", "35e9", "3812"))
    assert not wakes(project, keys.COUNTER)
    assert not wakes(project, keys.tenant("0807"))


def test_the_mapping_waits_for_its_permissions(template: dict[str, Any]) -> None:
    (logical_id,) = (name for name in resources(template, KIND) if name.startswith("Stream"))
    mapping = template["Resources"][logical_id]
    role = functions_of(template)["MaintainFunction"]["Role"]["Fn::GetAtt"][0]
    stream_or_bucket = {
        logical_id
        for logical_id, policy in resources(template, "AWS::IAM::Policy").items()
        if {"Ref": role} in policy["Roles"] and "xray:" not in json.dumps(policy)
    }
    assert stream_or_bucket == set(mapping["DependsOn"])


def test_dead_letters_are_kept_encrypted_and_private(template: dict[str, Any]) -> None:
    queue, bucket = (
        of_construct(template, "AWS::SQS::Queue", "DeadLetters"),
        of_construct(template, "AWS::S3::Bucket", "DeadLetters"),
    )
    assert queue["MessageRetentionPeriod"] == 14 * 24 * 3600
    assert queue["SqsManagedSseEnabled"] is True
    for policy in ("AWS::SQS::QueuePolicy", "AWS::S3::BucketPolicy"):
        (statement,) = of_construct(template, policy, "DeadLetters")["PolicyDocument"]["Statement"]
        assert statement["Effect"] == "Deny"
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert bucket["PublicAccessBlockConfiguration"] == dict.fromkeys(
        ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"), True
    )
    assert bucket["LifecycleConfiguration"]["Rules"] == [{"ExpirationInDays": 14, "Status": "Enabled"}]


def test_a_removed_issue_is_remembered_longer_than_it_can_come_back(template: dict[str, Any]) -> None:
    """From the stream, or from a dead letter that an operator sends again."""
    kept = of_construct(template, "AWS::SQS::Queue", "DeadLetters")["MessageRetentionPeriod"] / (24 * 3600)
    assert kept + 1 < LEDGER_TOMBSTONE_DAYS


def test_pushes_are_of_what_was_committed_lately_in_the_order_of_each_project(
    template: dict[str, Any],
) -> None:
    mapping = of_construct(template, KIND, "Pushes")
    assert mapping["FunctionName"] == {"Fn::GetAtt": ["SocketFunction", "Arn"]}
    assert mapping["StartingPosition"] == "LATEST"
    assert mapping["ParallelizationFactor"] == 1
    assert mapping["MaximumBatchingWindowInSeconds"] == 0
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["MaximumRetryAttempts"] == PUSH_RETRIES
    assert mapping["MaximumRecordAgeInSeconds"] <= 3600
    readers = [one for one in resources(template, KIND).values() if "StartingPosition" in one]
    assert len(readers) == 2, "a stream has room for two"


JOURNAL = derived_keys.journal("0807", "35e9")
RECORDS: list[tuple[str, str, str, dict[str, Any], bool]] = [
    ("INSERT", JOURNAL, derived_keys.journal_item(57), JournalItem(57, 1.0).to_item("0807", "35e9"), True),
    ("REMOVE", JOURNAL, derived_keys.journal_item(57), {}, False),
    ("INSERT", JOURNAL, derived_keys.journal_mark(57), {"ttl": 1}, False),
    ("MODIFY", JOURNAL, derived_keys.FOLD, {"last": 1, "waiting": 1}, False),
    ("INSERT", JOURNAL, derived_keys.FOLD, {"last": 1, "waiting": 1}, False),
    ("MODIFY", keys.project("0807", "35e9"), keys.CATALOG, {"epoch": 2}, True),
    ("REMOVE", keys.project("0807", "35e9"), keys.CATALOG, {}, True),
    ("MODIFY", keys.project("0807", "35e9"), keys.COUNTER, {"last": 2}, False),
    ("MODIFY", keys.views("0807", "35e9"), keys.shared_view(1), {}, True),
    ("REMOVE", keys.views("0807", "35e9"), keys.private_view("ann", 1), {}, True),
    ("MODIFY", keys.views("0807", "35e9"), keys.VIEW_REGISTER, {}, False),
    ("INSERT", live_keys.sockets("0807"), live_keys.socket("35e9", "c"), {"made": 1}, False),
    ("INSERT", keys.issue("0807", "35e9", 1), keys.project("0807", "35e9"), {"made": 1}, False),
]


@pytest.mark.parametrize(("kind", "pk", "sk", "image", "passes"), RECORDS)
def test_the_local_filter_of_pushes_equals_that_of_the_cloud(
    template: dict[str, Any], kind: str, pk: str, sk: str, image: dict[str, Any], passes: bool
) -> None:
    declared = of_construct(template, KIND, "Pushes")["FilterCriteria"]["Filters"]
    record = {
        "eventName": kind,
        "dynamodb": {
            "Keys": {"PK": {"S": pk}, "SK": {"S": sk}},
            **({"NewImage": item_to_wire(image)} if image else {}),
        },
    }
    assert any(fits(json.loads(one["Pattern"]), record) for one in declared) is passes
    assert socket_server.wanted(record) is passes
