"""Reading issue documents by number."""

from collections.abc import Iterable

from gridview.dynamodb.expressions import Key
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema import ids
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Document
from gridview.schema.trash import is_restorable, living
from gridview.support import clock
from gridview.support.errors import NotFound


def get_issue(table: Table, catalog: Catalog, num: int) -> Document:
    """Return the document. NotFound if there is none, or it is deleted. One strongly consistent read: a read
    unit for each 4 KB.
    """
    document = living(table.get(*issue_key(catalog, num), consistent=True))
    if document is None:
        raise NotFound("Issue not found.")
    return document


def get_trashed(table: Table, catalog: Catalog, num: int) -> Document:
    """Return the document of a deleted issue that can be restored. NotFound if there is none. Costs the same."""
    document = table.get(*issue_key(catalog, num), consistent=True)
    if document is None or not is_restorable(document, clock.seconds()):
        raise NotFound("There is no such issue in the trash.")
    return document


def documents_by_number(
    table: Table, tenant: str, project: str, numbers: Iterable[int]
) -> dict[int, Document]:
    """Return documents, strongly consistent, also of deleted issues: a read unit for each 4 KB. One round."""
    listing = keys.project(tenant, project)
    wanted = [(keys.issue(tenant, project, num), listing) for num in numbers]
    return {one["num"]: one for one in table.batch_get(wanted, consistent=True).items.values()}


def issue_key(catalog: Catalog, num: int) -> Key:
    """Return the key of an issue's document. NotFound for a number that no issue can have."""
    if not ids.ISSUE.fullmatch(str(num)):
        raise NotFound("Issue not found.")
    return keys.issue(catalog.tenant, catalog.project, num), keys.project(catalog.tenant, catalog.project)
