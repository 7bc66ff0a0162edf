"""Grants of the table: actions, and for writes the partition keys.

Each module of `functions` has the grants of its function.

A function makes keys of its caller's tenant only (the modules of keys in `gridview.encoding`). If a defect makes
another key or runs another operation, the role still refuses: the grants exist for that. IAM sees the partition keys
of a request (`dynamodb:LeadingKeys`; for a query of GSI1, the keys of the index). It also sees the attributes that
the request writes or names (`dynamodb:Attributes`), but no sort key.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

PARTITIONS: Final = "dynamodb:LeadingKeys"
ATTRIBUTES: Final = "dynamodb:Attributes"

Conditions = Mapping[str, Mapping[str, Any]]


class Grant(NamedTuple):
    """One statement of a policy about the table, or about GSI1."""

    actions: tuple[str, ...]
    conditions: Conditions
    on_index: bool = False
    effect: Literal["Allow", "Deny"] = "Allow"


def allow(*operations: str, on_index: bool = False) -> Grant:
    """Allow operations on every item."""
    return Grant(_actions(operations), {}, on_index)


def allow_within(operations: Iterable[str], partitions: Iterable[str], *, on_index: bool = False) -> Grant:
    """Allow operations on items whose partition keys match one of these patterns."""
    return Grant(_actions(operations), within(partitions), on_index)


def within(partitions: Iterable[str]) -> Conditions:
    """The conditions that a request names partition keys, and that all of them match one of these patterns."""
    return {
        "ForAllValues:StringLike": {PARTITIONS: sorted(partitions)},
        # All of no keys match anything, so a request must name one.
        "Null": {PARTITIONS: "false"},
    }


def never_written(operations: Iterable[str], attributes: Iterable[str]) -> Grant:
    """Refuse writes that name one of these attributes.

    A refusal fails safe: writes that AWS may see otherwise stay allowed.
    """
    return Grant(
        _actions(operations),
        {"ForAnyValue:StringEquals": {ATTRIBUTES: sorted(attributes)}},
        effect="Deny",
    )


def _actions(operations: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"dynamodb:{operation}" for operation in operations)


READ_OPERATIONS: Final = ("GetItem", "BatchGetItem", "Query")
READS_OF_TABLE: Final = allow(*READ_OPERATIONS)
READS: Final = (READS_OF_TABLE, allow("Query", on_index=True))
