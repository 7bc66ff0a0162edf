"""The instructions of CONTRIBUTING.md for a new operator, carried out as written."""

from typing import Any, cast

import pytest

from gridview.query import key_ranges, operators, predicates
from gridview.schema.catalog import Catalog
from gridview.schema.fields import Field, FieldType
from tests.support import recipes

TITLE = Field("title", "a1", "Title", FieldType.TEXT, ())


def test_the_operator_of_the_page_matches_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = recipes.blocks("How to add an operator")
    names: dict[str, Any] = dict(vars(operators))
    exec(code, names)  # noqa: S102  what the page says
    operator: operators.Operator = names["_TABLE"][-1]
    monkeypatch.setitem(cast("dict[str, operators.Operator]", operators.OPERATORS), operator.name, operator)
    catalog = Catalog("0807", "35e9", 1, (), (TITLE,), 2)

    def matches(held: str, value: str) -> bool:
        parsed = predicates.parse_filter(catalog, {"field": "title", "op": "ends_with", "value": value})
        return parsed.matches({"num": 7, "fields": {"a1": held}})

    assert matches("Haupt-Träger", "TRAGER")
    assert matches("Straße", "sse")
    assert not matches("Träger 2", "träger")
    assert operator.access is key_ranges.containing
