"""The SQL for Athena against the stored items: each path that it names exists, and gives the API's value."""

import re
from decimal import Decimal
from typing import Any

import pytest

from devtools.failure import Failure
from devtools.operate.analytics import table_sql, view_sql
from devtools.proof.faults.memory_table import MemoryTable
from gridview.commands import attributes, issues, projects
from gridview.commands.actor import Actor, Role
from gridview.commands.context import WriteContext
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_to_wire
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs
from tests.support import nasty

ADMIN = Actor("0807", "ann", Role.ADMIN)
LOCATION = "s3://exports-of-ours/monthly/AWSDynamoDB/01700000000000-7f3a/data/"
NAMES = ['it\'s -- "here"', "a,b\nDROP", "x;y"]


@pytest.fixture(scope="module")
def table() -> MemoryTable:
    """A project with an attribute of every type and nasty names, and another project of the same tenant."""
    table = MemoryTable()
    for project in ("35e9", "35e90"):
        projects.create_project(table, ADMIN, {"id": project, "name": "P", "states": nasty.STATES})
        for attribute in nasty.ATTRIBUTES:
            attributes.create_attribute(table, Catalogs(), ADMIN, project, attribute)
        for at, name in enumerate(NAMES):
            body = {"id": f"n{at}", "name": name, "type": "enum", "options": [name]}
            attributes.create_attribute(table, Catalogs(), ADMIN, project, body)
        for one in nasty.issues(30, 1):
            fields = {**one["fields"], "n0": NAMES[0]}
            issues.create_issue(
                WriteContext(table, catalog(table, project), ADMIN), {**one, "fields": fields}
            )
    issues.delete_issue(WriteContext(table, catalog(table), ADMIN), 3, None)
    return table


def catalog(table: MemoryTable, project: str = "35e9") -> Catalog:
    return Catalogs().get(table, "0807", project)


class Evaluated:
    """The values of the view's expressions for one exported item, by their few forms."""

    def __init__(self, item: dict[str, Any]) -> None:
        self.item = {name.lower(): value for name, value in item.items()}

    def path(self, path: str) -> Any:
        found: Any = self.item
        for name in path.removeprefix("item.").split("."):
            if found is None:
                return None
            found = next((value for key, value in found.items() if key.lower() == name), None)
        return found

    def value(self, expression: str) -> Any:
        if cast := re.fullmatch(r"CAST\((.+) AS (integer|double|date)\)", expression):
            found = self.value(cast[1])
            convert = {"integer": int, "double": float, "date": str}[cast[2]]
            return None if found is None else convert(found)
        if matched := re.fullmatch(r"from_iso8601_timestamp\((.+)\)", expression):
            return self.value(matched[1])
        if case := re.fullmatch(r"CASE (\S+(?: 'a\d+'\)\.\w+)?) (WHEN .+) END", expression, re.DOTALL):
            return self._case(self.value(case[1]), case[2])
        if each := re.fullmatch(
            r"transform\((.+?\.l), one -> CASE one\.s (WHEN .+) END\)", expression, re.DOTALL
        ):
            held = self.value(each[1])
            return None if held is None else [self._case(one["S"], each[2]) for one in held]
        if field := re.fullmatch(r"element_at\(item\.fields\.m, '(a\d+)'\)\.(s|n|bool|l)", expression):
            stored = self.path("item.fields.m").get(field[1])
            return None if stored is None else stored.get(field[2].upper())
        assert re.fullmatch(r"item\.[a-z_.]+", expression), expression
        return self.path(expression)

    def _case(self, held: Any, cases: str) -> Any:
        pairs = re.findall(r"WHEN '((?:[^']|'')*)' THEN '((?:[^']|'')*)'", cases)
        return {one: value.replace("''", "'") for one, value in pairs}.get(held)


def columns(sql: str) -> dict[str, str]:
    """The expression of each column."""
    listed = sql.partition("SELECT\n")[2].partition("\nFROM ")[0]
    found = re.findall(
        r'^  (.+?) AS "([a-z0-9_]+)"(?:,|$|  --.*$|,  --.*$)', listed, re.MULTILINE | re.DOTALL
    )
    return {name: expression for expression, name in found}


