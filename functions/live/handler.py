"""Live changes: a request waits here for changes, or gets a ticket for a socket.

A function of its own, so that no query waits for it. The number of waiting requests is limited for each user
and tenant (`open_polls`).
"""

from aws_lambda_powertools import Logger

from gridview.api.config import (
    polls_per_tenant,
    required,
    session_role,
    stack_metrics,
    stack_transport,
)
from gridview.api.resolver import handler as http_handler
from gridview.api.sealing import CursorSource
from gridview.dynamodb.table import Table
from gridview.live.open_polls import OpenPolls
from gridview.live_api.container import LiveContainer
from gridview.live_api.resources import RESOURCES
from gridview.schema.store import Catalogs

logger = Logger()
metrics = stack_metrics()
table = Table(required("TABLE_NAME"), session_role=session_role(), transport=stack_transport(logger))
catalogs = Catalogs()
cursor_source = CursorSource()
socket_url = required("SOCKET_URL")
open_polls = OpenPolls(polls_per_tenant())


def _container() -> LiveContainer:
    return LiveContainer(
        table=table,
        catalogs=catalogs,
        cursor_source=cursor_source,
        socket_url=socket_url,
        open_polls=open_polls,
    )


table.connect()
cursor_source.prime()
handler = http_handler(RESOURCES, _container, logger, metrics)
