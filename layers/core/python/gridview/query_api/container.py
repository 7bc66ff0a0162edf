"""The objects that the query function keeps from one request to the next."""

from dataclasses import dataclass

from aws_lambda_powertools import Logger, Metrics

from gridview.api.document import DocumentFile
from gridview.api.http import Request
from gridview.api.sealing import CursorSource
from gridview.api.work_shares import WorkShares
from gridview.dynamodb.table import Table
from gridview.schema.store import Catalogs
from gridview.view.block_cache import BlockCache


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryContainer:
    """The table, caches of it, the recorded work of users, and the seals of cursors and tokens."""

    table: Table
    cache: BlockCache
    catalogs: Catalogs
    cursor_source: CursorSource
    export_bucket: str
    document: DocumentFile
    work_shares: WorkShares
    logger: Logger
    metrics: Metrics


QueryRequest = Request[QueryContainer]
"""A request to the query function."""
