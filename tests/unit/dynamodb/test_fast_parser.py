"""Answers parsed by orjson: only where botocore has been seen to take them. A binary value tells who parsed one: bytes or text."""

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ClientError

from gridview.dynamodb.fast_parser import parse_fast

ITEM = {
    "PK": {"S": "a"},
    "set": {"B": "AP8="},
    "map": {"M": {"list": {"L": [{"N": "1.50"}, {"NULL": True}]}}},
}
CONSUMED = {"TableName": "gridview", "CapacityUnits": 0.5}
KEY = {"PK": {"S": "a"}}
OPERATIONS: list[tuple[str, dict[str, Any], dict[str, Any], Callable[[Any], Any]]] = [
    (
        "query",
        {"TableName": "t", "KeyConditionExpression": "PK = :a"},
        {
            "Items": [ITEM],
            "Count": 1,
            "ScannedCount": 1,
            "LastEvaluatedKey": KEY,
            "ConsumedCapacity": CONSUMED,
        },
        lambda answer: answer["Items"][0],
    ),
    (
        "scan",
        {"TableName": "t"},
        {"Items": [ITEM], "Count": 1, "ScannedCount": 1},
        lambda answer: answer["Items"][0],
    ),
    ("get_item", {"TableName": "t", "Key": KEY}, {"Item": ITEM}, lambda answer: answer["Item"]),
    (
        "batch_get_item",
        {"RequestItems": {"t": {"Keys": [KEY]}}},
        {"Responses": {"t": [ITEM]}, "UnprocessedKeys": {}, "ConsumedCapacity": [CONSUMED]},
        lambda answer: answer["Responses"]["t"][0],
    ),
    ("put_item", {"TableName": "t", "Item": KEY}, {"Attributes": ITEM}, lambda answer: answer["Attributes"]),
    (
        "update_item",
        {"TableName": "t", "Key": KEY},
        {"Attributes": ITEM},
        lambda answer: answer["Attributes"],
    ),
    (
        "delete_item",
        {"TableName": "t", "Key": KEY},
        {"Attributes": ITEM},
        lambda answer: answer["Attributes"],
    ),
]


class Raw(io.BytesIO):
    """A body as urllib3 gives it."""

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        yield self.read()


