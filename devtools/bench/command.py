"""The command: load all sizes, measure them in turn, report."""

import argparse
import os
import time
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console

from devtools.bench import background, edits, folds, history, issues, measure, output, report, sharing
from devtools.bench.apart import Place
from devtools.bench.functions import Functions
from devtools.bench.work import Work
from devtools.local import bulk, engine, table
from gridview.commands.actor import Actor, Role
from gridview.dynamodb.table import Table
from gridview.schema.catalog import Catalog

_TABLE: Final = "gridview"
_SIZES: Final = (1_000, 10_000, 100_000)
_REPEAT: Final = 60
_FEW: Final = 300
"""Issues of a project in which most blocks of an order are one."""
_ACTOR: Final = Actor("bench", "gridview.bench", Role.ADMIN)


class _Loaded(NamedTuple):
    catalog: Catalog
    issues: int
    seconds: float
    checks: dict[str, Work]


def run(args: argparse.Namespace) -> int:
    """Measure; 0 when all went well."""
    console, progress = output.console(), Console(stderr=True)
    sizes = sorted({*(args.sizes or _SIZES), *((args.size,) if args.size else ())})
    with engine.running(in_memory=True) as running, Path(os.devnull).open("w") as sink:
        table.ensure(running.client(), _TABLE)
        functions = Functions(running.endpoint, _TABLE, sink)
        stored = bulk.table_at(running.endpoint, _TABLE)
        place = Place(running.endpoint, _TABLE)
        loaded = []
        for size in sizes:
            progress.print(f"Loading {size:,} issues, and checking them ...", highlight=False)
            loaded.append(_load(place, stored, size))
        progress.print("Measuring pages ...")
        pages = measure.pages(
            functions, _ACTOR, [one.catalog.project for one in loaded], args.repeat or _REPEAT
        )
        results = []
        for one in loaded:
            progress.print(f"Measuring writes and passes at {one.issues:,} issues ...", highlight=False)
            results.append(
                report.Result(
                    issues=one.issues,
                    load_seconds=one.seconds,
                    pages=pages[one.catalog.project],
                    writes=measure.writes(functions, _ACTOR, stored, one.catalog),
                    work=measure.streams(functions, _ACTOR, stored, one.catalog, one.issues)
                    | one.checks
                    | background.passes(place, _ACTOR, stored, one.catalog),
                )
            )
        progress.print("Measuring edits ...")
        edited = edits.edits(functions, _ACTOR, stored)
        kept = history.remembered(functions, _ACTOR, stored)
        progress.print("Measuring the writes of changes, by the size of their folds ...")
        changed = [
            *folds.changed(functions, _ACTOR, stored, sizes[-1]),
            *folds.changed(functions, _ACTOR, stored, sizes[-1], folds.MOVES),
            *folds.changed(functions, _ACTOR, stored, _FEW, folds.LONE),
        ]
        progress.print("Measuring what columns add to them ...")
        columns = folds.changed(functions, _ACTOR, stored, sizes[-1], folds.NUMBERS)
    progress.print("Measuring slices and a neighbour, in virtual time ...")
    shared = sharing.Shared(sharing.slices(), sharing.lags())
    report.show(console, results, edited, kept, changed, columns, shared)
    if args.json is not None:
        output.write_json(args.json, report.to_json(results, edited, kept, changed, columns, shared))
    return 0


def _load(place: Place, stored: Table, size: int) -> _Loaded:
    """Load a project and check its index so far, before anything of it is changed."""
    began = time.monotonic()
    catalog = issues.load(stored, _ACTOR, f"n{size}", size)
    seconds = time.monotonic() - began
    return _Loaded(catalog, size, seconds, background.checks(place, catalog))
