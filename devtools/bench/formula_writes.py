"""`./dev bench --formulas`: what formulas add to an edit, and the cost of building one, in write units; and their CPU time."""

import argparse
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rich.table import Table as Printed

from devtools.bench import folds, formulas, issues, output
from devtools.bench.functions import Functions
from devtools.local import bulk, engine, table
from devtools.local.passes import work_off
from gridview.commands.actor import Actor, Role
from gridview.commands.attributes import create_attribute
from gridview.dynamodb.table import Table
from gridview.schema.catalog import Catalog
from gridview.schema.items import to_catalog
from gridview.schema.store import Catalogs, read

NO_FORMULA: Final = "no formula"
KINDS: Final[Mapping[str, tuple[str, str] | None]] = {
    NO_FORMULA: None,
    "a formula whose result stays": ("text", f'IF({{{issues.NUMBER}}} > -1E9, "some", "none")'),
    "a formula whose text changes": ("text", f'"No. " & {{{issues.NUMBER}}}'),
    "a formula whose number changes": ("number", f"{{{issues.NUMBER}}} * 2"),
}
"""The type and the text of the formula that reads the edited field."""

_TABLE: Final = "gridview"
_SIZE: Final = 100_000
_STEP: Final = folds.Step(folds.EDIT, 200, 2)
_ACTOR: Final = Actor("bench", "gridview.bench", Role.ADMIN)


def run(args: argparse.Namespace) -> int:
    """Measure and print; 0 when all went well."""
    size = args.size or _SIZE
    with engine.running(in_memory=True) as running, Path(os.devnull).open("w") as sink:
        table.ensure(running.client(), _TABLE)
        functions = Functions(running.endpoint, _TABLE, sink)
        stored = bulk.table_at(running.endpoint, _TABLE)
        edits = {kind: _edited(functions, stored, kind, size) for kind in KINDS}
        built = _built(functions, stored, size)
    figures = {
        "issues": size,
        "edits": edits,
        "build": built,
        "cpu_milliseconds": formulas.measure()._asdict(),
    }
    output.console().print(printed(figures))
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2))
    return 0


def printed(figures: Mapping[str, Any]) -> Printed:
    """Return the figures as a table."""
    found = Printed(title=f"Formulas in a project of {figures['issues']:,} issues", box=None)
    found.add_column("")
    found.add_column("figure", justify="right")
    for kind, units in figures["edits"].items():
        more = "" if kind == NO_FORMULA else f" ({units - figures['edits'][NO_FORMULA]:+.2f})"
        found.add_row(f"an edit of a number with {kind}, write units", f"{units:.2f}{more}")
    found.add_row("a new formula, write units for each issue", f"{figures['build']:.2f}")
    cpu = figures["cpu_milliseconds"]
    found.add_row("20 formulas for a new issue, CPU ms", f"{cpu['issue']:.3f}")
    found.add_row("10 formulas on a result page of 100 rows, CPU ms", f"{cpu['page']:.2f}")
    for name, milliseconds in sorted(cpu["worst"].items(), key=lambda one: -one[1])[:3]:
        found.add_row(f"the largest formula of {name}, CPU ms", f"{milliseconds:.3f}")
    return found


def _edited(functions: Functions, stored: Table, kind: str, size: int) -> float:
    """Return the write units of an edit at 200 in a fold."""
    name = f"formula{[*KINDS].index(kind)}"
    catalog = issues.make_project(stored, _ACTOR, name)
    if (formula := KINDS[kind]) is not None:
        _define(stored, name, *formula)
        work_off(stored)
        catalog = _catalog(stored, name)
    return folds.edited(functions, _ACTOR, stored, catalog, size, _STEP).write_units


def _built(functions: Functions, stored: Table, size: int) -> float:
    """Return the write units of a new formula for each issue of a project."""
    name = "built"
    catalog = issues.make_project(stored, _ACTOR, name)
    kind, formula = "number", f"{{{issues.NUMBER}}} * 2"
    work = folds.built(functions, _ACTOR, stored, catalog, size, lambda: _define(stored, name, kind, formula))
    return work.write_units_each


def _define(stored: Table, project: str, kind: str, formula: str) -> None:
    body = {"id": "result", "name": "Result", "type": kind, "formula": formula}
    create_attribute(stored, Catalogs(), _ACTOR, project, body)


def _catalog(stored: Table, project: str) -> Catalog:
    return to_catalog(_ACTOR.tenant, project, read(stored, _ACTOR.tenant, project))
