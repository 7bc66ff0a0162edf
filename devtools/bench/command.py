"""The command: load all sizes, measure them in turn, report."""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console

from devtools import bulk, engine, table
from devtools.bench import issues, measure, report
from devtools.bench.functions import Functions
from devtools.failure import Failure
from gridview.catalog import Catalog
from gridview.identity import Actor
from gridview.routes import Role
from gridview.storage import Table

_TABLE: Final = "gridview"
_ACTOR: Final = Actor("bench", "gridview.bench", Role.ADMIN)


class _Loaded(NamedTuple):
    catalog: Catalog
    issues: int
    seconds: float


def run(args: argparse.Namespace) -> int:
    """Measure; 0 when all went well."""
    console, progress = Console(), Console(stderr=True)
    with engine.running(in_memory=True) as running, Path(os.devnull).open("w") as sink:
        table.ensure(running.client(), _TABLE)
        functions = Functions(running.endpoint, _TABLE, sink)
        stored = bulk.table_at(running.endpoint, _TABLE)
        loaded = []
        for size in args.sizes:
            progress.print(f"Loading {size:,} issues ...", highlight=False)
            loaded.append(_load(stored, size))
        progress.print("Measuring pages ...")
        pages = measure.pages(functions, _ACTOR, [one.catalog.project for one in loaded], args.repeat)
        results = []
        for one in loaded:
            progress.print(f"Measuring writes at {one.issues:,} issues ...", highlight=False)
            results.append(
                report.Result(
                    issues=one.issues,
                    load_seconds=one.seconds,
                    pages=pages[one.catalog.project],
                    writes=measure.writes(functions, _ACTOR, stored, one.catalog),
                    per_second=measure.per_second(functions, _ACTOR, stored, one.catalog, one.issues),
                )
            )
    report.show(console, results)
    if args.json is not None:
        try:
            args.json.write_text(json.dumps(report.to_json(results), indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise Failure(f"{args.json} cannot be written: {error.strerror}.") from error
    return 0


def _load(stored: Table, size: int) -> _Loaded:
    began = time.monotonic()
    catalog = issues.make_project(stored, _ACTOR, f"n{size}")
    bulk.take_numbers(stored, catalog, size)
    bulk.load(stored, catalog, issues.generate(catalog, size), bulk.in_batches)
    return _Loaded(catalog, size, time.monotonic() - began)
