"""The reads of the API. This function's role cannot write."""

from pathlib import Path

from aws_lambda_powertools import Logger

from gridview.api import snapshots
from gridview.api.config import long_query_percent, required, session_role, stack_metrics, stack_transport
from gridview.api.document import DocumentFile
from gridview.api.resolver import handler as http_handler
from gridview.api.sealing import CursorSource
from gridview.api.work_shares import WorkShares
from gridview.dynamodb.table import Table
from gridview.journal.log import Log
from gridview.query_api.container import QueryContainer
from gridview.query_api.resources import LATER, RESOURCES
from gridview.schema.store import Catalogs
from gridview.view.block_cache import BlockCache
from gridview.view.journal_tail import learn

logger = Logger()
metrics = stack_metrics()
table = Table(required("TABLE_NAME"), session_role=session_role(), transport=stack_transport(logger))
cache = BlockCache()
catalogs = Catalogs(beside=lambda own, tenant, project: learn(Log(own, tenant, project), cache))
cursor_source = CursorSource()
export_bucket = required("EXPORT_BUCKET")
work_shares = WorkShares(long_query_percent())
document = DocumentFile(Path(__file__).with_name("openapi.json.gz"))


def _container() -> QueryContainer:
    return QueryContainer(
        table=table,
        cache=cache,
        catalogs=catalogs,
        cursor_source=cursor_source,
        export_bucket=export_bucket,
        document=document,
        work_shares=work_shares,
        logger=logger,
        metrics=metrics,
    )


snapshots.start([table.connect, cursor_source.prime], [*table.services, "secretsmanager"], LATER)
handler = http_handler(RESOURCES, _container, logger, metrics, refuse=document.refusal)
