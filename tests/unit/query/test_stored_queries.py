"""Filters and orders in stored form: the same ones are read back, whatever the present names of fields and options."""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gridview.encoding.attribute_values import from_wire, to_wire
from gridview.query.predicates import parse_filter
from gridview.query.stored_queries import from_stored, order_from_stored, order_to_stored, to_stored
from gridview.schema.catalog import Catalog
from gridview.support.errors import Conflict
from tests.unit.query.test_bitmap_scan import Project, filters, small_blocks


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        yield Project(30)


def again(catalog: Catalog, document: Any) -> Any:
    return from_stored(catalog, from_wire(to_wire(to_stored(parse_filter(catalog, document)))))


@pytest.mark.parametrize("seed", range(5))
def test_the_same_filter_comes_back(project: Project, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    for _ in range(50):
        document = filters(draw, depth=4)
        assert again(project.catalog, document) == parse_filter(project.catalog, document)


EXACT: list[Any] = [
    {"field": "cost", "op": "eq", "value": "12345678901234567890.123456789"},
    {"field": "cost", "op": "between", "value": ["1E-100", 7]},
    {"field": "day", "op": "in", "value": ["2023-05-01", "0001-01-01"]},
    {"field": "created", "op": "gte", "value": "2023-05-01T12:00:00+02:00"},
    {"field": "tags", "op": "has_all", "value": ["x", "y"]},
    {"field": "num", "op": "not_in", "value": [1, 99]},
    {"field": "note", "op": "is_empty"},
]


@pytest.mark.parametrize("document", EXACT, ids=str)
def test_values_of_all_types_come_back(project: Project, document: Any) -> None:
    found, expected = again(project.catalog, document), parse_filter(project.catalog, document)
    assert found == expected
    documents = project.documents.values()
    assert [found.matches(one) for one in documents] == [expected.matches(one) for one in documents]


def test_other_names_make_no_difference_and_a_deleted_field_is_a_conflict(project: Project) -> None:
    catalog = project.catalog
    kind = catalog.get("kind")
    assert kind is not None
    stored = to_stored(parse_filter(catalog, {"not": {"field": "kind", "op": "eq", "value": "a"}}))
    options = tuple(replace(one, value=f"other {one.value}") for one in kind.options)
    others = tuple(one for one in catalog.attributes if one.id != "kind")
    renamed = replace(catalog, attributes=(replace(kind, id="sort", options=options), *others))
    before, after = from_stored(catalog, stored), from_stored(renamed, stored)
    documents = project.documents.values()
    assert [after.matches(one) for one in documents] == [before.matches(one) for one in documents]
    deleted = replace(kind, deleted=3)
    with pytest.raises(Conflict, match="deleted"):
        from_stored(replace(catalog, attributes=others, deleting=(deleted,)), stored)


def test_an_order_follows_its_fields_and_does_not_take_a_new_field_of_the_same_id(project: Project) -> None:
    catalog = project.catalog
    kind = catalog.get("kind")
    assert kind is not None
    asked = [
        {"field": "kind", "direction": "desc", "nulls": "first"},
        {"field": "state", "direction": "asc", "nulls": "last"},
        {"field": "num", "direction": "desc", "nulls": "last"},
    ]
    stored = order_to_stored(catalog, asked)
    assert order_from_stored(catalog, stored) == asked
    others = tuple(one for one in catalog.attributes if one.id != "kind")
    renamed = replace(catalog, attributes=(replace(kind, id="sort"), replace(kind, key="a99"), *others))
    assert order_from_stored(renamed, stored) == [{**asked[0], "field": "sort"}, *asked[1:]]
    another = replace(catalog, attributes=(replace(kind, key="a99"), *others))
    with pytest.raises(Conflict, match="deleted"):
        order_from_stored(another, stored)
    manual = [{"manual": "v3"}]
    assert order_from_stored(another, order_to_stored(catalog, manual)) == manual
