"""The client that calls without botocore, whose hook replaces DynamoDB: requests, answers, refusals, attempts."""

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError, HTTPClientError, NoCredentialsError

from gridview.dynamodb import client as clients
from gridview.dynamodb.expressions import ABSENT
from gridview.dynamodb.signed_client import OPERATIONS, SignedClient
from gridview.dynamodb.table import Table
from gridview.support import aws, connections
from gridview.support.errors import Overloaded

PREFIX = "com.amazonaws.dynamodb.v20120810#"


class Body:
    """The stream from which botocore reads an answer."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._content


class Answers:
    """DynamoDB: gives these answers one after the other, and then always the last."""

    def __init__(self, *answers: tuple[int, Any]) -> None:
        self._answers = list(answers)
        self.requests: list[AWSPreparedRequest] = []

    def __call__(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        self.requests.append(request)
        status, body = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        raw: Any = Body(content)
        headers: Any = {"x-amzn-requestid": "4Q"}
        return AWSResponse(str(request.url), status, headers, raw)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    monkeypatch.setattr("gridview.support.clock.sleep", found.append)
    return found


def answered(*answers: tuple[int, Any]) -> tuple[Any, Answers]:
    client: Any = clients.connect()
    engine = Answers(*answers)
    client.meta.events.register("before-send.dynamodb", engine)
    return client, engine


def refused(code: str, message: str = "no", **details: Any) -> tuple[int, Any]:
    return 400, {"__type": PREFIX + code, "message": message, **details}


def test_its_methods_are_those_of_botocore() -> None:
    theirs = aws.client("dynamodb").meta.method_to_api_mapping
    assert {name: theirs[name] for name in OPERATIONS} == OPERATIONS


def test_all_that_the_table_asks_goes_past_botocore() -> None:
    client, engine = answered((200, {"Items": [], "ScannedCount": 0}))
    table = Table("t", client)
    table.put({"PK": "a", "SK": "b"})
    table.query("a")
    named = re.findall(r'_call\(\s*"(\w+)"|_conditional\(\s*"(\w+)"', inspect.getsource(Table))
    assert {first or second for first, second in named} <= OPERATIONS.keys()
    assert [request.headers["X-Amz-Target"] for request in engine.requests] == [
        "DynamoDB_20120810.PutItem",
        "DynamoDB_20120810.Query",
    ]


def test_a_request_is_json_with_binary_values_as_base64(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gridview.support.clock.seconds", lambda: 1_700_000_000.5)
    client, engine = answered((200, {"ConsumedCapacity": {"CapacityUnits": 1.0}}))
    answer = client.put_item(TableName="t", Item={"PK": {"S": "ü"}, "set": {"B": b"\x00\xff"}})
    assert answer == {"ConsumedCapacity": {"CapacityUnits": 1.0}}
    assert engine.requests[0].headers["X-Amz-Date"] == "20231114T221320Z"
    body: Any = engine.requests[0].body
    assert json.loads(body) == {
        "TableName": "t",
        "Item": {"PK": {"S": "ü"}, "set": {"B": "AP8="}},
    }
    with pytest.raises(TypeError):
        client.put_item(Item={"PK": {"S": object()}})


def test_other_operations_are_botocores() -> None:
    client, _ = answered((200, {"TableNames": ["t"]}))
    assert client.list_tables()["TableNames"] == ["t"]
    assert client.meta.region_name == "us-east-1"


@pytest.mark.parametrize("name", ["message", "Message"])
def test_a_message_of_either_spelling_is_that_of_the_error(pauses: list[float], name: str) -> None:
    client, _ = answered((400, {"__type": f"{PREFIX}ValidationException", name: "Too long"}))
    with pytest.raises(ClientError) as error:
        client.put_item(TableName="t")
    assert error.value.response["Error"] == {"Code": "ValidationException", "Message": "Too long"}


def test_a_refusal_is_botocores_error_with_the_whole_answer(pauses: list[float]) -> None:
    client, engine = answered(
        refused("ConditionalCheckFailedException", "The condition", Item={"PK": {"S": "a"}})
    )
    with pytest.raises(ClientError) as error:
        client.put_item(TableName="t")
    assert error.value.response == {
        "Error": {"Code": "ConditionalCheckFailedException", "Message": "The condition"},
        "Item": {"PK": {"S": "a"}},
        "ResponseMetadata": {"HTTPStatusCode": 400, "RequestId": "4Q"},
    }
    assert error.value.operation_name == "PutItem"
    assert (len(engine.requests), pauses) == (1, [])


BUSY = [
    refused("ProvisionedThroughputExceededException"),
    refused("ThrottlingException"),
    (500, {"__type": PREFIX + "InternalServerError", "message": "oh"}),
    (503, b"<html>"),
    (408, b""),
    (429, b""),
    (429, {"message": "slow down"}),
]


@pytest.mark.parametrize("busy", BUSY, ids=str)
def test_a_temporary_error_is_retried(pauses: list[float], busy: tuple[int, Any]) -> None:
    client, engine = answered(busy, busy, (200, {}))
    assert client.put_item(TableName="t") == {}
    assert len(engine.requests) == 3
    assert len({request.body for request in engine.requests}) == 1
    assert [0 <= pause <= 2**at for at, pause in enumerate(pauses)] == [True, True]


@pytest.mark.parametrize("busy", BUSY, ids=str)
def test_a_table_that_stays_busy_is_overloaded(pauses: list[float], busy: tuple[int, Any]) -> None:
    client, engine = answered(busy)
    with pytest.raises(Overloaded):
        Table("t", client).put({"PK": "a", "SK": "b"}, ABSENT)
    assert (len(engine.requests), len(pauses)) == (5, 4)


def test_a_connection_that_breaks_is_made_again(monkeypatch: pytest.MonkeyPatch, pauses: list[float]) -> None:
    tried: list[bytes] = []

    def send(_: Any, method: str, path: str, headers: dict[str, str], body: bytes) -> connections.HttpAnswer:
        assert headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=testing/")
        assert (method, path) == ("POST", "/")
        tried.append(body)
        if len(tried) < 3:
            raise connections.Broken("cut")
        return connections.HttpAnswer(200, {"x-amzn-requestid": "4Q"}, b'{"Item":{}}')

    monkeypatch.setattr(connections.Connections, "send", send)
    client: Any = clients.connect()
    assert client.get_item(TableName="t") == {"Item": {}}
    assert len(tried) == 3
    tried[:] = [b""] * -9
    monkeypatch.setattr(
        connections.Connections, "send", lambda *_: (_ for _ in ()).throw(connections.Broken("cut"))
    )
    with pytest.raises(HTTPClientError, match="cut"):
        client.get_item(TableName="t")


def test_all_attempts_at_a_transaction_have_the_token_by_which_dynamodb_knows_it(pauses: list[float]) -> None:
    client, engine = answered((500, {}), (200, {}))
    for _ in range(2):
        client.transact_write_items(TransactItems=[])
    bodies: list[Any] = [request.body for request in engine.requests]
    tokens = [json.loads(body)["ClientRequestToken"] for body in bodies]
    assert len(pauses) == 1
    assert [len(set(tokens)), tokens[0], tokens[1] != tokens[2]] == [2, tokens[1], True]


def test_it_waits_as_long_as_botocores_client_would(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[connections.Patience] = []
    monkeypatch.setattr(connections, "dialled", lambda _, patience: waits.append(patience))
    for config in (
        aws.PATIENT,
        Config(connect_timeout=3, read_timeout=70, retries={"total_max_attempts": 1}),
    ):
        with pytest.raises(AttributeError):  # the dialled object is no connection
            SignedClient(aws.client("dynamodb", config), Credentials("key", "secret")).get_item(TableName="t")
    assert waits == [(1, 10), (3, 70)]


def test_without_credentials_nothing_is_sent() -> None:
    made, engine = answered((200, {}))
    with pytest.raises(NoCredentialsError):
        SignedClient(made._client, None).get_item(TableName="t")
    assert not engine.requests


def test_with_a_proxy_the_client_is_botocores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    assert not isinstance(clients.connect(), SignedClient)
