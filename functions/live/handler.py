"""Live changes: a request waits here for what others change, or gets a ticket for a socket.

A function of its own, so that no query waits for it. How many requests wait is limited for each user and tenant
(`open_polls`).
"""

from aws_lambda_powertools import Logger

from gridview.api.config import (
    CursorSource,
    polls_per_tenant,
    required,
    session_role,
    stack_metrics,
    stack_transport,
)
from gridview.api.http import Endpoint, Request, Response, ok
from gridview.api.http import handler as http_handler
from gridview.commands import reads
from gridview.dynamodb.table import Table
from gridview.encoding.consistency import CONSISTENCY_TOKEN
from gridview.encoding.values import datetime_json
from gridview.journal.feed_cursors import FeedCursor
from gridview.live import changes as live_changes
from gridview.live.asked_rows import rows_of_view
from gridview.live.change_requests import AskedChanges, resolve_changes
from gridview.live.followed_rows import FollowedRows
from gridview.live.open_polls import OpenPolls
from gridview.live.tickets import TICKETS, Ticket
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.schema.generations import IndexNotReady
from gridview.schema.store import Catalogs
from gridview.support import clock

_MARGIN = 4.0
"""Seconds before the end of an invocation by which an answer is given."""

logger = Logger()
metrics = stack_metrics()
table = Table(required("TABLE_NAME"), session_role=session_role(), transport=stack_transport(logger))
catalogs = Catalogs()
cursor_source = CursorSource()
socket_url = required("SOCKET_URL")
open_polls = OpenPolls(polls_per_tenant())


def changes(request: Request) -> Response:
    """The changes after a cursor, with the token of what they contain. An answer that is empty too early asks for a
    pause.
    """
    if request.parameters.get("wait", "0") != "0":
        open_polls.require_room(request.actor)  # before anything is read: a refused poll is to cost little
    catalog, asked, rows = _resolved(request)
    cursors = cursor_source.cursors("changes")
    if asked.since is None:
        cursor = live_changes.beginning(table, catalog)
        return ok({"items": [], "next": cursor.sealed(cursors, catalog)})
    cursor = FeedCursor.opened(asked.since, cursors, catalog)
    with open_polls.polling(table, request.actor, asked.wait) as poll:
        wait = live_changes.Wait(poll.until, request.deadline - _MARGIN)
        told = live_changes.follow(table, catalogs, catalog, cursor, rows=rows, wait=wait)
        pause = 0 if told.items else poll.pause
    answer = ok({"items": told.items, "next": told.cursor.sealed(cursors, catalog)})
    if not told.versions:
        return answer.telling({"Retry-After": str(pause)}) if pause else answer
    token = cursor_source.tokens().token(catalog.tenant, catalog.project, told.versions, clock.seconds())
    return answer.telling({CONSISTENCY_TOKEN: token})


def create_ticket(request: Request) -> Response:
    """A ticket for a socket of this project, which must exist: 1 read unit. Nothing is stored before it is used."""
    request.require_no_body()
    actor, project = request.actor, request.path["project"]
    catalogs.current(table, actor.tenant, project)
    ticket = Ticket.issued(actor, request.name, project, request.token_end, clock.seconds())
    told = {
        "ticket": ticket.sealed(cursor_source.seals(TICKETS)),
        "url": socket_url,
        "until": datetime_json(clock.stored(ticket.until)),
    }
    return ok(told)


def _resolved(request: Request) -> tuple[Catalog, AskedChanges, FollowedRows | None]:
    """The request over the current definitions, and the rows that it asks for: those of a filter and a sort, or of a saved view."""
    actor, project = request.actor, request.path["project"]

    def resolved(catalog: Catalog, epoch: EpochCheck) -> tuple[Catalog, AskedChanges, FollowedRows | None]:
        epoch.confirm(table)
        asked = resolve_changes(catalog, request.parameters)
        if asked.view is None:
            return catalog, asked, asked.rows
        return catalog, asked, rows_of_view(table, catalog, actor, asked.view)

    try:
        return catalogs.using(table, actor.tenant, project, resolved)
    except IndexNotReady as error:
        raise reads.with_progress(table, actor, project, error) from error


OPERATIONS: dict[str, Endpoint] = {operation.__name__: operation for operation in (changes, create_ticket)}

table.connect()
cursor_source.prime()
handler = http_handler(OPERATIONS, logger, metrics)
