"""A probe of IAM: a function that acts with the role of the query function, for as long as it takes to ask."""

import io
import json
import secrets
import zipfile
from contextlib import suppress
from typing import Any, Final, NamedTuple

import boto3

from devtools.smoke.outcome import Wrong
from gridview.dynamodb.sessions import TAG
from gridview.encoding import keys

DONE: Final = "done"
"""How a call ends that is not refused."""

_SECONDS: Final = 60

_CODE: Final = """\
import boto3
from botocore.exceptions import ClientError


def handler(event, _):
    def ended(call, **given):
        try:
            return "done", call(**given)
        except ClientError as error:
            return error.response["Error"]["Code"], None

    def read(key, credentials=None):
        names = {"aws_access_key_id": "AccessKeyId", "aws_secret_access_key": "SecretAccessKey"}
        names["aws_session_token"] = "SessionToken"
        given = {name: credentials[key] for name, key in names.items()} if credentials else {}
        table = boto3.client("dynamodb", **given)
        return ended(table.get_item, TableName=event["table"], Key=key)[0]

    begin = boto3.client("sts").assume_role
    named = {"RoleArn": event["role"], "RoleSessionName": "smoke"}
    session = begin(**named, Tags=event["tags"])["Credentials"]
    return {
        "own": read(event["own"], session),
        "foreign": read(event["foreign"], session),
        "untagged": ended(begin, **named)[0],
        "without": read(event["own"]),
    }
"""


class Ended(NamedTuple):
    """How each call ended: `DONE`, or the code of its refusal.

    In a session of the tenant: a read of its `own` project, and of the `foreign` tenant's. Then a session that is `untagged`, and a
    read `without` a session.
    """

    own: str
    foreign: str
    untagged: str
    without: str


def probed(stack: str, own: str, foreign: str, project: str) -> Ended:
    """Make the calls in a new function with the role of the stack's query function, and delete it. ClientError; Wrong."""
    functions: Any = boto3.client("lambda")
    queries = _function(stack, functions)
    variables = queries["Environment"]["Variables"]
    name = f"{stack}-smoke-{secrets.token_hex(4)}"
    functions.create_function(
        FunctionName=name,
        Description="gridview: asks IAM for the smoke test, and is deleted at once",
        Runtime=queries["Runtime"],
        Architectures=queries.get("Architectures", ["x86_64"]),
        Role=queries["Role"],
        Handler="probe.handler",
        Code={"ZipFile": _packed()},
        Timeout=_SECONDS,
    )
    try:
        functions.get_waiter("function_active_v2").wait(FunctionName=name)
        event = {
            "table": variables["TABLE_NAME"],
            "role": variables["SESSION_ROLE_ARN"],
            "tags": [{"Key": TAG, "Value": own}],
            "own": _key(own, project),
            "foreign": _key(foreign, project),
        }
        answer = functions.invoke(FunctionName=name, Payload=json.dumps(event))
        found = json.loads(answer["Payload"].read())
    finally:
        functions.delete_function(FunctionName=name)
        _delete_log_group(f"/aws/lambda/{name}")
    if "FunctionError" in answer:
        raise Wrong(f"the probe failed: {found}")
    return Ended(**found)


def _delete_log_group(name: str) -> None:
    """Lambda makes one where the role may write to it."""
    logs: Any = boto3.client("logs")
    with suppress(logs.exceptions.ResourceNotFoundException):
        logs.delete_log_group(logGroupName=name)


def _function(stack: str, functions: Any) -> Any:
    found = boto3.client("cloudformation").describe_stack_resource(
        StackName=stack, LogicalResourceId="QueryFunction"
    )
    name = found["StackResourceDetail"]["PhysicalResourceId"]
    return functions.get_function_configuration(FunctionName=name)


def _key(tenant: str, project: str) -> dict[str, dict[str, str]]:
    """The key of the item of a project, whether or not there is one."""
    return {keys.PK: {"S": keys.project(tenant, project)}, keys.SK: {"S": keys.tenant(tenant)}}


def _packed() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("probe.py", _CODE)
    return packed.getvalue()
