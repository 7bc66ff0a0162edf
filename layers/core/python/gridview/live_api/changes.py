"""Changes as they are made: requests that wait for them, and tickets for sockets that receive them."""

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, ok
from gridview.api.routes import Gives
from gridview.commands import reads
from gridview.commands.actor import Role
from gridview.encoding.consistency import CONSISTENCY_TOKEN
from gridview.encoding.values import datetime_json
from gridview.journal.feed_cursors import FeedCursor
from gridview.live import changes as live_changes
from gridview.live.asked_rows import rows_of_view
from gridview.live.change_requests import AskedChanges, resolve_changes
from gridview.live.followed_rows import FollowedRows
from gridview.live.tickets import TICKET_SECONDS, TICKETS, Ticket
from gridview.live_api.container import LiveContainer, LiveRequest
from gridview.query.references import Reference
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck
from gridview.schema.generations import IndexNotReady
from gridview.support import clock
from gridview.support.errors import (
    CursorExpired,
    IndexBuilding,
    InvalidRequest,
    QueryTooExpensive,
    TooManyPolls,
    UnfollowableFilter,
)

_MARGIN = 4.0
"""Seconds before the end of an invocation by which an answer is given."""

endpoints = Endpoints[LiveContainer]("Changes", "live")


@endpoints.get(
    "/v1/projects/<project>/changes",
    Role.VIEWER,
    "The changes since a cursor, or the first ones within seconds",
    parameters="ChangesRequest",
    answer="ChangePage",
    gives=(Gives.TOKEN_OF_CHANGES,),
    problems=(CursorExpired, TooManyPolls, IndexBuilding, QueryTooExpensive, UnfollowableFilter),
)
def changes(request: LiveRequest) -> Response:
    """Return the changes after a cursor, with the token of the versions in them. An answer that is empty too
    early asks for a pause.
    """
    own = request.container
    if request.parameters.get("wait", "0") != "0":
        own.open_polls.require_room(
            request.actor
        )  # before anything is read: a refused poll is to cost little
    catalog, asked, rows = _resolved(request)
    cursors = own.cursor_source.cursors("changes")
    if asked.since is None:
        cursor = live_changes.beginning(own.table, catalog)
        return ok({"items": [], "next": cursor.sealed(cursors, catalog)})
    cursor = FeedCursor.opened(asked.since, cursors, catalog)
    with own.open_polls.polling(own.table, request.actor, asked.wait) as poll:
        wait = live_changes.Wait(poll.until, request.deadline - _MARGIN)
        followed = live_changes.follow(own.table, own.catalogs, catalog, cursor, rows=rows, wait=wait)
        pause = 0 if followed.items else poll.pause
    answer = ok({"items": followed.items, "next": followed.cursor.sealed(cursors, catalog)})
    if not followed.versions:
        return answer.with_headers({"Retry-After": str(pause)}) if pause else answer
    tokens = own.cursor_source.tokens()
    token = tokens.token(catalog.tenant, catalog.project, followed.versions, clock.seconds())
    return answer.with_headers({CONSISTENCY_TOKEN: token})


@endpoints.post(
    "/v1/projects/<project>/tickets",
    Role.VIEWER,
    "A ticket that opens a socket",
    answer="IssuedTicket",
    problems=(InvalidRequest,),
)
def create_ticket(request: LiveRequest) -> Response:
    """Return a ticket for a socket of this project, which must exist: 1 read unit. Nothing is stored before
    it is used.
    """
    request.require_no_body()
    own, actor, project = request.container, request.actor, request.path["project"]
    own.catalogs.current(own.table, actor.tenant, project)
    ticket = Ticket.issued(actor, request.name, project, request.token_end, clock.seconds())
    issued = {
        "ticket": ticket.sealed(own.cursor_source.seals(TICKETS, TICKET_SECONDS)),
        "url": own.socket_url,
        "token_expires": datetime_json(clock.stored(ticket.until)),
    }
    return ok(issued)


def _resolved(request: LiveRequest) -> tuple[Catalog, AskedChanges, FollowedRows | None]:
    """Return the request over the current definitions, and the rows that it asks for: by a filter and a sort,
    or by a saved view.
    """
    own, actor, project = request.container, request.actor, request.path["project"]
    reference = Reference.of(actor.user)

    def resolved(catalog: Catalog, epoch: EpochCheck) -> tuple[Catalog, AskedChanges, FollowedRows | None]:
        epoch.confirm(own.table)
        asked = resolve_changes(catalog, request.parameters, reference)
        if asked.view is None:
            return catalog, asked, asked.rows
        return catalog, asked, rows_of_view(own.table, catalog, actor, asked.view, reference)

    try:
        return own.catalogs.using(own.table, actor.tenant, project, resolved)
    except IndexNotReady as error:
        raise reads.with_progress(own.table, actor, project, error) from error
