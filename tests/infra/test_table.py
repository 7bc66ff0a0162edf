from typing import Any

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
    assert policies == {("Retain", "Retain")}
    assert only(template, KIND)["Replicas"][0]["DeletionProtectionEnabled"] is True
    assert only(template, "AWS::Cognito::UserPool")["DeletionProtection"] == "ACTIVE"


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
