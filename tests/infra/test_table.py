from pathlib import Path
from typing import Any

import pytest

from devtools.local.table import create_table_input
from gridview.encoding import keys
from tests.support.templates import only, table_input, time_to_live_attribute

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
    """What it made can be deleted, and is; a later deployment, and a deletion of the stack, keep it."""
    for resource in chosen_template["Resources"].values():
        assert resource.get("DeletionPolicy") in {None, "Delete", "RetainExceptOnCreate"}
    assert only(chosen_template, KIND)["Replicas"][0]["DeletionProtectionEnabled"] is False
    assert only(chosen_template, "AWS::Cognito::UserPool")["DeletionProtection"] == "INACTIVE"


@pytest.mark.parametrize(
    ("context", "guarded"),
    [({}, True), ({"first": "true"}, False), ({"stage": "staging"}, True), ({"stage": "dev"}, False)],
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
    """The order of attribute definitions means nothing, and the type of none of ours is anything but S."""
    definitions = sorted(request["AttributeDefinitions"], key=lambda one: one["AttributeName"])
    return {**request, "AttributeDefinitions": definitions}
