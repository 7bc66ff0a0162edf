"""IAM, enforced: a probe function gets each function's role and makes the calls of a list.

Query and command use the table in sessions of a tenant. The engine knows the tags of sessions, but neither the keys
that a request names nor variables in policies. An evaluator in the tests of the template checks which keys a session
may name.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.deploy.conftest import PATIENCE, Deployment, Users
from tests.support.assembly import SETTINGS

PROBE = """\
import boto3
from botocore.exceptions import ClientError


def handler(event, _):
    keys = {}
    if event["session"]:
        begun = boto3.client("sts").assume_role(**event["session"])["Credentials"]
        keys["aws_access_key_id"] = begun["AccessKeyId"]
        keys["aws_secret_access_key"] = begun["SecretAccessKey"]
        keys["aws_session_token"] = begun["SessionToken"]

    def ended(service, operation, arguments):
        try:
            getattr(boto3.client(service, **keys), operation)(**arguments)
        except ClientError as error:
            return error.response["Error"]["Code"]
        return "done"

    return {name: ended(*call) for name, call in event["calls"].items()}
"""

KEY = {"PK": {"S": "probe"}, "SK": {"S": "probe"}}
READS = {"get_item", "batch_get_item", "query"}
# The stream's reads are missing: the engine reads it itself, and names it differently from the stack's
# policy.
ALLOWED = {
    "Query": {"begin_session_of_query", "get_secret_value"},
    "Command": {"begin_session_of_command", "get_secret_value"},
    "Maintain": READS
    | {
        "put_item",
        "batch_write_item",
        "update_item",
        "delete_item",
        "transact_write_items",
        "send_message",
    },
    "Upkeep": READS
    | {
        "query_index",
        "scan",
        "put_item",
        "batch_write_item",
        "update_item",
        "delete_item",
        "transact_write_items",
        "send_message",
    },
}
ALLOWED_IN_SESSION = {
    "Query": READS | {"query_index"},
    "Command": READS | {"query_index", "put_item", "update_item", "delete_item", "transact_write_items"},
}

Call = tuple[str, str, dict[str, Any]]
"""Service, operation and arguments."""
Calls = dict[str, Call]
Probe = Callable[[Calls, dict[str, Any] | None], dict[str, str]]


def _session(deployment: Deployment, function: str, **tags: str) -> dict[str, Any]:
    """The arguments for STS to begin a session of a function."""
    return {
        "RoleArn": deployment.session_role(function),
        "RoleSessionName": "probe",
        "Tags": [{"Key": name, "Value": value} for name, value in tags.items()],
    }


def _begin(deployment: Deployment, function: str, **tags: str) -> Call:
    return "sts", "assume_role", _session(deployment, function, **tags)


def _calls(deployment: Deployment) -> Calls:
    """Every call that some function makes, and some that none does."""
    table, queue = deployment.outputs["TableName"], deployment.outputs["DeadLetterQueueUrl"]
    secret = deployment.outputs["CursorSecretArn"]
    of_pk = {"KeyConditionExpression": "PK = :k", "ExpressionAttributeValues": {":k": {"S": "probe"}}}
    of_sk = {"KeyConditionExpression": "SK = :k", "ExpressionAttributeValues": {":k": {"S": "probe"}}}
    update = {"UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"S": "b"}}}
    table_calls: dict[str, dict[str, Any]] = {
        "get_item": {"Key": KEY},
        "query": of_pk,
        "put_item": {"Item": KEY},
        "update_item": {"Key": KEY, **update},
        "delete_item": {"Key": KEY},
        "scan": {},
    }
    return {
        **{name: ("dynamodb", name, {"TableName": table, **rest}) for name, rest in table_calls.items()},
        "query_index": ("dynamodb", "query", {"TableName": table, "IndexName": "GSI1", **of_sk}),
        "batch_get_item": ("dynamodb", "batch_get_item", {"RequestItems": {table: {"Keys": [KEY]}}}),
        "batch_write_item": (
            "dynamodb",
            "batch_write_item",
            {"RequestItems": {table: [{"PutRequest": {"Item": KEY}}]}},
        ),
        "transact_write_items": (
            "dynamodb",
            "transact_write_items",
            {"TransactItems": [{"Put": {"TableName": table, "Item": KEY}}]},
        ),
        "get_secret_value": ("secretsmanager", "get_secret_value", {"SecretId": secret}),
        "send_message": ("sqs", "send_message", {"QueueUrl": queue, "MessageBody": "probe"}),
        "receive_message": ("sqs", "receive_message", {"QueueUrl": queue}),
        **{
            f"begin_session_of_{name.lower()}": _begin(deployment, name, tenant="probe")
            for name in ALLOWED_IN_SESSION
        },
    }


@pytest.fixture(scope="module")
def probe(deployment: Deployment, request: pytest.FixtureRequest) -> Iterator[Probe]:
    """Makes calls with the role of the tested function, or in a session that it begins. Returns how each ended."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("probe.py", PROBE)
    client, name = deployment.client("lambda"), f"probe-{request.param}"
    client.create_function(
        FunctionName=name,
        Runtime=SETTINGS.runtime,
        Role=deployment.role(request.param),
        Handler="probe.handler",
        Code={"ZipFile": packed.getvalue()},
        Timeout=PATIENCE,
    )
    client.get_waiter("function_active_v2").wait(FunctionName=name)

    def make(calls: Calls, session: dict[str, Any] | None) -> dict[str, str]:
        answer = client.invoke(FunctionName=name, Payload=json.dumps({"calls": calls, "session": session}))
        ended: dict[str, str] = json.loads(answer["Payload"].read())
        assert "FunctionError" not in answer, ended
        assert all(one == "done" or one.startswith("AccessDenied") for one in ended.values()), ended
        return ended

    yield make
    client.delete_function(FunctionName=name)


