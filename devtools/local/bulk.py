"""The bulk load: issues go straight into the engine, indexed by the consumer's own pure functions, past the stream.

The demo, the oracle and the benchmark use it. DynamoDB Local takes some hundred conditional puts a second, but
thousands of items in batches. The bulk load also writes each block once with all its issues. It needs a project
without issues, and no other writer. It replaces the remains of a killed load.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from devtools.failure import Failure
from devtools.local import engine
from devtools.local.built_chains import built_chain, built_column
from devtools.local.derived_items import derived_items
from gridview.chains.blocks import Block
from gridview.chains.column_pages import ColumnPage
from gridview.chains.column_totals import total_of
from gridview.chains.column_writer import remove_column
from gridview.derive.families import column_families, families_of, keys_of
from gridview.derive.ledger import Ledger
from gridview.dynamodb.expressions import PRESENT, Item, put
from gridview.dynamodb.table import TRANSACTION, Table
from gridview.encoding import derived_keys, keys
from gridview.journal.items import Totals
from gridview.journal.log import Log
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Document
from gridview.support.concurrency import chunked, in_threads

_AT_ONCE: Final = 200
"""Documents in memory at a time, with everything derived from them. Twice as many in fact: the next ones are made meanwhile.
"""

_TRANSACTIONS_AT_ONCE: Final = 4


def table_at(endpoint: str, name: str) -> Table:
    """The table of the local engine at `endpoint`, with a client like that of the functions."""
    return Table(name, engine.signed(engine.client(endpoint)))


Write = Callable[[Table, Sequence[Item]], None]
"""Puts items unconditionally, in any order. No key occurs twice among them."""


def in_batches(table: Table, items: Sequence[Item]) -> None:
    """The faster way in memory: 3,100 items a second, where transactions make 1,700."""
    table.batch_put(items)


def in_transactions(table: Table, items: Sequence[Item]) -> None:
    """The faster way on disk:

    1,600 items a second, where batches make 520, because each of their items is synced by itself.
    """
    transactions = chunked(map(put, items), TRANSACTION)
    in_threads(table.transact, transactions, _TRANSACTIONS_AT_ONCE)


class Places:
    """Gathers the keys of all issues, by family. A million issues in nine families take 1 GB."""

    def __init__(self) -> None:
        self._keys: defaultdict[str, list[str]] = defaultdict(list)

    def add(self, derived: Mapping[str, str]) -> None:
        """The keys of one issue, by its derived strings."""
        for family, string in derived.items():
            self._keys[family].extend(keys_of(family, string))

    def columns(self, catalog: Catalog) -> tuple[list[ColumnPage], Totals]:
        """The pages of all columns and their totals, as of the beginning of the journal. Before `chains`."""
        built = {
            family: built_column(family, self._keys.get(family, ())) for family in column_families(catalog)
        }
        totals = {family: total_of(page.slices for page in pages) for family, pages in built.items()}
        return [page for pages in built.values() for page in pages], Totals(0, totals)

    def chains(self) -> Iterator[list[Block]]:
        """The blocks of each family. This object forgets them."""
        while self._keys:
            family, found = self._keys.popitem()
            found.sort()
            yield built_chain(family, found)


def derive(
    catalog: Catalog, documents: Iterable[Document], places: Places
) -> Iterator[tuple[list[Item], list[Document]]]:
    """Documents in portions, with their ledgers and sort entries. Their keys go to `places`."""
    for chunk in chunked(documents, _AT_ONCE):
        derived: list[Item] = []
        for document in chunk:
            ledger, *entries = derived_items(catalog, document)
            places.add(Ledger.from_item(ledger).applied)
            derived += [ledger, *entries]
        yield derived, chunk


def blocks_of(catalog: Catalog, documents: Iterable[Document]) -> Iterator[list[Block]]:
    """The chain of blocks of each family that holds one of these issues."""
    places = Places()
    for _ in derive(catalog, documents, places):
        pass
    return places.chains()


def load(table: Table, catalog: Catalog, documents: Iterable[Document], write: Write) -> int:
    """Write issues with everything derived from them, and return how many. `take_numbers` must have reserved the numbers.

    Derived items come before their document. When the stream delivers the document, its ledger says that nothing is left to do.
    Blocks need the keys of all issues, so they come after all documents except the last. The last document says that the load is
    complete. Until then a reader finds too few issues, but never a place in a block without its document.
    """
    loaded = 0
    places = Places()
    waiting: Future[None] | None = None
    remaining = iter(documents)
    held: list[Document] = []
    with ThreadPoolExecutor(1, thread_name_prefix="bulk") as writer:
        for derived, chunk in derive(catalog, remaining, places):
            if waiting is not None:
                waiting.result()
            waiting = writer.submit(_write_both, write, table.metered(), derived, held + chunk[:-1])
            held = chunk[-1:]
            loaded += len(chunk)
        if waiting is not None:
            waiting.result()
    _write_columns(table, catalog, places, write)
    _write_blocks(table, catalog, places, write)
    write(table, held)
    return loaded


def take_numbers(table: Table, catalog: Catalog, last: int) -> None:
    """Reserve the numbers up to `last`, so that the project's counter gives out none of them. Safe to repeat.

    Failure when the project has given out other numbers: the load would overwrite its issues and their places in blocks.
    """
    partition = keys.project(catalog.tenant, catalog.project)
    counter = table.get(partition, keys.COUNTER, consistent=True) or {}
    taken = int(counter.get("last", 0))
    if taken == last:
        return
    if taken:
        raise Failure(
            f"The project {catalog.project} has issues already: only an empty one can be loaded in bulk."
        )
    table.add(partition, keys.COUNTER, "last", last, PRESENT)


def _write_both(write: Write, table: Table, derived: Sequence[Item], documents: Sequence[Document]) -> None:
    write(table, derived)
    write(table, documents)


def _write_columns(table: Table, catalog: Catalog, places: Places, write: Write) -> None:
    """Write all columns, then their totals. A killed load may have left pages, which are removed."""
    tenant, project = catalog.tenant, catalog.project
    for family in column_families(catalog):
        remove_column(table, tenant, project, family)
    pages, totals = places.columns(catalog)
    write(table, [page.to_item(tenant, project) for page in pages])
    if totals.by_family:
        log = Log(table, tenant, project)
        log.put_totals(totals, log.totals())


def _write_blocks(table: Table, catalog: Catalog, places: Places, write: Write) -> None:
    """Write all chains. The first block of each comes last, since readers begin there."""
    for family in families_of(catalog):
        _remove_blocks(table, derived_keys.directory(catalog.tenant, catalog.project, family))
    for chain in places.chains():
        head, *others = (block.to_item(catalog.tenant, catalog.project) for block in chain)
        write(table, others)
        write(table, [head])


def _remove_blocks(table: Table, directory: str) -> None:
    """Remove the blocks that a killed load left; each load gives blocks new ids."""
    while found := table.query(directory, index=True).items:
        for item in found:
            table.delete(item[keys.PK], item[keys.SK])
