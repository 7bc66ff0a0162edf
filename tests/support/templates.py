"""The synthesized template, for tests: of the stack with default settings, made once a session, without network or
account.
"""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import CreateTableInputTypeDef


@cache
def template() -> dict[str, Any]:
    """The CloudFormation template. It is shared, so no test may change it."""
    return synthesized()


def synthesized(**settings: Any) -> dict[str, Any]:
    """The template of a deployment with these settings."""
    # The CDK takes seconds to import, which every process that collects these tests would spend.
    from infra.settings import Settings
    from infra.template import synthesize

    return synthesize(Settings(**settings))


def resources(of: Mapping[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    """The properties of every resource of one type, by logical id."""
    return {
        logical_id: resource.get("Properties", {})
        for logical_id, resource in of["Resources"].items()
        if resource["Type"] == kind
    }


def functions_of(of: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The properties of this project's functions, by logical id, without CDK's own function, which uploads the page."""
    found = resources(of, "AWS::Lambda::Function")
    return {logical_id: one for logical_id, one in found.items() if not logical_id.startswith("CustomCDK")}


def only(of: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The properties of the only resource of one type."""
    (properties,) = resources(of, kind).values()
    return properties


def of_construct(of: Mapping[str, Any], kind: str, construct: str) -> dict[str, Any]:
    """The properties of the only resource of one type in a construct of the stack, by the construct's id."""
    (properties,) = (
        one for logical_id, one in resources(of, kind).items() if logical_id.startswith(construct)
    )
    return properties


def table_input(name: str = "gridview") -> "CreateTableInputTypeDef":
    """CreateTable's arguments for the table that the template declares (its expiry is not among them: CreateTable takes
    none).
    """
    declared = only(template(), "AWS::DynamoDB::GlobalTable")
    stream = declared["StreamSpecification"]
    request = {
        "TableName": name,
        "BillingMode": declared["BillingMode"],
        "AttributeDefinitions": declared["AttributeDefinitions"],
        "KeySchema": declared["KeySchema"],
        "GlobalSecondaryIndexes": declared["GlobalSecondaryIndexes"],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": stream["StreamViewType"]},
    }
    return cast("CreateTableInputTypeDef", request)


def time_to_live_attribute() -> str:
    """The attribute by which items expire."""
    declared = only(template(), "AWS::DynamoDB::GlobalTable")
    attribute: str = declared["TimeToLiveSpecification"]["AttributeName"]
    return attribute
