"""The bulk path: issues straight into the engine, indexed by the consumer's own pure functions, without the
stream.

For the demo and the benchmark. DynamoDB Local takes some hundred conditional puts a second, but thousands of
items at a time. Only for issues that nothing has been derived from yet: whatever stands under their keys is
replaced.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Final, TypeVar

from botocore.config import Config

from devtools import engine
from gridview import keys
from gridview.catalog import Catalog
from gridview.documents import Document
from gridview.families import derived_items
from gridview.storage import PRESENT, TRANSACTION, Item, Table, put

_AT_ONCE: Final = 200
"""Documents in memory at a time, with all that is derived from them; twice, as the next ones are made
meanwhile.
"""

_CONNECTIONS: Final = 32
_TRANSACTIONS_AT_ONCE: Final = 4

Thing = TypeVar("Thing")


def table_at(endpoint: str, name: str) -> Table:
    """The table of the local engine at `endpoint`."""
    return Table(name, engine.client(endpoint, Config(max_pool_connections=_CONNECTIONS)))


Write = Callable[[Table, Sequence[Item]], None]
"""Puts items unconditionally, in any order; no key stands twice among them."""


def in_batches(table: Table, items: Sequence[Item]) -> None:
    """The faster way in memory: 3,100 items a second, where transactions make 1,700."""
    table.batch_put(items)


def in_transactions(table: Table, items: Sequence[Item]) -> None:
    """The faster way on disk:

    1,600 items a second, where batches make 520, because each of their items is synced by itself.
    """
    transactions = [items[at : at + TRANSACTION] for at in range(0, len(items), TRANSACTION)]
    with ThreadPoolExecutor(_TRANSACTIONS_AT_ONCE) as pool:
        list(pool.map(lambda some: table.transact([put(item) for item in some]), transactions))


def load(table: Table, catalog: Catalog, documents: Iterable[Document], write: Write) -> int:
    """Write issues with their ledgers and sort entries; tell how many. The numbers must have been taken
    (`take_numbers`).

    What is derived comes before the document: when the stream tells a consumer of the document, its ledger
    says that there is nothing left to do.
    """
    loaded = 0
    waiting: Future[None] | None = None
    with ThreadPoolExecutor(1, thread_name_prefix="bulk") as writer:
        for chunk in _chunks(documents, _AT_ONCE):
            derived = [item for document in chunk for item in derived_items(catalog, document)]
            if waiting is not None:
                waiting.result()
            waiting = writer.submit(_write_both, write, table.metered(), derived, chunk)
            loaded += len(chunk)
        if waiting is not None:
            waiting.result()
    return loaded


def take_numbers(table: Table, catalog: Catalog, last: int) -> None:
    """See to it that the project's counter gives out no number up to `last` any more. Can be done twice."""
    partition = keys.project(catalog.tenant, catalog.project)
    counter = table.get(partition, keys.COUNTER, consistent=True) or {}
    missing = last - int(counter.get("last", 0))
    if missing > 0:
        table.add(partition, keys.COUNTER, "last", missing, PRESENT)


def _write_both(write: Write, table: Table, derived: Sequence[Item], documents: Sequence[Document]) -> None:
    write(table, derived)
    write(table, documents)


def _chunks(things: Iterable[Thing], size: int) -> Iterator[list[Thing]]:
    remaining = iter(things)
    while chunk := list(islice(remaining, size)):
        yield chunk
