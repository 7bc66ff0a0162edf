"""The bulk path: issues straight into the engine, indexed by the consumer's own pure functions, without the
stream.

For the demo, the oracle and the benchmark. DynamoDB Local takes some hundred conditional puts a second, but
thousands of items at a time; and a block is written once with all its issues, not once for each. Only for a
project without issues of its own, and while nobody else writes to it: what an earlier load that was killed
has left is replaced.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from botocore.config import Config

from devtools.failure import Failure
from devtools.local import engine
from gridview.dynamodb.expressions import PRESENT, Item, put
from gridview.dynamodb.fast_parser import parse_fast
from gridview.dynamodb.table import TRANSACTION, Table
from gridview.encoding import keys
from gridview.index import blocks
from gridview.index.blocks import Block
from gridview.index.keyspaces import derived_items, families_of, keys_of
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Document
from gridview.support.concurrency import chunked, in_threads

_AT_ONCE: Final = 200
"""Documents in memory at a time, with all that is derived from them; twice, as the next ones are made
meanwhile.
"""

_CONNECTIONS: Final = 32
_TRANSACTIONS_AT_ONCE: Final = 4


def table_at(endpoint: str, name: str) -> Table:
    """The table of the local engine at `endpoint`, with a client that reads answers as the functions' own does."""
    client = engine.client(endpoint, Config(max_pool_connections=_CONNECTIONS))
    parse_fast(client)
    return Table(name, client)


Write = Callable[[Table, Sequence[Item]], None]
"""Puts items unconditionally, in any order; no key stands twice among them."""


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
    """The keys of issues in every family, gathered until all are there. A million issues in nine families take 1 GB."""

    def __init__(self) -> None:
        self._keys: defaultdict[str, list[str]] = defaultdict(list)

    def add(self, derived: Mapping[str, str]) -> None:
        """The keys of one issue, by its derived strings."""
        for family, string in derived.items():
            self._keys[family].extend(keys_of(family, string))

    def chains(self) -> Iterator[list[Block]]:
        """The blocks of each family; they are forgotten here."""
        while self._keys:
            family, found = self._keys.popitem()
            found.sort()
            yield blocks.build(family, found)


def derive(
    catalog: Catalog, documents: Iterable[Document], places: Places
) -> Iterator[tuple[list[Item], list[Document]]]:
    """Some documents after the other, each time with their ledgers and sort entries; their keys go to `places`."""
    for chunk in chunked(documents, _AT_ONCE):
        derived: list[Item] = []
        for document in chunk:
            ledger, *entries = derived_items(catalog, document)
            places.add(ledger["applied"])
            derived += [ledger, *entries]
        yield derived, chunk


def blocks_of(catalog: Catalog, documents: Iterable[Document]) -> Iterator[list[Block]]:
    """The chain of blocks of each family in which one of these issues stands."""
    places = Places()
    for _ in derive(catalog, documents, places):
        pass
    return places.chains()


def load(table: Table, catalog: Catalog, documents: Iterable[Document], write: Write) -> int:
    """Write issues with all that is derived from them; tell how many. The numbers must have been taken
    (`take_numbers`).

    What is derived comes before the document: when the stream tells a consumer of the document, its ledger
    says that there is nothing left to do. Blocks need the keys of all issues, so they come after the documents
    but for the very last one: where that stands, the load was completed. Until then a reader finds too few
    issues, but never a place in a block whose document is not there.
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
    _write_blocks(table, catalog, places, write)
    write(table, held)
    return loaded


def take_numbers(table: Table, catalog: Catalog, last: int) -> None:
    """See to it that the project's counter gives out no number up to `last` any more. Can be done twice.

    Failure when the project has given out others: its issues and their places in blocks would be overwritten.
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


def _write_blocks(table: Table, catalog: Catalog, places: Places, write: Write) -> None:
    """Write all chains, each with its first block last, from which readers begin."""
    for family in families_of(catalog):
        _remove_blocks(table, keys.directory(catalog.tenant, catalog.project, family))
    for chain in places.chains():
        head, *others = (block.to_item(catalog.tenant, catalog.project) for block in chain)
        write(table, others)
        write(table, [head])


def _remove_blocks(table: Table, directory: str) -> None:
    """Remove what a killed load has left: the blocks of a chain have other ids each time."""
    while found := table.query(directory, index=True).items:
        for item in found:
            table.delete(item[keys.PK], item[keys.SK])
