"""The command: a stack over the issues, Chromium before it, and the figures beside those of NocoDB."""

import argparse
import json
import shutil
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console

from devtools import files, page_tools, paths
from devtools.bench.page import report
from devtools.bench.postgres import datasets, ours
from devtools.bench.postgres.datasets import ACTOR
from devtools.local import filling, journal
from devtools.local.folder import Folder

_ISSUES: Final = 300_000
_DATA: Final = paths.ROOT / ".build" / "bench-page"


def run(args: argparse.Namespace) -> int:
    """Measure; 0 when that was possible, whatever the figures."""
    dataset = datasets.for_the_page(args.size or _ISSUES)
    progress = Console(stderr=True)
    progress.print(f"Loading {dataset.name}, unless they are kept from an earlier run ...", highlight=False)
    kept = ours.keep(dataset)

    def fill(folder: Folder) -> None:
        shutil.copytree(kept / "tables", folder.tables)
        journal.turn_on(folder.tables)
        filling.note(folder, demo=False)

    with page_tools.stack(_DATA, fill) as address, tempfile.TemporaryDirectory() as made:
        progress.print("Measuring in Chromium ...")
        output = Path(made) / "figures.json"
        page_tools.run("measure", address, tenant=ACTOR.tenant, project=dataset.project, output=str(output))
        figures = json.loads(output.read_text())
    print(report.table(figures, dataset.count))
    if args.json is not None:
        files.write_json(args.json, {"issues": dataset.count, **figures})
    return 0
