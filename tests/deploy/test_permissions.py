"""IAM, enforced: each function's role is lent to a probe, a function that makes the call it is told to make."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.deploy.conftest import Deployment
from tests.support.assembly import CONTEXT

PROBE = """\
import boto3
from botocore.exceptions import ClientError


def handler(event, _):
    client = boto3.client(event["service"])
    try:
        getattr(client, event["operation"])(**event["arguments"])
    except ClientError as error:
        return error.response["Error"]["Code"]
    return "done"
"""

KEY = {"PK": {"S": "probe"}, "SK": {"S": "probe"}}
READS = {"get_item", "batch_get_item", "query"}
# The stream's reads are not here: the engine reads it by itself, and names it otherwise than the stack's policy does.
ALLOWED = {
    "Query": READS | {"query_index", "get_secret_value"},
    "Command": READS
    | {
        "query_index",
        "put_item",
        "update_item",
        "delete_item",
        "transact_write_items",
        "get_secret_value",
    },
    "Maintain": READS | {"query_index", "put_item", "delete_item", "transact_write_items", "send_message"},
    "Upkeep": READS
    | {
        "query_index",
        "scan",
        "put_item",
        "update_item",
        "delete_item",
        "transact_write_items",
        "send_message",
    },
}

Probe = Callable[[str, str, dict[str, Any]], str]


def _calls(deployment: Deployment) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Every call that some function makes, and some that none does."""
    table, queue = deployment.outputs["TableName"], deployment.outputs["DeadLetterQueueUrl"]
    (secret,) = deployment.client("secretsmanager").list_secrets()["SecretList"]
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
        "get_secret_value": ("secretsmanager", "get_secret_value", {"SecretId": secret["ARN"]}),
        "send_message": ("sqs", "send_message", {"QueueUrl": queue, "MessageBody": "probe"}),
        "receive_message": ("sqs", "receive_message", {"QueueUrl": queue}),
    }


@pytest.fixture
def probe(deployment: Deployment, request: pytest.FixtureRequest) -> Iterator[Probe]:
    """Makes one call with the role of the function that the test is for; tells how it ended."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("probe.py", PROBE)
    client, name = deployment.client("lambda"), f"probe-{request.param}"
    client.create_function(
        FunctionName=name,
        Runtime=CONTEXT["runtime"],
        Role=deployment.role(request.param),
        Handler="probe.handler",
        Code={"ZipFile": packed.getvalue()},
        Timeout=20,
    )
    client.get_waiter("function_active_v2").wait(FunctionName=name)

    def call(service: str, operation: str, arguments: dict[str, Any]) -> str:
        event = {"service": service, "operation": operation, "arguments": arguments}
        answer = client.invoke(FunctionName=name, Payload=json.dumps(event))
        ended: str = json.loads(answer["Payload"].read())
        assert "FunctionError" not in answer, ended
        return ended

    yield call
    client.delete_function(FunctionName=name)


@pytest.mark.parametrize(("function", "probe"), [(name, name) for name in ALLOWED], indirect=["probe"])
def test_a_function_is_refused_what_it_has_no_need_of(
    deployment: Deployment, function: str, probe: Probe
) -> None:
    ended = {name: probe(*call) for name, call in _calls(deployment).items()}
    done = {name for name, outcome in ended.items() if outcome == "done"}
    refused = {name for name, outcome in ended.items() if outcome.startswith("AccessDenied")}
    assert done | refused == set(ended), ended
    assert done == ALLOWED[function]
