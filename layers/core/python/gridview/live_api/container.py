"""The objects that the live function keeps from one request to the next."""

from dataclasses import dataclass

from gridview.api.http import Request
from gridview.api.sealing import CursorSource
from gridview.dynamodb.table import Table
from gridview.live.open_polls import OpenPolls
from gridview.schema.store import Catalogs


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveContainer:
    """The table, the definitions, the seals of cursors and tickets, and the requests that wait."""

    table: Table
    catalogs: Catalogs
    cursor_source: CursorSource
    socket_url: str
    open_polls: OpenPolls


LiveRequest = Request[LiveContainer]
"""A request to the live function."""
