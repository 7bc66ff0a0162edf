"""What each function may do with the table: by action, and when it writes also by partition key.

A function makes keys of its caller's tenant only (`gridview.encoding.keys`). Should a defect make another key, or run another
operation, its role still refuses: that is what these grants are for. DynamoDB tells IAM the partition keys of a request
(`dynamodb:LeadingKeys`) and the names of the attributes that it writes or names (`dynamodb:Attributes`), but no sort key.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from gridview.encoding import keys

PARTITIONS: Final = "dynamodb:LeadingKeys"
ATTRIBUTES: Final = "dynamodb:Attributes"

Conditions = Mapping[str, Mapping[str, Any]]


class Grant(NamedTuple):
    """One statement of a policy about the table, or about GSI1."""

    actions: tuple[str, ...]
    conditions: Conditions
    on_index: bool = False
    effect: Literal["Allow", "Deny"] = "Allow"


def _allow(*operations: str, on_index: bool = False) -> Grant:
    return Grant(_actions(operations), {}, on_index)


def _write(operations: Iterable[str], partitions: Iterable[str]) -> Grant:
    """Allow writes of items whose partition keys match one of these patterns."""
    return Grant(_actions(operations), within(partitions))


def within(partitions: Iterable[str]) -> Conditions:
    """The conditions that a request names partition keys, and that all of them match one of these patterns."""
    return {
        "ForAllValues:StringLike": {PARTITIONS: sorted(partitions)},
        # All of no keys match anything, so a request must name one.
        "Null": {PARTITIONS: "false"},
    }


def _never_written(operations: Iterable[str], attributes: Iterable[str]) -> Grant:
    """Refuse writes that name one of these attributes. A refusal fails safe: what AWS may see otherwise stays allowed."""
    return Grant(
        _actions(operations),
        {"ForAnyValue:StringEquals": {ATTRIBUTES: sorted(attributes)}},
        effect="Deny",
    )


def _actions(operations: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"dynamodb:{operation}" for operation in operations)


_READS: Final = (_allow("GetItem", "BatchGetItem", "Query"), _allow("Query", on_index=True))

_PROJECTS: Final = f"{keys.PROJECT_PREFIX}*"
_ISSUES: Final = f"{keys.ISSUE_PREFIX}*"
_BLOCKS: Final = f"{keys.BLOCK_PREFIX}*"
_REQUESTS: Final = f"{keys.REQUEST_PREFIX}*"
_USERS: Final = f"{keys.USER_PREFIX}*"
_RATES: Final = f"{keys.RATE_PREFIX}*"
_NOTES: Final = f"{keys.LAG_PREFIX}*"

DOCUMENT: Final = "fields"
"""The attribute that every issue document has, and no item that is derived from one."""

GRANTS: Final[Mapping[str, tuple[Grant, ...]]] = {
    "query": _READS,
    "command": (
        *_READS,
        _write(("PutItem",), (_PROJECTS, _ISSUES, _REQUESTS, _USERS)),
        _write(("UpdateItem",), (_PROJECTS, _RATES)),
        _write(("DeleteItem",), (_ISSUES,)),
    ),
    "maintain": (
        *_READS,
        _write(("PutItem",), (_ISSUES, _BLOCKS, _NOTES)),
        _write(("DeleteItem",), (_BLOCKS,)),
        # A document and what is derived from it share a partition key.
        _never_written(("PutItem",), (DOCUMENT,)),
    ),
    "upkeep": (
        *_READS,
        _allow("Scan"),
        _write(("PutItem", "DeleteItem"), (_PROJECTS, _ISSUES, _BLOCKS, keys.CHECK)),
        # Values of deleted attributes are taken out of documents in place. No document is ever put.
        _write(("UpdateItem",), (_ISSUES,)),
        _never_written(("PutItem",), (DOCUMENT,)),
    ),
}
"""By function. Only upkeep reads the table without a key, in a statement of its own."""
