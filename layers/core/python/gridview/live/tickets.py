"""Tickets, which open a socket, once and soon, or let an open one last longer. Pure.

A ticket is sealed, so it shows its holder nothing and cannot be forged. It contains the identity in the token
that bought it, and when that token ends. Nothing is stored before it is used.
"""

import secrets
from typing import Any, NamedTuple, Self

from gridview.commands.actor import Actor, Role
from gridview.encoding.json_codec import dumps, loads
from gridview.encoding.seals import Seals
from gridview.support.errors import InvalidRequest, Unauthenticated

TICKETS = "tickets"
"""The purpose of the seals of tickets."""

TICKET_SECONDS = 30.0
"""Seconds for which a ticket is valid."""

_MAX_CHARACTERS = 4_096
_BOUND_TO = b"socket"


class Ticket(NamedTuple):
    """A user's right to follow a project by a socket, `until` the end of the token that bought it (seconds
    since 1970).

    `id` differs for each ticket; after `expires` the ticket opens nothing.
    """

    id: str
    actor: Actor
    name: str
    project: str
    until: float
    expires: float

    @classmethod
    def issued(cls, actor: Actor, name: str, project: str, until: float, now: float) -> Self:
        """Return a new ticket at an instant."""
        return cls(secrets.token_hex(12), actor, name, project, until, now + TICKET_SECONDS)

    def sealed(self, seals: Seals) -> str:
        """As a client gets it."""
        tenant, user, role = self.actor
        payload = [self.id, tenant, user, role.value, self.name, self.project, self.until, self.expires]
        return seals.seal(dumps(payload), _BOUND_TO)

    @classmethod
    def opened(cls, text: str, seals: Seals, now: float) -> Self:
        """Open a client's ticket at an instant. Unauthenticated: it is no ticket, or has expired."""
        try:
            if len(text) > _MAX_CHARACTERS:
                raise ValueError
            sealed: Any = loads(seals.open(text, _BOUND_TO))
        except (ValueError, InvalidRequest):
            raise Unauthenticated("The ticket is not valid. Get another: POST .../tickets.") from None
        identity, tenant, user, role, name, project, until, expires = sealed
        if now >= min(float(expires), float(until)):
            raise Unauthenticated("The ticket has expired. Get another: POST .../tickets.")
        return cls(identity, Actor(tenant, user, Role(role)), name, project, float(until), float(expires))
