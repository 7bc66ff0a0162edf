"""The formulas that administrators of a scenario define, and their later versions."""

from collections.abc import Mapping
from random import Random
from typing import Any

from gridview.schema.catalog import Catalog

IDS = {"total": "number", "label": "text", "late": "bool", "due": "date", "seen": "datetime"}
"""The attributes that have formulas in a scenario, and their types."""

FIRST: Mapping[str, str] = {"total": "{cost} * 2", "late": "{start} < DATE(2024, 1, 1)"}
"""The formulas that a project begins with."""

_FORMULAS: Mapping[str, tuple[str, ...]] = {
    "number": (
        "{cost} * 2",
        "ROUND({cost} / 3, 2)",
        "1000 / {cost}",
        "SUM({cost}, {num}) - 10",
        "LEN({name})",
        "COUNT({tags}) + {num} / 4",
        'SWITCH({kind}, "a", 1, "b", -{cost})',
        "IF({late}, {cost}, 0)",
        "YEAR({due}) - MONTH({start})",
        "LEN({label})",
        "{cost}",
    ),
    "text": (
        '{name} & "-" & {num}',
        "UPPER({name})",
        "LEFT({note} & {name}, 3)",
        'IF({cost} > 5, {name}, "b")',
        "{note}",
        "CONCAT({total}, {updated})",
    ),
    "bool": (
        "{cost} > 5",
        'HAS({tags}, "x")',
        "ISBLANK({start})",
        '{state} = "open"',
        'CONTAINS({label}, "a")',
        "{total} >= {cost}",
        '{updated_by} = "bob"',
    ),
    "date": ('DATEADD({start}, 1, "month")', 'IF({kind} = "a", {start})', "DATE(2023, {cost}, {num})"),
    "datetime": ('DATEADD({updated}, {cost}, "hours")', "{start}", "{updated}"),
}
"""Some have no value for some issues: they divide by zero, or name a month that no year has. Some read others."""


def drawn(random: Random, catalog: Catalog) -> tuple[str, str, dict[str, Any]] | None:
    """Return method, path and body of a request: an attribute gets a formula, or another one. It may be refused, since a
    field that it names may not be there, or lead back to it. None if there is nothing to ask for.
    """
    name, kind = random.choice([*IDS.items()])
    formula = random.choice(_FORMULAS[kind])
    field = catalog.get(name)
    if field is None:
        made = {"name": name.title(), "id": name, "type": kind, "formula": formula}
        return "POST", "/attributes", {**made, "indexed": random.random() < 0.8}
    return ("PATCH", f"/attributes/{name}", {"formula": formula}) if field.computed else None
