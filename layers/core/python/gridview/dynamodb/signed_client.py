"""A client that reads and writes items without botocore's machinery: 0.2 ms of CPU time a call, not 1.5
(decision 0031).

Requests are JSON by orjson, and go past botocore (`SignedRequests`). All else is botocore's client beneath, which also
takes over where this one is not understood or understands nothing (decision 0071).
"""

import random
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import uuid4

import orjson
from botocore.credentials import Credentials
from botocore.exceptions import ClientError, HTTPClientError
from botocore.retries.quota import RetryQuota

from gridview.dynamodb.answers import (
    ANSWERED,
    MISFORMED,
    THROTTLED,
    Damaged,
    is_busy,
    readable,
    retry_cost,
    whole,
)
from gridview.support import clock
from gridview.support.connections import Broken, HttpAnswer
from gridview.support.signed_requests import SignedRequests

OPERATIONS = {
    "batch_get_item": "BatchGetItem",
    "batch_write_item": "BatchWriteItem",
    "delete_item": "DeleteItem",
    "get_item": "GetItem",
    "put_item": "PutItem",
    "query": "Query",
    "scan": "Scan",
    "transact_write_items": "TransactWriteItems",
    "update_item": "UpdateItem",
}
"""The methods of botocore's client that this one implements, each with its operation."""

CONTENT_TYPE: Final = "application/x-amz-json-1.0"
_VERSION: Final = "DynamoDB_20120810"
_ATTEMPTS = 5
_LONGEST_PAUSE = 20.0
_UNRETRIED = 1
"""Returned to the quota by a success at the first attempt."""

OnFallback = Callable[[str], None]
"""Is called with the reason for each call that botocore carries out in the direct client's place."""


def unreported(reason: str) -> None:
    """Reports no fall-back."""
    del reason


class SignedClient:
    """Replaces botocore's client of DynamoDB. Its answers are the JSON of DynamoDB, so binary values are
    base64 text.

    A call raises ClientError for a refusal, and HTTPClientError if there is no whole answer. It first makes
    up to five attempts, if another could succeed and `RetryQuota` has one left.

    A damaged answer, and a refusal of the request's form, send the call to botocore. The request is the same,
    so a write that was carried out meets itself there. Once botocore is answered, all later calls are
    botocore's too.
    """

    def __init__(
        self, client: Any, credentials: Credentials | None, on_fallback: OnFallback = unreported
    ) -> None:
        """`client`: botocore's. `credentials` are asked for at each request."""
        refuse_damaged(client)
        self._client = client
        self._requests = SignedRequests(client, credentials)
        self._quota = RetryQuota()
        self._on_fallback = on_fallback
        self._given_up = ""

    def __getattr__(self, name: str) -> Any:
        operation = OPERATIONS.get(name)
        if operation is None:
            return getattr(self._client, name)
        return self._method(name, operation)

    @property
    def signs_as_botocore(self) -> bool:
        """Whether one request has the signature here that botocore's signer makes of it."""
        return self._requests.signs_as_botocore(_headers("PutItem"))

    def _method(self, name: str, operation: str) -> Callable[..., dict[str, Any]]:
        def call(**request: Any) -> dict[str, Any]:
            if operation == "TransactWriteItems":
                # By it DynamoDB knows a transaction whose answer was lost: the next attempt succeeds as the first did.
                request.setdefault("ClientRequestToken", str(uuid4()))
            if reason := self._given_up:
                return self._by_botocore(name, request, reason)
            try:
                return self.answer(operation, orjson.dumps(request, default=_text_of))
            except Damaged as error:
                reason = str(error)
            except ClientError as error:
                reason = error.response["Error"]["Code"]
                if reason not in MISFORMED:
                    raise
            return self._by_botocore(name, request, reason)

        return call

    def _by_botocore(self, name: str, request: Mapping[str, Any], reason: str) -> dict[str, Any]:
        self._on_fallback(reason)
        try:
            answer: dict[str, Any] = getattr(self._client, name)(**request)
        except ClientError as error:
            if error.response["Error"]["Code"] in ANSWERED:
                self._given_up = reason
            raise
        self._given_up = reason
        return answer

    def answer(self, operation: str, body: bytes) -> dict[str, Any]:
        """Return DynamoDB's answer to the body of a request of an operation (`PutItem`). Damaged."""
        failure: ClientError | HTTPClientError | None = None
        cost = 0
        for attempt in range(_ATTEMPTS):
            if cost:
                if not self._quota.acquire(cost):
                    break
                clock.sleep(min(random.random() * 2 ** (attempt - 1), _LONGEST_PAUSE))  # noqa: S311  (not a secret)
            try:
                answer = self._requests.send(operation, "POST", "/", _headers(operation), body)
            except Broken as error:
                failure, cost = HTTPClientError(error=error), retry_cost(0, "")
                continue
            busy = is_busy(answer.status)
            found = readable(answer.body) if busy else whole(answer.headers, answer.body)
            if answer.status == 200:
                self._quota.release(cost or _UNRETRIED)
                return found
            failure = refusal(operation, answer, found)
            code = failure.response["Error"]["Code"]
            if code in MISFORMED and self._requests.correct_clock(answer):
                cost = 0
                continue
            if not busy and code not in THROTTLED:
                break
            cost = retry_cost(answer.status, code)
        assert failure is not None  # noqa: S101  each attempt that does not return leaves one
        raise failure


def refuse_damaged(client: Any) -> None:
    """Have a client of botocore raise HTTPClientError for a damaged answer.

    botocore itself takes an answer of status 200 that is no JSON for an empty one. After its last attempt it
    also accepts one with a wrong CRC32. A write would be reported that never was, and an item that is there
    would be missing.
    """
    client.meta.events.register("before-parse.dynamodb", _refuse_damaged, unique_id="gridview-damaged")


def _refuse_damaged(response_dict: Mapping[str, Any], **_: Any) -> None:
    if is_busy(response_dict["status_code"]):
        return
    try:
        whole(response_dict["headers"], response_dict["body"])
    except Damaged as error:
        raise HTTPClientError(error=error) from error


def refusal(operation: str, answer: HttpAnswer, found: Mapping[str, Any]) -> ClientError:
    """Return the error that botocore makes of an answer that refuses a request."""
    unnamed = "ServiceUnavailable" if is_busy(answer.status) else "UnknownError"
    code = str(found.get("__type", unnamed)).rpartition("#")[2]
    details = {name: value for name, value in found.items() if name not in ("__type", "message", "Message")}
    metadata = {
        "HTTPStatusCode": answer.status,
        "RequestId": answer.headers.get("x-amzn-requestid", ""),
    }
    error = {"Code": code, "Message": str(found.get("message", found.get("Message", "")))}
    response: Any = {**details, "Error": error, "ResponseMetadata": metadata}
    return ClientError(response, operation)


def _headers(operation: str) -> dict[str, str]:
    return {"Content-Type": CONTENT_TYPE, "X-Amz-Target": f"{_VERSION}.{operation}"}


def _text_of(value: Any) -> str:
    """Return a binary value as JSON has it."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    raise TypeError(f"a request cannot contain {type(value).__name__}")
