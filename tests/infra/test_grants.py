"""All grants and refusals, listed again in full: a wider grant is a difference here."""

import json
from collections.abc import Iterator
from inspect import isfunction, signature
from typing import Any

import pytest

from gridview.encoding import derived_keys, keys, live_keys
from infra.functions import FUNCTIONS
from tests.support import iam
from tests.support.iam import Asked, Statement
from tests.support.reach import INDEX, SERVING, TABLE, ask, of_tenant, statements
from tests.support.templates import functions_of, resources

LOGGING = {("logs:CreateLogStream", "logs"), ("logs:PutLogEvents", "logs")}
TRACING = {("xray:PutTraceSegments", "*"), ("xray:PutTelemetryRecords", "*")}
READING = {
    ("dynamodb:GetItem", "table"),
    ("dynamodb:BatchGetItem", "table"),
    ("dynamodb:Query", "table"),
    ("dynamodb:Query", "table/index/GSI1"),
}

OF_SOCKETS = {
    *((f"dynamodb:{operation}", "table", "socket-*") for operation in ("GetItem", "PutItem", "DeleteItem")),
    ("dynamodb:Query", "table/index/GSI1", "owed", "socket"),
    ("secretsmanager:GetSecretValue", "secret of cursors"),
    ("execute-api:ManageConnections", "sockets/live/POST/@connections/*"),
    ("execute-api:ManageConnections", "sockets/live/DELETE/@connections/*"),
    *(
        (f"dynamodb:{operation}", "stream")
        for operation in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
    ),
}
"""The socket function's rights outside any tenant's session."""

