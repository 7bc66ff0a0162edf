"""A refused query names the calls that make it possible: after these and the background work, it is answered."""

from collections.abc import Iterator
from typing import Any

import pytest

from gridview.commands.actor import Role
from gridview.query import aggregate_planner, planner
from gridview.schema import catalog
from infra.routes import ROUTES
from tests.support.cloud import Cloud
from tests.support.http import Answer, Client

TEXTS = ("red rivets", "blue rivets", "Red paint", None)
ATTRIBUTES: tuple[dict[str, Any], ...] = (
    {"id": "bare", "name": "Bare", "type": "number", "indexed": False},
    {"id": "other", "name": "Other", "type": "date", "indexed": False},
    {"id": "plain", "name": "Plain", "type": "text"},
    {"id": "quiet", "name": "Quiet", "type": "text", "indexed": False},
    {"id": "cost", "name": "Cost", "type": "number"},
)


@pytest.fixture
def filled(api: Client, account: Cloud, project: str) -> str:
    """A project with twelve issues, some of whose fields have no index."""
    for one in ATTRIBUTES:
        api.made(f"{project}/attributes", one)
    for num in range(12):
        text = TEXTS[num % 4]
        fields = {
            "bare": num % 5,
            "other": f"2024-01-{1 + num % 3:02d}",
            "plain": text,
            "quiet": text,
            "cost": num % 7,
        }
        api.made(
            f"{project}/issues", {"name": f"n{num}", "state": ("open", "closed")[num % 2], "fields": fields}
        )
    account.derive()
    return project


