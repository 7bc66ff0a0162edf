"""An upgrade of a deployment of commit 8c50bc5 replaces no resource that holds data, addresses or a place in the
stream.
"""

import json
from pathlib import Path
from typing import Any

import pytest

REPLACING = {
    "AWS::DynamoDB::GlobalTable": (
        "TableName",
        "KeySchema",
        "LocalSecondaryIndexes",
        "GlobalTableSourceArn",
        # A change of these builds the index again; one of the stream's view starts a new stream.
        "AttributeDefinitions",
        "GlobalSecondaryIndexes",
        "StreamSpecification",
        "TimeToLiveSpecification",
    ),
    "AWS::Cognito::UserPool": ("AliasAttributes", "UsernameAttributes", "UsernameConfiguration", "Schema"),
    "AWS::Cognito::UserPoolClient": ("UserPoolId", "GenerateSecret"),
    "AWS::S3::Bucket": ("BucketName", "BucketNamePrefix", "BucketNamespace"),
    "AWS::SQS::Queue": ("QueueName", "FifoQueue"),
    # Secrets Manager creates a new value when the rule changes.
    "AWS::SecretsManager::Secret": ("Name", "GenerateSecretString"),
    "AWS::SNS::Topic": ("TopicName", "FifoTopic"),
    "AWS::KMS::Key": ("KeySpec", "KeyUsage", "Origin", "MultiRegion"),
    "AWS::ApiGatewayV2::Api": ("ProtocolType",),
    "AWS::ApiGatewayV2::Stage": ("StageName", "ApiId"),
    "AWS::Logs::LogGroup": ("LogGroupName",),
    "AWS::Lambda::EventSourceMapping": ("EventSourceArn", "StartingPosition", "StartingPositionTimestamp"),
}
"""By type of resource, the properties whose change replaces it: `createOnlyProperties` of its CloudFormation schema,
and additions from CloudFormation's reference.
"""

RECORDED: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "recorded" / "stateful_8c50bc5.json").read_text("utf-8")
)
"""The resources of that commit's template, by logical id: the extract of its template by `stateful`."""


def stateful(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The resources whose replacement would lose data, each with the properties that decide on it."""
    return {
        logical_id: {
            "Type": resource["Type"],
            **{
                name: _deciding(name, resource["Properties"][name])
                for name in REPLACING[resource["Type"]]
                if name in resource.get("Properties", {})
            },
        }
        for logical_id, resource in template["Resources"].items()
        if resource["Type"] in REPLACING
    }


def _deciding(name: str, value: Any) -> Any:
    """The parts of an index from which it is built; its capacity may change."""
    if name != "GlobalSecondaryIndexes":
        return value
    return [{part: index[part] for part in ("IndexName", "KeySchema", "Projection")} for index in value]


def test_the_record_is_of_everything_that_may_be_lost() -> None:
    assert {resource["Type"] for resource in RECORDED.values()} == set(REPLACING)


@pytest.mark.parametrize("logical_id", RECORDED)
def test_an_upgrade_replaces_nothing(template: dict[str, Any], logical_id: str) -> None:
    assert stateful(template)[logical_id] == RECORDED[logical_id]


@pytest.mark.parametrize("logical_id", RECORDED)
def test_a_setting_replaces_nothing(chosen_template: dict[str, Any], logical_id: str) -> None:
    """A deployment can change from any settings to any others and keeps its data."""
    assert stateful(chosen_template)[logical_id] == RECORDED[logical_id]