EXPECTED: dict[str, set[tuple[str, ...]]] = {
    "Query": LOGGING
    | TRACING
    | READING
    | {("secretsmanager:GetSecretValue", "secret of cursors"), ("s3:GetObject", "bucket/files/*")},
    "Command": LOGGING
    | TRACING
    | READING
    | {
        (
            "dynamodb:PutItem",
            "table",
            "activity-*",
            "change-*",
            "comment-*",
            "issue-*",
            "jobline-*",
            "jobparts-*",
            "jobs-*",
            "journal-*",
            "outbox-*",
            "placed-*",
            "project-*",
            "request-*",
            "tenant-*",
            "user-*",
            "view-*",
            "webhook-*",
        ),
        ("dynamodb:UpdateItem", "table", "issue-*", "jobs-*", "outbox-*", "project-*", "rate-*", "tenant-*"),
        (
            "dynamodb:DeleteItem",
            "table",
            *("activity-*", "comment-*", "issue-*", "outbox-*", "project-*", "view-*", "webhook-*"),
        ),
        ("sqs:SendMessage", "jobs"),
        ("sqs:SendMessage", "webhooks"),
        ("secretsmanager:GetSecretValue", "secret of cursors"),
        ("secretsmanager:GetSecretValue", "secret of webhooks"),
    },
    "Live": LOGGING
    | (READING - {("dynamodb:Query", "table/index/GSI1")})
    | {
        ("dynamodb:PutItem", "table", "journal-*"),
        ("dynamodb:UpdateItem", "table", "polls-*"),
        ("dynamodb:DeleteItem", "table", "polls-*"),
        ("secretsmanager:GetSecretValue", "secret of cursors"),
    },
    "Socket": LOGGING
    | (READING - {("dynamodb:Query", "table/index/GSI1")})
    | OF_SOCKETS
    | {
        ("dynamodb:PutItem", "table", "journal-*", "seats-*", "sockets-*", "ticket-*"),
        ("dynamodb:UpdateItem", "table", "seats-*", "sockets-*"),
        ("dynamodb:DeleteItem", "table", "seats-*", "sockets-*"),
        ("secretsmanager:GetSecretValue", "secret of cursors"),
    },
    "Deliver": LOGGING
    | READING
    | {
        ("dynamodb:PutItem", "table", "journal-*", "outbox-*", "webhook-*"),
        ("dynamodb:UpdateItem", "table", "outbox-*"),
        ("dynamodb:DeleteItem", "table", "outbox-*"),
        ("secretsmanager:GetSecretValue", "secret of webhooks"),
        *(
            (f"sqs:{action}", queue)
            for action in ("SendMessage", "ReceiveMessage", "DeleteMessage", "GetQueueAttributes")
            for queue in ("webhooks", "webhook retries")
        ),
    },
    "Maintain": LOGGING
    | (READING - {("dynamodb:Query", "table/index/GSI1")})
    | {
        ("dynamodb:PutItem", "table", "issue-*", "journal-*", "lag-*", "request-*", "trash-*"),
        ("dynamodb:UpdateItem", "table", "journal-*", "lag-beat"),
        ("dynamodb:DeleteItem", "table", "activity-*", "comment-*", "history-*", "trash-*"),
        ("dynamodb:BatchWriteItem", "table", "activity-*", "change-*", "history-*"),
        ("not dynamodb:PutItem", "table", "fields"),
        ("dynamodb:DescribeStream", "stream"),
        ("dynamodb:GetRecords", "stream"),
        ("dynamodb:GetShardIterator", "stream"),
        ("dynamodb:ListStreams", "stream"),
        ("sqs:SendMessage", "dead letters"),
        ("sqs:SendMessage", "jobs"),
        ("sqs:SendMessage", "webhooks"),
        ("s3:ListBucket", "bucket"),
        ("s3:PutObject", "bucket/aws/lambda/*"),
        ("s3:PutObject", "bucket/waiting/*"),
    },
    "Upkeep": LOGGING
    | READING
    | {
        ("dynamodb:Scan", "table"),
        *(
            (
                f"dynamodb:{write}",
                "table",
                "block-*",
                "column-*",
                "fsck",
                "history-*",
                "issue-*",
                "jobparts-*",
                "jobs-*",
                "journal-*",
                "placed-*",
                "project-*",
                "request-*",
            )
            for write in ("PutItem", "DeleteItem")
        ),
        ("dynamodb:PutItem", "table", "beat", "canary", "jobline-*"),
        ("dynamodb:PutItem", "table", "trash-*"),
        ("dynamodb:BatchWriteItem", "table", "activity-*", "change-*", "history-*"),
        ("cognito-idp:AdminGetUser", "users"),
        (
            "dynamodb:DeleteItem",
            "table",
            "activity-*",
            "change-*",
            "comment-*",
            "outbox-*",
            "trash-*",
            "view-*",
            "webhook-*",
        ),
        (
            "dynamodb:UpdateItem",
            "table",
            "fsck",
            "issue-*",
            "jobline-*",
            "journal-*",
            "lag-beat",
            "project-*",
            "rate-*",
        ),
        ("sqs:SendMessage", "dead letters"),
        ("sqs:SendMessage", "jobs"),
        ("sqs:ReceiveMessage", "jobs"),
        ("sqs:DeleteMessage", "jobs"),
        ("sqs:GetQueueAttributes", "jobs"),
        ("s3:ListBucket", "bucket"),
        *((f"s3:{action}Object", "bucket/waiting/*") for action in ("Get", "Put", "Delete")),
        *((f"s3:{action}Object", "bucket/aws/lambda/*") for action in ("Get", "Delete")),
        ("s3:PutObject", "bucket/files/*"),
        ("s3:AbortMultipartUpload", "bucket/files/*"),
        ("s3:GetObject", "bucket/files/*"),
        ("s3:PutObject", "bucket/tails/*"),
        ("s3:GetObject", "bucket/tails/*"),
    },
}


@pytest.mark.parametrize("function", EXPECTED)
def test_a_function_may_do_what_it_does_and_no_more(shared_template: dict[str, Any], function: str) -> None:
    assert {_summary(one) for one in _single(_policy(shared_template, function))} == EXPECTED[function]


@pytest.mark.parametrize("function", EXPECTED)
def test_the_reach_of_a_function_in_tests_is_that_of_its_role(
    shared_template: dict[str, Any], function: str
) -> None:
    """The calls of tests/unit/functions are checked by the same statements (`within_reach`), so the role allows all of
    them.
    """
    deployed = [
        one for one in _single(_policy(shared_template, function)) if one["Resource"] in (TABLE, INDEX)
    ]
    spec = FUNCTIONS[function.lower()]
    in_tests = _single(list(statements((*spec.grants, *spec.tenantless_grants))))
    assert sorted(map(_text, deployed)) == sorted(map(_text, in_tests))


