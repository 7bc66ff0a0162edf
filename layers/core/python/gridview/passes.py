"""A part of a pass over the issues of a project: what is derived from them becomes what the definitions now ask for."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from gridview import derive, keys
from gridview.catalog import Catalog
from gridview.catalogs import Catalogs
from gridview.derive import Image, Poison, Superseded, Underivable, current_catalog
from gridview.errors import Overloaded
from gridview.ledger import Ledger
from gridview.storage import ConditionFailed, Item, ItemTooLarge, Key, Table

_CONCURRENCY = 8


class DefinitionsMissing(Exception):
    """A project has no definitions, though nobody has deleted it: somebody has changed the table by hand."""


def pass_over(
    table: Table,
    catalogs: Catalogs,
    tenant: str,
    project: str,
    numbers: Sequence[int],
    send_poison: Callable[[Poison], None],
) -> int:
    """Re-derive the issues of these numbers, and take the values of deleted attributes out of them; tells how many there are.

    Issues of a deleted project are deleted instead: the stream tells the consumer, which removes what was derived from them.
    Can be done twice. An issue costs strongly consistent reads of its document and its ledger, and where something differs
    what `derive.index` writes. Overloaded when the table refuses: nothing says that any of it was done.
    """
    partition = keys.project(tenant, project)
    catalog = current_catalog(table, catalogs, tenant, project)
    if catalog is None:
        require_deleted(table, tenant, project)
    issues = [keys.issue(tenant, project, num) for num in numbers]
    wanted: list[Key] = [(issue, sort_key) for issue in issues for sort_key in (partition, keys.LEDGER)]
    found = table.batch_get(wanted, consistent=True).items
    documents = [found[issue, partition] for issue in issues if (issue, partition) in found]

    def attend_to(document: Item) -> None:
        issue = document[keys.PK]
        if catalog is None:
            table.delete(issue, partition)
            return
        version = 0
        try:
            image = Image.of(document)
            version = image.order.version
            _rederive(table, catalogs, catalog, image, found.get((issue, keys.LEDGER)))
        except (ItemTooLarge, Underivable) as error:
            send_poison(Poison(issue, version, str(error)))

    with ThreadPoolExecutor(_CONCURRENCY) as pool:
        list(pool.map(attend_to, documents))
    return len(documents)


def require_deleted(table: Table, tenant: str, project: str) -> None:
    """DefinitionsMissing unless the project's own item says that it was deleted: issues are removed for no other reason."""
    own = table.get(keys.project(tenant, project), keys.tenant(tenant), consistent=True)
    if own is None or not own.get("deleted"):
        raise DefinitionsMissing(f"The definitions of {keys.project(tenant, project)} are missing.")


def _rederive(
    table: Table, catalogs: Catalogs, catalog: Catalog | None, image: Image, ledger: Item | None
) -> None:
    for attempt in range(derive.ATTEMPTS):
        if catalog is not None:
            _remove_dead_values(table, catalog, image.document)
        try:
            derive.index(table, catalog, image, Ledger.from_item(ledger), touch=False)
        except Superseded:
            derive.pause(attempt)
            found = table.get(image.key, keys.project(*image.project), consistent=True)
            if found is None:
                return  # removed meanwhile: the stream tells the consumer
            image = Image.of(found)
            ledger = table.get(image.key, keys.LEDGER, consistent=True)
            catalog = current_catalog(table, catalogs, *image.project)
        else:
            return
    raise Overloaded("Others go on changing an issue; try again.")


def _remove_dead_values(table: Table, catalog: Catalog, document: Item) -> None:
    """Take out the values of deleted attributes. The version stays: nobody can see a difference, or lose a race to it."""
    fields = document.get("fields")
    dead = [key for key in fields if catalog.deleted(key)] if isinstance(fields, dict) else []
    if not dead:
        return
    try:
        table.remove(document[keys.PK], document[keys.SK], [("fields", key) for key in dead])
    except ConditionFailed:
        return  # removed meanwhile
