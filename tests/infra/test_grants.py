"""Who may do what, said once more and in full: a wider grant shows up here as a difference. And whom the template refuses what."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gridview.encoding import keys
from infra.grants import GRANTS
from tests.support import iam
from tests.support.iam import Asked, Statement
from tests.support.reach import INDEX, TABLE, ask, statements
from tests.support.templates import resources

LOGGING = {("logs:CreateLogStream", "logs"), ("logs:PutLogEvents", "logs")}
TRACING = {("xray:PutTraceSegments", "*"), ("xray:PutTelemetryRecords", "*")}
READING = {
    ("dynamodb:GetItem", "table"),
    ("dynamodb:BatchGetItem", "table"),
    ("dynamodb:Query", "table"),
    ("dynamodb:Query", "table/index/GSI1"),
}

EXPECTED = {
    "Query": LOGGING | TRACING | READING | {("secretsmanager:GetSecretValue", "secret")},
    "Command": LOGGING
    | TRACING
    | READING
    | {
        ("dynamodb:PutItem", "table", "issue-*", "project-*", "request-*", "user-*"),
        ("dynamodb:UpdateItem", "table", "project-*", "rate-*"),
        ("dynamodb:DeleteItem", "table", "issue-*"),
    },
    "Maintain": LOGGING
    | TRACING
    | READING
    | {
        ("dynamodb:PutItem", "table", "block-*", "issue-*", "lag-*"),
        ("dynamodb:DeleteItem", "table", "block-*"),
        ("not dynamodb:PutItem", "table", "fields"),
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
        ("dynamodb:Scan", "table"),
        ("dynamodb:PutItem", "table", "block-*", "fsck", "issue-*", "project-*"),
        ("dynamodb:UpdateItem", "table", "issue-*"),
        ("dynamodb:DeleteItem", "table", "block-*", "fsck", "issue-*", "project-*"),
        ("not dynamodb:PutItem", "table", "fields"),
        ("sqs:SendMessage", "dead letters"),
        ("sqs:SendMessage", "jobs"),
        ("sqs:ReceiveMessage", "jobs"),
        ("sqs:DeleteMessage", "jobs"),
        ("sqs:GetQueueAttributes", "jobs"),
    },
}


@pytest.mark.parametrize("function", EXPECTED)
def test_a_function_may_do_what_it_does_and_no_more(template: dict[str, Any], function: str) -> None:
    assert {_told(one) for one in _single(_policy(template, function))} == EXPECTED[function]


@pytest.mark.parametrize("function", EXPECTED)
def test_the_reach_of_a_function_in_tests_is_that_of_its_role(
    template: dict[str, Any], function: str
) -> None:
    """What tests/unit/functions do goes through the same statements (`within_reach`), so the role allows all of it."""
    deployed = [one for one in _single(_policy(template, function)) if one["Resource"] in (TABLE, INDEX)]
    in_tests = list(_single(list(statements(GRANTS[function.lower()]))))
    assert sorted(map(_text, deployed)) == sorted(map(_text, in_tests))


ISSUE = keys.issue("0807", "35e9", 1)
PROJECT = keys.project("0807", "35e9")
BLOCK = keys.block("0807", "35e9", "a1.1", "7f3a")
REQUEST = keys.request("0807", "9f86d081")
NOTE = keys.lag("0807", "35e9")
TENANT = keys.tenant("0807")
DERIVED = (keys.PK, keys.SK, "version", "revision")
WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem")
EVERY_PARTITION = (ISSUE, PROJECT, BLOCK, REQUEST, NOTE, TENANT, keys.CHECK)

DENIED = [
    *(("Query", ask(operation, [pk])) for operation in WRITES for pk in EVERY_PARTITION),
    *(("Command", ask(operation, [pk])) for operation in WRITES for pk in (BLOCK, NOTE, TENANT, keys.CHECK)),
    *(
        ("Maintain", ask("PutItem", [pk], DERIVED))
        for pk in (PROJECT, REQUEST, TENANT, keys.CHECK, "issue", "blocks-0807.35e9.a1.1")
    ),
    *(("Maintain", ask("DeleteItem", [pk])) for pk in EVERY_PARTITION if pk != BLOCK),
    *(("Maintain", ask("UpdateItem", [pk])) for pk in EVERY_PARTITION),
    ("Maintain", ask("PutItem", [ISSUE], (*DERIVED, "num", "name", "state", "fields"))),
    *(("Upkeep", ask(operation, [pk])) for operation in WRITES for pk in (REQUEST, TENANT, NOTE)),
    ("Upkeep", ask("PutItem", [ISSUE], ("fields",))),
    *(("Upkeep", ask("UpdateItem", [pk])) for pk in (PROJECT, BLOCK, keys.CHECK)),
    *(("Command", ask("UpdateItem", [pk])) for pk in (ISSUE, REQUEST)),
    *(("Command", ask("DeleteItem", [pk])) for pk in (PROJECT, REQUEST)),
    # A request with a key that it may write and one that it may not, and one without any.
    ("Command", ask("PutItem", [ISSUE, BLOCK])),
    ("Maintain", ask("DeleteItem", [BLOCK, ISSUE])),
    *((function, ask(operation)) for function in EXPECTED for operation in WRITES),
    *((function, ask("Scan")) for function in EXPECTED if function != "Upkeep"),
    *((function, ask("Scan", resource=INDEX)) for function in EXPECTED),
    *((function, ask("Query", [ISSUE], resource="other")) for function in EXPECTED),
    *((function, ask("PutItem", [ISSUE], DERIVED, resource="other")) for function in EXPECTED),
    *((function, ask(operation)) for function in EXPECTED for operation in ("DeleteTable", "PartiQLSelect")),
]


@pytest.mark.parametrize(("function", "asked"), DENIED)
def test_what_a_function_never_does_it_may_not_do(
    template: dict[str, Any], function: str, asked: Asked
) -> None:
    assert not iam.allows(_policy(template, function), asked)


@pytest.mark.parametrize("function", EXPECTED)
def test_every_condition_refuses_something_that_nothing_else_refuses(
    template: dict[str, Any], function: str
) -> None:
    policy = _policy(template, function)
    for at, statement in enumerate(policy):
        for operator in statement.get("Condition", {}):
            left = {key: test for key, test in statement["Condition"].items() if key != operator}
            # A refusal without its condition would refuse everything: without it is without the refusal.
            wider = [{**statement, "Condition": left}] if statement["Effect"] == "Allow" else []
            others = [*policy[:at], *wider, *policy[at + 1 :]]
            assert any(iam.allows(others, asked) for whose, asked in DENIED if whose == function), statement


@pytest.mark.parametrize(
    ("function", "asked"),
    [
        ("Query", ask("BatchGetItem", [ISSUE, BLOCK])),
        ("Query", ask("Query", [keys.directory("0807", "35e9", "a1.1")], resource=INDEX)),
        ("Command", ask("PutItem", [ISSUE], ("fields",))),
        ("Command", ask("PutItem", [ISSUE, PROJECT, REQUEST])),
        ("Maintain", ask("PutItem", [ISSUE], DERIVED)),
        ("Maintain", ask("DeleteItem", [BLOCK])),
        ("Upkeep", ask("DeleteItem", [ISSUE])),
        ("Upkeep", ask("UpdateItem", [ISSUE], ("fields",))),
        ("Upkeep", ask("DeleteItem", [keys.CHECK])),
        ("Upkeep", ask("Scan")),
    ],
)
def test_what_a_function_does_it_may_do(template: dict[str, Any], function: str, asked: Asked) -> None:
    assert iam.allows(_policy(template, function), asked)


def test_no_role_has_a_managed_policy_or_a_way_in_but_lambda(template: dict[str, Any]) -> None:
    roles = resources(template, "AWS::IAM::Role")
    assert len(roles) == len(EXPECTED)
    for role in roles.values():
        assert "ManagedPolicyArns" not in role
        assert "Policies" not in role
        (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
        assert trust["Principal"] == {"Service": "lambda.amazonaws.com"}


def _policy(template: dict[str, Any], function: str) -> list[Statement]:
    """The statements about the function's role, with short names of the resources."""
    role = resources(template, "AWS::Lambda::Function")[f"{function}Function"]["Role"]["Fn::GetAtt"][0]
    return [
        {**statement, "Resource": [_short(template, one) for one in iam.listed(statement["Resource"])]}
        for policy in resources(template, "AWS::IAM::Policy").values()
        if {"Ref": role} in policy["Roles"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]


def _single(policy: list[Statement]) -> Iterator[dict[str, Any]]:
    """The same statements, each of one action on one resource."""
    for statement in policy:
        for action in iam.listed(statement["Action"]):
            for resource in iam.listed(statement["Resource"]):
                condition = statement.get("Condition", {})
                yield {
                    "Effect": statement["Effect"],
                    "Action": action,
                    "Resource": resource,
                    "Condition": condition,
                }


def _text(statement: Statement) -> str:
    """A statement to compare: what stands for a single value or for a list of one means the same."""
    condition = {
        operator: {key: iam.listed(values) for key, values in tests.items()}
        for operator, tests in statement["Condition"].items()
    }
    return json.dumps({**statement, "Condition": condition}, sort_keys=True)


def _told(statement: Statement) -> tuple[str, ...]:
    """Action, resource, and the partition keys or attributes that a condition names; `not` for what is refused."""
    refused = "not " if statement["Effect"] == "Deny" else ""
    named: list[str] = []
    for operator, tests in statement["Condition"].items():
        ((key, values),) = tests.items()
        match operator, key:
            case "ForAllValues:StringLike", "dynamodb:LeadingKeys":
                assert statement["Condition"]["Null"] == {"dynamodb:LeadingKeys": "false"}
            case "Null", "dynamodb:LeadingKeys":
                continue
            case "ForAnyValue:StringEquals", "dynamodb:Attributes":
                pass
            case _:
                raise AssertionError(operator)
        named += iam.listed(values)
    return (f"{refused}{statement['Action']}", statement["Resource"], *named)


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
