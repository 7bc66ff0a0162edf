"""Every expression that grows with its input stays within DynamoDB's limit of 4,096 bytes."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from devtools.proof.faults.memory_table import MemoryTable
from gridview.dynamodb.expressions import (
    MAX_EXPRESSION_BYTES,
    PRESENT,
    Condition,
    projected,
    set_attribute,
    version_is,
)
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.query import group_request, predicates
from gridview.query.page import projection
from gridview.schema.catalog import MAX_ATTRIBUTES
from gridview.schema.fields import Field, FieldType


class Client:
    """A client that accepts every request and records it."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []

    def update_item(self, **request: Any) -> dict[str, Any]:
        self.requests.append(request)
        return {}


def attribute(place: int) -> Field:
    return Field(f"{place}-{'n' * 60}", f"a{10_000 + place}", "Name", FieldType.TEXT)


def length(paths: Any) -> int:
    return len(projected(paths).get("ProjectionExpression", ""))


def test_the_values_of_all_deleted_attributes_are_removed_by_expressions_that_fit() -> None:
    client = Client()
    paths = [attribute(place).path for place in range(5 * MAX_ATTRIBUTES)]
    Table("gridview", client).remove("issue-a", "project-a", paths)  # type: ignore[arg-type]
    removed = []
    for request in client.requests:
        expression = request["UpdateExpression"]
        assert len(expression) <= MAX_EXPRESSION_BYTES
        assert len(request["ConditionExpression"]) <= MAX_EXPRESSION_BYTES
        names = request["ExpressionAttributeNames"]
        for path in expression.removeprefix("REMOVE ").split(", "):
            removed.append(tuple(names[part] for part in path.split(".")))
    assert removed == paths


@pytest.mark.parametrize("count", [1, 50, 97, 98, 99, 100, 101, MAX_ATTRIBUTES])
def test_a_page_with_any_number_of_columns_asks_for_no_more_fields_than_an_expression_can_name(
    count: int,
) -> None:
    assert length(projection(map(attribute, range(count)))) <= MAX_EXPRESSION_BYTES


def test_the_widest_query_of_groups_has_a_projection_that_fits() -> None:
    fields = group_request.MAX_FIELDS + group_request.MAX_AGGREGATES + predicates.MAX_CONDITIONS
    paths = projection(map(attribute, range(fields)))
    assert paths is not None, "the documents need not be read whole"
    assert length(paths) <= MAX_EXPRESSION_BYTES


def test_the_table_in_memory_refuses_what_dynamodb_finds_too_long() -> None:
    """So every test over it, and every scenario of the fault simulator, detects expressions that grow."""
    table = MemoryTable()
    table.put({keys.PK: "a", keys.SK: "b", keys.SORT: "c"})
    long = Condition(" OR ".join([PRESENT.expression] * 200))
    many = [attribute(place).path for place in range(MAX_ATTRIBUTES)]
    for call in (
        lambda: table.query("a", only=long),
        lambda: table.put({keys.PK: "a", keys.SK: "b"}, long),
        lambda: table.query("a", paths=many),
        lambda: table.batch_get([("a", "b")], paths=many),
    ):
        with pytest.raises(ClientError, match="Expression size"):
            call()


def test_a_field_that_is_asked_for_twice_is_named_once() -> None:
    once, twice = projected([("fields", "a1")]), projected([("fields", "a1"), ("fields", "a1")])
    assert once == twice


def test_a_transaction_is_not_asked_for_the_item_of_a_failed_condition() -> None:
    write = set_attribute("p", "s", "seen", 7, version_is(3))
    assert write.kind == "Update"
    assert write.request == {
        "Key": {"PK": {"S": "p"}, "SK": {"S": "s"}},
        "UpdateExpression": "SET #set = :set",
        "ConditionExpression": version_is(3).expression,
        "ExpressionAttributeNames": {"#set": "seen", **version_is(3).names},
        "ExpressionAttributeValues": {
            ":set": {"N": "7"},
            **{name: {"N": "3"} for name in version_is(3).values},
        },
    }
