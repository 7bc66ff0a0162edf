"""DynamoDB's request forms: keys, conditions, ranges, projections, the writes of a transaction. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from gridview.encoding import keys
from gridview.encoding.attribute_values import item_to_wire, to_wire

Item = dict[str, Any]


Key = tuple[str, str]


MAX_EXPRESSION_BYTES = 4_096
"""DynamoDB refuses a longer condition, filter, projection or update expression."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition or filter expression with the names and values that it refers to (`#name`, `:value`)."""

    expression: str
    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)

    def also(self, other: "Condition") -> "Condition":
        """Both conditions, neither of which names alternatives."""
        return Condition(
            f"{self.expression} AND {other.expression}",
            {**self.names, **other.names},
            {**self.values, **other.values},
        )


ABSENT = Condition("attribute_not_exists(PK)")


PRESENT = Condition("attribute_exists(PK)")


def version_is(version: int) -> Condition:
    """Return the condition that the item is at this version."""
    return Condition("#version = :version", {"#version": "version"}, {":version": version})


def revision_is(revision: int) -> Condition:
    """Return the condition that the item is at this revision."""
    return Condition("revision = :revision", values={":revision": revision})


class Bound(NamedTuple):
    """A range of sort keys: `>` and `>=` keep the keys after a value, `<` and `<=` the keys before.

    `between` keeps the keys from `value` to `upper`, both included.
    """

    operator: Literal["<", "<=", ">", ">=", "begins_with", "between"]
    value: str
    upper: str = ""

    def expression(self, name: str, value: str, upper: str) -> str:
        """As a part of a key condition."""
        match self.operator:
            case "begins_with":
                return f"begins_with({name}, {value})"
            case "between":
                return f"{name} BETWEEN {value} AND {upper}"
        return f"{name} {self.operator} {value}"

    @property
    def empty(self) -> bool:
        """Whether nothing can be in the range. The table refuses to be asked for such a one."""
        return self.operator == "between" and self.value > self.upper

    def keeps(self, sort: str) -> bool:
        """Return whether a sort key is in the range."""
        match self.operator:
            case "begins_with":
                return sort.startswith(self.value)
            case "between":
                return self.value <= sort <= self.upper
            case "<":
                return sort < self.value
            case "<=":
                return sort <= self.value
            case ">":
                return sort > self.value
        return sort >= self.value


class Span(NamedTuple):
    """A part of a partition of GSI1, or of the table itself: the items within the bound, or all of it."""

    partition: str
    bound: Bound | None = None
    in_index: bool = True

    def after(self, sort: str) -> "Span":
        """Return the part that may not have been read yet, after a read up to an item with this sort string or
        sort key.
        """
        if self.bound is not None and self.bound.operator == "between":
            return self._replace(bound=self.bound._replace(value=sort))
        if self.bound is not None and self.bound.operator not in (">", ">="):
            raise ValueError("a span needs a lower bound to be continued")
        return self._replace(bound=Bound(">=", sort))


class Write(NamedTuple):
    """One write of a transaction."""

    kind: Literal["Put", "Update", "Delete"]
    request: dict[str, Any]


def put(item: Mapping[str, Any], condition: Condition | None = None) -> Write:
    """Return a put for `Table.transact`."""
    return Write("Put", {"Item": item_to_wire(item), **conditions(condition, transaction=True)})


def set_attribute(pk: str, sk: str, attribute: str, value: Any, condition: Condition | None = None) -> Write:
    """Return an update of one attribute for `Table.transact`."""
    given = conditions(condition, transaction=True)
    names = given.pop("ExpressionAttributeNames", {})
    values = given.pop("ExpressionAttributeValues", {})
    return Write(
        "Update",
        {
            "Key": wire_key(pk, sk),
            "UpdateExpression": "SET #set = :set",
            "ExpressionAttributeNames": {**names, "#set": attribute},
            "ExpressionAttributeValues": {**values, ":set": to_wire(value)},
            **given,
        },
    )


def delete(pk: str, sk: str, condition: Condition | None = None) -> Write:
    """Return a delete for `Table.transact`."""
    return Write("Delete", {"Key": wire_key(pk, sk), **conditions(condition, transaction=True)})


def wire_key(pk: str, sk: str) -> dict[str, Any]:
    """Return a key as requests have it."""
    return {keys.PK: {"S": pk}, keys.SK: {"S": sk}}


def key_from_wire(wire: Mapping[str, Any]) -> Key:
    """Return the key in an item or key of an answer."""
    return wire[keys.PK]["S"], wire[keys.SK]["S"]


def conditions(condition: Condition | None, *, transaction: bool = False) -> dict[str, Any]:
    """Return a condition as requests have it; unless in a `transaction`, DynamoDB then answers the stored
    item when it fails.
    """
    if condition is None:
        return {}
    request: dict[str, Any] = {"ConditionExpression": condition.expression}
    if condition.names:
        request["ExpressionAttributeNames"] = dict(condition.names)
    if condition.values:
        request["ExpressionAttributeValues"] = {
            name: to_wire(value) for name, value in condition.values.items()
        }
    if not transaction:
        request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return request


def projected(paths: Sequence[Sequence[str]] | None) -> dict[str, Any]:
    """Return a projection of the keys, the sort string and the document paths given."""
    if paths is None:
        return {}
    names: dict[str, str] = {}
    expressions = []
    for path in ((keys.PK,), (keys.SK,), (keys.SORT,), *paths):
        expressions.append(placed(names, path))
    return {
        "ProjectionExpression": ", ".join(dict.fromkeys(expressions)),
        "ExpressionAttributeNames": {placeholder: part for part, placeholder in names.items()},
    }


def placed(names: dict[str, str], path: Sequence[str]) -> str:
    """Return a document path as expressions have it; the placeholders of its parts are added to `names`."""
    return ".".join(names.setdefault(part, f"#p{len(names)}") for part in path)
