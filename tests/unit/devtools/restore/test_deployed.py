"""A restore of a deployed stack, against a DynamoDB that records its calls: the steps, their order, each once."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from devtools.failure import Failure
from devtools.restore import deployed
from devtools.restore.deployed import Stack, deny_writes, described, restore, resume_writes

AT = datetime(2026, 11, 21, 8, tzinfo=UTC)
OLD, NEW = "Gridview-Table", "Gridview-Table-20261121T080000Z"


def arn_of(name: str) -> str:
    return f"arn:aws:dynamodb:eu-west-1:123456789012:table/{name}"


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, "Call")


@dataclass
class Aws:
    """The part of DynamoDB that a restore uses. `dies_at`: the call of this number is refused once."""

    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    policies: dict[str, str] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    dies_at: int = 0
    delays: int = 2
    """Writes that still succeed after the policy is there."""

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) == self.dies_at:
            raise refused("InternalServerError")

    def describe_table(self, TableName: str) -> Any:  # noqa: N803  as boto3 has them, here and below
        self._called("describe")
        if TableName not in self.tables:
            raise refused("ResourceNotFoundException")
        return {"Table": dict(self.tables[TableName])}

    def restore_table_to_point_in_time(self, **asked: Any) -> None:
        self._called("restore")
        assert self.policies, "writes have to stop first"
        assert asked["RestoreDateTime"] == AT
        assert asked["TargetTableName"] not in self.tables
        name = asked["TargetTableName"]
        self.tables[name] = {"TableArn": arn_of(name), "TableStatus": "ACTIVE", "GlobalSecondaryIndexes": []}

    def get_resource_policy(self, ResourceArn: str) -> Any:  # noqa: N803
        self._called("get policy")
        if ResourceArn not in self.policies:
            raise refused("PolicyNotFoundException")
        return {"Policy": self.policies[ResourceArn]}

    def put_resource_policy(self, ResourceArn: str, Policy: str) -> None:  # noqa: N803
        self._called("put policy")
        self.policies[ResourceArn] = Policy

    def delete_resource_policy(self, ResourceArn: str) -> None:  # noqa: N803
        self._called("delete policy")
        self.policies.pop(ResourceArn, None)

    def delete_item(self, **asked: Any) -> None:
        self._called("probe")
        assert asked["ConditionExpression"] == "attribute_exists(PK)"
        if self.policies and self.delays == 0:
            raise refused("AccessDeniedException")
        self.delays = max(self.delays - bool(self.policies), 0)
        raise refused("ConditionalCheckFailedException")

    def update_table(self, TableName: str, **asked: Any) -> None:  # noqa: N803
        self._called("update")
        table = self.tables[TableName]
        table |= asked
        if "StreamSpecification" in asked:
            table["LatestStreamArn"] = f"{table['TableArn']}/stream/2026-11-21T09:00:00.000"

    def describe_time_to_live(self, TableName: str) -> Any:  # noqa: N803
        self._called("describe expiry")
        return {
            "TimeToLiveDescription": {"TimeToLiveStatus": self.tables[TableName].get("expiry", "DISABLED")}
        }

    def update_time_to_live(self, TableName: str, TimeToLiveSpecification: Any) -> None:  # noqa: N803
        self._called("expiry")
        assert TimeToLiveSpecification == {"Enabled": True, "AttributeName": "ttl"}
        self.tables[TableName]["expiry"] = "ENABLED"

    def update_continuous_backups(self, TableName: str, PointInTimeRecoverySpecification: Any) -> None:  # noqa: N803
        self._called("recovery")
        self.tables[TableName]["recovery"] = PointInTimeRecoverySpecification["PointInTimeRecoveryEnabled"]


@pytest.fixture
def raised(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """The tables whose versions were raised, each with the lost one that was read for it."""
    done: list[tuple[str, str | None]] = []

    def begun(table: Any, name: str, lost_writes: int | None) -> Any:
        del lost_writes
        return None if any(one == name for one, _ in done) else table

    def raise_all(table: Any, lost: Any, pending: Any, name: str) -> int:
        del pending
        assert table.name == name
        done.append((name, None if lost is None else lost.name))
        return 1

    monkeypatch.setattr(deployed, "begun", begun)
    monkeypatch.setattr(deployed, "raise_all", raise_all)
    monkeypatch.setattr("gridview.support.clock.sleep", lambda _: None)
    return done


def aws_with_a_table() -> Aws:
    old = {"TableArn": arn_of(OLD), "TableStatus": "ACTIVE", "DeletionProtectionEnabled": True}
    return Aws({OLD: old})


def stack_on(aws: Aws) -> Stack:
    return Stack("Gridview", OLD, aws, aws.tables.get(OLD))


def nothing(_: str) -> None:
    """Print nothing."""


def test_writes_stop_first_and_the_new_table_gets_what_a_restore_leaves_out(raised: list[Any]) -> None:
    aws = aws_with_a_table()
    made = restore(stack_on(aws), AT, None, None, nothing)
    assert made.table == NEW
    assert made.stream == f"{arn_of(NEW)}/stream/2026-11-21T09:00:00.000"
    assert raised == [(NEW, OLD)]
    table = aws.tables[NEW]
    assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert (table["expiry"], table["recovery"], table["DeletionProtectionEnabled"]) == ("ENABLED", True, True)
    assert aws.calls.count("probe") == 12  # two succeeded, ten were refused
    assert "Deny" in aws.policies[arn_of(OLD)]
    assert arn_of(NEW) not in aws.policies


def test_an_interrupted_restore_goes_on_when_it_is_repeated_and_does_nothing_twice(raised: list[Any]) -> None:
    whole = aws_with_a_table()
    restore(stack_on(whole), AT, None, None, nothing)
    for at in range(1, len(whole.calls) + 1):
        raised.clear()
        aws = aws_with_a_table()
        aws.dies_at = at
        if whole.calls[at - 1] != "probe":
            with pytest.raises(Failure, match="Run the same command again"):
                restore(stack_on(aws), AT, None, None, nothing)
        made = restore(stack_on(aws), AT, None, None, nothing)
        assert made.table == NEW
        assert raised == [(NEW, OLD)]
        assert aws.tables == whole.tables
        assert aws.policies == whole.policies
        assert aws.calls.count("put policy") <= 2


def test_a_table_that_exists_is_not_restored_again(raised: list[Any]) -> None:
    aws = aws_with_a_table()
    aws.tables["ours"] = {"TableArn": arn_of("ours"), "TableStatus": "ACTIVE"}
    assert restore(stack_on(aws), None, "ours", None, nothing).table == "ours"
    assert "restore" not in aws.calls
    assert raised == [("ours", OLD)]


def test_without_the_present_table_the_operator_says_how_much_was_written(raised: list[Any]) -> None:
    aws = Aws({"ours": {"TableArn": arn_of("ours"), "TableStatus": "ACTIVE"}})
    with pytest.raises(Failure, match="--lost-writes"):
        restore(stack_on(aws), None, "ours", None, nothing)
    made = restore(stack_on(aws), None, "ours", 500, nothing)
    assert made.table == "ours"
    assert raised == [("ours", None)]
    assert aws.policies == {}
    assert aws.tables["ours"]["DeletionProtectionEnabled"]
    with pytest.raises(Failure, match="Restore its last backup"):
        restore(stack_on(aws), AT, "another", 500, nothing)


def test_the_table_in_use_is_never_raised(raised: list[Any]) -> None:
    with pytest.raises(Failure, match="already uses Gridview-Table"):
        restore(stack_on(aws_with_a_table()), AT, OLD, None, nothing)
    assert raised == []


def test_a_missing_table_without_a_moment_is_a_question(raised: list[Any]) -> None:
    with pytest.raises(Failure, match="--at"):
        restore(stack_on(aws_with_a_table()), None, "ours", None, nothing)
    assert raised == []


def test_continuing_writes_stop_the_restore(raised: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    aws = aws_with_a_table()
    aws.delays = 10_000
    seconds = iter(range(0, 100_000, 100))
    monkeypatch.setattr("gridview.support.clock.seconds", lambda: float(next(seconds)))
    with pytest.raises(Failure, match="still succeed"):
        restore(stack_on(aws), AT, None, None, nothing)
    assert "restore" not in aws.calls
    assert raised == []


def test_a_restore_that_is_given_up_allows_writes_again() -> None:
    aws = aws_with_a_table()
    aws.policies[arn_of(OLD)] = "{}"
    resume_writes(stack_on(aws))
    assert aws.policies == {}


def test_the_policy_denies_every_write_to_everyone_and_no_read() -> None:
    (statement,) = deny_writes(arn_of(OLD))["Statement"]
    assert (statement["Effect"], statement["Principal"], statement["Resource"]) == ("Deny", "*", arn_of(OLD))
    assert {"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem"} <= {
        *statement["Action"]
    }
    assert not any("Get" in one or "Query" in one or "Scan" in one for one in statement["Action"])


def test_a_missing_table_is_none() -> None:
    assert described(Aws(), OLD) is None