def _done(ended: dict[str, str]) -> set[str]:
    return {name for name, outcome in ended.items() if outcome == "done"}


@pytest.mark.parametrize(("function", "probe"), [(name, name) for name in ALLOWED], indirect=["probe"])
def test_a_function_is_refused_what_it_has_no_need_of(
    deployment: Deployment, function: str, probe: Probe
) -> None:
    calls = _calls(deployment)
    assert _done(probe(calls, None)) == ALLOWED[function]
    if function in ALLOWED_IN_SESSION:
        session = _session(deployment, function, tenant="probe")
        assert _done(probe(calls, session)) == ALLOWED_IN_SESSION[function]


@pytest.mark.parametrize("probe", ["Query"], indirect=True)
def test_no_session_begins_without_a_tenant_or_with_more_than_that(
    deployment: Deployment, probe: Probe
) -> None:
    tagged: list[dict[str, str]] = [
        {"tenant": "probe"},
        {},
        {"tenant": ""},
        {"role": "admin"},
        {"tenant": "probe", "role": "admin"},
    ]
    calls = {str(tags): _begin(deployment, "Query", **tags) for tags in tagged}
    assert _done(probe(calls, None)) == {str(tagged[0])}


def test_a_request_is_made_in_a_session_of_its_callers_tenant(deployment: Deployment, users: Users) -> None:
    """The session roles refuse to the requests of one tenant what they refuse to one tag."""
    refusal = {
        "Effect": "Deny",
        "Action": "dynamodb:*",
        "Resource": "*",
        "Condition": {"StringEquals": {"aws:PrincipalTag/tenant": "barred"}},
    }
    iam = deployment.client("iam")
    roles = [deployment.session_role(function).rpartition("/")[2] for function in ALLOWED_IN_SESSION]
    project = {"id": "one", "name": "One"}
    with users.api("barred", "admin") as barred, users.api("served", "admin") as served:
        assert barred.get("/v1/projects").status_code == 200
        for role in roles:
            iam.put_role_policy(
                RoleName=role,
                PolicyName="one-tenant",
                PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [refusal]}),
            )
        try:
            assert served.post("/v1/projects", json=project).status_code == 201
            assert served.get("/v1/projects/one").status_code == 200
            assert barred.post("/v1/projects", json=project).status_code >= 500
            assert barred.get("/v1/projects").status_code >= 500
        finally:
            for role in roles:
                iam.delete_role_policy(RoleName=role, PolicyName="one-tenant")
        assert barred.get("/v1/projects").json()["items"] == []