@pytest.fixture
def small_budgets(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Budgets below the project's size, for reads as a whole and document by document."""
    with monkeypatch.context() as patch:
        yield patch


def tighten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(planner, "WHOLE", 2)
    for module in (planner, aggregate_planner):
        patch.setattr(module, "CANDIDATES", 1)
    patch.setattr(aggregate_planner, "MAX_DOCUMENTS", 2)


def condition(field: str, operator: str, value: Any = None) -> Any:
    return {"field": field, "op": operator, "value": value}


def patched(attribute: str, **body: bool) -> tuple[str, str, Any]:
    return ("PATCH", f"/v1/projects/plain/attributes/{attribute}", body)


def key(field: str, direction: str = "asc", nulls: str = "last") -> dict[str, str]:
    return {"field": field, "direction": direction, "nulls": nulls}


def defined(*sort: dict[str, str]) -> tuple[str, str, Any]:
    return ("POST", "/v1/projects/plain/indexes", {"sort": [*sort]})


BARE, WORDS = condition("bare", "gte", 2), condition("quiet", "has_words", "red")

POSSIBLE: dict[str, tuple[str, Any, list[tuple[str, str, Any]]]] = {
    "a sort by a field without an index": ("grid", {"sort": [key("bare")]}, [patched("bare", indexed=True)]),
    "a sort by two fields, one without an index": (
        "grid",
        {"sort": [key("state"), key("bare", "desc")]},
        [defined(key("state"), key("bare", "desc"))],
    ),
    "a sort by a field without an index, then by number": (
        "grid",
        {"sort": [key("bare"), key("num", "desc")]},
        [patched("bare", indexed=True)],
    ),
    "a sort with more ties than may be read": (
        "grid",
        {"sort": [key("state"), key("cost", nulls="first"), key("num")]},
        [defined(key("state"), key("cost", nulls="first"))],
    ),
    "a filter by a field without an index": ("grid", {"filter": BARE}, [patched("bare", indexed=True)]),
    "a filter by words that are not indexed": (
        "grid",
        {"filter": condition("plain", "has_words", "red")},
        [patched("plain", search=True)],
    ),
    "a filter by words of a field without an index": (
        "grid",
        {"filter": {"or": [WORDS, condition("quiet", "is_empty"), BARE]}},
        [patched("quiet", indexed=True, search=True), patched("bare", indexed=True)],
    ),
    "groups by fields without an index": (
        "groups",
        {"by": ["bare", {"field": "other", "unit": "month"}]},
        [patched("bare", indexed=True), patched("other", indexed=True)],
    ),
    "groups under a filter that the index leaves open": (
        "groups",
        {"by": ["state"], "filter": BARE},
        [patched("bare", indexed=True)],
    ),
    "groups and filter by the same field without an index": (
        "groups",
        {"by": ["quiet"], "filter": WORDS},
        [patched("quiet", indexed=True, search=True)],
    ),
    "a summary of a field without an index": (
        "summary",
        {"fields": [{"field": "other", "functions": ["min", "max", "count"]}]},
        [patched("other", indexed=True)],
    ),
    "a summary under a filter that the index leaves open": (
        "summary",
        {"fields": [{"field": "state", "functions": ["distinct"]}], "filter": {"not": BARE}},
        [patched("bare", indexed=True)],
    ),
}
"""The path and the body of a query, and the calls that its refusal names."""


def calls_of(refusal: Answer) -> list[tuple[str, str, Any]]:
    return [(one["method"], one["path"], one["body"]) for one in refusal.body["remedies"]]


@pytest.mark.parametrize("name", POSSIBLE)
def test_after_its_remedies_a_refused_query_is_answered(
    api: Client, account: Cloud, filled: str, small_budgets: pytest.MonkeyPatch, name: str
) -> None:
    path, body, expected = POSSIBLE[name]
    tighten(small_budgets)
    refusal = api.post(f"{filled}/{path}", body)
    assert refusal.kind == (422, "query-too-expensive")
    assert calls_of(refusal) == expected
    for method, target, change in calls_of(refusal):
        assert f"{method} {target}" in refusal.body["detail"]
        assert api.call(method, target, change).status in (200, 201)
    account.upkeep()
    answer = api.post(f"{filled}/{path}", body)
    assert answer.status == 200, answer.text
    small_budgets.undo()
    assert api.post(f"{filled}/{path}", body).timeless == answer.timeless


IMPOSSIBLE: dict[str, tuple[str, Any]] = {
    "a part of a word": ("grid", {"filter": condition("plain", "contains", "ivet")}),
    "a part of a word, of a field without an index": (
        "grid",
        {"filter": condition("quiet", "contains", "ivet")},
    ),
    "a text longer than an index looks": ("grid", {"filter": condition("quiet", "ne", "x" * 240)}),
    "a part of a word beside a condition that an index would decide": (
        "grid",
        {"filter": {"or": [BARE, condition("plain", "contains", "ivet")]}},
    ),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_without_a_helpful_change_of_definitions_there_is_no_remedy(
    api: Client, filled: str, small_budgets: pytest.MonkeyPatch, name: str
) -> None:
    path, body = IMPOSSIBLE[name]
    tighten(small_budgets)
    refusal = api.post(f"{filled}/{path}", body)
    assert (refusal.kind, refusal.body["remedies"]) == ((422, "query-too-expensive"), [])


def test_a_project_with_all_composite_indexes_that_it_may_have_gets_no_further_one(
    api: Client, filled: str, small_budgets: pytest.MonkeyPatch
) -> None:
    small_budgets.setattr("gridview.query.remedies.MAX_COMPOSITES", 0)
    tighten(small_budgets)
    ties = api.post(f"{filled}/grid", {"sort": [key("state"), key("cost")]})
    assert (ties.status, ties.body["remedies"]) == (422, [])
    bare = api.post(f"{filled}/grid", {"sort": [key("bare"), key("other")]})
    assert calls_of(bare) == [patched("bare", indexed=True), patched("other", indexed=True)]
    assert catalog.MAX_COMPOSITES == 20


def test_the_role_of_a_remedy_is_that_of_its_call(
    api: Client, filled: str, small_budgets: pytest.MonkeyPatch
) -> None:
    tighten(small_budgets)
    roles = {(route.method, route.path): route.role for route in ROUTES}
    for path, body, _ in POSSIBLE.values():
        for one in api.post(f"{filled}/{path}", body).body["remedies"]:
            route = one["path"].replace("/plain/", "/{project}/")
            head, found, _ = route.partition("/attributes/")
            place = f"{head}{found}{{attribute}}" if found else route
            assert roles[(one["method"], place)] is Role[one["role"].upper()]
            assert one["title"]
