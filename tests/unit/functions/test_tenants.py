"""Two tenants with a project of the same id, and one with a second project: neither sees or changes the other's; and
roles.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from devtools.proof.faults.adversary import record
from devtools.proof.faults.lambdas import Answer, Functions
from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands.actor import Role
from gridview.derive.images import Poison
from gridview.encoding import keys
from gridview.schema.store import Catalogs

HOMES = (("acme", "bridge"), ("umbra", "bridge"), ("acme", "tower"))
COUNTS = {home: 3 + place for place, home in enumerate(HOMES)}
KINDS = {"type": "enum", "options": ["a", "b"]}
ORDER = [{"field": "name", "direction": "asc", "nulls": "last"}]


def ask(
    table: MemoryTable,
    home: tuple[str, str],
    method: str,
    path: str,
    body: Any = None,
    role: Role = Role.ADMIN,
) -> Answer:
    tenant, project = home
    return Functions(table, Catalogs()).request(
        (tenant, "ada", role), method, f"/v1/projects/{project}{path}", body
    )


def names(home: tuple[str, str]) -> list[str]:
    return [f"{' '.join(home)} {num}" for num in range(1, COUNTS[home] + 1)]


def derive(table: MemoryTable) -> None:
    """Derive everything from the stream, all issues in one batch."""
    documents = [
        item for (pk, sk), item in table.items.items() if pk.startswith(keys.ISSUE_PREFIX) and "name" in item
    ]
    letters: list[Poison] = []
    records = [record(at, None, item) for at, item in enumerate(documents, 1)]
    assert Functions(table, Catalogs()).maintain(records, letters.append) == {"batchItemFailures": []}
    assert letters == []


@pytest.fixture
def table() -> MemoryTable:
    made = MemoryTable()
    functions = Functions(made, Catalogs())
    for tenant, project in HOMES:
        actor = tenant, "ada", Role.ADMIN
        created = functions.request(
            actor, "POST", "/v1/projects", {"name": f"{tenant} {project}", "id": project}
        )
        assert created.status == 201
        assert (
            ask(
                made, (tenant, project), "POST", "/attributes", {"id": "kind", "name": "Kind", **KINDS}
            ).status
            == 201
        )
    for home in HOMES:
        for place, name in enumerate(names(home)):
            body = {"name": name, "fields": {"kind": "ab"[place % 2]}}
            assert ask(made, home, "POST", "/issues", body).status == 201
    derive(made)
    return made


def shown(table: MemoryTable, home: tuple[str, str], **asked: Any) -> list[str]:
    answer = ask(table, home, "POST", "/grid", {"sort": ORDER, "limit": 100, **asked})
    assert answer.status == 200, answer.body
    return [row["name"] for row in answer.body["rows"]]


def assert_own(table: MemoryTable, home: tuple[str, str], expected: list[str]) -> None:
    """Check that every answer about a project contains only its own issues."""
    assert shown(table, home) == expected
    first = [name for name in expected if (int(name.split()[-1]) % 2 == 1)]
    assert shown(table, home, filter={"field": "kind", "op": "eq", "value": "a"}) == first
    assert shown(table, home, sort=[{"field": "num", "direction": "asc", "nulls": "last"}]) == expected
    counted = ask(table, home, "POST", "/grid", {"count": True, "limit": 1})
    assert counted.body["total"] == len(expected)
    groups = ask(table, home, "POST", "/groups", {"by": ["kind"]})
    assert groups.status == 200, groups.body
    found: Mapping[str, Any] = groups.body
    assert sum(group["count"] for group in found["groups"]) == len(expected)


def test_a_project_shows_only_its_own_issues(table: MemoryTable) -> None:
    for home in HOMES:
        assert_own(table, home, names(home))


def test_pages_and_row_numbers_are_those_of_the_own_issues(table: MemoryTable) -> None:
    """Projects of one id whose issues have the same values: issues of another tenant neither
    shorten nor extend a page.
    """
    for home in HOMES:
        for num in range(1, COUNTS[home] + 1):
            assert ask(table, home, "PATCH", f"/issues/{num}", {"name": f"same {num}"}).status == 200
    derive(table)
    for home in HOMES:
        size = COUNTS[home]
        whole = ask(table, home, "POST", "/grid", {"sort": ORDER, "limit": size}).body
        assert ([row["num"] for row in whole["rows"]], whole["next"]) == (list(range(1, size + 1)), None)
        first = ask(table, home, "POST", "/grid", {"sort": ORDER, "limit": size - 1}).body
        assert [row["num"] for row in first["rows"]] == list(range(1, size))
        rest = {"sort": ORDER, "limit": size, "cursor": first["next"]}
        last = ask(table, home, "POST", "/grid", rest).body
        assert ([row["num"] for row in last["rows"]], last["next"]) == ([size], None)
        for other in HOMES:
            answer = ask(table, other, "POST", "/grid", rest)
            assert answer.status == (200 if other == home else 400)
        offset_page = ask(
            table, home, "POST", "/grid", {"sort": ORDER, "offset": size - 1, "explain": True}
        ).body
        assert [row["num"] for row in offset_page["rows"]] == [size]


def test_an_issue_is_the_one_of_its_project(table: MemoryTable) -> None:
    for home in HOMES:
        for num, name in enumerate(names(home), 1):
            assert ask(table, home, "GET", f"/issues/{num}").body["name"] == name
        assert ask(table, home, "GET", f"/issues/{COUNTS[home] + 1}").status == 404


def test_a_tenant_lists_its_own_projects(table: MemoryTable) -> None:
    for tenant, expected in (
        ("acme", ["acme bridge", "acme tower"]),
        ("umbra", ["umbra bridge"]),
        ("other", []),
    ):
        listed = Functions(table, Catalogs()).request((tenant, "eve", Role.VIEWER), "GET", "/v1/projects")
        assert [one["name"] for one in listed.body["items"]] == expected


@pytest.mark.parametrize("home", HOMES, ids="-".join)
def test_a_change_in_one_project_changes_no_other(table: MemoryTable, home: tuple[str, str]) -> None:
    renamed = [f"{' '.join(home)} {num}" for num in range(1, COUNTS[home])]
    assert ask(table, home, "PATCH", "/issues/1", {"fields": {"kind": None}}).status == 200
    assert ask(table, home, "PATCH", "/issues/1", {"fields": {"kind": "a"}}).status == 200
    last = keys.issue(*home, COUNTS[home])
    document = table.get(last, keys.project(*home))
    assert document is not None
    assert ask(table, home, "DELETE", f"/issues/{COUNTS[home]}").status == 204
    derive(table)
    letters: list[Poison] = []
    assert Functions(table, Catalogs()).maintain([record(99, document, None)], letters.append) == {
        "batchItemFailures": []
    }
    assert letters == []
    for one in HOMES:
        assert_own(table, one, renamed if one == home else names(one))


CALLS = [
    ("POST", "/issues", {"name": "x"}, Role.EDITOR),
    ("PATCH", "/issues/1", {"name": "x"}, Role.EDITOR),
    ("DELETE", "/issues/1", None, Role.EDITOR),
    ("POST", "/attributes", {"name": "More", "type": "text"}, Role.ADMIN),
    ("PATCH", "", {"name": "x"}, Role.ADMIN),
]


@pytest.mark.parametrize(("method", "path", "body", "needed"), CALLS)
def test_a_call_needs_its_role(table: MemoryTable, method: str, path: str, body: Any, needed: Role) -> None:
    for role in Role:
        before = table.items
        answer = ask(table, HOMES[0], method, path, body, role)
        assert (answer.status == 403) is (role < needed), (role, answer)
        assert (table.items != before) is (role >= needed)
        if role >= needed:
            break