ISSUE = keys.issue("0807", "35e9", 1)
PROJECT = keys.project("0807", "35e9")
BLOCK = derived_keys.block("0807", "35e9", "a1.1", "7f3a")
REQUEST = keys.request("0807", "35e9")
NOTE = keys.lag("0807", "35e9")
HISTORY = derived_keys.history("0807", "35e9", 1)
JOURNAL = derived_keys.journal("0807", "35e9")
JOBS = keys.jobs("0807", "35e9")
POLLS = live_keys.polls("0807")
LINE = keys.job_line("0807")
WEBHOOKS = live_keys.webhooks("0807", "35e9")
OUTBOX = live_keys.outbox("0807", "35e9", "w3k9q2m7x1c0z")
TENANT = keys.tenant("0807")
DERIVED = (keys.PK, keys.SK, "version", "revision")
READS = ("GetItem", "BatchGetItem", "Query")
WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem")
EVERY_PARTITION = (ISSUE, PROJECT, BLOCK, REQUEST, NOTE, JOBS, TENANT, keys.CHECK)

DENIED = [
    *(("Query", ask(operation, [pk])) for operation in WRITES for pk in EVERY_PARTITION),
    *(("Command", ask(operation, [pk])) for operation in WRITES for pk in (BLOCK, NOTE, POLLS, keys.CHECK)),
    ("Command", ask("DeleteItem", [TENANT])),
    *(
        ("Maintain", ask("PutItem", [pk], DERIVED))
        for pk in (PROJECT, TENANT, BLOCK, keys.CHECK, "issue", "blocks-0807.35e9.a1.1")
    ),
    *(("Live", ask(operation, [pk])) for operation in WRITES for pk in EVERY_PARTITION),
    ("Live", ask("PutItem", [JOURNAL, ISSUE])),
    ("Live", ask("PutItem", [POLLS])),
    ("Live", ask("UpdateItem", [POLLS, ISSUE])),
    ("Live", ask("UpdateItem")),
    ("Live", ask("DeleteItem")),
    *(
        ("Socket", ask(operation, [pk]))
        for operation in WRITES
        for pk in EVERY_PARTITION
        if (operation, pk) != ("PutItem", JOURNAL)
    ),
    *(("Socket", ask(operation, [JOURNAL])) for operation in WRITES if operation != "PutItem"),
    ("Socket", ask("PutItem", [live_keys.sockets("0807"), ISSUE])),
    ("Socket", ask("Query", [keys.tenant("0807")], resource=INDEX)),
    ("Socket", ask("Query", resource=INDEX)),
    ("Socket", ask("UpdateItem", [live_keys.socket_owner("c")])),
    *(("Socket", ask(operation, [live_keys.tickets("0807")])) for operation in ("UpdateItem", "DeleteItem")),
    *(("Deliver", ask(operation, [pk])) for operation in WRITES for pk in EVERY_PARTITION),
    *(("Deliver", ask(operation, [WEBHOOKS])) for operation in WRITES if operation != "PutItem"),
    ("Deliver", ask("PutItem", [OUTBOX, ISSUE])),
    *(("Maintain", ask("DeleteItem", [pk])) for pk in EVERY_PARTITION),
    *(("Maintain", ask("UpdateItem", [pk])) for pk in EVERY_PARTITION),
    *(("Maintain", ask("BatchWriteItem", [HISTORY, pk])) for pk in EVERY_PARTITION),
    ("Maintain", ask("PutItem", [ISSUE], (*DERIVED, "num", "name", "state", "fields"))),
    *(("Upkeep", ask(operation, [pk])) for operation in WRITES for pk in (TENANT, NOTE)),
    ("Upkeep", ask("UpdateItem", [REQUEST])),
    *(("Upkeep", ask("UpdateItem", [pk])) for pk in (BLOCK, JOBS)),
    ("Command", ask("UpdateItem", [REQUEST])),
    *(("Command", ask("DeleteItem", [pk])) for pk in (PROJECT, REQUEST, JOBS)),
    # A request with a writable key and another one, and one without a key.
    ("Command", ask("PutItem", [ISSUE, BLOCK])),
    ("Maintain", ask("Query", [derived_keys.directory("0807", "35e9", "a1.1")], resource=INDEX)),
    *((function, ask(operation)) for function in EXPECTED for operation in WRITES),
    *((function, ask("Scan")) for function in EXPECTED if function != "Upkeep"),
    *((function, ask("Scan", resource=INDEX)) for function in EXPECTED),
    *((function, ask("Query", [ISSUE], resource="other")) for function in EXPECTED),
    *((function, ask("PutItem", [ISSUE], DERIVED, resource="other")) for function in EXPECTED),
    *((function, ask(operation)) for function in EXPECTED for operation in ("DeleteTable", "PartiQLSelect")),
]


