import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk.assertions import Template

from devtools.local.table import create_table_input
from gridview.encoding import keys
from infra.backup import NightlyBackup
from infra.settings import SettingError, Settings
from tests.support.templates import only, resources, synthesized, table_input, time_to_live_attribute

KIND = "AWS::DynamoDB::GlobalTable"


def test_keys_index_and_projection(template: dict[str, Any]) -> None:
    table = only(template, KIND)
    assert table["KeySchema"] == [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ]
    (index,) = table["GlobalSecondaryIndexes"]
    assert index["IndexName"] == "GSI1"
    assert index["KeySchema"] == [
        {"AttributeName": "SK", "KeyType": "HASH"},
        {"AttributeName": "sort", "KeyType": "RANGE"},
    ]
    assert index["Projection"] == {
        "ProjectionType": "INCLUDE",
        "NonKeyAttributes": list(keys.PROJECTED_ATTRIBUTES),
    }


def test_projection_is_within_what_an_index_may_include() -> None:
    assert len(set(keys.PROJECTED_ATTRIBUTES)) == len(keys.PROJECTED_ATTRIBUTES) <= 20


def test_on_demand_with_recovery_stream_and_expiry(template: dict[str, Any]) -> None:
    table = only(template, KIND)
    (replica,) = table["Replicas"]
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert replica["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}


def test_capacity_and_keys_are_set_only_on_request(template: dict[str, Any]) -> None:
    table = only(template, KIND)
    (replica,), (index,) = table["Replicas"], table["GlobalSecondaryIndexes"]
    assert not {"WarmThroughput", "WriteOnDemandThroughputSettings", "SSESpecification"} & set(table)
    assert set(index) == {"IndexName", "KeySchema", "Projection"}
    assert {"ContributorInsightsSpecification", "ReadOnDemandThroughputSettings"}.isdisjoint(replica)
    assert [set(one) for one in replica["GlobalSecondaryIndexes"]] == [{"IndexName"}]
    assert resources(template, "AWS::Backup::BackupPlan") == {}


def test_table_and_index_are_warm_and_have_a_brake(chosen_template: dict[str, Any]) -> None:
    table = only(chosen_template, KIND)
    (replica,), (index,) = table["Replicas"], table["GlobalSecondaryIndexes"]
    warm = {"ReadUnitsPerSecond": 20000, "WriteUnitsPerSecond": 8000}
    assert (table["WarmThroughput"], index["WarmThroughput"]) == (warm, warm)
    for writes in (table, index):
        assert writes["WriteOnDemandThroughputSettings"] == {"MaxWriteRequestUnits": 9000}
    (replica_index,) = replica["GlobalSecondaryIndexes"]
    for reads in (replica, replica_index):
        assert reads["ReadOnDemandThroughputSettings"] == {"MaxReadRequestUnits": 30000}
        assert reads["ContributorInsightsSpecification"] == {"Enabled": True, "Mode": "THROTTLED_KEYS"}


def test_a_customer_managed_key_is_usable_by_all_who_may_use_the_table(
    chosen_template: dict[str, Any],
) -> None:
    (key_id,) = (one for one in resources(chosen_template, "AWS::KMS::Key") if one.startswith("Database"))
    table = only(chosen_template, KIND)
    assert table["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS"}
    assert table["Replicas"][0]["SSESpecification"] == {"KMSMasterKeyId": {"Fn::GetAtt": [key_id, "Arn"]}}
    key = chosen_template["Resources"][key_id]
    assert key["DeletionPolicy"] == "RetainExceptOnCreate"
    _, through_dynamodb = key["Properties"]["KeyPolicy"]["Statement"]
    assert through_dynamodb["Principal"] == {"AWS": "*"}
    condition = through_dynamodb["Condition"]["StringEquals"]
    assert condition["kms:CallerAccount"] == {"Ref": "AWS::AccountId"}
    assert condition["kms:ViaService"]["Fn::Join"][1] == [
        "dynamodb.",
        {"Ref": "AWS::Region"},
        ".amazonaws.com",
    ]


def test_the_table_may_be_backed_up_each_night(chosen_template: dict[str, Any]) -> None:
    (vault,) = resources(chosen_template, "AWS::Backup::BackupVault")
    assert chosen_template["Resources"][vault]["DeletionPolicy"] == "RetainExceptOnCreate"
    assert chosen_template["Outputs"]["BackupVault"]["Value"] == "Gridview-staging-backups"
    named = only(chosen_template, "AWS::Backup::BackupVault")["BackupVaultName"]
    assert named == "Gridview-staging-backups"
    (rule,) = only(chosen_template, "AWS::Backup::BackupPlan")["BackupPlan"]["BackupPlanRule"]
    assert rule["ScheduleExpression"] == "cron(17 2 * * ? *)"
    assert rule["Lifecycle"] == {"DeleteAfterDays": 35}
    (table,) = resources(chosen_template, KIND)
    selected = only(chosen_template, "AWS::Backup::BackupSelection")["BackupSelection"]["Resources"]
    assert selected == [{"Fn::GetAtt": [table, "Arn"]}]


@pytest.mark.parametrize("protect", [True, False])
def test_a_vault_that_is_there_is_used_and_not_made_again(protect: bool) -> None:
    """Also for an unprotected stack: CloudFormation could not delete a vault with copies."""

    def made(**chosen: Any) -> dict[str, Any]:
        stack = Stack(App(), "Alone")
        settings = Settings(backup=True, protect=protect, **chosen)
        table = dynamodb.TableV2.from_table_name(stack, "Table", "gridview")
        NightlyBackup(stack, "Backup", settings=settings, table=table)
        return dict(Template.from_stack(stack).to_json())

    new = made(backup_vault="Ours")
    ((logical_id, vault),) = resources(new, "AWS::Backup::BackupVault").items()
    assert vault["BackupVaultName"] == "Ours"
    assert new["Resources"][logical_id]["DeletionPolicy"] == "RetainExceptOnCreate"
    assert new["Resources"][logical_id]["UpdateReplacePolicy"] == "Retain"
    found = made(backup_vault="Ours", backup_vault_exists=True)
    assert resources(found, "AWS::Backup::BackupVault") == {}
    (rule,) = only(found, "AWS::Backup::BackupPlan")["BackupPlan"]["BackupPlanRule"]
    assert rule["TargetBackupVault"] == "Ours"
    assert set(found["Outputs"]) == {"BackupVaultFound"}, (
        "it is not the stack's own, at the next deployment either"
    )


def test_data_are_protected_by_default(template: dict[str, Any]) -> None:
    protected = {KIND, "AWS::Cognito::UserPool", "AWS::S3::Bucket"}
    policies = {
        (resource["DeletionPolicy"], resource["UpdateReplacePolicy"])
        for resource in template["Resources"].values()
        if resource["Type"] in protected
    }
    assert policies == {("RetainExceptOnCreate", "Retain")}
    assert only(template, KIND)["Replicas"][0]["DeletionProtectionEnabled"] is True
    assert only(template, "AWS::Cognito::UserPool")["DeletionProtection"] == "ACTIVE"


def test_a_first_deployment_can_fail_and_be_repeated(chosen_template: dict[str, Any]) -> None:
    """Its resources can be deleted, and are; a later deployment, and a deletion of the stack, keep them."""
    for resource in chosen_template["Resources"].values():
        assert resource.get("DeletionPolicy") in {None, "Delete", "RetainExceptOnCreate"}
    assert only(chosen_template, KIND)["Replicas"][0]["DeletionProtectionEnabled"] is False
    assert only(chosen_template, "AWS::Cognito::UserPool")["DeletionProtection"] == "INACTIVE"


@pytest.mark.parametrize(
    ("context", "guarded"),
    [
        ({}, True),
        ({"first-deployment": "true"}, False),
        ({"stage": "staging"}, True),
        ({"stage": "dev"}, False),
    ],
)
def test_the_stack_itself_is_protected_after_its_first_deployment(
    context: dict[str, str], guarded: bool, tmp_path: Path
) -> None:
    from aws_cdk import App

    from infra.context import settings_from
    from infra.stack import GridviewStack

    app = App(outdir=str(tmp_path), context={"aws:cdk:bundling-stacks": []})
    assert GridviewStack(app, settings=settings_from(context.get)).termination_protection is guarded


def test_protection_can_be_switched_off(local_template: dict[str, Any]) -> None:
    retained = [
        logical_id
        for logical_id, resource in local_template["Resources"].items()
        if resource.get("DeletionPolicy") == "Retain"
    ]
    assert retained == []
    assert only(local_template, KIND)["Replicas"][0]["DeletionProtectionEnabled"] is False
    assert only(local_template, "AWS::Cognito::UserPool")["DeletionProtection"] == "INACTIVE"


def test_the_local_table_is_the_deployed_one() -> None:
    local, deployed = create_table_input("t"), table_input("t")
    assert _ordered(local) == _ordered(deployed)
    assert time_to_live_attribute() == keys.TTL_ATTRIBUTE


def _ordered(request: Any) -> dict[str, Any]:
    """A request whose attribute definitions are sorted, since their order means nothing. Their only type is S."""
    definitions = sorted(request["AttributeDefinitions"], key=lambda one: one["AttributeName"])
    return {**request, "AttributeDefinitions": definitions}


def test_a_restored_table_takes_the_place_of_the_own_one_everywhere() -> None:
    """The stack loses its own table. Functions, grants, both stream mappings and the output use the restored one."""
    name = "Gridview-20261121T080000Z"
    stream = f"arn:aws:dynamodb:eu-west-1:123456789012:table/{name}/stream/2026-11-21T09:00:00.000"
    restored = synthesized(restored_stream=stream, customer_key=True, backup=True)
    assert resources(restored, KIND) == {}
    assert any(one.startswith("DatabaseKey") for one in resources(restored, "AWS::KMS::Key"))
    named = [
        function["Environment"]["Variables"]["TABLE_NAME"]
        for function in resources(restored, "AWS::Lambda::Function").values()
        if "TABLE_NAME" in function.get("Environment", {}).get("Variables", {})
    ]
    assert len(named) == 7
    assert set(named) == {name}
    sources = [
        one["EventSourceArn"] for one in resources(restored, "AWS::Lambda::EventSourceMapping").values()
    ]
    assert sources.count(stream) == 2
    assert restored["Outputs"]["TableName"]["Value"] == name
    assert restored["Outputs"]["RestoredStream"]["Value"] == stream
    policies = json.dumps(resources(restored, "AWS::IAM::Policy"))
    assert f":table/{name}/index/GSI1" in policies
    assert "DatabaseTable" not in json.dumps(restored)


@pytest.mark.parametrize("own", ["", "none"])
def test_without_a_restored_table_the_stack_has_its_own(own: str) -> None:
    assert len(resources(synthesized(restored_stream=own), KIND)) == 1
    assert "RestoredStream" not in synthesized(restored_stream=own)["Outputs"]


def test_a_setting_that_is_no_stream_of_a_table_is_refused() -> None:
    with pytest.raises(SettingError, match="restored-stream"):
        Settings(restored_stream="Gridview-20261121T080000Z")