def test_each_issue_is_a_row_with_the_values_of_the_api(table: MemoryTable) -> None:
    sql = view_sql(catalog(table))
    expressions = columns(sql)
    shown = []
    for item in table.items.values():
        exported = Evaluated(item_to_wire(item))
        if not _is_chosen(sql, exported):
            continue
        expected = documents.to_json(catalog(table), item)
        row = {name: exported.value(expression) for name, expression in expressions.items()}
        shown.append(row["num"])
        assert (row["num"], row["version"]) == (expected["num"], expected["version"])
        assert (row["name"], row["state"]) == (expected["name"], expected["state"])
        assert (row["created_by"], row["updated_by"]) == ("ann", "ann")
        for name in ("created", "updated"):
            assert str(row[name])[:19] == expected[name][:19]
        for field in catalog(table).attributes:
            assert _same(row[field.id], expected["fields"].get(field.id)), field.id
    assert sorted(shown) == [num for num in range(1, 31) if num != 3]


def _is_chosen(sql: str, item: Evaluated) -> bool:
    """The result of the WHERE clause for an item."""
    begin = re.search(r"starts_with\(item\.pk\.s, '([^']+)'\)", sql)
    project = re.search(r"item\.sk\.s = '([^']+)'", sql)
    assert begin
    assert project
    assert "AND item.deleted_by IS NULL" in sql
    return bool(
        str(item.path("item.pk.s")).startswith(begin[1])
        and item.path("item.sk.s") == project[1]
        and item.path("item.deleted_by") is None
    )


def _same(found: Any, expected: Any) -> bool:
    if isinstance(expected, bool) or expected is None:
        return found is expected
    if isinstance(expected, int | Decimal):
        return bool(found == float(expected))
    if isinstance(expected, list):
        return sorted(found) == sorted(expected)
    return (
        bool(str(found)[:19] == str(expected)[:19])
        if str(expected).endswith("Z")
        else bool(found == expected)
    )


def test_every_path_of_the_view_is_a_member_of_the_table(table: MemoryTable) -> None:
    made = table_sql(LOCATION)
    members = set(re.findall(r"(\w+):struct<(\w+):", made))
    used = set(re.findall(r"item\.(\w+)\.(\w+)", view_sql(catalog(table))))
    assert used <= members
    inner = re.search(r"map<string,struct<(.+?)>>", made)
    assert inner
    assert {"s", "n", "bool", "l"} <= set(re.findall(r"(\w+):", inner[1]))
    assert f"LOCATION '{LOCATION}'" in made


def test_names_of_people_end_nothing(table: MemoryTable) -> None:
    sql = view_sql(catalog(table))
    assert sql.count("DROP") == 2, "in a text, and in a comment"
    assert "THEN 'it''s -- \"here\"'" in sql
    bare = re.sub(r"""'(?:[^']|'')*'|"[^"]*"|--[^\n]*""", "", sql)
    assert "DROP" not in bare
    assert not {"'", '"', ";"} & set(bare.removesuffix(";\n")), (
        "all texts, names and comments end where they should"
    )


@pytest.mark.parametrize("location", ["", "s3://", "http://x/y", "s3://bucket/it's", "s3://bucket/a b/"])
def test_an_invalid_location_is_refused(location: str) -> None:
    with pytest.raises(Failure, match="S3"):
        table_sql(location)


@pytest.mark.parametrize("name", ["", "Items", "a;b", "1a", "a b"])
def test_an_invalid_name_of_a_table_is_refused(table: MemoryTable, name: str) -> None:
    with pytest.raises(Failure, match="name"):
        table_sql(LOCATION, name)
    with pytest.raises(Failure, match="name"):
        view_sql(catalog(table), name)


def test_the_prefix_is_that_of_the_keys() -> None:
    assert keys.issue("0807", "35e9", 1).startswith("issue-0807.35e9.")
