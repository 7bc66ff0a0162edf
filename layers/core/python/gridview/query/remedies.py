"""Refused plans, and the calls of the API that make the same query possible. Pure."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gridview.query import key_ranges
from gridview.query.predicates import Predicate
from gridview.schema.catalog import MAX_COMPOSITES, Catalog, Part, without_number
from gridview.schema.fields import Field
from gridview.schema.generations import Indexes
from gridview.support.errors import QueryTooExpensive

ROLE = "admin"
"""The role that may change definitions."""


class Remedy(NamedTuple):
    """A call that changes a definition. The query is possible when the background work that it begins is done."""

    title: str
    method: str
    path: str
    body: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.method} {self.path} {json.dumps(self.body)}"


def refused(detail: str, remedies: Iterable[Remedy] = ()) -> QueryTooExpensive:
    """Return the refusal of a plan. All remedies together make the query possible; without any, no definition does."""
    listed = [{**one._asdict(), "role": ROLE} for one in remedies]
    return QueryTooExpensive(detail, members={"remedies": listed})


def in_words(remedies: Iterable[Remedy]) -> str:
    """`PATCH … {…}, and POST … {…}`."""
    return ", and ".join(map(str, remedies))


def index_field(catalog: Catalog, field: Field, *, words: bool = False) -> Remedy:
    """Return the call that indexes a field, or its words."""
    body = {name: True for name, missing in (("indexed", not field.indexed), ("search", words)) if missing}
    title = f"Index the words of {field.name}" if words else f"Index {field.name}"
    return Remedy(title, "PATCH", f"/v1/projects/{catalog.project}/attributes/{field.id}", body)


def define_index(catalog: Catalog, parts: Sequence[Part]) -> Remedy | None:
    """Return the call that defines an order's composite index. None if no index can give it, or the limit is reached."""
    keys = without_number(parts)
    fields = [catalog.field_of(one.field) for one in keys]
    distinct = len({one.key for one in fields}) == len(fields) > 1
    if not distinct or len(catalog.living_composites) >= MAX_COMPOSITES:
        return None
    sort = [
        {
            "field": field.id,
            "direction": "desc" if part.descending else "asc",
            "nulls": "first" if part.nulls_first else "last",
        }
        for field, part in zip(fields, keys, strict=True)
    ]
    title = f"Build an index by {', then '.join(one.name for one in fields)}"
    return Remedy(title, "POST", f"/v1/projects/{catalog.project}/indexes", {"sort": sort})


def decide(catalog: Catalog, conditions: Iterable[Predicate]) -> list[Remedy]:
    """Return the calls after which sets decide these conditions. [] if one needs documents, whatever is indexed."""
    found: list[Remedy] = []
    for condition in conditions:
        remedy = _decide(catalog, condition)
        if remedy is None:
            return []
        found.append(remedy)
    return joined(found)


def joined(remedies: Iterable[Remedy]) -> list[Remedy]:
    """Return each call once; for a field, the call that also indexes its words."""
    found: dict[str, Remedy] = {}
    for one in remedies:
        if one.path not in found or "search" in one.body:
            found[one.path] = one
    return list(found.values())


def _decide(catalog: Catalog, condition: Predicate) -> Remedy | None:
    field, operator = condition.field, condition.operator
    if field.indexes.building is not None:
        return None  # that is under way
    for words in (False, True):
        imagined = replace(field, indexes=Indexes.complete(words=words or field.searched))
        access = operator.accessed(imagined, condition.operand)
        if not any(leaf.doubt for leaf in key_ranges.leaves(access)):
            return index_field(catalog, field, words=words)
    return None
