"""Judges an answer of DynamoDB: whole or damaged, busy, or a refusal of the request's form. Pure."""

from collections.abc import Mapping
from typing import Any, Final
from zlib import crc32

import orjson

MISFORMED: Final = frozenset(
    {
        "IncompleteSignature",
        "IncompleteSignatureException",
        "InvalidAction",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "RequestExpired",
        "RequestTimeTooSkewed",
        "SerializationException",
        "SignatureDoesNotMatch",
        "UnknownOperationException",
    }
)
"""Refusals of signature, serialization or operation: nothing was read or written, and another client may do better."""

THROTTLED: Final = frozenset(
    {
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingException",
        "TransactionInProgressException",
    }
)
"""Refusals below status 500 that another attempt may not meet."""

ANSWERED: Final = frozenset({"ConditionalCheckFailedException", "TransactionCanceledException"})
"""Refusals by which DynamoDB answers a request that it has understood and judged."""

_TOO_MANY: Final = 429
_TIMEOUT: Final = 408

_THROTTLED_COST: Final = 5
_FAILED_COST: Final = 14


class Damaged(Exception):
    """An answer that differs from what DynamoDB sent. If the request was a write, nobody knows whether it was
    carried out.
    """


def whole(headers: Mapping[str, Any], body: bytes) -> dict[str, Any]:
    """Return the JSON object of an answer that has a request id and, where it has a CRC32, the right one.
    Damaged.

    `headers` are found by lower-case names.
    """
    if not headers.get("x-amzn-requestid"):
        raise Damaged("the answer has no request id")
    expected = headers.get("x-amz-crc32")
    if expected is not None and str(expected) != str(crc32(body)):
        raise Damaged("the answer has a wrong CRC32")
    found = _object(body)
    if found is None:
        raise Damaged("the answer is not a JSON object")
    return found


def readable(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a body that anyone may have sent; empty if it is none."""
    return _object(body) or {}


def is_busy(status: int) -> bool:
    """Return whether a status says that another attempt may succeed, with any content of the answer."""
    return status >= 500 or status in (_TIMEOUT, _TOO_MANY)


def retry_cost(status: int, code: str) -> int:
    """Return how much of a `RetryQuota` botocore's standard mode takes for another attempt after such an
    answer.
    """
    return _THROTTLED_COST if status == _TOO_MANY or code in THROTTLED else _FAILED_COST


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None
