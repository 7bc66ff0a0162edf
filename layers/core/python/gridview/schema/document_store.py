"""Reading issue documents by number."""

from gridview.dynamodb.expressions import Key
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.schema import ids
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Document
from gridview.support.errors import NotFound


def get_issue(table: Table, catalog: Catalog, num: int) -> Document:
    """The document. NotFound if there is none. One strongly consistent read: a read unit for each 4 KB."""
    document = table.get(*issue_key(catalog, num), consistent=True)
    if document is None:
        raise NotFound("Issue not found.")
    return document


def issue_key(catalog: Catalog, num: int) -> Key:
    """The key of an issue's document. NotFound for a number that no issue can have."""
    if not ids.ISSUE.fullmatch(str(num)):
        raise NotFound("Issue not found.")
    return keys.issue(catalog.tenant, catalog.project, num), keys.project(catalog.tenant, catalog.project)
