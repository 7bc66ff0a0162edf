"""Gridview's side: a dataset in its own engine, kept for the next time, and questions to the core as the query
function asks them.
"""

import contextlib
import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple

from devtools import paths
from devtools.bench import issues
from devtools.bench.postgres import datasets, enginefile
from devtools.bench.postgres.datasets import ACTOR, Dataset
from devtools.bench.postgres.questions import Kind, Question
from devtools.local import built_chains, bulk, engine
from devtools.local import table as engine_table
from gridview.chains import blocks, column_pages
from gridview.derive import families, ledger, sort_entries
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import attribute_values, keys, number_pages, option_ranks, sort_strings, values
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.journal import items as journal
from gridview.journal.log import Log
from gridview.query.counting import grouped_counts, summarized
from gridview.query.grid import grid_page
from gridview.query.grid_request import resolve
from gridview.query.group_request import resolve as resolve_groups
from gridview.query.summary_request import resolve as resolve_summary
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck, FoundEpoch
from gridview.schema.store import Catalogs
from gridview.view.block_cache import BlockCache
from gridview.view.context import ReadContext
from gridview.view.journal_tail import learn

TABLE: Final = "gridview"
KEPT: Final = paths.ROOT / ".build" / "bench"
_LOADED: Final = "loaded.json"
_CODE: Final = tuple(
    Path(str(module.__file__))
    for module in (
        *(blocks, bulk, built_chains, column_pages, datasets, documents, enginefile, families, sort_entries),
        *(issues, journal, keys, ledger, number_pages, option_ranks, sort_strings, values, attribute_values),
    )
)
"""The inputs that determine the loaded items."""

_CURSORS: Final = Cursors((b"the benchmark's cursors are no secret",), "grid")


class Asked(NamedTuple):
    """The answer to a question, and its cost."""

    answer: Any
    """Numbers of the rows of a page, in order; value -> count; the count; or count and sum of each field or value."""
    rows: int
    milliseconds: float
    cpu_milliseconds: float
    sequential_calls: int
    read_units: float


@dataclass(frozen=True)
class Ours:
    """A project that was loaded, in `load_seconds` when it was."""

    table: Table
    catalogs: Catalogs
    catalog: Catalog
    load_seconds: float

    def _epoch(self) -> EpochCheck:
        catalog = self.catalog

        def read(table: Table) -> FoundEpoch:
            return FoundEpoch(self.catalogs.current(table, catalog.tenant, catalog.project) is catalog)

        return EpochCheck(read)

    def container(self) -> BlockCache:
        """Return the cache of a container that has read the catalog: it knows the end of the journal."""
        cache = BlockCache()
        learn(Log(self.table, self.catalog.tenant, self.catalog.project), cache)
        return cache

    def ask(self, question: Question, cache: BlockCache) -> Asked:
        """Ask a question with a known catalog, as in a container that runs; `cache` has the kept parts of the index."""
        table, catalog, body = self.table.metered(), self.catalog, question.body()
        context = ReadContext(table, catalog, cache, self._epoch())
        began, began_cpu = time.perf_counter(), time.process_time()
        if question.kind in (Kind.GROUPS, Kind.GROUPED_SUMS):
            found = grouped_counts(context, resolve_groups(catalog, body), _CURSORS)
        elif question.kind is Kind.SUMS:
            found = summarized(context, resolve_summary(catalog, body))
        else:
            found = grid_page(context, resolve(catalog, body), _CURSORS)
        encoded = dumps(found.body)
        milliseconds = (time.perf_counter() - began) * 1000
        cpu_milliseconds = (time.process_time() - began_cpu) * 1000
        answer = json.loads(encoded, parse_float=Decimal)
        return Asked(
            _answer(question, answer),
            len(answer.get("rows", ())),
            milliseconds,
            cpu_milliseconds,
            table.meter.rounds,
            table.meter.capacity,
        )


def _answer(question: Question, answer: dict[str, Any]) -> Any:
    match question.kind:
        case Kind.COUNT:
            return answer["matched"]
        case Kind.GROUPS:
            return {group["values"][0]: group["count"] for group in answer["groups"]}
        case Kind.SUMS:
            return [(one["count"], one["sum"]) for one in answer["summaries"]]
        case Kind.GROUPED_SUMS:
            return {
                one["values"][0]: (one["count"], one["aggregates"][0]["value"]) for one in answer["groups"]
            }
        case Kind.PAGE:
            return [row["num"] for row in answer["rows"]]


def is_loaded(dataset: Dataset) -> bool:
    """Whether a dataset is at hand from an earlier run."""
    return (_folder(dataset) / _LOADED).exists()


def keep(dataset: Dataset) -> Path:
    """The folder of an engine that holds the project. It is loaded when no earlier run has loaded the same, and kept."""
    folder = _folder(dataset)
    if not (folder / _LOADED).exists():
        for old in KEPT.glob(f"{dataset.project}-*"):
            shutil.rmtree(old)
        _load(folder, dataset)
    return folder


@contextlib.contextmanager
def loaded(dataset: Dataset) -> Iterator[Ours]:
    """The project in a running engine, loaded as `keep` does."""
    folder = keep(dataset)
    noted = json.loads((folder / _LOADED).read_text())
    with engine.running(in_memory=False, folder=folder) as running:
        table = bulk.table_at(running.endpoint, TABLE)
        catalogs = Catalogs()
        catalog = catalogs.reload(table, ACTOR.tenant, dataset.project)
        yield Ours(table, catalogs, catalog, noted["seconds"])


def _folder(dataset: Dataset) -> Path:
    return KEPT / f"{dataset.project}-{datasets.digest(dataset, _CODE)}"


def _load(folder: Path, dataset: Dataset) -> None:
    began = time.monotonic()
    folder.mkdir(parents=True)
    with engine.running(in_memory=False, folder=folder) as running:
        engine_table.ensure(running.client(), TABLE)
        table = bulk.table_at(running.endpoint, TABLE)
        catalog = dataset.make(table)
        bulk.take_numbers(table, catalog, dataset.count)
    enginefile.write(folder / "tables", TABLE, items_of(dataset, catalog))
    (folder / _LOADED).write_text(json.dumps({"seconds": time.monotonic() - began}))


def items_of(dataset: Dataset, catalog: Catalog) -> Iterator[Item]:
    """Everything that is stored of a dataset's issues, columns and blocks last."""
    places = bulk.Places()
    for derived, made in bulk.derive(catalog, dataset.documents(catalog), places):
        yield from derived
        yield from made
    pages, totals = places.columns(catalog)
    for page in pages:
        yield page.to_item(catalog.tenant, catalog.project)
    yield totals.to_item(catalog.tenant, catalog.project)
    for chain in places.chains():
        for block in chain:
            yield block.to_item(catalog.tenant, catalog.project)
