"""Requests for groups: what their schema takes."""

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
