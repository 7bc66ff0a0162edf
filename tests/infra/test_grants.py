"""Who may do what, said once more and in full: a wider grant shows up here as a difference."""

import json
from typing import Any

import pytest

from tests.support.templates import resources

LOGGING = {("logs:CreateLogStream", "logs"), ("logs:PutLogEvents", "logs")}
TRACING = {("xray:PutTraceSegments", "*"), ("xray:PutTelemetryRecords", "*")}
READING = {("dynamodb:GetItem", "table"), ("dynamodb:BatchGetItem", "table"), ("dynamodb:Query", "table")}

EXPECTED = {
    "Query": LOGGING
    | TRACING
    | READING
    | {("dynamodb:Query", "table/index/GSI1"), ("secretsmanager:GetSecretValue", "secret")},
    "Command": LOGGING
    | TRACING
    | READING
    | {
        ("dynamodb:Query", "table/index/GSI1"),
        ("dynamodb:PutItem", "table"),
        ("dynamodb:UpdateItem", "table"),
        ("dynamodb:DeleteItem", "table"),
    },
    "Maintain": LOGGING
    | TRACING
    | READING
    | {
        ("dynamodb:Query", "table/index/GSI1"),
        ("dynamodb:PutItem", "table"),
        ("dynamodb:DeleteItem", "table"),
        ("dynamodb:DescribeStream", "stream"),
        ("dynamodb:GetRecords", "stream"),
        ("dynamodb:GetShardIterator", "stream"),
        ("dynamodb:ListStreams", "stream"),
        ("sqs:SendMessage", "dead letters"),
        ("s3:ListBucket", "bucket"),
        ("s3:PutObject", "bucket/aws/lambda/*"),
    },
    "Upkeep": LOGGING
    | TRACING
    | READING
    | {
        ("dynamodb:Query", "table/index/GSI1"),
        ("dynamodb:Scan", "table"),
        ("dynamodb:PutItem", "table"),
        ("dynamodb:UpdateItem", "table"),
        ("dynamodb:DeleteItem", "table"),
        ("sqs:SendMessage", "dead letters"),
        ("sqs:SendMessage", "jobs"),
        ("sqs:ReceiveMessage", "jobs"),
        ("sqs:DeleteMessage", "jobs"),
        ("sqs:GetQueueAttributes", "jobs"),
    },
}


@pytest.mark.parametrize("function", EXPECTED)
def test_a_function_may_do_what_it_does_and_no_more(template: dict[str, Any], function: str) -> None:
    assert _allowed(template, function) == EXPECTED[function]


def test_no_role_has_a_managed_policy_or_a_way_in_but_lambda(template: dict[str, Any]) -> None:
    roles = resources(template, "AWS::IAM::Role")
    assert len(roles) == len(EXPECTED)
    for role in roles.values():
        assert "ManagedPolicyArns" not in role
        assert "Policies" not in role
        (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
        assert trust["Principal"] == {"Service": "lambda.amazonaws.com"}


def _allowed(template: dict[str, Any], function: str) -> set[tuple[str, str]]:
    """Every (action, short name of the resource) that the function's role is allowed."""
    role = resources(template, "AWS::Lambda::Function")[f"{function}Function"]["Role"]["Fn::GetAtt"][0]
    statements = [
        statement
        for policy in resources(template, "AWS::IAM::Policy").values()
        if {"Ref": role} in policy["Roles"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]
    assert {statement["Effect"] for statement in statements} == {"Allow"}
    return {
        (action, _short(template, resource))
        for statement in statements
        for action in _listed(statement["Action"])
        for resource in _listed(statement["Resource"])
    }


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _short(template: dict[str, Any], arn: Any) -> str:
    """`table/index/GSI1` for `{Fn::Join: ["", [{Fn::GetAtt: [DatabaseTable..., Arn]}, "/index/GSI1"]]}`."""
    match arn:
        case str():
            return arn
        case {"Fn::GetAtt": [logical_id, attribute]}:
            kind = template["Resources"][logical_id]["Type"]
            if kind == "AWS::SQS::Queue" and attribute == "Arn":
                return "jobs" if logical_id.startswith("Jobs") else "dead letters"
            names = {
                ("AWS::DynamoDB::GlobalTable", "Arn"): "table",
                ("AWS::DynamoDB::GlobalTable", "StreamArn"): "stream",
                ("AWS::SecretsManager::Secret", "Id"): "secret",
                ("AWS::S3::Bucket", "Arn"): "bucket",
                ("AWS::Logs::LogGroup", "Arn"): "logs",
            }
            return names[kind, attribute]
        case {"Fn::Join": ["", parts]}:
            return "".join(_short(template, part) for part in parts)
    raise AssertionError(json.dumps(arn))