@pytest.mark.parametrize(("function", "asked"), DENIED)
def test_calls_that_a_function_never_makes_are_denied(
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
            # A refusal without its condition would refuse everything, so the whole refusal is left out.
            wider = [{**statement, "Condition": left}] if statement["Effect"] == "Allow" else []
            others = [*policy[:at], *wider, *policy[at + 1 :]]
            assert any(iam.allows(others, asked) for owner, asked in DENIED if owner == function), statement


@pytest.mark.parametrize(
    ("function", "asked"),
    [
        ("Query", ask("BatchGetItem", [ISSUE, BLOCK])),
        ("Query", ask("Query", [derived_keys.directory("0807", "35e9", "a1.1")], resource=INDEX)),
        ("Command", ask("PutItem", [ISSUE], ("fields",))),
        ("Command", ask("PutItem", [ISSUE, PROJECT, REQUEST])),
        ("Live", ask("PutItem", [JOURNAL])),
        ("Live", ask("UpdateItem", [POLLS])),
        ("Live", ask("DeleteItem", [POLLS])),
        ("Socket", ask("PutItem", [live_keys.tickets("0807"), live_keys.sockets("0807")])),
        ("Socket", ask("PutItem", [live_keys.socket_owner("c")])),
        ("Socket", ask("Query", [live_keys.SOCKET], resource=INDEX)),
        ("Socket", ask("Query", [live_keys.OWED], resource=INDEX)),
        ("Socket", ask("PutItem", [live_keys.owed_pushes("0807", "35e9")])),
        ("Live", ask("BatchGetItem", [HISTORY])),
        ("Deliver", ask("PutItem", [OUTBOX])),
        ("Deliver", ask("PutItem", [WEBHOOKS])),
        ("Deliver", ask("Query", [live_keys.OUTBOX], resource=INDEX)),
        ("Command", ask("PutItem", [JOBS, keys.job_parts("0807", "35e9", "0"), LINE])),
        ("Command", ask("PutItem", [TENANT, PROJECT])),
        ("Upkeep", ask("PutItem", [LINE])),
        ("Upkeep", ask("PutItem", [ISSUE], ("fields",))),
        ("Maintain", ask("PutItem", [ISSUE], DERIVED)),
        ("Maintain", ask("DeleteItem", [HISTORY])),
        ("Maintain", ask("BatchWriteItem", [HISTORY, derived_keys.activity("0807", "35e9")])),
        ("Upkeep", ask("DeleteItem", [ISSUE])),
        ("Upkeep", ask("UpdateItem", [ISSUE], ("fields",))),
        ("Upkeep", ask("DeleteItem", [keys.CHECK])),
        ("Upkeep", ask("Scan")),
    ],
)
def test_calls_that_a_function_makes_are_allowed(
    shared_template: dict[str, Any], function: str, asked: Asked
) -> None:
    assert iam.allows(_policy(shared_template, function), asked)


def test_no_role_has_a_managed_policy_or_a_way_in_but_lambda(shared_template: dict[str, Any]) -> None:
    roles = resources(shared_template, "AWS::IAM::Role")
    # CDK's function, which uploads the page, has a role as well.
    assert len(roles) == len(EXPECTED) + 1
    for role in roles.values():
        assert "ManagedPolicyArns" not in role
        assert "Policies" not in role
        (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
        assert trust["Principal"] == {"Service": "lambda.amazonaws.com"}


OWN_ROLE = LOGGING | {("sts:AssumeRole", "session"), ("sts:TagSession", "session")}
OF_TENANT = "${aws:PrincipalTag/tenant}"
READ = [f"{kind}-{OF_TENANT}.*" for kind in ("block", "issue", "project")]
ISOLATED = {
    "Query": (
        OWN_ROLE | TRACING | {("secretsmanager:GetSecretValue", "secret of cursors")},
        {
            *(
                (
                    f"dynamodb:{read}",
                    "table",
                    f"activity-{OF_TENANT}.*",
                    READ[0],
                    f"column-{OF_TENANT}.*",
                    f"comment-{OF_TENANT}.*",
                    f"history-{OF_TENANT}.*",
                    READ[1],
                    f"jobparts-{OF_TENANT}.*.*",
                    f"jobs-{OF_TENANT}.*",
                    f"journal-{OF_TENANT}.*",
                    f"lag-{OF_TENANT}.*",
                    "lag-beat",
                    f"outbox-{OF_TENANT}.*.*",
                    READ[2],
                    f"trash-{OF_TENANT}.*",
                    f"view-{OF_TENANT}.*",
                    f"webhook-{OF_TENANT}.*",
                )
                for read in ("GetItem", "BatchGetItem", "Query")
            ),
            (
                "dynamodb:Query",
                "table/index/GSI1",
                f"blocks-{OF_TENANT}.*.*",
                READ[2],
                f"tenant-{OF_TENANT}",
                f"users-{OF_TENANT}",
                f"xvalue-{OF_TENANT}.*.*",
            ),
            ("s3:GetObject", f"bucket/files/{OF_TENANT}/*"),
        },
    ),
    "Command": (
        OWN_ROLE
        | TRACING
        | {
            ("secretsmanager:GetSecretValue", "secret of cursors"),
            ("secretsmanager:GetSecretValue", "secret of webhooks"),
            ("sqs:SendMessage", "jobs"),
            ("sqs:SendMessage", "webhooks"),
        },
        {
            *(
                (
                    f"dynamodb:{read}",
                    "table",
                    f"activity-{OF_TENANT}.*",
                    READ[0],
                    f"change-{OF_TENANT}.*",
                    f"comment-{OF_TENANT}.*",
                    f"history-{OF_TENANT}.*",
                    READ[1],
                    f"jobline-{OF_TENANT}",
                    f"jobs-{OF_TENANT}.*",
                    f"journal-{OF_TENANT}.*",
                    f"lag-{OF_TENANT}.*",
                    "lag-beat",
                    f"outbox-{OF_TENANT}.*.*",
                    f"placed-{OF_TENANT}.*",
                    READ[2],
                    f"request-{OF_TENANT}.*",
                    f"tenant-{OF_TENANT}",
                    f"user-{OF_TENANT}.*",
                    f"view-{OF_TENANT}.*",
                    f"webhook-{OF_TENANT}.*",
                )
                for read in ("GetItem", "BatchGetItem", "Query")
            ),
            (
                "dynamodb:Query",
                "table/index/GSI1",
                f"blocks-{OF_TENANT}.*.*",
                READ[2],
                f"xvalue-{OF_TENANT}.*.*",
            ),
            (
                "dynamodb:PutItem",
                "table",
                f"activity-{OF_TENANT}.*",
                f"change-{OF_TENANT}.*",
                f"comment-{OF_TENANT}.*",
                READ[1],
                f"jobline-{OF_TENANT}",
                f"jobparts-{OF_TENANT}.*.*",
                f"jobs-{OF_TENANT}.*",
                f"journal-{OF_TENANT}.*",
                f"outbox-{OF_TENANT}.*.*",
                f"placed-{OF_TENANT}.*",
                READ[2],
                f"request-{OF_TENANT}.*",
                f"tenant-{OF_TENANT}",
                f"user-{OF_TENANT}.*",
                f"view-{OF_TENANT}.*",
                f"webhook-{OF_TENANT}.*",
            ),
            (
                "dynamodb:UpdateItem",
                "table",
                *(READ[1], f"jobs-{OF_TENANT}.*", f"outbox-{OF_TENANT}.*.*", READ[2], f"rate-{OF_TENANT}"),
                f"tenant-{OF_TENANT}",
            ),
            (
                "dynamodb:DeleteItem",
                "table",
                f"activity-{OF_TENANT}.*",
                f"comment-{OF_TENANT}.*",
                READ[1],
                f"outbox-{OF_TENANT}.*.*",
                READ[2],
                f"view-{OF_TENANT}.*",
                f"webhook-{OF_TENANT}.*",
            ),
        },
    ),
    "Live": (
        OWN_ROLE | {("secretsmanager:GetSecretValue", "secret of cursors")},
        {
            *(
                (
                    f"dynamodb:{read}",
                    "table",
                    f"history-{OF_TENANT}.*",
                    READ[1],
                    f"journal-{OF_TENANT}.*",
                    f"polls-{OF_TENANT}",
                    READ[2],
                    f"view-{OF_TENANT}.*",
                )
                for read in ("GetItem", "BatchGetItem", "Query")
            ),
            ("dynamodb:PutItem", "table", f"journal-{OF_TENANT}.*"),
            ("dynamodb:UpdateItem", "table", f"polls-{OF_TENANT}"),
            ("dynamodb:DeleteItem", "table", f"polls-{OF_TENANT}"),
        },
    ),
    "Socket": (
        OWN_ROLE | OF_SOCKETS,
        {
            *(
                (
                    f"dynamodb:{read}",
                    "table",
                    f"history-{OF_TENANT}.*",
                    READ[1],
                    f"journal-{OF_TENANT}.*",
                    READ[2],
                    f"seats-{OF_TENANT}",
                    f"sockets-{OF_TENANT}",
                    f"view-{OF_TENANT}.*",
                )
                for read in ("GetItem", "BatchGetItem", "Query")
            ),
            (
                "dynamodb:PutItem",
                "table",
                f"journal-{OF_TENANT}.*",
                f"seats-{OF_TENANT}",
                f"sockets-{OF_TENANT}",
                f"ticket-{OF_TENANT}",
            ),
            ("dynamodb:UpdateItem", "table", f"seats-{OF_TENANT}", f"sockets-{OF_TENANT}"),
            ("dynamodb:DeleteItem", "table", f"seats-{OF_TENANT}", f"sockets-{OF_TENANT}"),
        },
    ),
}
"""With isolation by session: the rights of the function's own role, and of a session of its session role."""


@pytest.mark.parametrize("function", ISOLATED)
def test_with_isolation_a_function_reaches_the_table_only_by_sessions(
    isolated_template: dict[str, Any], function: str
) -> None:
    own, by_session = ISOLATED[function]
    assert {_summary(one) for one in _single(_policy(isolated_template, function))} == own
    assert {_summary(one) for one in _single(_session_policy(isolated_template, function))} == by_session


@pytest.mark.parametrize("function", sorted(EXPECTED.keys() - ISOLATED.keys()))
def test_isolation_changes_nothing_for_functions_that_serve_no_caller(
    isolated_template: dict[str, Any], function: str
) -> None:
    assert {_summary(one) for one in _single(_policy(isolated_template, function))} == EXPECTED[function]


@pytest.mark.parametrize("function", ISOLATED)
def test_the_reach_of_a_session_in_tests_is_that_of_its_role(
    isolated_template: dict[str, Any], function: str
) -> None:
    deployed = [
        one
        for one in _single(_session_policy(isolated_template, function))
        if one["Resource"] in (TABLE, INDEX)
    ]
    in_tests = _single(list(statements(FUNCTIONS[function.lower()].session_grants)))
    assert sorted(map(_text, deployed)) == sorted(map(_text, in_tests))


@pytest.mark.parametrize("function", ISOLATED)
def test_a_session_is_begun_by_its_function_with_a_tenant_and_nothing_else(
    isolated_template: dict[str, Any], function: str
) -> None:
    role = resources(isolated_template, "AWS::IAM::Role")[_session_role(isolated_template, function)]
    assert "ManagedPolicyArns" not in role
    assert "Policies" not in role
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    # The account, and of its roles only the function's: IAM may not know a new principal yet.
    root = trust["Principal"]["AWS"]["Fn::Join"][1]
    assert root[-3:] == [":iam::", {"Ref": "AWS::AccountId"}, ":root"]
    named = trust["Condition"]["ArnEquals"]
    assert iam.listed(named["aws:PrincipalArn"]) == [
        {"Fn::GetAtt": [_role(isolated_template, function), "Arn"]}
    ]
    trusted = [
        {
            **trust,
            "Resource": "session",
            "Condition": {**trust["Condition"], "ArnEquals": {"aws:PrincipalArn": "function"}},
        }
    ]

    def may(
        tenant: str | None = None,
        tags: tuple[str, ...] = ("tenant",),
        transitive: bool = False,
        caller: str = "function",
    ) -> bool:
        context = {
            "aws:PrincipalArn": (caller,),
            "aws:TagKeys": tags,
            "aws:RequestTag/tenant": () if tenant is None else (tenant,),
            "sts:TransitiveTagKeys": tags if transitive else (),
        }
        found = {
            iam.allows(
                trusted, Asked(action, "session", tuple((key, of) for key, of in context.items() if of))
            )
            for action in ("sts:AssumeRole", "sts:TagSession")
        }
        assert len(found) == 1
        return found == {True}

    assert may("0807")
    assert not may("0807", caller="another role")
    assert not may()
    assert not may(tags=())
    assert not may("")
    assert not may("0807", ("tenant", "role"))
    assert not may("0807", transitive=True)


def test_a_switch_of_isolation_takes_no_role_from_a_version_that_still_answers(
    shared_template: dict[str, Any], isolated_template: dict[str, Any]
) -> None:
    """CloudFormation deletes roles that the shared template no longer has, after everything else."""
    switched = {"Query", "Command", "Live", "Socket"}
    for function in EXPECTED:
        kept = _role(shared_template, function) == _role(isolated_template, function)
        assert kept == (function not in switched)
    for function in switched:
        session = _session_role(isolated_template, function)
        waits_for = set(isolated_template["Resources"][f"{function}Function"]["DependsOn"])
        policies = resources(isolated_template, "AWS::IAM::Policy")
        assert {name for name, policy in policies.items() if {"Ref": session} in policy["Roles"]} <= waits_for


KEYS: dict[str, tuple[Any, ...]] = {
    "project": ("35e9",),
    "lag": ("35e9",),
    "journal": ("35e9",),
    "history": ("35e9", 1),
    "activity": ("35e9",),
    "change": ("35e9", bytes(16)),
    "views": ("35e9",),
    "comments": ("35e9",),
    "jobs": ("35e9",),
    "job_line": (),
    "polls": (),
    "job_parts": ("35e9", "0"),
    "issue": ("35e9", 1),
    "column": ("35e9", "a2.1"),
    "block": ("35e9", "a1.1", "0"),
    "request": ("35e9",),
    "rate": (),
    "tenant": (),
    "user": ("ann",),
    "users": (),
    "webhooks": ("35e9",),
    "sockets": (),
    "seats": (),
    "tickets": (),
    "outbox": ("35e9", "w3k9q2m7x1c0z"),
    "trash": ("35e9",),
    "placements": ("35e9",),
    "order": ("35e9", "a1.1"),
    "directory": ("35e9", "a1.1"),
}
"""The functions that make partition keys of a tenant, of the table and of GSI1, with their
arguments beside the tenant.
"""

SORT_KEYS = {"attribute", "composite"}

OUTSIDE_SESSIONS = {"owed_pushes": ("35e9",)}
"""The functions that make partition keys that only a function's own role reaches."""


def test_every_kind_of_key_is_confined_to_its_tenant() -> None:
    makers = {
        name: make
        for module in (keys, derived_keys, live_keys)
        for name, make in vars(module).items()
        if isfunction(make) and next(iter(signature(make).parameters), "") == "tenant_id"
    }
    assert makers.keys() == KEYS.keys() | SORT_KEYS | OUTSIDE_SESSIONS.keys()
    for name, rest in OUTSIDE_SESSIONS.items():
        partition = makers[name]("0807", *rest)
        for function in SERVING:
            for operation in (*READS, *WRITES):
                assert not _in_session(function, ask(operation, [partition])), name
    for name, rest in KEYS.items():
        mine, other = (makers[name](tenant, *rest) for tenant in ("0807", "08070"))
        reached = {
            partition
            for function in SERVING
            for operation in (*READS, *WRITES)
            for resource in (TABLE, INDEX)
            for partition in (mine, other)
            if _in_session(function, ask(operation, [partition], resource=resource))
        }
        assert reached == {mine}, name


def test_nothing_of_the_background_is_within_a_session() -> None:
    for function in SERVING:
        for operation in (*READS, *WRITES):
            assert not _in_session(function, ask(operation, [keys.CHECK]))
            for listing in (
                keys.JOB,
                derived_keys.FOLD,
                keys.LINE,
                live_keys.SOCKET,
                live_keys.OWED,
                live_keys.OUTBOX,
            ):
                assert not _in_session(function, ask(operation, [listing], resource=INDEX))


def _in_session(function: str, asked: Asked) -> bool:
    """Whether a session of tenant 0807 may do it."""
    return iam.allows(statements(FUNCTIONS[function].session_grants), of_tenant(asked, "0807"))


def _role(template: dict[str, Any], function: str) -> str:
    name: str = functions_of(template)[f"{function}Function"]["Role"]["Fn::GetAtt"][0]
    return name


def _session_role(template: dict[str, Any], function: str) -> str:
    variables = functions_of(template)[f"{function}Function"]["Environment"]["Variables"]
    name: str = variables["SESSION_ROLE_ARN"]["Fn::GetAtt"][0]
    return name


def _policy(template: dict[str, Any], function: str) -> list[Statement]:
    """The statements about the function's role, with short names of the resources."""
    return _policy_of(template, _role(template, function))


def _session_policy(template: dict[str, Any], function: str) -> list[Statement]:
    """The same about the role that it assumes for its callers."""
    return _policy_of(template, _session_role(template, function))


def _policy_of(template: dict[str, Any], role: str) -> list[Statement]:
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
    """A statement to compare: a single value and a list of one mean the same."""
    condition = {
        operator: {key: iam.listed(values) for key, values in tests.items()}
        for operator, tests in statement["Condition"].items()
    }
    return json.dumps({**statement, "Condition": condition}, sort_keys=True)


def _summary(statement: Statement) -> tuple[str, ...]:
    """Action, resource, and the partition keys or attributes of a condition; `not` for a refusal."""
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
                queues = {
                    "JobsQueue": "jobs",
                    "WebhooksQueue": "webhooks",
                    "WebhookRetriesQueue": "webhook retries",
                }
                return next((queues[one] for one in queues if logical_id.startswith(one)), "dead letters")
            if kind == "AWS::SecretsManager::Secret" and attribute == "Id":
                return "secret of cursors" if logical_id.startswith("Cursors") else "secret of webhooks"
            names = {
                ("AWS::Cognito::UserPool", "Arn"): "users",
                ("AWS::DynamoDB::GlobalTable", "Arn"): "table",
                ("AWS::DynamoDB::GlobalTable", "StreamArn"): "stream",
                ("AWS::S3::Bucket", "Arn"): "bucket",
                ("AWS::Logs::LogGroup", "Arn"): "logs",
                ("AWS::IAM::Role", "Arn"): "session",
            }
            return names[kind, attribute]
        case {"Fn::Join": ["", [*_, {"Ref": "AWS::AccountId"}, ":", {"Ref": api}, calls]]}:
            assert template["Resources"][api]["Type"] == "AWS::ApiGatewayV2::Api"
            return f"sockets{calls}"
        case {"Fn::Join": ["", parts]}:
            return "".join(_short(template, part) for part in parts)
    raise AssertionError(json.dumps(arn))


def test_upkeep_may_write_what_the_consumer_writes() -> None:
    """It repeats derivations that the table refused to the consumer, but records no lag."""

    def writes(function: str) -> set[tuple[str, str]]:
        return {
            (one[0], pattern)
            for one in EXPECTED[function]
            if one[0]
            in ("dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem")
            for pattern in one[2:]
        }

    assert writes("Maintain") - writes("Upkeep") == {("dynamodb:PutItem", "lag-*")}
