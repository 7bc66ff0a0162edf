"""Requests for the grid: the limits that are in docs/limits.md."""

import pytest

from gridview.query.grid_request import resolve
from gridview.schema.catalog import Catalog
from gridview.support.errors import InvalidRequest

CATALOG = Catalog("0807", "35e9", 1, (), (), 1)


def test_a_request_names_at_most_407_columns() -> None:
    assert resolve(CATALOG, {"columns": ["num"] * 407}).columns == frozenset({"num"})
    with pytest.raises(InvalidRequest) as refused:
        resolve(CATALOG, {"columns": ["num"] * 408})
    assert [error.field for error in refused.value.errors] == ["columns"]
