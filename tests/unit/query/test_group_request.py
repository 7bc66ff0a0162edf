"""Requests for groups: what their schema takes, and what a cursor is bound to."""

from typing import Any

import pytest

from gridview.query.group_request import resolve
from gridview.schema.catalog import Catalog
from tests.support import schemas

CATALOG = Catalog("0807", "35e9", 1, (), (), 1)


@pytest.mark.parametrize("by", ["created", {"field": "created"}, {"field": "created", "unit": "month"}])
def test_the_schema_of_groups_takes_a_field_by_its_id_or_with_more(by: Any) -> None:
    assert [one.field.id for one in resolve(CATALOG, {"by": [by]}).by] == ["created"]
    assert schemas.violations(schemas.named("GroupsRequest"), {"by": [by]}) == []
    assert schemas.violations(schemas.named("GroupsRequest"), {"by": [[by]]}) != []


def test_a_cursor_is_bound_to_the_filter() -> None:
    filters: list[Any] = [None, *({"field": "num", "op": "eq", "value": num} for num in (1, 2))]
    queries = [resolve(CATALOG, {"by": ["created"], "filter": one}) for one in filters]
    assert len({query.binding("0807", "35e9") for query in queries}) == 3
