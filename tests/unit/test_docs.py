"""What the README says is what the code does: the routes, the keys of the entity chart, the sort strings, the links."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from gridview.api.routes import ROUTES
from gridview.encoding import keys, sort_strings
from gridview.index import blocks
from gridview.query.operators import OPERATORS, Operand
from gridview.schema.catalog import Field, FieldType

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SEPARATOR = "␁"


def table_after(heading: str) -> list[list[str]]:
    """The body rows of the first table below a heading, code marks removed."""
    section = README.split(heading, 1)[1]
    rows = re.findall(r"^\|(.*)\|$", section.split("\n\n#", 1)[0], re.MULTILINE)
    return [[cell.strip().replace("`", "") for cell in row.split("|")] for row in rows[2:]]


def test_the_table_of_calls_is_the_table_of_routes() -> None:
    expected = [
        [route.key, route.function, route.role.name.lower() if route.role else ""] for route in ROUTES
    ]
    assert table_after("## Querying")[: len(ROUTES)] == expected


def test_the_table_of_operators_is_the_registry() -> None:
    expected = [
        [
            one.name,
            "all" if one.types == frozenset(FieldType) else ", ".join(sorted(one.types)),
            one.operand.value,
            one.summary if one.operand is Operand.NOTHING else f"{one.summary} …",
        ]
        for one in OPERATORS.values()
    ]
    assert table_after("### Filters") == expected


START = Field("3812", "a1", "Start", FieldType.DATE)

ENTITIES = {
    "tenant": (keys.tenant("0807"), keys.TENANT_SELF, ""),
    "project": (
        keys.project("0807", "35e9"),
        keys.tenant("0807"),
        sort_strings.text("Forth Rail Bridge") + sort_strings.SEPARATOR + "35e9",
    ),
    "catalog": (keys.project("0807", "35e9"), keys.CATALOG, ""),
    "issue counter": (keys.project("0807", "35e9"), keys.COUNTER, ""),
    "attribute": (keys.project("0807", "35e9"), keys.attribute("0807", "35e9", "3812"), ""),
    "background work": (keys.project("0807", "35e9"), keys.JOB, "2026-11-21T08:00:00.000000Z"),
    "issue": (keys.issue("0807", "35e9", 1), keys.project("0807", "35e9"), sort_strings.issue_number(1)),
    "sort entry": (
        keys.issue("0807", "35e9", 1),
        keys.order("0807", "35e9", f"{START.key}.1"),
        sort_strings.sort_string(sort_strings.date("2023-05-01"), 1),
    ),
    "block": (
        keys.block("0807", "35e9", f"{START.key}.1", "7f3a"),
        keys.directory("0807", "35e9", f"{START.key}.1"),
        blocks.before(sort_strings.date("2023-05-01")),
    ),
    "ledger": (keys.issue("0807", "35e9", 1), keys.LEDGER, ""),
    "composite index": (keys.project("0807", "35e9"), keys.composite("0807", "35e9", "c1"), ""),
    "lag": (keys.project("0807", "35e9"), keys.LAG, ""),
}


def test_the_entity_chart_shows_the_keys_that_the_code_makes() -> None:
    shown = {
        row[0]: (row[1], row[2], row[3].replace(SEPARATOR, sort_strings.SEPARATOR))
        for row in table_after("### Entities")
    }
    assert shown == ENTITIES


def test_the_annotated_sort_string_is_that_of_the_number() -> None:
    shown = re.search(r"^(<\S+)$", README.split("### One sort string", 1)[1], re.MULTILINE)
    assert shown is not None
    expected = sort_strings.sort_string(sort_strings.number(Decimal("-123.4")), 42)
    assert shown.group(1).replace(SEPARATOR, sort_strings.SEPARATOR) == expected


def test_the_life_of_a_write_names_the_sort_string_that_moves() -> None:
    section = README.split("### The life of a write", 1)[1]
    assert (
        sort_strings.sort_string(sort_strings.date("2023-05-01"), 1).replace(
            sort_strings.SEPARATOR, SEPARATOR
        )
        in section
    )


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
)
def test_every_link_to_a_file_leads_to_one(page: str) -> None:
    here = ROOT / page
    links = re.findall(r"\]\((?!http|#)([^)#]+)", here.read_text())
    assert [link for link in links if not (here.parent / link).exists()] == []