class Answering:
    """The installed botocore over a network that gives these answers."""

    def __init__(self) -> None:
        self.status, self.body = 200, b"{}"
        self.client = boto3.client("dynamodb", region_name="eu-west-2")
        send: Callable[..., Any] = (
            self._send
        )  # the stubs allow no answer, by which botocore skips the network
        self.client.meta.events.register("before-send.dynamodb", send)
        parse_fast(self.client)

    def _send(self, request: Any, **_: Any) -> AWSResponse:
        headers = HTTPHeaders.from_dict({"content-type": "application/x-amz-json-1.0"})
        return AWSResponse(request.url, self.status, headers, Raw(self.body))

    def call(self, operation: str, request: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        self.body = json.dumps(answer).encode()
        found: dict[str, Any] = getattr(self.client, operation)(**request)
        del found["ResponseMetadata"]
        return found


@pytest.mark.parametrize(
    ("operation", "request_", "answer", "item"), OPERATIONS, ids=lambda one: str(one)[:14]
)
def test_the_first_answer_is_parsed_by_botocore_and_all_others_by_orjson(
    operation: str, request_: dict[str, Any], answer: dict[str, Any], item: Callable[[Any], Any]
) -> None:
    answering = Answering()
    first = answering.call(operation, request_, answer)
    assert item(first)["set"] == {"B": b"\x00\xff"}
    assert first.keys() == answer.keys()
    for _ in range(2):
        assert answering.call(operation, request_, answer) == answer


def test_one_operation_tells_nothing_of_another() -> None:
    answering = Answering()
    for operation, request, answer, item in OPERATIONS:
        assert item(answering.call(operation, request, answer))["set"] == {"B": b"\x00\xff"}


def test_what_is_wrong_is_left_to_botocore() -> None:
    answering = Answering()
    operation, request, answer, _ = OPERATIONS[2]
    for trusted in (False, True):
        answering.status = 400
        error = {"__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException", "message": "no"}
        with pytest.raises(ClientError, match="ResourceNotFoundException"):
            answering.call(operation, request, error)
        answering.status, answering.body = 200, b"not JSON"
        assert "Item" not in answering.client.get_item(**request)
        found = answering.call(operation, request, answer)
        assert (found == answer) is trusted


class Other:
    """Another botocore: it hands the hook what `before` makes of its arguments, and gives what `after` makes of the hook's."""

    def __init__(self, before: Callable[..., dict[str, Any]], after: Callable[..., dict[str, Any]]) -> None:
        self._before, self._after = before, after
        self._handlers: dict[str, Callable[..., Any]] = {}
        self.meta = self
        self.events = self
        parse_fast(self)  # type: ignore[arg-type]

    def register(self, event: str, handler: Callable[..., Any]) -> None:
        self._handlers[event] = handler

    def get_item(self) -> dict[str, Any]:
        response: dict[str, Any] = {
            "status_code": 200,
            "headers": {},
            "body": json.dumps({"Item": ITEM}).encode(),
        }
        customized: dict[str, Any] = {}
        arguments = self._before(
            response_dict=response, customized_response_dict=customized, operation_model=None
        )
        self._handlers["before-parse.dynamodb.GetItem"](event_name="before-parse", **arguments)
        found = json.loads(response["body"])
        parsed = self._after(found, customized)
        self._handlers["after-call.dynamodb.GetItem"](parsed=parsed, model=None)
        return {**parsed, "by": "botocore" if found else "orjson"}


def as_ever(**arguments: Any) -> dict[str, Any]:
    return arguments


def merged(found: dict[str, Any], customized: dict[str, Any]) -> dict[str, Any]:
    return {**found, "ResponseMetadata": {"HTTPStatusCode": 200}, **customized}


def parsers(other: Other) -> list[str]:
    answers = [other.get_item() for _ in range(3)]
    for answer in answers:
        assert answer["Item"]["PK"] == {"S": "a"}, "nothing is lost"
        assert answer.keys() <= {"Item", "ResponseMetadata", "by"}, "and nothing is added"
    return [answer["by"] for answer in answers]


def test_a_botocore_that_takes_what_the_hook_gives_leaves_the_parsing_to_it() -> None:
    assert parsers(Other(as_ever, merged)) == ["botocore", "orjson", "orjson"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (lambda **given: {"response": given["response_dict"]}, merged),
        (lambda **given: {**given, "customized_response_dict": None}, merged),
        (lambda **given: {**given, "response_dict": given["response_dict"]["body"]}, merged),
        (lambda **given: {**given, "response_dict": {**given["response_dict"], "body": b"\xbfcbor"}}, merged),
        (lambda **given: {**given, "response_dict": {**given["response_dict"], "body": b"[1]"}}, merged),
        (lambda **given: {**given, "response_dict": {"status": 200}}, merged),
        (as_ever, lambda found, _: found),
        (
            as_ever,
            lambda found, customized: {
                **merged(found, customized),
                "Item": {**ITEM, "PK": {"S": "a"}, "x": 1},
            },
        ),
        (
            as_ever,
            lambda found, customized: {
                **merged(found, customized),
                "Item": {**ITEM, "map": {"M": {"list": {"L": [{"N": "1.50"}]}}}},
            },
        ),
    ],
    ids=[
        "other names",
        "no place for the answer",
        "bare body",
        "other protocol",
        "no object",
        "other response",
        "what the hook gives is dropped",
        "another form",
        "a shorter list",
    ],
)
def test_any_other_botocore_goes_on_parsing(
    before: Callable[..., dict[str, Any]], after: Callable[..., dict[str, Any]]
) -> None:
    assert parsers(Other(before, after)) == ["botocore"] * 3
